"""Loads the domain that the settings name; what is wrong with it is told where it stands in the domain's own files."""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from traceback import FrameSummary, extract_tb

from pydantic import ValidationError

from graph.masking import masked
from state.domain import Domain, DomainUnavailable, LoadDomain
from state.ports import Clock
from state.tools import ToolIllFormed


class DomainNotLoaded(ImportError):
    """The domain that the settings name cannot be loaded."""


def load_domain(name: str, folder: Path, clock: Clock) -> Domain:
    """The domain package of that name, opened on its own data folder. Raises DomainNotLoaded.

    It is looked for among what is installed, then where the process was started.
    """
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        raise DomainNotLoaded(
            f"EXPEDIENTE_DOMAIN: got {name!r} ({error}); allowed: an importable package that exports "
            "load(folder, now); start where it can be imported, or correct the name"
        ) from error
    except Exception as error:  # as below
        raise _broken(name, error) from error
    load: LoadDomain | None = getattr(module, "load", None)
    if not callable(load):
        raise DomainNotLoaded(f"EXPEDIENTE_DOMAIN: {name!r} exports no load(folder, now); add one, as domain/ has")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        domain = load(folder, clock.now())
    except DomainUnavailable:
        raise
    except Exception as error:  # a fork's code may raise anything, and is told where
        raise _broken(name, error) from error
    if not isinstance(domain, Domain):
        raise DomainNotLoaded(
            f"EXPEDIENTE_DOMAIN: got {type(domain).__name__} from {name}.load; allowed: a Domain of state.domain; "
            "docs/domain.md shows a small one"
        )
    return domain


def _broken(name: str, error: Exception) -> DomainNotLoaded:
    """Where a domain's own code failed, and what is wrong there.

    What an exception says may hold a secret and stays out; what our own rules say of a contract does not.
    """
    if isinstance(error, SyntaxError):
        file, line, said = error.filename or "?", error.lineno, error.msg
    else:
        frame = _own(name, extract_tb(error.__traceback__))
        file, line, said = frame.filename, frame.lineno, masked(_said(error))
    shown = Path(file)
    if shown.is_relative_to(Path.cwd()):
        shown = shown.relative_to(Path.cwd())
    return DomainNotLoaded(
        f"EXPEDIENTE_DOMAIN: {name!r} cannot be loaded: {shown} line {line}: {said}; mend it there; "
        "`agent --debug COMMAND …` shows all"
    )


def _own(name: str, frames: list[FrameSummary]) -> FrameSummary:
    """The deepest place in the domain's own files; a library that was called there is not the one to mend."""
    spec = find_spec(name)  # what failed while it was imported is no module yet
    places = [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    if spec is not None and spec.origin:
        places.append(Path(spec.origin))
    own = [frame for frame in frames if any(Path(frame.filename).is_relative_to(place) for place in places)]
    return (own or frames)[-1]


def _said(error: Exception) -> str:
    if isinstance(error, ToolIllFormed):
        return str(error)
    if isinstance(error, ValidationError):
        # Field and rule; the value itself may be anything.
        wrong = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_input=False)]
        return f"{error.title}: {'; '.join(wrong)}"
    return type(error).__name__

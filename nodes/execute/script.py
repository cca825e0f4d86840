"""A reviewed script of a skill in a process of its own, cut off from the network and from every file but its own (S9).

What is run are the bytes that were read and pinned, written into a folder for this call alone. The process has an empty
environment, no credential, and the standard library alone. Where any of that cannot be had nothing is run.
"""

import json
import math
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from select import select
from typing import NamedTuple

from nodes.execute.confined import READY, REFUSED
from nodes.execute.isolated import end_process

PROGRAM = Path(__file__).with_name("confined.py")
MOST_OUTPUT_BYTES = 64_000
_MOST_ERROR_BYTES = 8_000
_MEMORY_BYTES = 512_000_000
_FILE_BYTES = 10_000_000
_MOST_FILES, _MOST_FOLDER_BYTES = 1_000, 50_000_000  # of the folder that it works in
_LOOK_S = 0.2  # how often that is looked at
_READ_BYTES = 1 << 14
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/dev/urandom")


class Ran(NamedTuple):
    """How a script ended, and what it wrote on its two pipes: nobody's word but the script's."""

    exit_code: int
    output: str
    errors: str


class NotConfined(RuntimeError):
    """This machine cannot hold a script back; the text says what is missing. Nothing was run."""


class OutOfTime(Exception):
    """The script did not end in its time and was killed, with all that it began."""


class TooMuchOutput(Exception):
    """The script wrote more than may be kept, on its pipes or in its folder, and was killed."""


@cache
def confinement_fault() -> str | None:
    """Why no script can run here, or None where one can: tried once with one that does nothing."""
    try:
        run_script({"nothing.py": b""}, "nothing.py", (), timeout_s=20)
    except (NotConfined, OutOfTime, OSError) as error:
        return str(error) or type(error).__name__
    return None


def run_script(files: Mapping[str, bytes], script: str, arguments: Sequence[str], *, timeout_s: float) -> Ran:
    """Run one of these files with these arguments. Raises NotConfined, OutOfTime, TooMuchOutput."""
    until = time.monotonic() + timeout_s
    with tempfile.TemporaryDirectory(prefix="skill-", ignore_cleanup_errors=True) as folder:
        own, work = Path(folder).resolve() / "files", Path(folder).resolve() / "work"
        work.mkdir()
        for path, data in files.items():
            (own / path).parent.mkdir(parents=True, exist_ok=True)
            (own / path).write_bytes(data)
        told, status = os.pipe()
        try:
            request = {
                "status": status,
                "files": str(own),
                "work": str(work),
                "script": script,
                "arguments": list(arguments),
                "readable": [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), *_SYSTEM],
                "timeout_s": math.ceil(timeout_s),
                "memory_bytes": _MEMORY_BYTES,
                "file_bytes": _FILE_BYTES,
            }
            with subprocess.Popen(  # noqa: S603 - this interpreter and a file of ours; the rest is data on its input
                [sys.executable, "-I", "-S", str(PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=work,
                env={"LANG": "C.UTF-8", "HOME": str(work), "TMPDIR": str(work)},
                pass_fds=(status,),
                start_new_session=True,
            ) as child:
                os.close(status)
                status = -1
                ran = _followed(child, json.dumps(request).encode(), told, Bounds(until, work))
        finally:
            os.close(told)
            if status >= 0:
                os.close(status)
    # The folder's name is another one each time, and nobody's business.
    return Ran(ran.exit_code, *(text.replace(f"{own}/", "") for text in ran[1:]))


class Bounds(NamedTuple):
    """Until when a script may run, and the folder that it may fill up to a measure."""

    until: float
    work: Path

    def check(self) -> None:
        """Raises OutOfTime, TooMuchOutput."""
        if time.monotonic() >= self.until:
            raise OutOfTime
        files = folder_bytes = 0
        for above, _, names in os.walk(self.work):
            for name in names:
                with suppress(OSError):  # it is gone again
                    folder_bytes += os.lstat(os.path.join(above, name)).st_blocks * 512  # noqa: PTH118 - many, and often
            files += len(names) + 1
            if files > _MOST_FILES or folder_bytes > _MOST_FOLDER_BYTES:
                raise TooMuchOutput


def _followed(child: subprocess.Popen[bytes], request: bytes, told: int, bounds: Bounds) -> Ran:
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    try:
        try:
            child.stdin.write(request)  # less than a pipe holds, so it does not wait for the child
            child.stdin.close()
        except OSError:
            raise NotConfined("the process ended before it was confined") from None
        most = {told: 500, child.stdout.fileno(): MOST_OUTPUT_BYTES, child.stderr.fileno(): _MOST_ERROR_BYTES}
        read = _read(most, child.stderr.fileno(), bounds)
        said = read[told].decode(errors="replace")
        if said != READY:
            reason = said.removeprefix(f"{REFUSED}: ") or "the process ended before it was confined"
            raise NotConfined(reason)
        while child.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                bounds.check()
                child.wait(_LOOK_S)
        output, errors = (bytes(read[pipe.fileno()]) for pipe in (child.stdout, child.stderr))
        return Ran(child.returncode, output.decode(errors="replace"), errors.decode(errors="replace"))
    finally:
        end_process(child.pid)


def _read(most: Mapping[int, int], errors: int, bounds: Bounds) -> dict[int, bytearray]:
    """All that comes out of some pipes until each is closed. Of errors the beginning is kept. Raises OutOfTime,
    TooMuchOutput."""
    read = {pipe: bytearray() for pipe in most}
    open_ = set(most)
    looked = -math.inf
    while open_:
        if (now := time.monotonic()) - looked >= _LOOK_S:
            bounds.check()
            looked = now
        ready, _, _ = select(list(open_), [], [], _LOOK_S)
        for pipe in ready:
            part = os.read(pipe, _READ_BYTES)
            if not part:
                open_.discard(pipe)
            read[pipe] += part
            if len(read[pipe]) > most[pipe]:
                if pipe != errors:
                    raise TooMuchOutput
                del read[pipe][most[pipe] :]
    return read

"""The engine's own tool `read_result`: a stored result that was too long for a request, read page by page.

It is offered where a domain's decision table names it. What it brings is untrusted, whoever wrote it first: a page is
cut out of its fields, and only the contract of the tool that brought it says which of those are ours.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, JsonValue

from graph.stores.engine import batched
from nodes.execute.filing import WHOLE
from state.contract import Effect, FailureMode, OutputField
from state.domain import Domain
from state.ports import ArtifactGone, Artifacts, DecisionLog
from state.run import Scope
from state.tools import Tool, ToolContext, ToolError, tool

READ_RESULT = "read_result"
RESULT = "result"  # the kind of resource that a result's name is

MAX_BYTES = 8_000
_ENVELOPE = 200  # bytes of a page that are not its text: names, numbers, brackets
_AROUND = 300  # characters shown on both sides of what was looked for
_BETWEEN = "\n[...]\n"
_OURS = ("tool", "artifact_ref")  # what execute writes into every body

ResultName = Annotated[
    str,
    Field(pattern=r"^toolrun://[!-~]{1,200}$", description="The artifact_ref of a result that this conversation has."),
]
Page = Annotated[int, Field(ge=1, le=100_000, description="Which page, from 1.")]
Find = Annotated[
    str | None, Field(min_length=1, max_length=200, description="Show only the parts around this text, in any case.")
]


def is_offered(domain: Domain) -> bool:
    """Whether a decision of the domain's table names the tool."""
    return any(READ_RESULT in spec.tools for spec in domain.table.specs)


def with_read_result(domain: Domain, artifacts: Artifacts, log: DecisionLog) -> Domain:
    """The domain with the tool and the kind of resource it reads, where its table offers the tool; else as it is.

    Whoever may call any of the domain's tools may read on in what they brought.
    """
    if not is_offered(domain):
        return domain
    allowed = {each.contract.name: each.contract.roles for each in domain.tools}
    reader = ResultReader(artifacts, log, allowed)
    roles = tuple(sorted({role for names in allowed.values() for role in names}))
    return replace(
        domain,
        tools=(*domain.tools, reader.tool(roles)),
        resources={**domain.resources, RESULT: reader.owns},
    )


class ResultReader:
    """Reads results by their public names. `allowed` has the roles that may call each tool."""

    def __init__(self, artifacts: Artifacts, log: DecisionLog, allowed: Mapping[str, tuple[str, ...]]) -> None:
        self._artifacts, self._log, self._allowed = artifacts, log, allowed

    def owns(self, scope: Scope, name: str) -> bool:
        """Whether a record of this thread, on any branch, has a result of that name that the principal may see.

        What a tool brought that the principal may not call any more looks like a name that was never given.
        """
        log, tenant, thread = self._log, scope.tenant, scope.thread
        for names in batched(log.names(tenant, thread)):
            for record in log.get_all(tenant, thread, names):
                for seen in record.observations:
                    if seen.artifact_ref == name:
                        roles = {*self._allowed.get(seen.tool, ())}
                        return not roles.isdisjoint(scope.principal.roles)
        return False

    def tool(self, roles: tuple[str, ...]) -> Tool:
        """The tool, for principals with one of these roles."""

        @tool(
            effect=Effect.READ,
            roles=roles,
            resources={"artifact_ref": RESULT},
            idempotent=True,
            output=(
                OutputField(name="page", trust="system", json_schema={"type": "integer"}, required=True),
                OutputField(name="pages", trust="system", json_schema={"type": "integer"}, required=True),
                OutputField(name="whole_bytes", trust="system", json_schema={"type": "integer"}, required=True),
                OutputField(name="matches", trust="system", json_schema={"type": "integer"}),
                OutputField(name="text", json_schema={"type": "string"}, required=True),
            ),
            failures=(
                FailureMode(code="not_found"),
                FailureMode(code="erased"),
                FailureMode(code="no_such_page"),
            ),
            max_bytes=MAX_BYTES,
        )
        def read_result(
            context: ToolContext, *, artifact_ref: ResultName, page: Page = 1, find: Find = None
        ) -> dict[str, Any] | None:
            """Read an earlier result that was cut, one page at a time, or only the parts around a text.

            Errors: `not_found`, `erased`, `no_such_page`. Nothing, where the text to find does not occur.
            """
            if not self.owns(context.scope, artifact_ref):
                raise ToolError("not_found", "this conversation has no result of that name")
            whole = readable(self._body(context.scope.tenant, artifact_ref))
            shown: dict[str, Any] = {"whole_bytes": _bytes(whole)}
            if find is not None:
                whole, shown["matches"] = around(whole, find)
                if not whole:
                    return None
            cut = pages(whole, MAX_BYTES - _ENVELOPE)
            number = int(page)  # a schema's integer may come as 2.0
            if number > len(cut):
                raise ToolError("no_such_page", f"there are {len(cut)} pages")
            return {"page": number, "pages": len(cut), **shown, "text": cut[number - 1]}

        return read_result

    def _body(self, tenant: str, name: str) -> str:
        """The whole body where the result was cut, else the result itself: it was shown in full."""
        found = self._artifacts.resolved(tenant, (name + WHOLE, name))
        try:
            return self._artifacts.get(tenant, found.get(name + WHOLE) or found[name])
        except (ArtifactGone, KeyError):
            raise ToolError("erased", "what this result brought was erased") from None


def readable(body: str) -> str:
    """A stored body as lines: a field each, its text as it is; of a list, an element each. Other text stays itself."""
    try:
        fields = json.loads(body)
    except ValueError:
        return body
    if not isinstance(fields, dict):
        return body
    return "\n".join(line for name, value in fields.items() if name not in _OURS for line in _lines(name, value))


def _lines(name: str, value: JsonValue) -> Iterator[str]:
    if isinstance(value, list):
        yield f"{name}:"
        yield from (json.dumps(each, ensure_ascii=False) for each in value)
    else:
        yield f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"


def pages(text: str, most: int) -> list[str]:
    """The text in pages of at most so many bytes as JSON, cut after a line, or after a character of a longer one.

    Joined they are the text again. An empty text is one empty page.
    """
    made, page, size = [], "", 0
    for line in text.splitlines(keepends=True):
        for part in _parts(line, most):
            own = _bytes(part, _as_json)
            if page and size + own > most:
                made.append(page)
                page, size = "", 0
            page, size = page + part, size + own
    return [*made, page] if page or not made else made


def _parts(line: str, most: int) -> Iterator[str]:
    start = 0
    while start < len(line):
        end = min(len(line), start + most)
        while (size := _bytes(line[start:end], _as_json)) > most:
            end = start + max(1, (end - start) * most // size)
        yield line[start:end]
        start = end


def around(text: str, find: str) -> tuple[str, int]:
    """The parts of a text around each place where something stands, and how many places there are."""
    found = [match.span() for match in re.finditer(re.escape(find), text, re.IGNORECASE)]
    spans: list[tuple[int, int]] = []
    for start, end in ((max(0, first - _AROUND), last + _AROUND) for first, last in found):
        if spans and start <= spans[-1][1]:
            start = spans.pop()[0]
        spans.append((start, end))
    return _BETWEEN.join(text[start:end] for start, end in spans), len(found)


def _as_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _bytes(text: str, written: Callable[[str], str] = str) -> int:
    return len(written(text).encode("utf-8", "surrogatepass"))

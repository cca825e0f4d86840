"""Which routes of a server are served: those named here, and no other (X10).

A LangGraph server brings routes that its own authentication does not stand before: in memory, for one, some that show
any thread, empty the store or start a deployment. What a later release adds is not served until it is named here.
"""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

SERVED = frozenset(("approvals", "assistants", "docs", "info", "ok", "openapi.json", "runs", "threads"))
_POLICY_VIOLATION = 1008


class OnlyServed:
    """Answers 404 for a path whose first part is not served, before anything else of the server sees it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"].removeprefix("/").partition("/")[0] in SERVED:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            await JSONResponse({"detail": "Not Found"}, status_code=404)(scope, receive, send)

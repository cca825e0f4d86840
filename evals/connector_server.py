"""An MCP server that plays its part of a case: what it lists and brings stands in its argument.

It runs by path in an interpreter of its own, and imports nothing but the standard library.
"""

import json
import os
import sys
import time
from typing import Any

CALLED = ("hangs", "crashes", "garbles")  # how a call may go, beside well


def main() -> None:
    """Answer line by line. The argument is JSON: `how` calls go, and `tools` with `listed`, `later` and `shows`."""
    play = json.loads(sys.argv[1])
    lists = 0
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        answer: dict[str, Any]
        match message["method"]:
            case "initialize":
                version, info = message["params"]["protocolVersion"], {"name": "case", "version": "1"}
                answer = {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
            case "tools/list":
                lists += 1
                answer = {"result": {"tools": [_listed(tool, lists) for tool in play["tools"]]}}
            case "tools/call":
                answer = {"result": _called(play, message["params"])}
            case _:
                answer = {"error": {"code": -32601, "message": "no such method"}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}) + "\n")
        sys.stdout.flush()


def _listed(tool: dict[str, Any], times: int) -> dict[str, Any]:
    later = {"description": tool["later"]} if tool["later"] and times > 1 else {}
    return {**tool["listed"], **later}


def _called(play: dict[str, Any], called: dict[str, Any]) -> dict[str, Any]:
    match play["how"]:
        case "hangs":
            time.sleep(600)
        case "crashes":
            os._exit(1)
        case "garbles":
            sys.stdout.write("no message\n" * 200)
    shows = next(tool["shows"] for tool in play["tools"] if tool["listed"]["name"] == called["name"])
    brought = {**called["arguments"], **shows}
    return {"content": [{"type": "text", "text": json.dumps(brought)}], "structuredContent": brought}


if __name__ == "__main__":
    main()

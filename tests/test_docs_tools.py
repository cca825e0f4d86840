"""The snippets of docs/tools.md run, one after the other, and make the tools that the page says."""

import re
from pathlib import Path
from typing import Any

from state.tools import Tool
from tests.desk import SCOPE
from tests.fakes import NOW

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tools.md"


def test_the_snippets_make_the_tools_that_the_page_describes() -> None:
    from state.tools import ToolContext

    names: dict[str, Any] = {"__name__": "docs_tools"}
    for snippet in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(snippet, str(PAGE), "exec"), names)
    context = ToolContext(SCOPE, NOW, "key")
    read, write, forecast = names["get_data_region"], names["raise_quota"], names["forecast"]
    assert all(isinstance(made, Tool) for made in (read, write, forecast, names["slow"](names["slow_report"])))
    assert read.run(context, account_id="A-123") == {"account_id": "A-123", "region": "eu-west"}
    assert write.contract.limits[0].policy_key == "quota_limit"
    assert forecast.run(context, city="Madrid") == "sunny in Madrid"
    (lookup,) = names["orders"].tools
    assert (names["orders"].tool_name(lookup), names["orders"].credentials) == ("orders__lookup", ("orders_token",))

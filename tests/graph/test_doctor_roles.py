"""The doctor tells of a tool that nobody may call."""

from dataclasses import replace
from pathlib import Path

import pytest

from graph.doctor import Missing, _principals
from graph.domain_loading import load_domain
from state.tools import Tool
from tests.fakes import NOW, FakeClock
from tests.graph.conftest import settings


def test_a_tool_for_a_role_that_no_principal_has_is_told_with_the_roles_it_is_for(tmp_path: Path) -> None:
    domain = load_domain("domain", tmp_path, FakeClock(NOW))
    assert _principals(settings(tmp_path), domain)
    tool = domain.tools[0]
    mistyped = Tool(tool.contract.model_copy(update={"roles": ("custommer",)}), tool.run)
    with pytest.raises(Missing, match=r"nobody may call check_api_key_status; .*custommer"):
        _principals(settings(tmp_path), replace(domain, tools=(mistyped,)))

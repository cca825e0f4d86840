"""execute and credentials (X7): a tool is given what its contract declares; nothing of it is stored."""

from typing import Any

import pytest

from state.tools import SecretNotDeclared, ToolContext, ToolError
from tests.fakes import FakeSecrets
from tests.nodes.executing import REFUND, allowed, body, executed
from tests.nodes.parts import Parts

VALUE = "demo-cred-4471-QWER"


@pytest.fixture
def parts() -> Parts:
    made = Parts()
    made.secrets = FakeSecrets(billing_api=VALUE)
    return made


def result(parts: Parts, tool: str, run: Any, arguments: Any, **contract: Any) -> Any:
    """The observation of a tool that is given one credential."""
    parts.desk.replace(tool, run, **{"secrets": ("billing_api",), **contract})
    calls = parts.act(("c1", tool, arguments))
    (seen,) = executed(parts, calls, allowed(parts, tool, arguments))
    for stored in parts.artifacts.bodies.values():
        assert VALUE not in stored
    return seen


def test_the_tool_receives_the_value_and_the_result_holds_its_name(parts: Parts) -> None:
    def told(context: ToolContext, *, id: str) -> dict[str, Any]:
        value = context.secret("billing_api").get_secret_value()
        assert value == VALUE
        return {"invoice": f"got {value}", "total": {value: [value]}, "memo": value.encode()}

    seen = result(parts, "get_invoice", told, {"id": "INV-9"})
    shown = body(parts, seen)
    assert shown["invoice"] == "got [secret billing_api]"
    assert shown["total"] == {"[secret billing_api]": ["[secret billing_api]"]}
    assert shown["memo"] == "[secret billing_api]"


@pytest.mark.parametrize("length", range(20, 60, 7))
def test_a_value_is_masked_before_a_long_text_is_cut(parts: Parts, length: int) -> None:
    def told(context: ToolContext, *, id: str) -> dict[str, Any]:
        return {"invoice": "x" * length + context.secret("billing_api").get_secret_value() + "y" * 80}

    shown = body(parts, result(parts, "get_invoice", told, {"id": "INV-9"}, max_bytes=90))
    assert not any(VALUE[at : at + 6] in str(shown) for at in range(len(VALUE) - 5))


@pytest.mark.parametrize("kind", [ToolError, RuntimeError])
def test_an_exception_leaves_its_kind_and_no_value(parts: Parts, kind: type[Exception]) -> None:
    def fails(context: ToolContext, *, id: str) -> dict[str, Any]:
        raise kind(f"refused {context.secret('billing_api').get_secret_value()}")

    seen = result(parts, "get_invoice", fails, {"id": "INV-9"})
    assert seen.outcome == "error"
    assert seen.code == ("tool_error" if kind is ToolError else "tool_failed:RuntimeError")


def test_what_is_not_declared_is_refused(parts: Parts) -> None:
    def asks(context: ToolContext, *, id: str) -> dict[str, Any]:
        return {"invoice": context.secret("billing_api").get_secret_value()}

    assert result(parts, "get_invoice", asks, {"id": "INV-9"}, secrets=()).code == "tool_failed:SecretNotDeclared"


def test_a_context_without_a_resolver_gives_none(parts: Parts) -> None:
    context = ToolContext(scope=parts.scope, now=parts.clock.now(), idempotency_key="k")
    with pytest.raises(SecretNotDeclared, match="'billing_api'"):
        context.secret("billing_api")
    assert "resolve" not in repr(context)


def test_an_effect_without_its_credential_is_not_claimed(parts: Parts, caplog: pytest.LogCaptureFixture) -> None:
    parts.secrets = FakeSecrets()

    def never(context: ToolContext, **_: Any) -> dict[str, Any]:
        raise AssertionError("it was called")

    seen = result(parts, "refund", never, REFUND)
    assert (seen.outcome, seen.code) == ("error", "secret_missing")
    assert parts.ledger.held == {}
    assert "EXPEDIENTE_TOOL_SECRET_BILLING_API" in caplog.text


def test_an_effect_that_was_done_is_told_also_without_its_credential(parts: Parts) -> None:
    def refunds(context: ToolContext, *, order: str, amount: float) -> dict[str, Any]:
        return {"order": order, "amount": amount}

    done = result(parts, "refund", refunds, REFUND)
    parts.secrets = FakeSecrets()
    (again,) = executed(parts, parts.act(("c1", "refund", REFUND)), allowed(parts, "refund", REFUND))
    assert again == done

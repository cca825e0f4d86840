"""H21 through the real dev server and the SDK: what a hostile model server says reaches no client, no log, no store."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from graph.stores.engine import open_database
from graph.stores.records import SqlDecisionLog
from tests.graph.dev_server import DevServer, asked, dev_server
from tests.graph.models.hostile import KEY, LEAK, QUESTION, calls, written
from tests.graph.models.stub_server import serving
from tests.graph.models.test_h21_hostile_server import HOSTILE
from tests.graph.stored_bytes import stored

pytestmark = pytest.mark.timeout(300)
# It is given up after the settings' time, which the others must not run into however busy the machine is.
SLOW = {"drips"}


class Running:
    """A server whose model answers what a test puts here."""

    def __init__(self) -> None:
        self.answer = written("")
        self.server: DevServer
        self.client: SyncLangGraphClient

    def told(self, thread: str) -> tuple[list[Any], Any]:
        """All that a client's stream of one run says, in every mode, and what the thread is then."""
        modes: Any = ["values", "updates", "custom", "messages-tuple", "events", "debug"]
        stream = self.client.runs.stream(thread, "expediente", input=asked(QUESTION), stream_mode=modes)
        parts = [(part.event, part.data) for part in stream]
        return parts, self.client.threads.get_state(thread)

    def wrote(self) -> bytes:
        """Everything that the server printed and stored until now."""
        own = (file for file in (self.server.folder / ".langgraph_api").rglob("*") if file.is_file())
        stores = (data for _, data in stored(self.server.home, but=frozenset({"library"})))
        return b"".join((self.server.written().encode(), *stores, *(file.read_bytes() for file in own)))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    made, folder = Running(), Path(tmp_path_factory.mktemp("hostile"))
    with serving(lambda number: made.answer) as stub:
        settings: dict[str, Any] = {
            "EXPEDIENTE_MODEL": "openai",
            "EXPEDIENTE_OPENAI_MODEL": "hostile",
            "EXPEDIENTE_OPENAI_API_KEY": KEY,
            "EXPEDIENTE_OPENAI_BASE_URL": stub.url,
            "EXPEDIENTE_MODEL_MODES": '["text"]',
            "EXPEDIENTE_MODEL_RETRIES": "0",
            "EXPEDIENTE_MODEL_TIMEOUT_S": "20",
        }
        with dev_server(folder, **settings) as server, get_sync_client(url=server.url) as client:
            made.server, made.client = server, client
            yield made


@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in SLOW])
def test_a_hostile_reply_ends_the_run_and_is_told_to_nobody(running: Running, name: str) -> None:
    running.answer, _ = HOSTILE[name]
    thread = running.client.threads.create()["thread_id"]
    parts, state = running.told(thread)
    assert state["values"]["task"]["status"] == "failed"
    assert not [data for event, data in parts if event == "error"]
    told = json.dumps([parts, state], default=str).encode() + running.wrote()
    assert KEY.encode() not in told
    assert LEAK.encode() not in told
    assert b"Traceback" not in told


def test_an_effect_that_nobody_opened_is_not_done(running: Running) -> None:
    running.answer = written(calls(("rotate_api_key", {"key_id": "K-1007"})))
    thread = running.client.threads.create()["thread_id"]
    _, state = running.told(thread)
    database = open_database(running.server.home / "expediente.db")
    records = SqlDecisionLog(database.everyday).chain("acme", thread, state["values"]["head"])
    database.close()
    assert records
    assert [record.observations for record in records] == [()] * len(records)

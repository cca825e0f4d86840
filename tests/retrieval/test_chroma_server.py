"""The dense branch on a Chroma server of its own process: two libraries' processes share it, and the laws hold."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from retrieval import chroma_client
from retrieval.faults import EmbedderMismatch, StoreUnavailable
from retrieval.library import Library
from tests.fakes_retrieval import WordEmbedder
from tests.retrieval.conftest import NOW, access, both, document
from tests.retrieval.test_library import OtherEmbedder


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


class Server:
    """A Chroma server in a process of its own, at one address; it can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        program = Path(sys.executable).parent / "chroma"
        place = ["--path", str(folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self._command = [str(program), "run", *place]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", self.port)) == 0:
                    break
            time.sleep(0.1)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("server"))
    yield started
    started.kill()


@pytest.fixture(scope="module")
def library(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("on-server")
    document(folder / "corpus", "open.md", "# Keys\n\nkeys for all\n")
    document(folder / "corpus", "hr.md", "# Keys\n\nkeys for hr\n", acl="[hr]")
    document(folder / "corpus", "foreign.md", "# Keys\n\nkeys of another\n", tenant="t2")
    with Library.open(folder / "library", WordEmbedder(), chroma_url=server.url) as opened:
        assert not opened.ingest(folder / "corpus", NOW).broken
        yield opened


def test_the_access_holds_on_a_server(library: Library) -> None:
    assert both(library, "keys", access()) == ({"open@v1"}, {"open@v1"})
    assert both(library, "keys", access(("hr",))) == ({"open@v1", "hr@v1"}, {"open@v1", "hr@v1"})
    assert both(library, "keys", access(tenant="t2")) == ({"foreign@v1"}, {"foreign@v1"})
    assert not (library.folder / "dense").exists()


def test_access_taken_away_is_gone_at_once(library: Library) -> None:
    corpus = library.folder.parent / "corpus"
    document(corpus, "hr.md", "# Keys\n\nkeys for hr\n", acl="[boss]")
    library.ingest(corpus, NOW)
    assert both(library, "keys", access(("hr",))) == ({"open@v1"}, {"open@v1"})


def test_another_reader_sees_what_was_written(library: Library, server: Server) -> None:
    with Library.open(library.folder, WordEmbedder(), chroma_url=server.url) as other:
        seen = both(other, "keys", access())
    assert seen == both(library, "keys", access()) == ({"open@v1"}, {"open@v1"})


def test_another_embedder_is_refused_at_opening(library: Library, server: Server, tmp_path: Path) -> None:
    with pytest.raises(EmbedderMismatch):
        Library.open(library.folder, OtherEmbedder(), chroma_url=server.url)


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no Chroma server answers at"):
        Library.open(tmp_path / "library", WordEmbedder(), chroma_url="http://127.0.0.1:9")


def test_a_server_that_hangs_is_not_waited_for_without_end(
    library: Library, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma_client, "ANSWER_S", 0.5)
    with Library.open(library.folder, WordEmbedder(), chroma_url=server.url) as other:
        server.process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(StoreUnavailable, match=r"does not answer any more \(timed out\)"):
                other.index.search("keys", access(), 5)
        finally:
            server.process.send_signal(signal.SIGCONT)
        assert len(other.index.search("keys", access(), 5).hits) == 1


def test_a_server_that_dies_in_the_middle_is_one_clear_error_and_its_return_mends_all(
    library: Library, server: Server
) -> None:
    corpus = library.folder.parent / "corpus"
    [hit] = library.index.search("keys", access(), 5).hits
    server.kill()
    document(corpus, "open.md", "# Keys\n\nother keys\n")
    attempts: list[Callable[[], object]] = [
        lambda: library.index.search("keys", access(), 5),
        lambda: library.index.nearness(["keys"], [hit.chunk]),
        lambda: library.ingest(corpus, NOW),
    ]
    for attempt in attempts:
        with pytest.raises(StoreUnavailable, match=r"^dense index: the Chroma server does not answer any more .*; s"):
            attempt()
    [kept] = library.lexical.search("keys", access(), 5).hits
    assert kept.chunk == hit.chunk
    server.start()
    assert library.index.search("keys", access(), 5).hits == (hit,)
    assert library.ingest(corpus, NOW).count("changed") == 1
    assert [one.chunk.text for one in library.index.search("keys", access(), 5).hits] == ["# Keys\n\nother keys\n"]

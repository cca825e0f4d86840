"""The dense branch on a Chroma server of its own process: two libraries' processes share it, and the laws hold."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from retrieval.faults import EmbedderMismatch, StoreUnavailable
from retrieval.library import Library
from tests.fakes_retrieval import WordEmbedder
from tests.retrieval.conftest import NOW, access, both, document
from tests.retrieval.test_library import OtherEmbedder


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port, folder = _free_port(), tmp_path_factory.mktemp("server")
    chroma = Path(sys.executable).parent / "chroma"
    command = [str(chroma), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(600):
                with socket.socket() as asked:
                    if asked.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def library(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("on-server")
    document(folder / "corpus", "open.md", "# Keys\n\nkeys for all\n")
    document(folder / "corpus", "hr.md", "# Keys\n\nkeys for hr\n", acl="[hr]")
    document(folder / "corpus", "foreign.md", "# Keys\n\nkeys of another\n", tenant="t2")
    with Library.open(folder / "library", WordEmbedder(), chroma_url=server) as opened:
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


def test_another_reader_sees_what_was_written(library: Library, server: str) -> None:
    with Library.open(library.folder, WordEmbedder(), chroma_url=server) as other:
        seen = both(other, "keys", access())
    assert seen == both(library, "keys", access()) == ({"open@v1"}, {"open@v1"})


def test_another_embedder_is_refused_at_opening(library: Library, server: str, tmp_path: Path) -> None:
    with pytest.raises(EmbedderMismatch):
        Library.open(library.folder, OtherEmbedder(), chroma_url=server)


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no Chroma server answers at"):
        Library.open(tmp_path / "library", WordEmbedder(), chroma_url="http://127.0.0.1:9")

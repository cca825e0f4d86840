"""A branch taken out of the search: the other one still finds, whatever it asks of the missing one."""

from pathlib import Path

from evals.ablations import FindsNothing
from retrieval.gather import Searcher
from retrieval.library import Library
from tests.fakes_retrieval import WordEmbedder
from tests.retrieval.conftest import NOW, access, document


def test_without_a_branch_the_other_one_finds(corpus: Path, tmp_path: Path) -> None:
    document(corpus, "keys.md", "# Keys\n\nA revoked key.\n")
    with Library.open(tmp_path / "library", WordEmbedder()) as library:
        library.ingest(corpus, NOW)
        for searcher in (Searcher(FindsNothing(), library.lexical), Searcher(library.index, FindsNothing())):
            [found] = searcher.gather({"revoked key": 1.0}, access(), 3).fused
            assert found.chunk.document_id == "keys"

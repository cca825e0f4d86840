"""The embedders that are shipped, opened by name."""

from enum import StrEnum

from retrieval.embed import MiniLM
from retrieval.faults import EmbedderUnavailable
from state.search import Embedder


class EmbedderName(StrEnum):
    """Who turns texts into vectors. Another one needs a library ingested anew."""

    MINILM = "minilm"
    MULTILINGUAL = "multilingual"
    OPENAI = "openai"
    SBERT = "sbert"


def open_embedder(
    name: EmbedderName, *, model: str | None, dimension: int | None, base_url: str | None, api_key: str
) -> Embedder:
    """The embedder of that name. Raises EmbedderUnavailable, naming the setting that is missing."""
    match name:
        case EmbedderName.MINILM:
            return MiniLM()
        case EmbedderName.MULTILINGUAL:
            from retrieval.embed_multilingual import MultilingualE5

            return MultilingualE5()
        case EmbedderName.OPENAI:
            from retrieval.embed_openai import OpenAIEmbedder

            if not (model and dimension and base_url):
                raise EmbedderUnavailable(
                    "the embedder openai needs EXPEDIENTE_EMBEDDER_MODEL, EXPEDIENTE_EMBEDDER_DIMENSION and "
                    "EXPEDIENTE_OPENAI_BASE_URL; set all three"
                )
            return OpenAIEmbedder(base_url, model, dimension, api_key)
        case EmbedderName.SBERT:
            from retrieval.embed_sbert import SbertEmbedder

            if not model:
                raise EmbedderUnavailable("the embedder sbert needs EXPEDIENTE_EMBEDDER_MODEL: a hub name or a folder")
            return SbertEmbedder(model)

"""Rerankers: implementations of state.ports.Reranker, opened by name."""

from retrieval.ranking import RerankerName
from state.search import Reranker


def open_reranker(name: RerankerName) -> Reranker | None:
    """The reranker of that name, None for none. Raises RerankerUnavailable where its extra is not installed."""
    match name:
        case RerankerName.NONE:
            return None
        case RerankerName.MAXSIM:
            from retrieval.rerank.maxsim import MaxSim

            return MaxSim()
        case RerankerName.CROSS_ENCODER:
            from retrieval.rerank.cross_encoder import CrossEncoderReranker

            return CrossEncoderReranker()

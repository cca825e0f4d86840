"""Labels checked before anything is searched: one that names nothing would make every ranking look equally bad."""

from sqlalchemy import select

from evals.retrieval_bench.corpora import LabelledSet
from evals.retrieval_bench.labelled import LabelledWrong
from retrieval.access import microseconds
from retrieval.library import Library
from retrieval.tables import chunks
from state.run import Access


def check_labels(labelled: LabelledSet) -> None:
    """Raises LabelledWrong for a label that names no document or section that its asker may read now."""
    names: dict[str, set[str]] = {}
    for one, access in labelled.questions:
        key = access.model_dump_json()
        if key not in names:
            names[key] = _names(labelled.library, access)
        unknown = [label for label in one.relevant if label not in names[key]]
        if unknown:
            raise LabelledWrong(
                f"{one.question!r}: got {', '.join(unknown)}; allowed: a document (`manual/setup`) or a section "
                "(`manual/setup@v7#first-start`) that who asks may read now; correct it, or ingest what is missing"
            )


def _names(library: Library, access: Access) -> set[str]:
    """The documents in force, and their sections."""
    entries = [
        entry
        for entry in library.catalogue.admitted(access)
        if entry.window.out_of_force(microseconds(access.now)) is None
    ]
    query = select(chunks.c.chunk_id).where(chunks.c.generation.in_([entry.generation for entry in entries]))
    with library.catalogue.engine.connect() as connection:
        ids = list(connection.execute(query).scalars())
    readable = library.catalogue.readable(ids, access).chunks.values()
    return {entry.document_id for entry in entries} | {chunk.source.partition("~")[0] for chunk in readable}

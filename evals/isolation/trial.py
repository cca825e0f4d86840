"""The property: whatever was written, revoked and asked, nothing foreign is even a candidate."""

import random
from itertools import islice
from pathlib import Path

from evals.isolation.counting import Seen, counted
from evals.isolation.world import START, World
from retrieval.gather import Searcher
from retrieval.library import Library
from state.run import Access
from state.search import Embedder
from state.value import Value

ROUNDS = 5


class Trial(Value):
    """What was tried and found. `foreign` and `hidden` must be 0: chunks of a document that the caller may not read,
    among what a store gave, a branch found, was fused or was named as excluded; and documents that may be read and were
    not found although more were asked for than there are."""

    seed: int
    queries: int
    store_reads: int
    candidates: int
    foreign: int
    hidden: int


def trial(folder: Path, embedder: Embedder, *, queries: int, documents: int = 120, seed: int = 0) -> Trial:
    """Ask so many queries in rounds, with a changed and re-ingested world before each."""
    world = World(folder / "corpus", random.Random(seed))
    world.folder.mkdir(parents=True)
    world.grow(documents)
    seen, tally = Seen(), {"reads": 0, "candidates": 0, "foreign": 0, "hidden": 0}
    with Library.open(folder / "library", embedder) as library:
        counted(library, seen)
        for _ in range(ROUNDS):
            library.ingest(world.folder, START)
            for access in islice(world.accesses(), queries // ROUNDS):
                _ask(library, world, access, seen, tally)
            world.change(documents // 6)
            world.grow(documents // 20)
    return Trial(
        seed=seed,
        queries=queries // ROUNDS * ROUNDS,
        store_reads=tally["reads"],
        candidates=tally["candidates"],
        foreign=tally["foreign"],
        hidden=tally["hidden"],
    )


def _ask(library: Library, world: World, access: Access, seen: Seen, tally: dict[str, int]) -> None:
    target = world.chance.choice(sorted(world.stored))
    query = world.chance.choice(["keys", f"keys {world.stored[target].word}", world.stored[target].word])
    k = world.chance.choice([1, 5, 2 * len(world.stored)])
    seen.forget()
    gathered = Searcher(library.index, library.lexical).gather({query: 1.0}, access, k)
    allowed = {name for name, one in world.stored.items() if one.may_be_read(access)}
    found = {one.chunk.document_id for one in gathered.fused}
    # By id alone it cannot be told whose a chunk is: the catalogue says it, whatever the access.
    given = library.catalogue.documents_of(sorted(seen.ids))
    named = {excluded.source.partition("@")[0] for excluded in gathered.excluded}
    # A version may be named that is out of force and otherwise the caller's own.
    foreign = (found | given) - allowed | {name for name in named if not _ever(world, name, access)}
    tally["foreign"] += len(foreign)
    tally["hidden"] += len(allowed - found) if k > len(world.stored) and query != world.stored[target].word else 0
    tally["reads"] += seen.reads
    tally["candidates"] += len(seen.ids)


def _ever(world: World, name: str, access: Access) -> bool:
    one = world.stored[name]
    return one.may_be_read(access.model_copy(update={"now": START.replace(day=one.start + 1)}))

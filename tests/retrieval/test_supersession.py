"""Ends of versions, computed commit by commit, are those that all rows together give."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.access import FOREVER_US, microseconds
from retrieval.catalogue import Catalogue
from retrieval.document import Document, FrontMatter
from retrieval.publish import Edition, Held, Publisher
from retrieval.tables import open_catalogue
from tests.retrieval.conftest import NOW

DAY_0 = datetime(2026, 1, 1, tzinfo=UTC)


@st.composite
def fronts(draw: st.DrawFn) -> FrontMatter:
    name, version = draw(st.sampled_from("abc")), draw(st.sampled_from("123"))
    old = draw(st.lists(st.sampled_from(["1", "2", "a@1", "b@2", "c@3"]), max_size=2))
    begins = DAY_0 + timedelta(days=draw(st.integers(0, 4)))
    ends = draw(st.none() | st.integers(1, 4).map(lambda days: begins + timedelta(days=days)))
    keys = {
        "id": name,
        "version": version,
        "tenant": "t1",
        "supersedes": [one for one in old if one not in {version, f"{name}@{version}"}],
        "effective_from": begins,
        "effective_to": ends,
    }
    return FrontMatter.model_validate(keys)


def expected(fronts_: list[FrontMatter]) -> dict[str, tuple[int, bool]]:
    """Until when each version is in force, and whether a successor ends it: from the rule, over all of them."""
    ends = {}
    for one in fronts_:
        source = f"{one.id}@{one.version}"
        successors = [
            other.effective_from
            for other in fronts_
            if (other.id == one.id and other.effective_from > one.effective_from)
            or source in other.supersedes
            or (other.id == one.id and one.version in other.supersedes)
        ]
        own = FOREVER_US if one.effective_to is None else microseconds(one.effective_to)
        first = min((microseconds(moment) for moment in successors), default=FOREVER_US)
        ends[source] = (min(own, first), first < own)
    return ends


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(fronts(), min_size=1, max_size=3, unique_by=lambda one: (one.id, one.version)), max_size=5))
def test_each_commit_leaves_the_ends_that_all_versions_together_give(commits: list[list[FrontMatter]]) -> None:
    with TemporaryDirectory() as folder:
        catalogue = Catalogue(open_catalogue(Path(folder) / "catalogue.db"))
        publisher = Publisher(catalogue.engine, "one")
        live: dict[tuple[str, str], FrontMatter] = {}
        for number, commit in enumerate(commits):
            fresh = {(one.id, one.version) for one in commit}
            others = [row for row in publisher.held() if (row.document_id, row.version) not in fresh]
            gone: list[Held] = others[: number % 2]
            editions = [
                Edition(
                    document=Document(front=one, file=f"{one.id}.md", text="text", body_start=0),
                    generation=f"{number}-{one.id}-{one.version}",
                    chunks=(),
                )
                for one in commit
            ]
            publisher.publish(editions, gone, "here", NOW)
            for row in gone:
                del live[row.document_id, row.version]
            live |= {(one.id, one.version): one for one in commit}
            ends = {row.source: (row.window.until_us, row.window.replaced) for row in catalogue.entries(["t1"])}
            assert ends == expected(list(live.values()))
        catalogue.close()

"""The contract of search backends: they follow the change log and answer queries.

class TestMine(SearchBackendContract):
    plugin = "search.mine"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import apsw
import attrs
import pytest

from claude_mem_core.plugins.index import scan
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.projects import Place
from claude_mem_core.store import Store, memories, projects
from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.testing.samples import NOW_MS
from claude_mem_core.types import (
    DocKind,
    Embedder,
    Found,
    Query,
    SearchBackend,
    SearchIndex,
    Trust,
    UsesEmbedders,
)

Remember = Callable[..., int]

ODD_WORDS = [
    '"',
    "'",
    "a AND",
    "NOT",
    "*",
    "x:y",
    "(",
    "a-b",
    "^a",
    "\0",
    "%_",
    "",
    "漢字",
    "\ud800",
]


@contextmanager
def opened_store(path: Path) -> Iterator[Store]:
    """A store, closed in the end; for tests of one's own."""
    opened = Store.open(path)
    try:
        yield opened
    finally:
        opened.close()


def installed_embedders() -> list[Embedder]:
    """Everything that is installed here and turns text into vectors."""
    found = Registry([entry for entry in scan() if entry.name.startswith("embedder.")])
    found.load(None)
    return list(found.records("mem_embedders", Embedder))


class SearchBackendContract(RecordContract[SearchBackend]):
    """Inherit and name the plugin."""

    hook: ClassVar[str] = "mem_search_backends"
    kind: ClassVar[type[Any]] = SearchBackend

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        """An empty store."""
        with opened_store(tmp_path / "memory.db") as opened:
            yield opened

    @pytest.fixture
    def search(
        self, record: SearchBackend, store: Store, values: Mapping[str, Any]
    ) -> SearchIndex:
        """The backend, opened on the store, with the embedders that are installed."""
        self._store = store
        opened = record.open(store, values)
        if isinstance(opened, UsesEmbedders):
            opened.use(installed_embedders())
        return opened

    @pytest.fixture
    def remember(self, store: Store) -> Remember:
        """Keeps one observation, `remember(title, text, project="shop")`, gives its id."""

        def keep(title: str, text: str, project: str = "shop") -> int:
            place = Place(key=f"/{project}", label=project, kind="git", root=f"/{project}")

            def write(conn: apsw.Connection) -> int:
                ref = projects.resolve(conn, place, NOW_MS)
                made = memories.save_manual(conn, title, text, ref, Trust.WORK, NOW_MS, {})
                return made.id

            return store.write(write).result(30)

        return keep

    def ask(self, search: SearchIndex, text: str, **filters: Any) -> list[int]:
        """Ids of the observations found, best first, with all changes taken in."""
        while search.feed(100):
            pass
        query = Query(text=text, kinds=(DocKind.OBSERVATION,), **filters)
        found = search.search(self._placed(query))
        assert isinstance(found, Found)
        assert 0 <= found.coverage <= 1
        assert found.method
        return [hit.id for hit in found.hits]

    def _placed(self, query: Query) -> Query:
        """`query` with the ids of its project, as the core asks."""
        if query.project is None:
            return query
        name = query.project
        ids = tuple(self._store.read(lambda conn: projects.find(conn, name)))
        return attrs.evolve(query, project_ids=ids)

    def test_an_empty_store_has_no_hits(self, search: SearchIndex) -> None:
        assert self.ask(search, "anything") == []

    def test_finds_what_was_kept(self, search: SearchIndex, remember: Remember) -> None:
        wanted = remember("Cart totals use Decimal", "Floats lost cents in the invoice")
        remember("Login page in German", "All labels are translated")
        assert self.ask(search, "invoice cents")[0] == wanted

    def test_follows_what_comes_later(self, search: SearchIndex, remember: Remember) -> None:
        first = remember("Cart totals use Decimal", "zanzibar")
        assert self.ask(search, "zanzibar") == [first]
        second = remember("Another one", "zanzibar as well")
        assert set(self.ask(search, "zanzibar")) == {first, second}
        assert search.feed(100) == 0

    def test_forgets_what_is_deleted(
        self, search: SearchIndex, remember: Remember, store: Store
    ) -> None:
        gone = remember("Cart totals use Decimal", "zanzibar")
        assert self.ask(search, "zanzibar") == [gone]
        delete = "DELETE FROM observations WHERE id = ?"
        store.write(lambda conn: conn.execute(delete, (gone,)).fetchall()).result(30)
        assert self.ask(search, "zanzibar") == []

    def test_stays_in_the_project(self, search: SearchIndex, remember: Remember) -> None:
        remember("Secret of another project", "zanzibar", project="bank")
        here = remember("Known here", "zanzibar", project="shop")
        assert self.ask(search, "zanzibar", project="shop") == [here]

    def test_keeps_to_the_limit(self, search: SearchIndex, remember: Remember) -> None:
        ids = [remember(f"Number {n}", f"zanzibar {n}") for n in range(5)]
        assert len(self.ask(search, "zanzibar", limit=2)) == 2
        assert set(self.ask(search, "zanzibar", limit=20)) == set(ids)

    def test_hits_are_best_first(self, search: SearchIndex, remember: Remember) -> None:
        for n in range(5):
            remember(f"Zanzibar {n}", "zanzibar " * (n + 1))
        while search.feed(100):
            pass
        scores = [hit.score for hit in search.search(Query(text="zanzibar")).hits]
        assert scores == sorted(scores, reverse=True)

    @pytest.mark.parametrize("text", ODD_WORDS)
    def test_no_character_is_an_operator(
        self, search: SearchIndex, remember: Remember, text: str
    ) -> None:
        remember("Cart totals use Decimal", "Floats lost cents")
        self.ask(search, text)

    def test_a_query_is_not_changed(self, search: SearchIndex) -> None:
        query = Query(text="zanzibar", files=("a.py",), concepts=("gotcha",))
        kept = attrs.evolve(query)
        search.search(query)
        assert query == kept

"""The word index follows the store, also after stops, edits, deletions and damage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from claude_mem_core.recall import feed, keyword
from claude_mem_core.recall.keyword import KeywordIndex
from claude_mem_core.testing.search import SearchBackendContract
from claude_mem_core.types import Query
from tests.recall_store import Filled


class TestKeyword(SearchBackendContract):
    plugin = "search.keyword"


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path)
    yield made
    made.close()


def ids(index: KeywordIndex, text: str) -> list[int]:
    return [hit.id for hit in index.search(Query(text=text)).hits]


def raw(filled: Filled, sql: str) -> None:
    """Change the file behind the store's back, as another program would."""
    conn = apsw.Connection(str(filled.store.path))
    conn.execute(sql)
    conn.close()


def test_edits_reach_the_index(filled: Filled) -> None:
    (made,) = filled.observe([{"title": "zanzibar"}])
    filled.execute("UPDATE observations SET title = 'madagascar' WHERE id = ?", made)
    assert ids(filled.index, "zanzibar") == []
    assert ids(filled.index, "madagascar") == [made]


def test_small_steps_and_coverage(filled: Filled) -> None:
    filled.index.feed(500)
    filled.observe([{"title": "first"}])
    filled.index = KeywordIndex(filled.store)
    sql = (
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99)"
        " INSERT INTO user_prompts (content_session_id, prompt_number, prompt_text,"
        " created_at, created_at_epoch) SELECT 'x', i, 'zanzibar', '', i FROM n"
    )
    filled.store.write(lambda conn: conn.execute(sql).fetchall()).result()
    assert filled.index.search(Query(text="zanzibar")).coverage == 0.01
    assert filled.index.feed(60) == 60
    found = filled.index.search(Query(text="zanzibar"))
    assert (found.coverage, len(found.hits), found.more) == (0.61, 20, True)
    assert filled.index.feed(500) == 39
    assert filled.index.feed(500) == 0
    assert filled.index.search(Query(text="zanzibar")).coverage == 1.0


def test_followed_changes_are_dropped(filled: Filled) -> None:
    filled.observe([{"title": f"row {n}"} for n in range(30)])
    assert filled.value("SELECT count(*) FROM changes") == 0
    filled.execute("INSERT INTO change_readers VALUES ('other', 30)")
    filled.observe([{"title": "one more"}])
    assert filled.value("SELECT count(*) FROM changes") == 1


def test_missed_changes_make_the_index_anew(filled: Filled) -> None:
    filled.observe([{"title": "zanzibar"}])
    raw(
        filled,
        "INSERT INTO user_prompts (content_session_id, prompt_number, prompt_text,"
        " created_at, created_at_epoch) VALUES ('s', 1, 'madagascar', '', 5);"
        " DELETE FROM changes",
    )
    filled.index = KeywordIndex(filled.store)
    filled.observe([{"title": "newer"}])
    assert ids(filled.index, "madagascar") == [1]
    assert ids(filled.index, "zanzibar") == [1]
    assert filled.index.search(Query(text="zanzibar")).coverage == 1.0


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE memory_index",
        "DROP TABLE memory_words_trigram; DROP TABLE memory_words",
        "DROP TABLE memory_index_data",
        "DELETE FROM memory_index_data WHERE id > 1",
        "UPDATE memory_index_data SET block = zeroblob(7) WHERE id = 10",
        "UPDATE memory_index_data SET block = randomblob(300) WHERE id > 1",
        "DROP VIEW observations_fts; DROP TABLE memory_index_config",
    ],
)
def test_a_broken_index_mends_itself(filled: Filled, damage: str) -> None:
    made = filled.observe([{"title": f"zanzibar {n}"} for n in range(40)])
    filled.summarize(request="zanzibar")
    raw(filled, damage)
    filled.store.close()
    again = Filled(filled.store.path.parent)
    first = again.index.search(Query(text="zanzibar", limit=100))
    assert first.coverage in {0.0, 1.0}
    again.feed()
    found = again.index.search(Query(text="zanzibar", limit=100))
    assert len(found.hits) == 41
    assert found.coverage == 1.0
    assert {hit.id for hit in found.hits} >= set(made)
    again.close()


def test_rebuild(filled: Filled) -> None:
    filled.observe([{"title": f"zanzibar {n}"} for n in range(30)])
    filled.prompt("to zanzibar")
    before = filled.index.search(Query(text="zanzibar", limit=50))
    assert filled.store.write(keyword.rebuild).result() == 31
    filled.feed()
    assert filled.index.search(Query(text="zanzibar", limit=50)) == before
    assert filled.store.read(feed.pending) == 0


def test_nothing_of_deleted_records_is_left_after_tidying(filled: Filled) -> None:
    filled.observe([{"title": f"kept {n} zanzibar"} for n in range(5)])
    (gone,) = filled.observe([{"title": "madagascar", "narrative": "secretword zanzibar"}])
    filled.execute("DELETE FROM observations WHERE id = ?", gone)
    filled.store.write(feed.tidy).result()
    assert filled.value("SELECT count(*) FROM memory_words WHERE word = 'secretword'") == 0
    assert ids(filled.index, "secretwo") == []
    assert len(ids(filled.index, "zanziba")) == 5
    filled.store.write(lambda conn: conn.execute("PRAGMA wal_checkpoint").fetchall())
    filled.store.close()
    for path in filled.store.path.parent.glob("memory.db*"):
        assert b"secretword" not in path.read_bytes()
        assert b"madagascar" not in path.read_bytes()


def test_another_way_of_preparing_text_makes_it_anew(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.observe([{"title": "zanzibar"}])
    monkeypatch.setattr(feed, "VERSION", "2")
    again = KeywordIndex(filled.store)
    assert not filled.store.read(feed.ready)
    while again.feed(100):
        pass
    assert filled.store.read(feed.ready)
    assert ids(again, "zanzibar") == [1]


def test_the_documented_names_answer(filled: Filled) -> None:
    (made,) = filled.observe([{"title": "zanzibar", "facts": ["x"]}])
    summary = filled.summarize(request="to zanzibar")
    prompt = filled.prompt("about zanzibar")
    names = {
        "observations_fts": made,
        "session_summaries_fts": summary,
        "user_prompts_fts": prompt,
    }
    for name, number in names.items():
        sql = f"SELECT rowid FROM {name} WHERE {name} MATCH 'zanzibar' ORDER BY rank"
        assert filled.value(sql) == number
    assert filled.value("SELECT title FROM observations_fts") == "zanzibar"


def test_the_log_waits_for_slow_readers_but_not_for_lost_ones(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.execute("INSERT INTO change_readers VALUES ('gone', 0)")
    filled.observe([{"title": f"row {n}"} for n in range(20)])
    assert filled.value("SELECT count(*) FROM changes") == 20
    monkeypatch.setattr(feed, "FAR_BEHIND", 10)
    filled.observe([{"title": "one more"}])
    assert filled.value("SELECT count(*) FROM changes") == 0

"""Vectors follow the store, whatever happens to them, and answer meanwhile."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from claude_mem_search_vector import table
from claude_mem_search_vector.numbers import packed, signs
from claude_mem_search_vector.scan import BITS, Scan
from claude_mem_search_vector.texts import KINDS

from claude_mem_core.errors import MemError
from claude_mem_core.testing.search import opened_store
from claude_mem_core.types import DocKind, Query


def _kit() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "vector_store", Path(__file__).with_name("vector_store.py")
    )
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["vector_store"] = made
    spec.loader.exec_module(made)
    return made


kit = _kit()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    with opened_store(tmp_path / "memory.db") as made:
        yield made


@pytest.fixture
def quick() -> Any:
    return kit.record("small", kit.Counting(), quick=True)


def test_nearest_come_first_and_projects_stay_apart(store: Any, quick: Any) -> None:
    login, cache = kit.observe(store, "login login", "cache")
    other = kit.observe(store, "login", project=2)[0]
    index = kit.fed(kit.opened(store, quick))
    assert kit.found(index, "login")[:2] == [other, login]
    assert set(kit.found(index, "login", project_ids=(1,))) == {login, cache}
    assert kit.found(index, "login", project_ids=()) == []


def test_an_edit_and_a_deletion_reach_the_vectors(store: Any, quick: Any) -> None:
    first, second = kit.observe(store, "login", "cache")
    index = kit.fed(kit.opened(store, quick))
    kit.execute(store, "UPDATE observations SET title = 'invoice' WHERE id = ?", first)
    kit.fed(index)
    assert kit.found(index, "invoice")[0] == first
    kit.execute(store, "DELETE FROM observations WHERE id = ?", first)
    kit.fed(index)
    assert kit.found(index, "invoice") == [second]
    assert kit.value(store, "SELECT count(*) FROM memory_vectors_1") == 1


def test_a_stop_in_between_loses_nothing(store: Any, quick: Any) -> None:
    kit.observe(store, *["login"] * 130)
    half = kit.opened(store, quick)
    assert half.feed(60) == 60
    kit.observe(store, "deploy")
    again = kit.fed(kit.opened(store, quick))
    assert again.coverage() == 1.0
    assert len(kit.found(again, "login", limit=200)) == 131


def test_records_older_than_the_plugin_are_taken(store: Any, quick: Any) -> None:
    ids = kit.observe(store, "login", "cache")
    kit.execute(store, "DELETE FROM changes")
    index = kit.fed(kit.opened(store, quick))
    assert set(kit.found(index, "cache")) == set(ids)


def test_a_gap_in_the_log_makes_all_anew(store: Any, quick: Any) -> None:
    first = kit.observe(store, "login")[0]
    kit.fed(kit.opened(store, quick))
    kit.execute(store, "UPDATE observations SET title = 'cache' WHERE id = ?", first)
    kit.observe(store, "deploy")
    kit.execute(store, "DELETE FROM changes WHERE seq < (SELECT max(seq) FROM changes)")
    index = kit.fed(kit.opened(store, quick))
    assert kit.found(index, "cache")[0] == first
    assert index.coverage() == 1.0


def test_a_gap_that_comes_while_it_runs_is_seen(store: Any, quick: Any) -> None:
    first = kit.observe(store, "login")[0]
    index = kit.fed(kit.opened(store, quick))
    kit.execute(store, "UPDATE observations SET title = 'cache' WHERE id = ?", first)
    kit.observe(store, "deploy")
    kit.execute(store, "DELETE FROM changes WHERE seq < (SELECT max(seq) FROM changes)")
    kit.fed(index)
    assert kit.found(index, "cache")[0] == first


@pytest.mark.parametrize("lost", ["memory_vectors", "memory_vectors_1"])
def test_lost_tables_are_made_anew(store: Any, quick: Any, lost: str) -> None:
    wanted = kit.observe(store, "login", "cache")[1]
    index = kit.fed(kit.opened(store, quick))
    kit.execute(store, f"DROP TABLE {lost}")
    assert kit.found(index, "cache") == []
    for again in (index, kit.opened(store, quick)):
        kit.fed(again)
        assert kit.found(again, "cache")[0] == wanted
        assert again.coverage() == 1.0


def test_half_of_the_vectors_missing_is_told_and_made_up(store: Any, quick: Any) -> None:
    kit.observe(store, *["login"] * 20)
    kit.fed(kit.opened(store, quick))
    kit.execute(store, "DELETE FROM memory_vectors_1 WHERE id % 2")
    index = kit.opened(store, quick)
    assert index.search(Query(text="login")).coverage == 0.5
    assert kit.fed(index).search(Query(text="login")).coverage == 1.0


def test_filters_hold(store: Any, quick: Any) -> None:
    plain = kit.observe(store, "login")[0]
    wanted = kit.observe(store, "login", concepts='["gotcha"]', platform_source="codex")[0]
    index = kit.fed(kit.opened(store, quick))
    assert kit.found(index, "login", concepts=("gotcha",)) == [wanted]
    assert kit.found(index, "login", host="codex") == [wanted]
    assert set(kit.found(index, "login", types=("bugfix",))) == {plain, wanted}
    assert kit.found(index, "login", types=("feature",)) == []
    assert kit.found(index, "login", since_ms=2_000) == []
    assert kit.found(index, "login", until_ms=1_000, limit=1) == [wanted]
    assert index.search(Query(text="login", kinds=(DocKind.PROMPT,))).hits == ()


def test_a_better_model_catches_up_beside_the_quick_one(store: Any, quick: Any) -> None:
    ids = kit.observe(store, "login", "cache", "deploy", "retry", "socket")
    index = kit.opened(store, quick, kit.record("better", kit.Counting()))
    kit.fed(index)
    assert index.coverage() == 1.0
    assert index.idle() == 4
    assert kit.value(store, "SELECT count(*) FROM memory_vectors_2") == 4
    for word, wanted in zip(("login", "cache", "socket"), (0, 1, 4), strict=True):
        assert kit.found(index, word)[0] == ids[wanted]
    assert index.idle() == 1
    assert index.idle() == 0
    kit.execute(store, "DELETE FROM observations WHERE id = ?", ids[0])
    kit.fed(index)
    assert kit.value(store, "SELECT count(*) FROM memory_vectors_2") == 4


def test_a_new_version_of_a_model_replaces_the_old_one(store: Any) -> None:
    wanted = kit.observe(store, "login", "cache")[1]
    small = kit.record("small", kit.Counting(), quick=True)
    for version in ("1", "2"):
        index = kit.opened(store, small, kit.record("better", kit.Counting(version)))
        kit.fed(index)
        while index.idle():
            pass
        assert kit.found(index, "cache")[0] == wanted
    models = kit.value(store, "SELECT group_concat(model) FROM memory_vectors")
    assert set(models.split(",")) == {"small/1/8", "better/2/8"}


def test_the_better_one_waits_until_it_is_quiet(store: Any, quick: Any) -> None:
    kit.observe(store, "login")
    index = kit.opened(store, quick, kit.record("better", kit.Counting()))
    index.quiet_s = 3_600.0
    kit.fed(index)
    assert index.idle() == 0


def test_an_unknown_embedder_is_named(store: Any, quick: Any) -> None:
    with pytest.raises(MemError, match="'none-such', which is not installed \\(there: small"):
        kit.opened(store, quick, wanted="none-such")
    assert kit.opened(store, quick, wanted="quick").idle() == 0


def test_without_an_embedder_nothing_is_covered(store: Any) -> None:
    kit.observe(store, "login")
    index = kit.fed(kit.opened(store))
    found = index.search(Query(text="login"))
    assert (found.hits, found.coverage) == ((), 0.0)


def test_the_scan_finds_what_looking_at_all_finds(store: Any, quick: Any) -> None:
    ids = kit.observe(store, *[word for word in kit.WORDS for _ in range(5)])
    index = kit.fed(kit.opened(store, quick))
    by_sign = kit.found(index, "cache")
    exact = kit.found(index, "cache", project_ids=(1,))
    assert set(by_sign[:5]) == set(exact[:5]) == set(ids[15:20])


def test_what_another_process_indexed_is_known_at_once(store: Any, quick: Any) -> None:
    """`mem import` feeds the indexes itself, beside the worker."""
    (first,) = kit.observe(store, "login")
    mine, other = kit.opened(store, quick), kit.opened(store, quick)
    kit.fed(mine)
    assert kit.found(mine, "cache") == [first]
    second, third = kit.observe(store, "cache", "cache")
    kit.fed(other)
    assert mine.coverage() == 1.0
    assert kit.found(mine, "cache")[:2] == [third, second]
    kit.execute(store, "DELETE FROM observations WHERE id = ?", third)
    kit.fed(other)
    assert kit.found(mine, "cache") == [second, first]
    (fourth,) = kit.observe(store, "cache")
    kit.fed(mine)
    assert kit.found(other, "cache") == [fourth, second, first]
    assert mine.coverage() == other.coverage() == 1.0


def test_what_this_process_indexed_is_not_loaded_again(store: Any, quick: Any) -> None:
    index = kit.fed(kit.opened(store, quick))
    kit.observe(store, "login")
    kit.fed(index)
    kit.found(index, "login")
    for _ in range(3):
        kit.observe(store, "login")
        kit.fed(index)
        assert index._quick.scan.loaded


def test_the_scan_follows_changes() -> None:
    scan, near, far = Scan(), b"\xff" * 32, b"\x00" * 32
    scan.load([(1, 7, near), (2, 7, far), (3, 8, near)])
    scan.change([(2, 7, near), (5, 7, near), (6, 7, None)], [3])
    assert sorted(scan.nearest(near, 10, KINDS, None)) == [1, 2, 5]
    assert scan.nearest(near, 10, KINDS, [8]) == []
    assert scan.nearest(near, 10, [DocKind.PROMPT], None) == []
    scan.forget()
    assert not scan.loaded


def test_the_scan_counts_the_signs_that_differ() -> None:
    chance = random.Random(3)
    rows = {n: (1 + n % 3, chance.randbytes(32)) for n in range(300)}
    scan = Scan()
    scan.load([(n, project, bits) for n, (project, bits) in rows.items() if n % 2])
    scan.change([(n, project, bits) for n, (project, bits) in rows.items() if not n % 2], ())
    for n in chance.sample(sorted(rows), 60):
        rows[n] = (rows[n][0], chance.randbytes(32))
        scan.change([(n, *rows[n])], [n] if n % 5 == 0 else ())
    wanted = chance.randbytes(32)

    def apart(n: int) -> int:
        one, other = (int.from_bytes(bits, "little") for bits in (rows[n][1], wanted))
        return ((one ^ other) & ((1 << BITS) - 1)).bit_count()

    found = scan.nearest(wanted, len(rows), KINDS, None)
    assert sorted(found) == sorted(rows)
    assert [apart(n) for n in found] == sorted(map(apart, rows))
    best = scan.nearest(wanted, 10, KINDS, [2])
    assert {rows[n][0] for n in best} == {2}
    assert apart(best[0]) == min(apart(n) for n in rows if rows[n][0] == 2)


def test_all_signs_may_differ() -> None:
    """More than a byte can count: the last one is not looked at."""
    scan = Scan()
    scan.load([(1, 1, b"\xff" * 48), (2, 1, b"\x00" * 48)])
    assert scan.nearest(b"\x00" * 48, 1, KINDS, None)[0] == 2


def test_vectors_are_packed_with_their_signs() -> None:
    assert packed([0.0, 0.0]) is None
    assert packed([float("nan"), 1.0]) is None
    small = packed([0.5, -1.0, 0.0, 1.0])
    assert small == bytes([64, 129, 0, 127])
    assert signs(small) == bytes([int("1001", 2)])


def test_the_tables_need_no_extension(store: Any, quick: Any) -> None:
    import apsw

    kit.observe(store, "login")
    kit.fed(kit.opened(store, quick))
    conn = apsw.Connection(str(store.path))
    assert [one.name for one in table.there(conn)] == ["memory_vectors_1"]
    assert next(conn.execute("PRAGMA integrity_check"))[0] == "ok"
    conn.close()

"""Saving what can be read of a damaged file: page by page, row by row (case O21)."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_mem_core.errors import NotFound, StoreForeign
from claude_mem_core.projects import Place
from claude_mem_core.projects.place import GENERAL
from claude_mem_core.store import Store, fetch, memories, verify
from claude_mem_core.store.salvage.found import Found
from claude_mem_core.store.salvage.pages import is_log
from claude_mem_core.store.salvage.repair import Repaired, repair
from claude_mem_core.store.snapshot import snapshot
from claude_mem_core.types import Trust
from tests.store_home import NOW, Home, opened

DAMAGE = Path(__file__).parent / "cases" / "O21-database-damaged-or-newer" / "damage.py"
SESSIONS = 20
PAGE = 4096


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed database: a prompt, three tool uses and a memory in each session."""
    path = tmp_path_factory.mktemp("filled") / "memory.db"
    with opened(path) as home:
        for number in range(SESSIONS):
            play(home, number)
        for work in home.claim(10**8, limit=100):
            home.keep(work)
    return path


def play(home: Home, number: int) -> None:
    home.session, at = f"s{number}", number * 100_000
    home.prompt(f"thing {number} " + "word " * 50, at=at)
    for use in range(3):
        home.tool(f"t{number}-{use}", at=at + use, output={"stdout": "line\n" * 3000 * use})
    home.stop(at=at + 90)


@pytest.fixture
def path(filled: Path, tmp_path: Path) -> Path:
    target = tmp_path / "memory.db"
    shutil.copy(filled, target)
    return target


def mended(path: Path, locate: Callable[[str], Place] = lambda _: GENERAL) -> Repaired:
    done = repair(path, locate, NOW)
    assert done.off == ()
    return done


def outcome(done: Repaired, table: str) -> tuple[int, int | None]:
    found = next(t for t in done.tables if t.table == table)
    return found.saved, found.lost


def damage(path: Path, mode: str) -> None:
    subprocess.run([sys.executable, str(DAMAGE), str(path), mode], check=True, timeout=30)


def overwrite(path: Path, *pages: int) -> None:
    rubbish = random.Random(7)
    with open(path, "r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(rubbish.randbytes(PAGE))


def pages_of(path: Path, name: str) -> list[int]:
    conn = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return [n for (n,) in conn.execute("SELECT pageno FROM dbstat WHERE name = ?", (name,))]
    finally:
        conn.close()


def root_of(path: Path, name: str) -> int:
    conn = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return int(fetch.value(conn, "SELECT rootpage FROM sqlite_schema WHERE name = ?", name))
    finally:
        conn.close()


def count(path: Path, table: str) -> int:
    with opened(path) as home:
        return int(home.value(f"SELECT count(*) FROM {table}"))


# Reading by hand -----------------------------------------------------------------------


def same_as_sqlite(path: Path) -> int:
    """Compare what is read by hand with what SQLite reads; how many rows there were."""
    found, total = Found(path), 0
    conn = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        for table in found.tables:
            names = [column.name for column in table.stored]
            by_hand = [tuple(row.get(name) for name in names) for row in found.rows(table)]
            sql = f"SELECT {', '.join(names)} FROM {table.name}"
            assert sorted(map(repr, by_hand)) == sorted(map(repr, conn.execute(sql)))
            total += len(by_hand)
        assert not any(map(found.loose, found.tables))
        return total
    finally:
        conn.close()


def test_a_sound_file_reads_as_sqlite_reads_it(path: Path) -> None:
    assert same_as_sqlite(path) > SESSIONS * 10


def test_what_is_only_in_the_log_is_read_too(path: Path, tmp_path: Path) -> None:
    with opened(path) as home:
        play(home, 99)
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", tmp_path / f"copy.db{end}")
    rows = same_as_sqlite(tmp_path / "copy.db")
    assert rows > same_as_sqlite(path) - 10
    names = [row["content_session_id"] for row in sessions_of(path)]
    assert "s99" in names


def sessions_of(path: Path) -> list[dict[str, object]]:
    found = Found(path)
    return list(found.rows(next(t for t in found.tables if t.name == "sdk_sessions")))


def test_a_log_that_was_not_committed_does_not_count(path: Path) -> None:
    conn = apsw.Connection(str(path))
    conn.execute("PRAGMA cache_size = 5; PRAGMA cache_spill = 1; BEGIN")
    for number in range(300):
        values = (f"open-{number}", "x" * 2000)
        conn.execute("INSERT INTO meta VALUES (?, ?)", values)
    log = Path(f"{path}-wal").read_bytes()
    assert len(log) > 100_000
    assert is_log(log[:32])
    assert not is_log(b"\0" * 32)
    found = Found(path)
    table = next(t for t in found.tables if t.name == "meta")
    assert not any(str(row["k"]).startswith("open-") for row in found.rows(table))
    conn.close(True)


# Damage ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["header", "wal-lost", "index-broken", "fts-broken"])
def test_nothing_is_lost_where_only_the_surroundings_are_hit(path: Path, mode: str) -> None:
    damage(path, mode)
    done = mended(path)
    assert done.lost == 0
    assert outcome(done, "user_prompts") == (SESSIONS, 0)
    assert outcome(done, "tool_uses") == (SESSIONS * 3, 0)
    assert count(path, "observations") == SESSIONS


@pytest.mark.parametrize("mode", ["half", "middle"])
def test_saved_and_lost_make_all(path: Path, mode: str) -> None:
    damage(path, mode)
    done = mended(path)
    for table, all_of_them in (("events", 5), ("tool_uses", 3), ("user_prompts", 1)):
        saved, lost = outcome(done, table)
        assert lost is not None
        assert saved + lost == SESSIONS * all_of_them
        assert count(path, table) == saved


@pytest.mark.parametrize("table", ["events", "tool_uses", "observations"])
def test_rows_below_a_broken_root_are_found(path: Path, table: str) -> None:
    before = count(path, table)
    overwrite(path, root_of(path, table))
    saved, lost = outcome(mended(path), table)
    assert (saved, lost) == (before, 0)


def test_a_lost_schema_costs_no_rows(path: Path) -> None:
    overwrite(path, 1)
    done = mended(path)
    assert outcome(done, "events")[0] == SESSIONS * 5
    assert outcome(done, "observations")[0] == SESSIONS
    assert outcome(done, "evidence")[0] == 0 or outcome(done, "evidence")[0] > 100


def test_a_session_is_made_again_from_what_its_rows_say(path: Path) -> None:
    overwrite(path, *pages_of(path, "sdk_sessions"), *pages_of(path, "projects"))
    here = Place(key="folder-here", label="here", kind="folder", root="/home/u/here")
    done = mended(path, lambda _: here)
    sessions = next(t for t in done.tables if t.table == "sdk_sessions")
    assert (sessions.saved, sessions.remade) == (0, SESSIONS)
    with opened(path) as home:
        rows = home.rows("SELECT content_session_id, memory_session_id, project FROM sdk_sessions")
        assert min(rows) == ("s0", "claude-code:s0", "here")
        assert len(rows) == SESSIONS
        assert home.value("SELECT count(*) FROM observations") == SESSIONS


def test_what_lost_its_trust_class_is_trusted_least(path: Path) -> None:
    conn = apsw.Connection(str(path))
    views = "DROP VIEW observations_fts; DROP INDEX IF EXISTS idx_observations_context;"
    conn.execute(views + "ALTER TABLE observations DROP COLUMN trust")
    conn.close()
    assert mended(path).lost == 0
    with opened(path) as home:
        assert home.rows("SELECT DISTINCT trust FROM observations") == [(Trust.FOREIGN,)]


def test_unfinished_work_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as home:
        play(home, 1)
    overwrite(path, root_of(path, "pending_messages"))
    mended(path)
    with opened(path) as home:
        (work,) = home.claim(10**8)
        assert home.keep(work).observations
        assert home.verify().off == ()


def test_an_id_is_not_given_twice(path: Path) -> None:
    last = Found(path)
    leaf = max(row["id"] for row in last.rows(next(t for t in last.tables if t.name == "events")))
    conn = apsw.Connection(str(path))
    conn.execute("DELETE FROM tool_uses; DELETE FROM user_prompts; DELETE FROM evidence")
    conn.execute("DELETE FROM events")
    conn.close()
    mended(path)
    with opened(path) as home:
        assert home.prompt("new").event_id > leaf


def test_a_payload_that_is_no_json_is_emptied(path: Path) -> None:
    conn = apsw.Connection(str(path))
    conn.execute("UPDATE events SET payload = '{\"kind\":' WHERE id = 2")
    conn.close()
    mended(path)
    with opened(path) as home:
        assert home.value("SELECT json_valid(payload) FROM events WHERE id = 2") == 1


@pytest.mark.slow
@settings(
    max_examples=12, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(pages=st.sets(st.integers(1, 160), min_size=1, max_size=25))
def test_whatever_is_hit_the_rest_is_saved(
    filled: Path, tmp_path_factory: pytest.TempPathFactory, pages: set[int]
) -> None:
    path = tmp_path_factory.mktemp("hit") / "memory.db"
    shutil.copy(filled, path)
    overwrite(path, *pages)
    done = mended(path)
    for table in done.tables:
        assert table.saved + (table.lost or 0) <= max(SESSIONS * 10, table.saved)
    with opened(path) as home:
        home.prompt("life goes on")
        assert home.verify().off == ()


# What is kept -----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["half", "text", "wal-garbage"])
def test_the_damaged_file_is_kept_with_its_bytes(path: Path, mode: str) -> None:
    damage(path, mode)
    before = {end: sha(f"{path}{end}") for end in ("", "-wal") if os.path.exists(f"{path}{end}")}
    kept = mended(path).kept
    assert kept.parent == path.parent
    assert {end: sha(f"{kept}{end}") for end in before} == before
    assert not os.path.exists(f"{path}-wal")


def sha(name: str) -> str:
    return hashlib.sha256(Path(name).read_bytes()).hexdigest()


def test_each_damaged_file_has_a_name_of_its_own(path: Path) -> None:
    kept = set()
    for _ in range(3):
        damage(path, "text")
        kept.add(mended(path).kept)
    assert len({p for p in kept if p.read_text().startswith("this is not")}) == 3


def test_a_folder_in_its_place_is_moved_aside(path: Path) -> None:
    damage(path, "directory")
    kept = mended(path).kept
    assert kept.is_dir()
    assert count(path, "events") == 0


def test_nothing_readable_means_the_newest_sound_snapshot(path: Path) -> None:
    first = snapshot(path)
    with opened(path) as home:
        play(home, 50)
    second = snapshot(path)
    damage(second, "half")
    damage(path, "zero")
    done = mended(path)
    assert done.snapshot == first
    assert count(path, "user_prompts") == SESSIONS


def test_a_newer_file_is_refused_and_untouched(path: Path) -> None:
    damage(path, "newer")
    before = {p.name: sha(str(p)) for p in path.parent.iterdir()}
    with pytest.raises(StoreForeign, match="newer version"):
        repair(path, lambda _: GENERAL, NOW)
    assert {p.name: sha(str(p)) for p in path.parent.iterdir()} == before


def test_another_programs_file_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    conn = apsw.Connection(str(path))
    conn.execute("CREATE TABLE theirs (x)")
    conn.close()
    before = sha(str(path))
    with pytest.raises(StoreForeign, match="another program"):
        repair(path, lambda _: GENERAL, NOW)
    assert (sha(str(path)), [p.name for p in tmp_path.iterdir()]) == (before, ["memory.db"])


def test_nothing_to_repair(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nothing to repair"):
        repair(tmp_path / "memory.db", lambda _: GENERAL, NOW)


def test_a_repair_leaves_nothing_lying_about(path: Path) -> None:
    damage(path, "middle")
    kept = mended(path).kept
    assert {p.name for p in path.parent.iterdir()} == {"memory.db", kept.name}
    assert path.stat().st_mode & 0o077 == 0


def test_a_repaired_store_is_read_and_verified(path: Path) -> None:
    damage(path, "middle")
    mended(path)
    store = Store.open(path)
    try:
        assert store.read(verify.verify).off == ()
        assert len(store.read(lambda conn: memories.observations(conn, range(1, 99)))) > 10
    finally:
        store.close()

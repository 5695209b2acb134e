"""Opening: whose file it is, what shape it is in, who may read it (case O21, O22)."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from claude_mem_core.errors import NotFound, StoreDamaged, StoreError, StoreForeign
from claude_mem_core.store import Store, connect, identity, meta, migrations
from claude_mem_core.store.look import look
from claude_mem_core.store.snapshot import snapshot, snapshots, take
from tests.store_home import NOW, Home, opened

DAMAGE = Path(__file__).parent / "cases" / "O21-database-damaged-or-newer" / "damage.py"
ROWS = 20


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "memory.db"


@pytest.fixture
def wide_open() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def fill(path: Path) -> None:
    with opened(path) as home:
        for n in range(ROWS):
            home.prompt(f"prompt {n}", n * 60_000)
            home.tool(f"t{n}", n * 60_000 + 1, output="x" * 2_000)


def damage(path: Path, how: str) -> None:
    subprocess.run([sys.executable, str(DAMAGE), str(path), how], check=True, timeout=60)


def digests(folder: Path) -> dict[str, str]:
    """Every file but the shared-memory index, which SQLite makes for reading too."""
    files = [file for file in folder.iterdir() if not file.name.endswith("-shm")]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


# A new file ------------------------------------------------------------------------


def test_a_new_database_says_whose_it_is(path: Path) -> None:
    Store.open(path).close()
    head = path.read_bytes()[:100]
    assert int.from_bytes(head[68:72]) == identity.APPLICATION_ID
    assert int.from_bytes(head[60:64]) == migrations.VERSION
    assert [file.name for file in path.parent.iterdir()] == ["memory.db"]


@pytest.mark.usefixtures("wide_open")
def test_files_are_the_users_alone_whatever_the_umask(path: Path) -> None:
    with opened(path) as home:
        home.prompt("hello")
        found = {file.name: mode(file) for file in path.parent.iterdir()}
        assert found == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}
        assert mode(path.parent) == 0o700
        assert mode(snapshot(path)) == 0o600
        assert mode(path.parent / "snapshots") == 0o700


def test_rights_that_are_too_wide_are_taken_away(path: Path) -> None:
    Store.open(path).close()
    path.chmod(0o644)
    Store.open(path).close()
    assert mode(path) == 0o600


def test_many_open_a_new_database_at_once(path: Path) -> None:
    with ThreadPoolExecutor(6) as threads:
        stores = list(threads.map(lambda _: Store.open(path), range(6)))
    ids = {store.read(meta.fence_id) for store in stores}
    for store in stores:
        store.close()
    assert len(ids) == 1
    assert [file.name for file in path.parent.iterdir()] == ["memory.db"]


def test_what_a_killed_creator_left_is_cleared(path: Path) -> None:
    path.parent.mkdir()
    for name in ("memory.db.123.new", "memory.db.123.new-wal", "memory.db.123.new-shm"):
        (path.parent / name).write_text("left over")
    Store.open(path).close()
    assert [file.name for file in path.parent.iterdir()] == ["memory.db"]


def test_what_was_written_is_there_after_reopening(path: Path) -> None:
    fill(path)
    with opened(path) as home:
        assert home.value("SELECT count(*) FROM user_prompts") == ROWS
        assert home.verify().off == ()


def test_how_connections_are_set_up(path: Path) -> None:
    with opened(path) as home:
        for fn in (home.write, home.store.read):
            assert fn(lambda conn: conn.pragma("foreign_keys")) == 1
            assert fn(lambda conn: conn.pragma("trusted_schema")) == 0
            assert fn(lambda conn: conn.pragma("temp_store")) == 2
        assert home.write(lambda conn: conn.pragma("journal_mode")) == "wal"
        assert home.write(lambda conn: conn.pragma("synchronous")) == 2
        assert home.write(lambda conn: conn.pragma("secure_delete")) == 1
        with pytest.raises(StoreError):
            home.store.read(lambda conn: conn.execute("DELETE FROM meta"))
        with pytest.raises(StoreError):
            home.write(lambda conn: conn.execute("DELETE FROM sqlite_schema"))


def test_deleted_text_does_not_stay_on_the_disk(path: Path) -> None:
    with opened(path) as home:
        home.prompt("a marker-wrenfeather in the prompt", key="k")
        home.tool("t1", 1, output="marker-wrenfeather " * 500)
        home.write(lambda conn: conn.execute("DELETE FROM user_prompts"))
        home.write(lambda conn: conn.execute("DELETE FROM tool_uses"))
        home.write(lambda conn: conn.execute("UPDATE sdk_sessions SET user_prompt = NULL"))
    assert b"wrenfeather" not in path.read_bytes()


# Not our file, or not any more -----------------------------------------------------------


def test_a_link_in_place_of_the_file_is_refused(path: Path, tmp_path: Path) -> None:
    Store.open(path).close()
    elsewhere = tmp_path / "elsewhere.db"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    with pytest.raises(StoreError, match="is a link"):
        Store.open(path)
    assert elsewhere.read_bytes() == before


def test_a_link_to_nowhere_is_refused(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "made-by-us")
    with pytest.raises(StoreError, match="is a link"):
        Store.open(path)
    assert not (tmp_path / "made-by-us").exists()


def test_a_planted_log_link_is_not_written_through(path: Path, tmp_path: Path) -> None:
    Store.open(path).close()
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    Path(f"{path}-wal").symlink_to(victim)
    with pytest.raises(StoreError), opened(path) as home:
        home.prompt("x")
    assert victim.read_text() == "untouched"


def test_a_foreign_database_is_left_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    conn = sqlite3.connect(path)
    conn.execute("CREATE TABLE observations (id INTEGER PRIMARY KEY)")
    conn.commit()
    conn.close()
    before = digests(path.parent)
    with pytest.raises(StoreForeign, match="mem import claude-mem"):
        Store.open(path)
    assert digests(path.parent) == before


def test_a_newer_database_is_left_as_it_is(path: Path) -> None:
    fill(path)
    damage(path, "newer")
    before = digests(path.parent)
    with pytest.raises(StoreForeign, match="newer version"):
        Store.open(path)
    assert digests(path.parent) == before


def test_a_newer_database_whose_news_is_in_the_log(path: Path, tmp_path: Path) -> None:
    """As a newer program leaves it when it is killed."""
    Store.open(path).close()
    conn = apsw.Connection(str(path))
    conn.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
    conn.execute("PRAGMA user_version = 99999")
    copy = tmp_path / "copy"
    shutil.copytree(path.parent, copy)
    conn.close()
    (copy / "memory.db-shm").unlink()
    before = digests(copy)
    with pytest.raises(StoreForeign, match="newer version"):
        Store.open(copy / "memory.db")
    assert digests(copy) == before


@pytest.mark.parametrize("how", ["zero", "text", "header", "half"])
def test_a_damaged_database_names_the_remedy_and_stays(path: Path, how: str) -> None:
    fill(path)
    damage(path, how)
    before = digests(path.parent)
    with pytest.raises(StoreDamaged, match="mem db repair"):
        Store.open(path)
    assert digests(path.parent) == before


def read_everything(path: Path) -> None:
    with opened(path) as home:
        for (table,) in home.rows("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE TABLE%'"):
            home.rows(f"SELECT * FROM {table}")
        home.rows("PRAGMA integrity_check")


def test_damage_in_the_middle_is_found_where_it_is_touched(path: Path) -> None:
    fill(path)
    damage(path, "middle")
    with pytest.raises(StoreDamaged, match="mem db repair"):
        read_everything(path)


@pytest.mark.parametrize("how", ["wal-garbage", "wal-lost", "index-broken"])
def test_what_can_be_mended_is_mended(path: Path, how: str) -> None:
    fill(path)
    damage(path, how)
    with opened(path) as home:
        assert home.value("SELECT count(*) FROM user_prompts") == ROWS
        assert home.value("SELECT count(*) FROM tool_uses") == ROWS
        assert home.rows("PRAGMA integrity_check") == [("ok",)]


def test_a_lost_index_and_trigger_are_made_again(path: Path) -> None:
    fill(path)
    conn = apsw.Connection(str(path))
    conn.execute("DROP INDEX idx_events_state; DROP TRIGGER user_prompts_put")
    conn.close()
    with opened(path) as home:
        names = [name for (name,) in home.rows("SELECT name FROM sqlite_schema")]
    assert {"idx_events_state", "user_prompts_put"} <= set(names)


def test_somebodys_own_index_is_welcome(path: Path) -> None:
    fill(path)
    conn = apsw.Connection(str(path))
    conn.execute("CREATE INDEX mine ON observations(title)")
    conn.close()
    with opened(path) as home:
        assert home.value("SELECT count(*) FROM sqlite_schema WHERE name = 'mine'") == 1


@pytest.mark.parametrize(
    "change", ["ALTER TABLE observations DROP COLUMN synced_at", "DROP TABLE evidence",
               "DROP TABLE meta"],
)  # fmt: skip
def test_a_lost_table_or_column_is_damage(path: Path, change: str) -> None:
    fill(path)
    conn = apsw.Connection(str(path))
    conn.execute(change)
    conn.close()
    with pytest.raises(StoreDamaged, match="mem db repair"):
        Store.open(path)


def test_a_directory_in_place_of_the_file(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreError, match="is no file"):
        Store.open(path)


def test_the_data_directory_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    with pytest.raises(StoreError, match="data"):
        Store.open(tmp_path / "data" / "memory.db")


def test_a_log_without_its_database_is_put_aside(path: Path) -> None:
    """It would be taken for the log of the new database."""
    with opened(path) as home:
        home.prompt("one")
        log = Path(f"{path}-wal").read_bytes()
    path.unlink()
    Path(f"{path}-wal").write_bytes(log)
    with opened(path) as home:
        assert home.value("SELECT count(*) FROM user_prompts") == 0
        assert home.rows("PRAGMA integrity_check") == [("ok",)]
    assert [file.read_bytes() == log for file in path.parent.glob("*.left")] == [True]


# Migrations and snapshots ------------------------------------------------------------------


def add_a_column(conn: apsw.Connection) -> None:
    conn.execute("ALTER TABLE observations ADD COLUMN colour TEXT")


def break_half_way(conn: apsw.Connection) -> None:
    conn.execute("DELETE FROM user_prompts")
    conn.execute("SELECT nonsense FROM nowhere")


def second(monkeypatch: pytest.MonkeyPatch, step: Callable[[apsw.Connection], None]) -> None:
    """The program of tomorrow, with one more migration."""
    steps = (*migrations.MIGRATIONS, migrations.Migration(migrations.VERSION + 1, step))
    monkeypatch.setattr(migrations, "MIGRATIONS", steps)
    monkeypatch.setattr(migrations, "VERSION", migrations.VERSION + 1)


def test_a_migration_takes_a_snapshot_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    second(monkeypatch, add_a_column)
    with opened(path) as home:
        assert home.value("SELECT count(*) FROM user_prompts") == ROWS
        steps = range(1, migrations.VERSION + 1)
        assert home.rows("SELECT version FROM schema_versions") == [(n,) for n in steps]
    (copy,) = snapshots(path.parent / "snapshots")
    conn = apsw.Connection(str(copy))
    assert conn.pragma("user_version") == migrations.VERSION - 1
    assert conn.execute("SELECT count(*) FROM user_prompts").fetchall() == [(ROWS,)]
    conn.close()


def test_a_migration_that_fails_changes_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(path)
    with monkeypatch.context() as patch:
        second(patch, break_half_way)
        with pytest.raises(StoreError):
            Store.open(path)
    with opened(path) as home:
        assert home.value("SELECT count(*) FROM user_prompts") == ROWS


def test_a_new_database_needs_no_snapshot(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second(monkeypatch, add_a_column)
    Store.open(path).close()
    assert snapshots(path.parent / "snapshots") == []


def test_snapshots_are_consistent_and_few(path: Path) -> None:
    with opened(path) as home:
        for n in range(8):
            home.tool(f"t{n}", n, delivery=f"d{n}")
            copy = snapshot(path, keep=3)
            conn = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
            assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert conn.execute("SELECT count(*) FROM events").fetchall() == [(n + 1,)]
            conn.close()
        kept = list((path.parent / "snapshots").iterdir())
    assert len(kept) == 3
    assert copy in kept


def test_a_snapshot_while_events_flow(path: Path) -> None:
    with opened(path) as home, ThreadPoolExecutor(2) as threads:
        flowing = threads.submit(lambda: [home.tool(f"t{n}", n) for n in range(300)])
        copies = [snapshot(path) for _ in range(5)]
        flowing.result(timeout=60)
    for copy in copies:
        with opened(copy) as found:
            assert found.verify().off == ()


# Looking without writing ----------------------------------------------------------------------


# Whether the bytes that every open connection of SQLite's holds can be locked by another.
TRY = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="locks of another kind")
def test_a_look_at_an_open_database_costs_no_lock(path: Path) -> None:
    """Else another process is the last one when it closes, and takes the log away."""

    def is_held() -> bool:
        tried = [sys.executable, "-c", TRY, str(path)]
        return subprocess.run(tried, capture_output=True, check=False, timeout=60).returncode != 0

    with opened(path) as home:
        home.prompt("one")
        identity.check(path, migrations.VERSION)
        take(path)
        look(path, lambda conn: None)
        assert is_held()
    assert not is_held()


def test_a_look_at_an_open_database_that_lost_its_head(path: Path) -> None:
    Store.open(path).close()
    conn = connect.writer(path)
    try:
        for content, said in ((b"no database" * 400, "does not begin"), (b"", "is empty")):
            path.write_bytes(content)
            with pytest.raises(StoreDamaged, match=said):
                identity.check(path, migrations.VERSION)
    finally:
        conn.close(True)


def test_looking_at_no_database(path: Path) -> None:
    with pytest.raises(NotFound, match="nothing was recorded"):
        look(path, meta.fence_id)
    assert not path.parent.exists()


def test_looking_sees_what_is_written_and_writes_nothing(path: Path) -> None:
    with opened(path) as home:
        home.now = NOW
        home.prompt("one")
        assert look(path, lambda c: c.execute("SELECT prompt_text FROM user_prompts").fetchall())
        with pytest.raises(StoreError):
            look(path, lambda conn: conn.execute("DELETE FROM user_prompts"))


def test_looking_at_a_foreign_file(path: Path) -> None:
    path.parent.mkdir()
    sqlite3.connect(path).execute("CREATE TABLE t (a)").connection.close()
    with pytest.raises(StoreForeign):
        look(path, meta.fence_id)


def test_home_is_what_it_says(path: Path) -> None:
    with opened(path) as home:
        assert isinstance(home, Home)
        assert home.path == path

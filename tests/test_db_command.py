"""`mem db`: what people type, with and without a worker."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from claude_mem_core.paths import Paths
from claude_mem_core.recall import audit
from claude_mem_core.recall.keyword import open_index
from claude_mem_core.store import expire, look
from claude_mem_core.testing import worker
from tests import worker_home
from tests.cli_run import Ran
from tests.cli_run import mem as run_mem
from tests.store_home import NOW, Home, opened

DAMAGE = Path(__file__).parent / "cases" / "O21-database-damaged-or-newer" / "damage.py"
DAY_MS = 86_400_000


@pytest.fixture
def paths() -> Iterator[Paths]:
    with worker.data_dir() as found:
        found.data.mkdir(mode=0o700)
        yield found


def mem(paths: Paths, *args: str) -> Ran:
    return run_mem(paths.data, *args)


def fill(paths: Paths, sessions: int = 5) -> None:
    with opened(paths.database) as home:
        for number in range(sessions):
            play(home, number)
        home.now += 99 * DAY_MS
        for work in home.claim(limit=100):
            home.keep(work)
        open_index(home.store).feed(10_000)


def play(home: Home, number: int) -> None:
    home.session, at = f"s{number}", number * DAY_MS
    home.prompt(f"walrus {number}", at=at)
    home.tool(f"t{number}", at=at + 1, output={"stdout": "long\n" * 2000})
    home.stop(at=at + 2)


def damage(paths: Paths, mode: str) -> None:
    subprocess.run([sys.executable, str(DAMAGE), str(paths.database), mode], check=True, timeout=30)


def index_broken(paths: Paths) -> None:
    conn = apsw.Connection(str(paths.database))
    conn.execute("DELETE FROM memory_index_data WHERE id > 1")
    conn.close()


# check -------------------------------------------------------------------------------------


def test_a_sound_database_is_called_so(paths: Paths) -> None:
    fill(paths)
    done = mem(paths, "db", "check")
    assert (done.code, "is sound" in done.out) == (0, True)
    assert mem(paths, "db", "check", "--json").json["ok"] is True


@pytest.mark.parametrize("mode", ["half", "zero", "text", "header"])
def test_check_names_file_and_remedy(paths: Paths, mode: str) -> None:
    fill(paths)
    damage(paths, mode)
    done = mem(paths, "db", "check")
    assert done.code == 1
    assert str(paths.database) in done.out
    assert "mem db repair" in done.out


def test_check_sees_a_lost_index_a_broken_word_index_and_lost_rows(paths: Paths) -> None:
    fill(paths)
    index_broken(paths)
    conn = apsw.Connection(str(paths.database))
    conn.execute("DROP INDEX idx_events_state; DELETE FROM sdk_sessions WHERE id = 1")
    conn.close()
    found = mem(paths, "db", "check", "--json").json["checks"]
    assert found["layout"] == ["index idx_events_state is gone"]
    assert any("rows of user_prompts have no row in sdk_sessions" in text for text in found["keys"])
    assert any("memory_index" in text for text in found["pages"])
    assert found["accounting"]


def test_nothing_recorded_yet_is_said(paths: Paths) -> None:
    for action in ("check", "inspect", "repair", "vacuum", "rebuild-index", "snapshot"):
        done = mem(paths, "db", action)
        assert (done.code, "no database at" in done.err) == (1, True), action
    assert not paths.database.exists()


def test_a_foreign_file_is_refused_by_every_action(paths: Paths) -> None:
    conn = apsw.Connection(str(paths.database))
    conn.execute("CREATE TABLE theirs (x)")
    conn.close()
    before = paths.database.read_bytes()
    for action in ("check", "repair", "vacuum", "rebuild-index", "snapshot"):
        done = mem(paths, "db", action)
        assert done.code == 3, action
        assert "belongs to another program" in done.err
    assert paths.database.read_bytes() == before


# repair -------------------------------------------------------------------------------------


def test_repair_says_what_was_saved_and_lost(paths: Paths) -> None:
    fill(paths, 20)
    damage(paths, "middle")
    damage(paths, "half")
    done = mem(paths, "db", "repair", "--json").json
    assert done["repaired"]
    assert done["tables"]["events"]["saved"] + done["tables"]["events"]["lost"] == 60
    assert Path(done["kept"]).stat().st_size > 0
    assert mem(paths, "db", "check").code == 0


def test_repair_speaks_plainly(paths: Paths) -> None:
    fill(paths)
    damage(paths, "header")
    done = mem(paths, "db", "repair")
    assert done.code == 0
    assert "5 sessions" in done.out
    assert "lost       0 rows" in done.out
    assert "kept       the damaged file, as it was" in done.out
    assert "nothing to repair" in mem(paths, "db", "repair").out


def test_a_broken_word_index_is_made_anew_in_place(paths: Paths) -> None:
    fill(paths)
    index_broken(paths)
    inode = paths.database.stat().st_ino
    done = mem(paths, "db", "repair")
    assert "only the search index was damaged; it is made anew over 15 records" in done.out
    assert paths.database.stat().st_ino == inode
    assert look.look(paths.database, audit.audit) == []


def test_a_lost_index_is_made_again_in_place(paths: Paths) -> None:
    fill(paths)
    conn = apsw.Connection(str(paths.database))
    conn.execute("DROP INDEX idx_events_state; DROP VIEW observations_fts")
    conn.close()
    done = mem(paths, "db", "repair")
    assert "made again: index idx_events_state; view observations_fts" in done.out
    assert mem(paths, "db", "check").code == 0


def test_repair_stops_the_worker_and_starts_it_again() -> None:
    with worker_home.home() as made:
        fill(made.paths)
        made.mem("start")
        before = made.status()["pid"]
        assert made.json("db", "repair", "--force")["repaired"]
        after = made.status()
        assert after["running"]
        assert after["pid"] != before
        assert after["counters"]["accepted"] == 15


def test_nobody_starts_a_worker_while_the_file_is_repaired(paths: Paths) -> None:
    from claude_mem_core.cli.upkeep import worker_kept_out

    fill(paths)
    with worker_kept_out(paths):
        other = worker.spawn(paths)
        assert other.process.wait(20) == 0  # another one runs, as far as it can tell
    assert not paths.socket.exists()


# tidying -------------------------------------------------------------------------------------


def test_a_snapshot_is_whole_private_and_few_are_kept(paths: Paths) -> None:
    fill(paths)
    for _ in range(3):
        path = Path(mem(paths, "db", "snapshot", "--keep", "2", "--json").json["path"])
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(list(paths.snapshots.iterdir())) == 2
    with opened(path) as home:
        assert home.value("SELECT count(*) FROM events") == 15
        assert home.verify().off == ()


def test_vacuum_gives_room_back(paths: Paths) -> None:
    fill(paths, 60)
    conn = apsw.Connection(str(paths.database))
    conn.execute("DELETE FROM tool_uses")
    conn.close()
    done = mem(paths, "db", "vacuum", "--json").json
    assert done["after"] < done["before"] - 500_000
    assert {p.name for p in paths.data.iterdir()} == {"memory.db"}
    assert mem(paths, "db", "inspect", "--json").json["free_pages"] == 0


def test_vacuum_counts_what_is_not_merged_yet(paths: Paths) -> None:
    fill(paths, 60)
    conn = apsw.Connection(str(paths.database))
    conn.pragma("journal_mode", "wal")
    conn.execute("CREATE TABLE more AS SELECT * FROM events")
    log = paths.data / "memory.db-wal"
    size = paths.database.stat().st_size + log.stat().st_size
    assert size > paths.database.stat().st_size
    assert mem(paths, "db", "vacuum", "--json").json["before"] == size
    conn.close()


def test_inspect_counts_rows_and_names_files(paths: Paths) -> None:
    fill(paths)
    damage(paths, "header")
    mem(paths, "db", "repair")
    found = mem(paths, "db", "inspect", "--json").json
    assert found["tables"]["events"]["rows"] == 15
    assert found["tables"]["events"]["bytes"] > 4096
    assert len(found["kept"]) == 1
    assert "events" in mem(paths, "db", "inspect").out


def test_rebuild_index_beside_a_running_worker(paths: Paths) -> None:
    fill(paths)
    live = worker.start(paths)
    try:
        assert mem(paths, "db", "rebuild-index", "--json").json == {"records": 15}
        found = live.ask("GET", "/api/search?query=walrus&type=prompts").json
        assert "walrus" in json.dumps(found)
    finally:
        live.stop()


# deletion by age --------------------------------------------------------------------------------


def test_what_is_old_goes_and_the_index_follows(paths: Paths) -> None:
    fill(paths, 4)
    with opened(paths.database) as home:
        now = NOW + 20 * DAY_MS
        age = expire.Age(NOW + 2 * DAY_MS)
        counted = home.store.read(lambda conn: expire.count(conn, age))
        assert counted.sessions == 2
        while home.write(lambda conn: expire.delete_some(conn, age, now)):
            open_index(home.store).feed(1000)
        assert home.rows("SELECT content_session_id FROM sdk_sessions") == [("s2",), ("s3",)]
        assert home.value("SELECT count(*) FROM tool_uses") == 2
        assert home.store.read(audit.audit) == []
        assert home.verify().off == ()
        assert not home.store.read(lambda conn: expire.count(conn, age))


def test_a_session_that_goes_on_keeps_its_receipts_but_not_its_old_content(paths: Paths) -> None:
    with opened(paths.database) as home:
        home.session = "long"
        home.prompt("walrus old")
        home.tool("told", at=1, output={"stdout": "ancient"})
        home.stop(at=2)
        home.prompt("new", at=9 * DAY_MS)
        home.tool("tnew", at=9 * DAY_MS + 1)
        home.stop(at=9 * DAY_MS + 2)
        home.now += 99 * DAY_MS
        for work in home.claim(limit=9):
            home.keep(work)
        age = expire.Age(NOW + DAY_MS)
        total = expire.Expired()
        while gone := home.write(lambda conn: expire.delete_some(conn, age, home.now)):
            total += gone
        assert total.sessions == 0
        assert home.rows("SELECT tool_use_id FROM tool_uses") == [("tnew",)]
        assert home.rows("SELECT prompt_text FROM user_prompts") == [("new",)]
        assert home.value("SELECT count(*) FROM events") == 6
        assert home.value("SELECT count(*) FROM events WHERE payload LIKE '%ancient%'") == 0
        assert home.verify().off == ()


def test_work_that_waits_is_not_deleted(paths: Paths) -> None:
    with opened(paths.database) as home:
        play(home, 1)
        assert not home.write(
            lambda conn: expire.delete_some(conn, expire.Age(NOW + 99 * DAY_MS), home.now)
        ).sessions


def test_deleting_asks_first(paths: Paths) -> None:
    fill(paths, 3)
    refused = mem(paths, "db", "delete-older", "1")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert "would be deleted" in mem(paths, "db", "delete-older", "1", "--dry-run").out
    assert mem(paths, "db", "delete-older", "0", "--yes").code == 2
    assert mem(paths, "db", "delete-older", "1", "--project", "nope", "--yes").code == 1
    found = mem(paths, "db", "delete-older", "1", "--project", "here", "--yes", "--json").json
    assert found["sessions"] == 3
    assert mem(paths, "db", "check").code == 0

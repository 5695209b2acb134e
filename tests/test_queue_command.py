"""`mem queue` and `mem verify`, with a worker and without."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import attrs
import pytest

from claude_mem_core.cli.main import main
from claude_mem_core.errors import MemError
from claude_mem_core.paths import Paths
from claude_mem_core.store import queue
from claude_mem_core.testing import worker
from tests.store_home import Home, opened

DAY_MS = 86_400_000


@attrs.frozen
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, object]:
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


Mem = Callable[..., Done]


@pytest.fixture
def mem(capsys: pytest.CaptureFixture[str]) -> Mem:
    def run(*args: str) -> Done:
        capsys.readouterr()
        try:
            code = main(list(args))
            said = capsys.readouterr()
            return Done(code, said.out, said.err)
        except MemError as error:
            return Done(error.exit_code, capsys.readouterr().out, str(error))

    return run


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.setenv("CLAUDE_MEM_DATA_DIR", str(tmp_path / "data"))
    return Paths(tmp_path / "data")


def fail_three_times(home: Home) -> None:
    for at in (0, 10**6, 2 * 10**6):
        (work,) = home.claim(at)
        home.write(lambda conn, at=at, work=work: queue.fail(
            conn, work, "the model said no\nsecond line", home.now + at))  # fmt: skip


@pytest.fixture
def filled(paths: Paths) -> Paths:
    """A turn that is stored, two dead letters (2, 3), one turn that waits, one in work."""
    with opened(paths.database) as home:
        home.now = time.time_ns() // 1_000_000 - DAY_MS
        home.tool("t1", 1)
        home.stop("done", 2)
        fail_three_times(home)
        for session, end in (("s2", True), ("s3", False), ("s4", True)):
            home.session = session
            home.prompt("p", 3)
            home.tool(f"{session}-t", 4)
            if end:
                home.stop("done", 5)
        first, _ = home.claim()
        home.keep(first)
    return paths


# Without a worker ------------------------------------------------------------------------------


def test_nothing_was_recorded_yet(paths: Paths, mem: Mem) -> None:
    assert mem("verify").out.endswith("every event is accounted for\n")
    assert "Pending: 0 messages" in mem("queue").out
    assert "nothing waits" in mem("queue", "show").out
    assert mem("queue", "retry").out == "0 dead letters retried\n"
    assert not paths.data.exists()


def test_the_status_for_people(filled: Paths, mem: Mem) -> None:
    done = mem("queue", "status")
    assert done.code == 0
    assert "Worker is not running" in done.out
    assert "Pending: 1 messages" in done.out
    assert "Processing: 2 messages (2 stuck)" in done.out
    assert "Failed: 2 messages" in done.out
    assert "Sessions with pending work: 2" in done.out
    assert "Session 3: 1 pending" in done.out
    assert "Session 4: 2 processing (since 1 d ago - STUCK)" in done.out
    assert "mem queue retry" in done.out
    assert mem("queue").out == done.out


def test_the_status_for_machines(filled: Paths, mem: Mem) -> None:
    found = mem("queue", "status", "--json").json
    assert (found["worker"], found["pending"], found["processing"]) == (False, 1, 2)
    assert (found["failed"], found["stuck"]) == (2, 2)


def test_items_are_shown(filled: Paths, mem: Mem) -> None:
    lines = mem("queue", "show").out.splitlines()
    assert len(lines) == 5
    failed = mem("queue", "show", "--failed").out
    assert "failed     session 1 prompt 0  Bash" in failed
    assert "3 failures: the model said no" in failed
    assert "second line" not in failed
    assert len(json.loads(mem("queue", "show", "--failed", "--json").out)) == 2
    assert len(mem("queue", "show", "--limit", "1").out.splitlines()) == 1
    one = mem("queue", "show", "1", "--json").json
    assert (one["status"], one["error"]) == ("failed", "the model said no\nsecond line")
    assert "content_session_id" in mem("queue", "show", "1").out


def test_an_item_that_is_not_there(filled: Paths, mem: Mem) -> None:
    done = mem("queue", "show", "777")
    assert (done.code, done.err) == (1, "no item 777 in the queue; `mem queue show` lists them")


def test_retrying_without_a_worker(filled: Paths, mem: Mem) -> None:
    done = mem("queue", "retry", "1", "999")
    assert (done.code, done.out) == (1, "1 dead letters retried\n")
    assert "1 of the items named are no dead letters" in done.err
    assert mem("queue", "retry", "--json").json == {"retried": 1}
    assert mem("queue", "status", "--json").json["failed"] == 0


def test_discarding(filled: Paths, mem: Mem) -> None:
    assert mem("queue", "discard").code == 2
    assert mem("queue", "discard", "1", "--all").code == 2
    assert mem("queue", "discard", "1").out == "1 dead letters discarded\n"
    assert mem("queue", "discard", "--all").out == "1 dead letters discarded\n"
    assert mem("verify", "--json").json["skipped"] == {"discarded": 2}


def test_recovering_needs_a_worker(filled: Paths, mem: Mem) -> None:
    done = mem("queue", "recover", "--yes")
    assert (done.code, done.err.partition(";")[0]) == (3, "the worker is not running")


@pytest.mark.parametrize("limit", ["0", "101", "-1"])
def test_a_limit_out_of_bounds(paths: Paths, mem: Mem, limit: str) -> None:
    done = mem("queue", "recover", "--yes", "--limit", limit)
    assert (done.code, "--limit takes 1 to 100" in done.err) == (2, True)


def test_the_accounting(filled: Paths, mem: Mem) -> None:
    (filled.data / "spool").mkdir()
    (filled.data / "spool" / "00000000000000000001-1.ev").write_text("{}")
    done = mem("verify")
    assert done.code == 0
    assert "accepted  10" in done.out
    assert "dead      2 (2 the model said no" in done.out
    assert "spooled   1" in done.out
    found = mem("verify", "--json").json
    assert (found["ok"], found["accepted"], found["stored"], found["pending"]) == (True, 10, 2, 3)
    assert found["spooled"] == 1


def test_a_sum_that_is_off_exits_1(filled: Paths, mem: Mem) -> None:
    conn = apsw.Connection(str(filled.database))
    conn.execute("DELETE FROM events WHERE state = 'stored'")
    conn.close()
    done = mem("verify")
    assert done.code == 1
    assert "! 2 accepted events are not in the journal" in done.out
    assert mem("verify", "--json").json["ok"] is False


@pytest.mark.parametrize("command", [("verify",), ("queue", "status"), ("queue", "retry")])
def test_a_database_that_can_not_be_used(paths: Paths, mem: Mem, command: tuple[str, ...]) -> None:
    paths.data.mkdir()
    paths.database.write_text("this is no database\n" * 20)
    done = mem(*command)
    assert done.code == 3
    assert "mem db repair" in done.err


def test_stored_text_can_not_drive_the_terminal(paths: Paths, mem: Mem) -> None:
    with opened(paths.database) as home:
        home.tool("t1", 1, name="\x1b]52;c;x\x07", state="pending")
    assert "\x1b" not in mem("queue", "show").out


# With one ---------------------------------------------------------------------------------------


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Iterator[worker.LiveWorker]:
    with worker.running() as live:
        monkeypatch.setenv("CLAUDE_MEM_DATA_DIR", str(live.paths.data))
        yield live


def until(mem: Mem, name: str, value: object) -> None:
    """Wait for a number of the accounting."""
    end = time.monotonic() + 30
    while mem("verify", "--json").json[name] != value:
        assert time.monotonic() < end, mem("verify").out
        time.sleep(0.02)


def test_recovering_takes_up_unfinished_turns(
    live: worker.LiveWorker, mem: Mem, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "nothing to recover" in mem("queue", "recover", "--yes").out
    with opened(live.paths.database) as home:
        home.now = time.time_ns() // 1_000_000
        home.prompt("do it")
        home.tool("t1", 1)
    assert "Worker is healthy" in mem("queue").out
    monkeypatch.setattr(sys, "stdin", io.StringIO("y"))
    assert mem("queue", "recover").code == 2
    done = mem("queue", "recover", "--yes", "--json")
    assert (done.code, done.json["startedSessionIds"]) == (0, [1])
    until(mem, "pending", 0)
    assert mem("verify").code == 0


def test_the_worker_retries_dead_letters(live: worker.LiveWorker, mem: Mem) -> None:
    with opened(live.paths.database) as home:
        home.now = time.time_ns() // 1_000_000 - DAY_MS
        home.write(lambda conn: None)
        home.tool("t1", 1, state="recorded")
        conn = apsw.Connection(str(home.path))
        conn.set_busy_timeout(5000)
        conn.execute("""BEGIN IMMEDIATE;
          UPDATE events SET state = 'dead', reason = 'no' WHERE id = 1;
          INSERT INTO pending_messages (id, session_db_id, content_session_id, message_type,
            status, retry_count, created_at_epoch) VALUES (1, 1, 's1', 'observation', 'failed', 3, 1);
          COMMIT""")
        conn.close()
    assert mem("verify", "--json").json["dead"] == {"no": 1}
    assert mem("queue", "retry").out == "1 dead letters retried\n"
    until(mem, "dead", {})
    until(mem, "pending", 0)

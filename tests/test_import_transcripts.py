"""History from before the install: `mem import transcripts` on transcripts of real sessions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import attrs
import pytest

from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.history import History
from claude_mem_core.projects import Place
from claude_mem_core.store import Store, journal, projects, verify
from claude_mem_core.store.entry import Entry
from claude_mem_core.types import Event, EventKind, Trust
from tests.cli_run import Ran, mem

HOSTS = Path(__file__).parent.parent / "hosts"
WHERE = {
    "claude-code": ".claude/projects", "codex": ".codex/sessions", "gemini": ".gemini/tmp",
    "kimi": ".kimi-code/sessions",
}  # fmt: skip
TABLES = {
    "session": "id, parent_id, directory, agent",
    "message": "id, session_id, time_created, data",
    "part": "message_id, session_id, time_created, data",
}
SESSION = "f58eed7f-9e74-41d4-851f-f5c408a23cf5"


@attrs.frozen
class Machine:
    """A home with the transcripts of five programs, and an empty memory."""

    home: Path

    @property
    def paths(self) -> Paths:
        return Paths(self.home / ".claude-mem")

    def mem(self, *args: str) -> Ran:
        """`mem` with all plugins, in this process."""
        return mem(self.paths.data, *args, plugins=True)

    def take(self, *args: str) -> dict[str, Any]:
        """What `mem import transcripts --json` says."""
        done = self.mem("import", "transcripts", *args, "--json")
        assert done.code in {0, 1}, done.err
        found: dict[str, Any] = json.loads(done.out)
        return found

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What the memory holds."""
        conn = apsw.Connection(str(self.paths.database), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return list(conn.execute(sql))
        finally:
            conn.close()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    made = Machine(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "KIMI_CODE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for host, place in WHERE.items():
        shutil.copytree(HOSTS / host / "tests" / "transcripts", tmp_path / place)
    _database(tmp_path / ".local" / "share" / "opencode" / "opencode.db")
    yield made
    if made.paths.database.exists():
        store = Store.open(made.paths.database)
        assert not store.read(verify.verify).off
        store.close()


def _database(path: Path) -> None:
    path.parent.mkdir(parents=True)
    conn = apsw.Connection(str(path))
    for table, columns in TABLES.items():
        conn.execute(f"CREATE TABLE {table} ({columns})")
    rows = HOSTS / "opencode" / "tests" / "transcripts" / "opencode-rows.jsonl"
    for table, *values in map(json.loads, rows.read_text().splitlines()):
        conn.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
    conn.close()


def test_counts_are_those_of_the_dry_run_and_nothing_comes_twice(machine: Machine) -> None:
    dry = machine.take("--dry-run")
    assert dry["sessions"] == dry["transcripts"] == 5
    assert dry["events"] == {
        "session_started": 5, "prompt_sent": 5, "tool_used": 11, "turn_ended": 5
    }  # fmt: skip
    assert machine.rows("SELECT count(*) FROM events") == [(0,)]
    done = machine.take()
    assert done["events"] == dry["events"]
    again = machine.take()
    assert (again["events"], again["known"]) == ({}, 26)
    assert machine.rows("SELECT count(*) FROM events") == [(26,)]
    assert machine.rows("SELECT count(*) FROM session_summaries") == [(5,)]


def test_all_of_it_is_foreign_and_keeps_its_time(machine: Machine) -> None:
    machine.take()
    assert machine.rows("SELECT DISTINCT trust FROM events") == [("foreign",)]
    summaries = machine.rows("SELECT DISTINCT trust FROM session_summaries")
    assert summaries == [("foreign",)]
    times = machine.rows("SELECT created_at_epoch FROM session_summaries")
    assert all(1_796_126_000_000 < row[0] < 1_796_128_000_000 for row in times)
    hosts = machine.rows("SELECT platform_source FROM sdk_sessions ORDER BY platform_source")
    assert hosts == [("claude-code",), ("codex",), ("gemini",), ("kimi",), ("opencode",)]
    assert machine.rows("SELECT DISTINCT project FROM sdk_sessions") == [("shop",)]


def test_nothing_waits_for_a_model(machine: Machine) -> None:
    machine.take()
    assert machine.rows("SELECT count(*) FROM pending_messages") == [(0,)]
    states = machine.rows("SELECT DISTINCT state FROM events WHERE kind = 'tool_used'")
    assert {row[0] for row in states} <= {"stored", "skipped"}


def test_an_interruption_is_made_up_for(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after the events were written, before anything was made of them."""

    async def killed(self: History, host: str, session_id: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(History, "_observe", killed)
        with pytest.raises(BaseException):  # noqa: B017, PT011 - as the signal leaves it
            machine.mem("import", "transcripts", "--json")
    assert machine.rows("SELECT count(*) FROM session_summaries") == [(0,)]
    machine.take()
    assert machine.rows("SELECT count(*) FROM events") == [(26,)]
    assert machine.rows("SELECT count(*) FROM session_summaries") == [(5,)]


def test_a_session_that_hooks_recorded_is_left_alone(machine: Machine) -> None:
    machine.paths.data.mkdir(mode=0o700)
    store = Store.open(machine.paths.database)
    event = Event(kind=EventKind.PROMPT_SENT, host="claude-code", session_id=SESSION, prompt="x",
                  at_ms=1_796_126_983_726, host_event="UserPromptSubmit")  # fmt: skip

    def record(conn: apsw.Connection) -> None:
        place = projects.resolve(conn, Place(key="/x", label="shop", kind="folder"), 1)
        journal.accept(
            conn, Entry(event=event, event_key="k", project=place, now_ms=1, trust=Trust.USER)
        )

    store.write(record).result()
    store.close()
    done = machine.take("--host", "claude-code")
    assert (done["recorded_by_hooks"], done["events"]) == (1, {})


@pytest.mark.parametrize(
    ("args", "sessions"),
    [
        (["--host", "codex"], 1),
        (["--host", "codex", "--host", "gemini"], 2),
        (["--since", "2026-12-02"], 0),
        (["--until", "2026-12-01"], 0),
        (["--since", "2026-12-01", "--until", "2026-12-02"], 5),
        (["--project", "shop"], 5),
        (["--project", "/home/dev"], 5),
        (["--project", "/home/de"], 0),
        (["--project", "till"], 0),
    ],
)
def test_a_part_of_it(machine: Machine, args: list[str], sessions: int) -> None:
    assert machine.take("--dry-run", *args)["sessions"] == sessions


def test_where_memory_is_off_nothing_is_taken(machine: Machine) -> None:
    machine.paths.data.mkdir(mode=0o700)
    settings = {"CLAUDE_MEM_EXCLUDED_PROJECTS": "/home/dev/**"}
    machine.paths.settings.write_text(json.dumps(settings))
    dry = machine.take("--dry-run")
    done = machine.take()
    assert dry["events"] == done["events"] == {}
    assert dry["skipped"] == done["skipped"] == {"project_excluded": 26}
    assert machine.rows("SELECT count(*) FROM sdk_sessions") == [(0,)]


def test_what_it_would_cost(machine: Machine) -> None:
    dry = machine.take("--dry-run", "--price", "1:10")["model"]
    assert dry["requests"] == 5
    assert 5 * 2500 < dry["tokens_in"] < 5 * 4000
    assert dry["usd"] == round((dry["tokens_in"] + 10 * dry["tokens_out"]) / 1e6, 2)
    said = machine.mem("import", "transcripts", "--dry-run").out
    assert "Nothing was written" in said
    assert "5 requests" in said


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["transcripts", "--host", "word"], 2, "no transcripts of 'word'; known are claude-code"),
        (["transcripts", "--price", "3"], 2, "--price is written IN:OUT"),
        (["transcripts", "--price", "nan:1"], 2, "--price is written IN:OUT"),
        (["transcripts", "--model"], 2, "`mem config set provider NAME`"),
        (["claude-mem", "--dry-run"], 2, "--dry-run goes with `mem import transcripts`"),
    ],
)
def test_what_is_refused(machine: Machine, args: list[str], code: int, said: str) -> None:
    done = machine.mem("import", *args)
    assert (done.code, said in done.err) == (code, True), done.err


def test_what_is_broken_is_named_and_costs_nothing_else(machine: Machine) -> None:
    broken = machine.home / ".local" / "share" / "opencode" / "opencode.db"
    broken.write_bytes(b"SQLite format 3\0" + b"x" * 4000)
    chats = machine.home / ".gemini" / "tmp" / "shop" / "chats"
    (chats / "session-old.json").write_text("{")
    done = machine.take()
    assert sorted(map(Path, done["unreadable"])) == [chats / "session-old.json", broken]
    assert done["sessions"] == 4


EDIT = {
    "file_path": "/home/dev/shop/cart.py", "old_string": "total = 0", "new_string": "total = 1"
}  # fmt: skip


@pytest.mark.parametrize(("most", "kept"), [(200, 1), (0, 0)])
def test_what_comes_of_one_session_is_bounded(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, most: int, kept: int
) -> None:
    """Foreign text must not drown the rest, however much of it there is."""
    monkeypatch.setattr("claude_mem_core.pipeline.history.MOST", most)
    call = {"type": "tool_use", "id": "e1", "name": "Edit", "input": EDIT}
    result = {"type": "tool_result", "tool_use_id": "e1", "content": "ok"}
    done = {"type": "text", "text": "The cart starts at one now, because free carts are wrong."}
    parts = [("user", "start the cart at one"), ("assistant", [call]), ("user", [result]),
             ("assistant", [done])]  # fmt: skip
    common = {"sessionId": "s-edit", "cwd": "/home/dev/shop", "isSidechain": False}
    lines = [
        {**common, "type": role, "timestamp": f"2026-11-01T10:00:0{number}Z",
         "message": {"role": role, "content": content}}
        for number, (role, content) in enumerate(parts)
    ]  # fmt: skip
    file = machine.home / ".claude" / "projects" / "-home-dev-shop" / "s-edit.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)) + "\n")
    machine.take("--since", "2026-11-01", "--until", "2026-11-02")
    assert len(machine.rows("SELECT trust FROM observations WHERE trust = 'foreign'")) == kept
    assert machine.rows("SELECT count(*) FROM observations") == [(kept,)]
    assert machine.rows("SELECT count(*) FROM session_summaries") == [(1,)]
    if kept:
        found = machine.mem("search", "cart starts", "--json")
        assert "cart" in found.out


def test_the_model_gets_it_where_asked_for(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("claude_mem_core.cli.history._has_model", lambda settings: True)
    done = machine.take("--model")
    assert done["for_model"] == 5
    assert machine.rows("SELECT count(DISTINCT session_db_id) FROM pending_messages") == [(5,)]
    assert machine.rows("SELECT count(*) FROM session_summaries") == [(5,)], "rules first"

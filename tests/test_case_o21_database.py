"""O21: a damaged, half-written or newer database, with the real worker and real hooks."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from claude_mem_core.cli.client import WorkerClient
from tests.worker_home import CASES, Home, home, until

pytestmark = pytest.mark.slow

DAMAGE = CASES / "O21-database-damaged-or-newer" / "damage.py"
ROWS = 20
CWD = "/srv/project"
NEW = "the prompt after the damage"

# What becomes of the file: the worker opens it and mends what it can, or a repair is
# needed, or it is not ours to touch.
OPENED = ("wal-garbage", "wal-lost", "index-broken", "fts-broken", "column-gone")
NEEDS_REPAIR = ("zero", "text", "header", "half", "directory", "lost-column")
WHOLE = ("header", "wal-garbage", "wal-lost", "index-broken", "fts-broken", "column-gone",
         "lost-column")  # fmt: skip


@pytest.fixture(scope="module")
def filled() -> Iterator[Path]:
    """A database with 20 prompts, 20 tool uses and what was made of them."""
    with home() as made:
        made.install()
        made.mem("start")
        for number in range(ROWS):
            play(made, number)
        until(lambda: queue_is_empty(made), 60)
        made.mem("stop")
        yield made.paths.database


def restore(made: Home, filled: Path) -> None:
    """The directory as it was; without its rules the hook would drop what events say."""
    shutil.copy(filled, made.paths.database)
    shutil.copy(filled.with_name("edge.json"), made.paths.edge)


def play(made: Home, number: int) -> None:
    session = f"s-{number}"
    made.prompt(f"question {number}", session)
    common = {"session_id": session, "cwd": CWD, "transcript_path": ""}
    made.hook("PostToolUse", {
        **common, "hook_event_name": "PostToolUse", "tool_name": "Edit",
        "tool_use_id": f"toolu_{number}",
        "tool_input": {"file_path": f"{CWD}/f{number}.py", "old_string": "a = 1", "new_string": "a = 2"},
        "tool_response": {"filePath": f"{CWD}/f{number}.py", "success": True},
    })  # fmt: skip
    made.hook("Stop", {
        **common, "hook_event_name": "Stop", "stop_hook_active": False,
        "last_assistant_message": f"Changed a in f{number}.py to 2.",
    })  # fmt: skip


def queue_is_empty(made: Home) -> bool:
    found = made.status()["queue"]
    return not found["pending"] and not found["processing"]


def damage(path: Path, mode: str) -> None:
    if mode == "lost-column":  # `column-gone` of the script leaves a database like ours whole
        conn = apsw.Connection(str(path))
        conn.execute("DROP VIEW observations_fts; DROP INDEX IF EXISTS idx_observations_context;")
        conn.execute("ALTER TABLE observations DROP COLUMN trust")
        conn.close()
        return
    subprocess.run([sys.executable, str(DAMAGE), str(path), mode], check=True, timeout=30)


def start_of_session(made: Home, number: int = 0) -> dict[str, Any]:
    """What Claude Code gets to show at a session's start."""
    done = made.hook("SessionStart", {
        "session_id": f"later-{number}", "cwd": CWD, "transcript_path": "",
        "hook_event_name": "SessionStart", "source": "startup",
    })  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout) if done.stdout else {}


def bytes_of(path: Path) -> dict[str, str]:
    return {
        p.name: hashlib.sha256(p.read_bytes()).hexdigest()
        for p in path.parent.iterdir()
        if p.is_file() and p.name.startswith(path.name) and not p.name.endswith("-shm")
    }


def starts(made: Home) -> int:
    """Workers that were begun: each logs a line, or says why it could not."""
    logged = "".join(p.read_text("ascii") for p in made.paths.logs.glob("*.log"))
    return logged.count(" started, pid ")


def use(made: Home) -> tuple[dict[str, Any], str]:
    """What a person does: work, look at the status, search. The notice and the status."""
    assert made.prompt(NEW, "s-new").returncode == 0
    notice = start_of_session(made)
    assert made.prompt("and one more", "s-new").returncode == 0
    status = made.mem("status")
    assert "Traceback" not in status.stderr
    made.mem("search", "question")
    return notice, status.stdout


def stored(made: Home, text: str) -> bool:
    return text in made.prompts()


def rows(made: Home) -> tuple[int, int]:
    tables = made.json("db", "inspect")["tables"]
    return tables["user_prompts"]["rows"], tables["tool_uses"]["rows"]


@pytest.mark.parametrize("mode", OPENED)
def test_o21_what_can_be_opened_is_opened(filled: Path, mode: str) -> None:
    with home() as made:
        made.install()
        restore(made, filled)
        damage(made.paths.database, mode)
        before = bytes_of(made.paths.database)
        use(made)
        until(lambda: stored(made, NEW), 20)
        made.mem("stop")
        if mode == "wal-garbage":
            assert before["memory.db-wal"] in bytes_of(made.paths.database).values()
        repaired = made.json("db", "repair")
        if mode in WHOLE:
            assert repaired.get("lost", 0) == 0
        made.mem("start")
        until(lambda: stored(made, NEW), 20)
        if mode in WHOLE:
            assert rows(made) == (ROWS + 2, ROWS)
        assert made.mem("db", "check").returncode == 0
        assert made.mem("verify").returncode == 0


@pytest.mark.parametrize("mode", NEEDS_REPAIR)
def test_o21_what_needs_a_repair_says_so_and_loses_no_event(filled: Path, mode: str) -> None:
    with home() as made:
        made.install()
        restore(made, filled)
        damage(made.paths.database, mode)
        before = bytes_of(made.paths.database)
        started = made.mem("start")
        assert started.returncode == 3
        notice, status = use(made)
        for text in (started.stderr, status, notice["systemMessage"]):
            assert str(made.paths.database) in text
            assert "mem db repair" in text or mode == "directory"
        assert not made.status()["running"]  # never ready while it can't store
        assert bytes_of(made.paths.database) == before
        assert len(list(made.paths.spool.glob("*.ev"))) == 3

        repaired = made.json("db", "repair")
        kept = Path(repaired["kept"])
        if mode == "directory":
            assert kept.is_dir()
        else:
            assert hashlib.sha256(kept.read_bytes()).hexdigest() == before["memory.db"]
        if mode in WHOLE:
            assert repaired["lost"] == 0
        if mode == "half":
            tables = repaired["tables"]
            assert tables["user_prompts"]["saved"] + tables["user_prompts"]["lost"] == ROWS
        assert made.mem("start").returncode == 0
        until(lambda: stored(made, NEW), 20)
        if mode in WHOLE:
            assert rows(made) == (ROWS + 2, ROWS)
        assert "repair" not in start_of_session(made, 2).get("systemMessage", "")
        assert made.mem("db", "check").returncode == 0
        assert made.mem("verify").returncode == 0


def test_o21_pages_in_the_middle(filled: Path) -> None:
    """Which pages are hit decides whether it can be opened; either way nothing new is lost."""
    with home() as made:
        made.install()
        restore(made, filled)
        damage(made.paths.database, "middle")
        notice, status = use(made)
        found = made.status()
        if not found["running"]:
            assert "mem db repair" in status
            assert "mem db repair" in notice["systemMessage"]
        made.mem("stop")
        checked = made.mem("db", "check")
        assert (checked.returncode, "mem db repair" in checked.stdout) == (1, True)
        tables = made.json("db", "repair")["tables"]
        for name in ("user_prompts", "tool_uses"):
            assert tables[name]["saved"] + tables[name]["lost"] >= ROWS
        made.mem("start")
        until(lambda: stored(made, NEW), 20)
        assert made.mem("db", "check").returncode == 0
        assert made.mem("verify").returncode == 0


def test_o21_a_newer_database_is_left_as_it_is(filled: Path) -> None:
    with home() as made:
        made.install()
        restore(made, filled)
        damage(made.paths.database, "newer")
        before = bytes_of(made.paths.database)
        started = made.mem("start")
        assert (started.returncode, "newer version" in started.stderr) == (3, True)
        notice, status = use(made)
        assert "mem update" in notice["systemMessage"]
        assert "newer version" in status
        refused = made.mem("db", "repair")
        assert (refused.returncode, "newer version" in refused.stderr) == (3, True)
        assert bytes_of(made.paths.database) == before
        # The file is replaced: what waited is stored without another step.
        made.paths.database.rename(made.paths.data / "newer.db")
        shutil.copy(filled, made.paths.database)
        made.mem("start")
        until(lambda: stored(made, NEW), 20)


def test_o21_hooks_do_not_start_workers_again_and_again(filled: Path) -> None:
    with home() as made:
        argv = made.install()
        assert argv
        restore(made, filled)
        damage(made.paths.database, "text")
        tried = made.paths.data / "tried"
        words = made.paths.worker_argv.read_bytes().split(b"\0")
        counting = [
            b"/bin/sh", b"-c", b'echo >> "$0"; exec "$@"', bytes(tried), *words[1 : 1 + int(words[0])],
        ]  # fmt: skip
        record = [str(len(counting)).encode(), *counting, *words[1 + int(words[0]) :]]
        made.paths.worker_argv.write_bytes(b"\0".join(record))
        for number in range(12):
            assert made.prompt(f"p{number}", "s").returncode == 0
            assert "mem db repair" in start_of_session(made, number)["systemMessage"]
        assert 1 <= len(tried.read_text().splitlines()) <= 3
        assert len(list(made.paths.spool.glob("*.ev"))) == 24


def test_o21_a_file_that_is_cut_off_under_a_running_worker(filled: Path) -> None:
    with home() as made:
        made.install()
        restore(made, filled)
        made.mem("start")
        made.prompt("before", "s-live")
        with open(made.paths.database, "r+b") as file:
            file.truncate(8192)
        start_of_session(made)
        made.prompt(NEW, "s-live")
        made.mem("stop")
        assert made.mem("db", "check").returncode == 1
        assert made.mem("db", "repair").returncode == 0
        made.mem("start")
        until(lambda: stored(made, NEW), 20)
        assert made.mem("db", "check").returncode == 0


def test_o21_a_file_that_is_written_over_under_a_running_worker(filled: Path) -> None:
    with home() as made:
        made.install()
        restore(made, filled)
        made.mem("start")
        made.prompt("before", "s-live")
        made.paths.database.rename(made.paths.data / "aside.db")
        made.paths.database.write_text("this is not a database\n" * 50)
        made.prompt(NEW, "s-live")
        assert "mem db repair" in start_of_session(made)["systemMessage"]
        ready = WorkerClient(made.paths).request("GET", "/api/readiness")
        assert (ready.status, ready.json["status"]) == (503, "unavailable")
        status = made.status()
        assert "mem db repair" in status["notes"]["store"]
        assert status["status"] == "degraded"
        assert len(list(made.paths.spool.glob("*.ev"))) == 2
        # Put back by hand: the worker that runs takes in what waits.
        os.replace(made.paths.data / "aside.db", made.paths.database)
        until(lambda: stored(made, NEW), 30)
        until(lambda: "store" not in made.status()["notes"], 20)
        assert made.mem("db", "check").returncode == 0

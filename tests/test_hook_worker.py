"""The hook and the real worker together: what waited on disk, and what the hook is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from claude_mem_core import edge
from claude_mem_core.testing.worker import LiveWorker, start
from tests.hook_home import HookHome, hook_home
from tests.worker_home import until

IDS = {"session_id": "s1", "cwd": "/srv/place", "transcript_path": ""}
KEY = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
PRIVATE = "wolf-key-55"


@contextmanager
def worker_of(home: HookHome) -> Iterator[LiveWorker]:
    live = start(home.paths)
    try:
        yield live
    finally:
        live.stop()


@pytest.fixture
def home() -> Iterator[HookHome]:
    with hook_home() as made:
        yield made


def prompt(text: str, session: str = "s1") -> dict[str, Any]:
    return {**IDS, "session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": text}


def tool(number: int, text: str) -> dict[str, Any]:
    return {
        **IDS, "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "make"}, "tool_response": {"stdout": text},
        "tool_use_id": f"toolu_{number}",
    }  # fmt: skip


def rows(home: HookHome, sql: str) -> list[tuple[Any, ...]]:
    conn = apsw.Connection(str(home.paths.database), apsw.SQLITE_OPEN_READONLY)
    try:
        return list(conn.execute(sql))
    finally:
        conn.close()


def empty(home: HookHome) -> bool:
    return not list(home.paths.spool.glob("*.ev"))


def test_what_waited_is_taken_in_once_and_nothing_private_is_anywhere(home: HookHome) -> None:
    home.run("UserPromptSubmit", prompt(f"fix the build <private>{PRIVATE}</private>"))
    for number in range(3):
        home.run("PostToolUse", tool(number, f"out {KEY} <private>{PRIVATE}</private> end"))
    assert len(home.records()) == 4
    with worker_of(home):
        until(lambda: empty(home))
        home.run("PostToolUse", tool(4, f"warm {KEY} <private>{PRIVATE}"))
        home.run("Stop", {**IDS, "hook_event_name": "Stop", "last_assistant_message": "done"})
    kinds = [kind for (kind,) in rows(home, "SELECT kind FROM events ORDER BY id")]
    assert sorted(kinds) == ["prompt_sent", *["tool_used"] * 4, "turn_ended"]
    assert rows(home, "SELECT prompt_text FROM user_prompts") == [("fix the build ",)] or rows(
        home, "SELECT prompt_text FROM user_prompts"
    ) == [("fix the build",)]
    assert PRIVATE.encode() not in home.everything()
    assert KEY.encode() not in home.everything()


EVENTS = {
    "PostToolUse": tool(1, "secret work"),
    "UserPromptSubmit": prompt("secret work"),
    "Stop": {**IDS, "hook_event_name": "Stop", "last_assistant_message": "secret work"},
}


def test_a_dropped_event_leaves_its_receipt(home: HookHome) -> None:
    home.rules(paused=True)
    for event, payload in EVENTS.items():
        home.run(event, payload)
    with worker_of(home):
        until(lambda: empty(home))
    found = rows(
        home, "SELECT kind, session, state, reason, payload, cwd FROM events ORDER BY id"
    )
    kinds = ("tool_used", "prompt_sent", "turn_ended")
    assert found == [(kind, "s1", "skipped", "paused", None, None) for kind in kinds]
    assert b"secret work" not in home.everything()


def test_the_worker_tells_the_hook_its_rules(home: HookHome) -> None:
    def published() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(home.paths.edge.read_bytes())
        return found

    with worker_of(home) as live:
        until(home.paths.edge.exists)
        rules = published()
        assert (rules["recording"], rules["excluded"]) == (True, [])
        assert [r["name"] for r in rules["redactors"]] == ["secrets"]
        assert len(rules["own_id"]) == 12
        until(lambda: (home.paths.data / "starting").exists())
        words = (home.paths.data / "starting").read_text().split()
        assert words[1:] == [str(live.pid), "ok"]


@pytest.mark.slow
def test_rules_follow_the_settings(home: HookHome) -> None:
    with worker_of(home):
        until(home.paths.edge.exists)
        settings = {"CLAUDE_MEM_EXCLUDED_PROJECTS": "/srv/place"}
        home.paths.settings.write_text(json.dumps(settings))
        until(lambda: b"/srv/place" in home.paths.edge.read_bytes(), 20)
    home.run("PostToolUse", tool(1, "excluded work"))
    assert home.record()[0]["dropped"] == "project_excluded"
    assert b"excluded work" not in home.everything()


def test_what_was_lost_is_told_at_the_next_session(home: HookHome) -> None:
    home.paths.spool.write_text("a file")
    for number in range(2):
        home.run("PostToolUse", tool(number, "x"))
    home.paths.spool.unlink()
    assert edge.lost(home.paths) == 2
    session = {**IDS, "hook_event_name": "SessionStart", "source": "startup"}
    with worker_of(home):
        said = [
            home.run("SessionStart", {**session, "session_id": f"s{n}"}).out for n in range(4)
        ]
    told = [b"2 events could not be kept" in out for out in said]
    assert told.count(True) == 1
    assert edge.lost(home.paths) == 0


def test_a_bad_own_pattern_is_said_in_the_status(home: HookHome) -> None:
    own = [{"name": "bad", "regex": "("}, {"name": "tck", "regex": "TCK-[0-9]+"}]
    home.paths.settings.write_text(json.dumps({"CLAUDE_MEM_REDACT_CUSTOM_PATTERNS": own}))
    with worker_of(home) as live:
        home.run("UserPromptSubmit", prompt("see TCK-123 there"), "--wait", "10")
        until(lambda: b"own pattern bad" in live.ask("GET", "/api/health").body, 20)
    assert b"TCK-123" not in home.everything()


def test_a_cut_document_is_taken_in(home: HookHome) -> None:
    text = "HEAD-MARK " + "word " * 2_000_000 + " TAIL-MARK"
    with worker_of(home):
        ran = home.run("PostToolUse", tool(1, text))
        assert (ran.code, ran.err) == (0, b"")
        until(lambda: empty(home))
    ((output,),) = rows(home, "SELECT tool_response FROM tool_uses")
    assert "HEAD-MARK" in output
    assert "too large" in output


def test_only_one_worker_serves_what_hooks_start(home: HookHome, tmp_path: Path) -> None:
    edge.install_hook(home.paths)
    out = home.run(
        "SessionStart", {**IDS, "hook_event_name": "SessionStart", "source": "startup"}
    )
    try:
        assert out.code == 0
        assert json.loads(out.out)["continue"] is True
        assert empty(home)
    finally:
        (_, pid, _) = (home.paths.data / "starting").read_text().split()
        import os
        import signal

        os.kill(int(pid), signal.SIGTERM)
        until(lambda: not home.paths.socket.exists(), 20)

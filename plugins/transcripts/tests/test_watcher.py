"""Transcripts that are followed: nothing lost, nothing twice, whatever happens to files."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import NoReturn

import pytest
from claude_mem_transcripts import state as states

from claude_mem_core.errors import StoreError
from claude_mem_core.pipeline.watching import WorkersDesk
from claude_mem_core.transcripts import find
from claude_mem_core.types import Event, EventKind, Transcripts
from plugins.transcripts.tests.transcript_home import Home, meta, play, turn

TURN = ["prompt_sent", "tool_used", "turn_ended"]
BEGUN = ["session_started", *TURN]


def test_a_session_is_remembered(tmp_path: Path) -> None:
    async def scenario(home: Home) -> None:
        home.write("a.jsonl", meta("s1", tmp_path / "shop"), *turn("make the cart", "t1"))
        await home.look()
        assert await home.kinds() == BEGUN[:-1], "the turn may go on"
        home.write("a.jsonl", *turn("and the till", "t2"))
        await home.look()
        assert await home.kinds() == [*BEGUN, *TURN[:-1]]
        await home.look(rest=True)
        assert await home.kinds() == [*BEGUN, *TURN]
        edit = {"file_path": str(tmp_path / "shop" / "cart.py"), "old_string": "a = 1",
                "new_string": "a = 2"}  # fmt: skip
        home.write("a.jsonl", {"type": "user", "text": "fix the cart"},
                   {"type": "call", "id": "t3", "name": "Edit", "input": edit},
                   {"type": "output", "id": "t3", "text": "ok"},
                   {"type": "agent", "text": "The cart in cart.py counts to 2 now."})  # fmt: skip
        await home.look(rest=True)
        await home.services.loop.settle(20)
        assert await home.rows("SELECT 1 FROM observations WHERE title LIKE '%cart%'")
        sessions = await home.rows(
            "SELECT platform_source, project, prompt_counter FROM sdk_sessions"
        )
        assert sessions == [("acme", "shop", 3)]
        trust = await home.rows("SELECT DISTINCT trust FROM events WHERE kind = 'prompt_sent'")
        assert trust == [("user",)]

    play(tmp_path, scenario)


def test_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    async def scenario(home: Home) -> None:
        home.write("a.jsonl", meta("s1", tmp_path / "shop"))
        whole = json.dumps({"type": "user", "text": "änder das"}, ensure_ascii=False).encode()
        with (home.logs / "a.jsonl").open("ab") as file:
            file.write(whole[:30])  # in the middle of a letter
            file.flush()
            await home.look()
            assert await home.kinds() == []
            home.restart()
            await home.look()
            file.write(whole[30:])
            file.flush()
            await home.look()
            assert await home.kinds() == []
            file.write(b"\n")
        await home.look()
        assert await home.kinds() == ["session_started", "prompt_sent"]
        assert await home.rows("SELECT prompt_text FROM user_prompts") == [("änder das",)]

    play(tmp_path, scenario)


def test_restarts_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    """After every line, also between a tool's call and its result."""

    async def scenario(home: Home) -> None:
        records = [meta("s1", tmp_path / "shop"), *turn("one", "t1"), *turn("two", "t2")]
        for record in records:
            home.write("a.jsonl", record)
            await home.look()
            home.restart()
        await home.look(rest=True)
        home.restart()
        await home.look(rest=True)
        assert sorted(await home.kinds()) == sorted([*BEGUN, *TURN])

    play(tmp_path, scenario)


def test_without_a_state_file_all_is_read_again_and_kept_once(tmp_path: Path) -> None:
    async def scenario(home: Home) -> None:
        home.write("a.jsonl", meta("s1", tmp_path / "shop"), *turn("one", "t1"))
        await home.look(rest=True)
        kinds = await home.kinds()
        file = home.services.paths.data / "transcript-watch-state.json"
        for content in (None, b"", b"{", b'{"sources": [], "files": {"a": 3}}', b"[]"):
            if content is None:
                file.unlink()
            else:
                file.write_bytes(content)
            home.restart()
            await home.look(rest=True)
            assert await home.kinds() == kinds
        home.write("a.jsonl", *turn("two", "t2"))
        await home.look(rest=True)
        assert await home.kinds() == [*kinds, *TURN]

    play(tmp_path, scenario)


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("way", ["renamed", "emptied", "replaced"])
def test_rotation(tmp_path: Path, way: str, restarted: bool) -> None:
    async def scenario(home: Home) -> None:
        shop = tmp_path / "shop"
        path = home.write("a.jsonl", meta("s1", shop), *turn("one", "t1"))
        await home.look()
        if way == "renamed":  # with lines in it that nobody has seen yet
            home.write("a.jsonl", *turn("two", "t2"))
            path.rename(path.with_suffix(".1"))
        elif way == "emptied":
            path.write_bytes(b"")
        else:
            os.replace(home.write("new.tmp", *[]), path)
            path.write_bytes(b"")
        if restarted:
            home.restart()
        home.write("a.jsonl", meta("s2", shop), *turn("three", "t3"))
        await home.look()
        await home.look(rest=True)
        texts = {row[0] for row in await home.rows("SELECT prompt_text FROM user_prompts")}
        wanted = {"one", "two", "three"} if way == "renamed" else {"one", "three"}
        assert texts == wanted
        doubled = await home.rows("SELECT key FROM events GROUP BY key HAVING count(*) > 1")
        assert doubled == []

    play(tmp_path, scenario)


def test_what_was_there_before_is_passed_over_by_default(tmp_path: Path) -> None:
    async def scenario(home: Home) -> None:
        home.configure()
        home.write("old.jsonl", meta("s1", tmp_path / "shop"), *turn("old", "t1"))
        await home.look()
        home.restart()
        home.write("old.jsonl", *turn("new", "t2"))
        home.write("later.jsonl", meta("s2", tmp_path / "shop"), *turn("later", "t1"))
        await home.look()
        texts = await home.rows("SELECT prompt_text FROM user_prompts ORDER BY prompt_text")
        assert texts == [("later",), ("new",)]
        cwds = await home.rows("SELECT DISTINCT project FROM sdk_sessions")
        assert cwds == [("shop",)], "the head of an old file tells where it was"

    play(tmp_path, scenario)


def test_events_go_through_the_door(tmp_path: Path) -> None:
    """Private text, secrets and places where memory is off, as with hooks."""

    async def scenario(home: Home) -> None:
        off = tmp_path / "off"
        off.mkdir()
        (off / ".claude-mem.json").write_text('{"enabled": false}')
        home.write("b.jsonl", meta("s2", off), *turn("nobody may know", "t1"))
        secret = "ghp_" + "a1B2" * 9
        home.write("a.jsonl", meta("s1", tmp_path / "shop"),
                   {"type": "user", "text": f"use {secret} and <private>hush</private> now"})  # fmt: skip
        await home.look()
        kept = str(await home.rows("SELECT payload FROM events")) + str(
            await home.rows("SELECT prompt_text FROM user_prompts")
        )
        assert "now" in kept
        assert secret not in kept
        assert "hush" not in kept
        assert "nobody" not in kept
        assert await home.rows("SELECT DISTINCT project FROM sdk_sessions") == [("shop",)]

    play(tmp_path, scenario)


def test_a_session_that_hooks_report_is_left_to_them(tmp_path: Path) -> None:
    async def scenario(home: Home) -> None:
        shop = str(tmp_path / "shop")
        event = Event(kind=EventKind.PROMPT_SENT, host="acme", session_id="s1", cwd=shop,
                      prompt="by hook", at_ms=1, host_event="UserPromptSubmit")  # fmt: skip
        await home.services.recorder.accept(event)
        home.write("a.jsonl", meta("s1", shop), *turn("by file", "t1"))
        home.write("b.jsonl", meta("s2", shop), *turn("by file alone", "t1"))
        await home.look(rest=True)
        texts = await home.rows("SELECT prompt_text FROM user_prompts ORDER BY id")
        assert texts == [("by hook",), ("by file alone",)]

    play(tmp_path, scenario)


def test_a_store_that_fails_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(home: Home) -> None:
        home.write("a.jsonl", meta("s1", tmp_path / "shop"), *turn("one", "t1")[:2])
        await home.look()
        home.write("a.jsonl", *turn("one", "t1")[2:])

        async def full(self: WorkersDesk, events: object) -> int:
            raise StoreError("the disk is full")

        with monkeypatch.context() as broken:
            broken.setattr(WorkersDesk, "report", full)
            await home.look()
        await home.look(rest=True)
        assert await home.kinds() == BEGUN

    play(tmp_path, scenario)


def test_broken_lines_and_files_hold_up_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(home: Home) -> None:
        path = home.write("a.jsonl", meta("s1", tmp_path / "shop"))
        with path.open("ab") as file:
            file.write(b"\n\xff\xfe{\n[1]\nnull\n" + b"[" * 70_000 + b"\n")
            file.write(b'{"type": "user", "text": ' + b"9" * 300 + b"}\n")
        home.write("a.jsonl", *turn("still here", "t1"))
        secret = tmp_path / "secret.jsonl"
        secret.write_text(json.dumps({"type": "user", "text": "linked"}) + "\n")
        (home.logs / "link.jsonl").symlink_to(secret)
        (home.logs / "folder.jsonl").mkdir()
        os.mkfifo(home.logs / "pipe.jsonl")
        await home.look()
        texts = await home.rows("SELECT prompt_text FROM user_prompts")
        assert texts == [("still here",)]

    play(tmp_path, scenario)


def opened_never(file: object) -> NoReturn:
    raise AssertionError(file)


def test_a_file_that_goes_while_they_are_looked_at_costs_no_other(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.jsonl").touch()
    files = find(str(tmp_path), Transcripts(pattern="*.jsonl", open=opened_never))
    assert next(files).steps == ("a.jsonl",)
    (tmp_path / "b.jsonl").unlink()
    assert [file.steps for file in files] == [("c.jsonl",)]


def test_a_state_file_that_can_not_be_written_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(home: Home) -> None:
        home.configure(startAtEnd=False)
        home.state = states.load(home.services.paths.data)
        home.state.path.mkdir()
        home.write("a.jsonl", meta("s1", tmp_path / "shop"), *turn("one", "t1"))
        await home.look(rest=True)
        home.write("a.jsonl", *turn("two", "t2"))
        await home.look(rest=True)
        texts = await home.rows("SELECT prompt_text FROM user_prompts ORDER BY id")
        assert texts == [("one",), ("two",)]
        assert [r.getMessage().count("is not written") for r in caplog.records] == [1]

    with caplog.at_level(logging.WARNING):
        play(tmp_path, scenario)


def test_a_settings_file_that_is_wrong_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(home: Home) -> None:
        path = home.services.paths.data / "transcript-watch.json"
        for content, said in (
            ("{", "mend the file"),
            ("{}", "`watches` must be a list"),
            ('{"watches": [{"name": "a b"}]}', "the name 'a b' must be"),
            ('{"watches": [{"name": "a", "path": "x/*.jsonl"}]}', "must be whole"),
            ('{"watches": [{"name": "a", "path": "/x/*.jsonl", "schema": "z"}]}', "no schema 'z'"),
            ('{"watches": [], "schemas": {"z": {"events": [{"action": "x"}]}}}', "needs an `action`"),
        ):  # fmt: skip
            caplog.clear()
            path.write_text(content)
            with caplog.at_level(logging.WARNING):
                await home.look()
                await home.look()
            assert [said in record.getMessage() for record in caplog.records] == [True]

    play(tmp_path, scenario)


def rollout(home: Home, name: str, thread: str, parent: str = "") -> None:
    """A rollout of Codex CLI; with a parent, one of a sub-agent."""
    spawn = {"parent_thread_id": parent, "depth": 1, "agent_role": "explorer"}
    source = {"subagent": {"thread_spawn": spawn}} if parent else "cli"
    shop = str(home.root / "shop")
    call = {"type": "function_call", "name": "exec_command", "call_id": f"call-{thread}",
            "arguments": json.dumps({"cmd": "ls"})}  # fmt: skip
    payloads = [
        ("session_meta", {"id": thread, "cwd": shop, "source": source}),
        ("event_msg", {"type": "user_message", "message": f"prompt of {thread}"}),
        ("response_item", call),
        ("response_item", {"type": "function_call_output", "call_id": f"call-{thread}",
                           "output": "Exit code: 2\nWall time: 0 s\nOutput:\nno such file"}),
        ("event_msg", {"type": "task_complete", "last_agent_message": f"answer of {thread}"}),
    ]  # fmt: skip
    lines = [
        {"timestamp": f"2026-11-30T10:00:0{number}.000Z", "type": kind, "payload": payload}
        for number, (kind, payload) in enumerate(payloads)
    ]
    path = home.root / "codex" / "sessions" / "2026" / "11" / "30" / f"rollout-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")


CODEX = "CLAUDE_MEM_CODEX_SUBAGENT_INGESTION", "CLAUDE_MEM_CODEX_TRANSCRIPT_INGESTION"
MAIN = ("", ["session_started", "prompt_sent", "tool_failed", "turn_ended"])
INNER = ("sub-1", ["tool_failed", "subagent_ended"])


@pytest.mark.parametrize(
    ("switches", "wanted"),
    [
        ({}, []),
        ({CODEX[0]: True}, [INNER]),
        ({CODEX[0]: True, "CLAUDE_MEM_SKIP_SUBAGENT_OBSERVATIONS": True}, []),
        ({CODEX[0]: True, CODEX[1]: True}, [MAIN, INNER]),
    ],
)
def test_rollouts_of_codex_are_read_where_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, switches: dict[str, bool], wanted: object
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))

    async def scenario(home: Home) -> None:
        (home.services.paths.data / "settings.json").write_text(json.dumps(switches))
        (tmp_path / "codex" / "sessions").mkdir(parents=True)
        await home.look()  # what is written later is new
        rollout(home, "a", "main-1")
        rollout(home, "b", "sub-1", "main-1")
        await home.look()
        rows = await home.rows("SELECT coalesce(agent_id, ''), kind FROM events ORDER BY id")
        found = [(agent, [k for a, k in rows if a == agent]) for agent in dict(rows)]
        assert found == wanted
        sessions = await home.rows("SELECT content_session_id, platform_source FROM sdk_sessions")
        assert sessions == ([("main-1", "codex")] if wanted else [])

    play(tmp_path, scenario)


def test_a_host_without_hooks_is_followed_once_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROK_BOT_AGENT_DATA", str(tmp_path / "bot"))
    seat = tmp_path / "bot" / "agents" / "seat-a"
    talk = seat / "agent-transcripts" / "day" / "talk.jsonl"
    talk.parent.mkdir(parents=True)

    def say(text: str) -> None:
        with talk.open("a") as file:
            file.write(json.dumps({"role": "user", "message": {"content": text}}) + "\n")

    async def scenario(home: Home) -> None:
        (home.services.paths.data / "transcript-watch.json").unlink()
        say("before the install")
        assert not await home.look()
        index = seat / "memory" / "log" / "zz-claude-mem-inject.md"
        index.parent.mkdir(parents=True)
        index.write_text("ours")
        assert await home.look()
        say("after it")
        await home.look()
        texts = await home.rows("SELECT prompt_text, platform_source FROM user_prompts")
        assert texts == [("after it", "grok-bot")]
        labels = await home.rows("SELECT DISTINCT agent_id FROM events")
        assert labels == [("seat-a",)]

    play(tmp_path, scenario)

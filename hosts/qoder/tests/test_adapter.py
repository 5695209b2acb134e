"""What Qoder's payloads mean, and what it may be told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from claude_mem_host_qoder.adapter import Qoder
from claude_mem_host_qoder.installer import QoderInstaller

from claude_mem_core.editing import Json
from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import Answer, Delivery, Event, EventKind, HostSetup, StartSource

EXAMPLES = Path(__file__).parent / "examples"
ADAPTER = Qoder()


def example(name: str) -> Event:
    (event,) = ADAPTER.parse(recorded("qoder", EXAMPLES / f"{name}.json"))
    return event


def events(name: str, env: dict[str, str], **fields: Any) -> list[Event]:
    payload = {"session_id": "s1", "hook_event_name": name, **fields}
    call = Delivery(host="qoder", event=name, stdin=json.dumps(payload).encode(), env=env)
    return list(ADAPTER.parse(call))


def test_a_turn() -> None:
    assert example("SessionStart.startup").source is StartSource.STARTUP
    assert example("SessionStart.compact").source is StartSource.COMPACT
    assert example("UserPromptSubmit").prompt == "PROMPT-1 mend the cart"
    used = example("PostToolUse.Bash").tool
    assert used
    assert (used.id, used.output) == ("tool-1", "1 passed in 0.1s")
    failed = example("PostToolUseFailure.Bash").tool
    assert failed
    assert failed.error == "Command exited with non-zero status code 2"
    assert example("Stop").answer == "final one"
    assert example("SubagentStop").answer == "sub final"
    assert example("SessionEnd.other").reason == "other"


def test_the_environment_says_where_when_the_payload_does_not() -> None:
    (event,) = events("Stop", {"QODER_PROJECT_DIR": "/srv/a", "CLAUDE_PROJECT_DIR": "/srv/b"})
    assert event.cwd == "/srv/a"
    (event,) = events("Stop", {"CLAUDE_PROJECT_DIR": "/srv/b"}, cwd="/srv/c")
    assert event.cwd == "/srv/c"


def test_the_task_of_a_subagent_is_no_prompt() -> None:
    inside = {"agent_id": "a1", "agent_type": "explore", "prompt": "look"}
    (event,) = events("UserPromptSubmit", {}, **inside)
    assert (event.kind, event.reason) == (EventKind.NOTICE, "subagent_prompt")


def test_nothing_is_said_but_context_at_the_start() -> None:
    for kind in EventKind:
        said = ADAPTER.reply(Answer(kind=kind, host_event="X", context="c")).stdout
        assert bool(said) == (kind is EventKind.SESSION_STARTED)
    assert ADAPTER.reply(Answer()).stdout == ""


def test_a_switch_that_stops_our_hooks_is_named() -> None:
    setup = HostSetup(home="/h", data_dir="/h/.claude-mem", argv=["x"])
    doc = Json('{"disableAllHooks": true}', "settings.json")
    (problem,) = QoderInstaller().problems(setup, doc, {})
    assert "disableAllHooks" in problem

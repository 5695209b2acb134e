"""What the payloads of Windsurf's agent mean, and that it is told nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_mem_host_windsurf.adapter import Windsurf
from claude_mem_host_windsurf.installer import WindsurfInstaller

from claude_mem_core.errors import InvalidInput
from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import Answer, Delivery, Event, EventKind, HostSetup, Output

EXAMPLES = Path(__file__).parent / "examples"
ADAPTER = Windsurf()


def example(name: str) -> Event:
    (event,) = ADAPTER.parse(recorded("windsurf", EXAMPLES / f"{name}.json"))
    return event


def events(name: str, **info: Any) -> list[Event]:
    payload = {"agent_action_name": name, "trajectory_id": "t1", "tool_info": info}
    env = {"CLAUDE_PROJECT_DIR": "/srv/app"}
    call = Delivery(host="windsurf", event="", stdin=json.dumps(payload).encode(), env=env)
    return list(ADAPTER.parse(call))


def test_a_turn() -> None:
    prompt = example("pre_user_prompt")
    assert (prompt.prompt, prompt.cwd) == ("PROMPT-1 mend the cart", "/home/dev/shop")
    answer = example("post_cascade_response")
    assert answer.answer == "final one"
    assert (answer.session_id, answer.prompt_id) == (prompt.session_id, prompt.prompt_id)
    ran = example("post_run_command")
    assert ran.tool
    assert (ran.tool.input, ran.cwd) == ({"command": "pytest -q"}, "/home/dev/shop/src")
    edit = example("post_write_code").tool
    assert edit
    assert edit.input["edits"][0]["new_string"] == "import os\nimport sys"
    mcp = example("post_mcp_tool_use").tool
    assert mcp
    assert mcp.name == "mcp__github__list_commits"


def test_what_we_do_not_ask_for_says_nothing() -> None:
    assert events("post_read_code", file_path="/srv/app/a.py") == []


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("plain words", "plain words"),
        ("### Planner Response\n\nfirst\n\n### Planner Response\n\n last \n", "last"),
        ("### Planner Response\n\n", None),
        ("  ", None),
    ],
)
def test_the_answer_is_the_last_part(said: str, answer: str | None) -> None:
    (event,) = events("post_cascade_response", response=said)
    assert (event.kind, event.answer) == (EventKind.TURN_ENDED, answer)


def test_a_command_without_a_directory_ran_where_the_hook_did() -> None:
    (event,) = events("post_run_command", command_line="ls", cwd="src")
    assert event.cwd == "/srv/app"


@pytest.mark.parametrize("name", ["post_run_command", "post_write_code", "post_mcp_tool_use"])
def test_an_event_about_nothing_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="missing-field"):
        events(name)


def test_what_the_hook_had_to_cut_is_still_a_command() -> None:
    payload = {"trajectory_id": "t1", "tool_input": {"command": "make"}}
    body = json.dumps(payload).encode()
    (event,) = ADAPTER.parse(Delivery(host="windsurf", event="post_run_command", stdin=body))
    assert event.tool
    assert event.tool.input == {"command": "make"}


@pytest.mark.parametrize("kind", [None, *EventKind])
def test_it_is_told_nothing(kind: EventKind | None) -> None:
    answer = Answer(kind=kind, host_event="pre_user_prompt", context="c", notice="n")
    assert ADAPTER.reply(answer) == Output()


def test_the_hooks_say_where_they_were_started_and_show_nothing() -> None:
    setup = HostSetup(home="/h", data_dir="/h/.claude-mem", argv=["/py", "/h/hook/launch.py"])
    (change,) = WindsurfInstaller().install(setup)
    assert change.after
    for event, (hook,) in json.loads(change.after)["hooks"].items():
        assert hook["command"].endswith(f" windsurf {event} --here")
        assert hook["show_output"] is False

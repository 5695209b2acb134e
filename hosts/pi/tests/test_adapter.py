"""What our extension inside oh-my-pi hands on, and what it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_mem_host_pi.adapter import Pi

from claude_mem_core.errors import InvalidInput
from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import Answer, Delivery, Event, EventKind

EXAMPLES = Path(__file__).parent / "examples"
ADAPTER = Pi()


def example(name: str) -> Event:
    (event,) = ADAPTER.parse(recorded("pi", EXAMPLES / f"{name}.json"))
    return event


def parsed(name: str, **event: Any) -> Event:
    payload = {"sid": "s1", "cwd": "/srv/app", "event": event}
    call = Delivery(host="pi", event=name, stdin=json.dumps(payload).encode())
    (found,) = ADAPTER.parse(call)
    return found


def test_a_turn() -> None:
    assert example("before_agent_start").prompt == "PROMPT-1 do it"
    used = example("tool_result").tool
    assert used
    assert (used.name, used.id, used.output) == ("read", "call_fake000001", "1:alpha = 1")
    assert example("session_stop").answer == "final one"


def test_a_failure_is_flagged() -> None:
    content = [{"type": "text", "text": "bad"}, {"type": "image"}, 3]
    failed = parsed("tool_result", toolName="bash", content=content, isError=True)
    assert failed.tool
    assert (failed.kind, failed.tool.error) == (EventKind.TOOL_FAILED, "bad")


def test_prompts_of_other_forms() -> None:
    assert parsed("before_agent_start", prompt="").prompt == "[media prompt]"
    with pytest.raises(InvalidInput, match="missing-field: prompt"):
        parsed("before_agent_start", prompt=["x"])


def test_two_turns_with_the_same_words_are_two() -> None:
    assert parsed("session_stop", turn_id=1) != parsed("session_stop", turn_id=2)


def test_only_a_prompt_is_answered_and_plainly() -> None:
    for kind in EventKind:
        said = ADAPTER.reply(Answer(kind=kind, context="x", notice="n")).stdout
        assert said == ("x" if kind is EventKind.PROMPT_SENT else "")

"""What the user's settings make of requests: how much goes out at once, and for what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import attrs
import pytest

from claude_mem_core import secrets
from claude_mem_core.pipeline.asking import Asking
from claude_mem_core.pipeline.models import Models
from claude_mem_core.testing.fake_site import FakeSite
from claude_mem_core.types import (
    Batch,
    Event,
    EventKind,
    Message,
    Observed,
    Reply,
    StoredEvent,
    ToolUse,
)
from tests.providing_kit import Scene, says

pytestmark = pytest.mark.anyio
REPLY = (
    "<observation><type>change</type><title>Read the log</title><narrative>The agent read it."
    "</narrative></observation>"
)
TOOLS = 8


@attrs.define
class Sent(Scene):
    """Keeps what each request said."""

    said: list[list[Message]] = attrs.field(factory=list)

    async def _send(
        self, provider: str, system: str, messages: Sequence[Message], *, max_tokens: int,
        seconds: float, session: int, values: Mapping[str, str],
    ) -> Reply:  # fmt: skip
        self.said.append(list(messages))
        return says(REPLY)

    def sizes(self) -> list[int]:
        return [sum(len(message.text) for message in said) for said in self.said]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def sent(install_fake_plugin: FakeSite, tmp_path: Path) -> Iterator[Sent]:
    made = cast("Sent", Sent.make(install_fake_plugin, tmp_path))
    secrets.write(made.paths, "CLAUDE_MEM_ALPHA_API_KEY", "key-one-0123456789", "file")
    made.open(provider="alpha")
    yield made
    made.dispatcher.close()


def event(ident: int, kind: EventKind, **more: Any) -> StoredEvent:
    happened = Event(kind=kind, host="claude-code", session_id="s", cwd="/p", **more)
    return StoredEvent(id=ident, event=happened, prompt_number=1)


def turn(*outputs: str) -> Batch:
    prompt = event(1, EventKind.PROMPT_SENT, prompt="look at the log")
    uses = [
        ToolUse(name="Bash", id=str(n), input={"command": f"show {n}"}, output=output)
        for n, output in enumerate(outputs)
    ]
    tools = [event(n, EventKind.TOOL_USED, tool=use) for n, use in enumerate(uses, 2)]
    return Batch(session_db_id=1, project="p", events=(prompt, *tools), root="/p")


async def rules(batch: Batch) -> Observed:
    return Observed()


async def observed(sent: Sent, batch: Batch) -> None:
    models = cast("Models", SimpleNamespace(dispatcher=sent.dispatcher))
    await Asking(sent.paths, sent.settings, models).observe(batch, rules)


async def test_a_window_that_is_set_bounds_every_request(sent: Sent) -> None:
    outputs = [f"line {n} of the log\n" * 300 for n in range(TOOLS)]
    await observed(sent, turn(*outputs))
    whole = sent.sizes()
    sent.said.clear()
    sent.set(observer_context_window="100")  # as 8,192 tokens, the least that makes sense
    await observed(sent, turn(*outputs))
    assert len(sent.said) > len(whole)
    assert max(sent.sizes()) <= 8_192 * 2 < max(whole)
    assert min(sent.sizes()) > 400, "less than the least is not a request"


async def test_a_prompt_alone_is_asked_about_if_that_is_wanted(sent: Sent) -> None:
    await observed(sent, turn())
    assert sent.said == []
    sent.set(observe_bare_prompts="true")
    await observed(sent, turn())
    assert len(sent.said) == 1


async def test_a_long_field_is_shortened_if_that_is_wanted(sent: Sent) -> None:
    long = "the same line again\n" * 2_000
    await observed(sent, turn(long))
    assert len(sent.said) == 1
    assert "elided" in sent.said[0][-1].text
    sent.set(field_optimize_enabled="true")
    await observed(sent, turn(long))
    assert len(sent.said) == 3

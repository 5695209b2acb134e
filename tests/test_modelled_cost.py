"""What a long session costs, and whether all of it was seen; without a process or a store.

`bench/observer_cost.py` measures the same through the hook, the worker and the processor.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import anyio
import attrs
import pytest

from claude_mem_core.modelled.limits import Limits
from claude_mem_core.modelled.observer import ModelObserver
from claude_mem_core.modes import Modes
from claude_mem_core.types import (
    Batch,
    Draft,
    Event,
    EventKind,
    Message,
    Observation,
    Observed,
    Reply,
    StoredEvent,
    ToolUse,
)

USES, BYTES, CAP, BYTES_A_TOKEN = 200, 2_600, 400_000, 4
CODE = Modes(Path("/nonexistent")).mode("code")
ROOT = "/srv/project"
MARK = re.compile(r"use_number_(\d+)_")
REPLY = (
    "<observation><type>change</type><title>Modules of the importer read</title><narrative>The"
    " agent went through the modules one by one, read each of them and wrote down what it"
    " computes, as the user had asked.</narrative></observation><summary><request>go through"
    " the modules</request><completed>the modules of this part</completed></summary>"
)


@attrs.define
class Service:
    """Counts what it is sent."""

    bytes: int = 0
    texts: list[str] = attrs.field(factory=list)

    async def __call__(
        self, system: str, messages: Sequence[Message], tier: str = "", /
    ) -> Reply:
        self.texts.append(messages[-1].text)
        said = [system, *(message.text for message in messages)]
        self.bytes += sum(len(text.encode()) for text in said)
        return Reply(text=REPLY, model="m")


def use(number: int) -> ToolUse:
    body = f"use_number_{number}_ = True\n"
    body += f"    value_{number} = compute(base_{number}, scale=0.{number})\n" * 100
    path = f"{ROOT}/src/module_{number % 40}.py"
    return ToolUse(
        name="Read", id=str(number), input={"file_path": path},
        output={"file": {"filePath": path, "content": body[: BYTES - len(path)]}},
    )  # fmt: skip


def batch(turn: int, numbers: range, earlier: Sequence[Observation]) -> Batch:
    def event(ident: int, kind: EventKind, **more: object) -> StoredEvent:
        happened = Event(kind=kind, host="claude-code", session_id="s", cwd=ROOT, **more)  # type: ignore[arg-type]
        return StoredEvent(id=ident, event=happened, prompt_number=turn + 1)

    asked = event(10_000 + turn, EventKind.PROMPT_SENT, prompt=f"go through part {turn}")
    tools = [event(n + 1, EventKind.TOOL_USED, tool=use(n)) for n in numbers]
    done = event(20_000 + turn, EventKind.TURN_ENDED, answer=f"Part {turn} is done.")
    return Batch(
        session_db_id=1, project="p", events=(asked, *tools, done), finished=True, root=ROOT,
        earlier=tuple(earlier),
    )  # fmt: skip


def kept(draft: Draft, ident: int) -> Observation:
    return Observation(
        id=ident, type=draft.type, title=draft.title, narrative=draft.narrative, project="p",
        created_ms=ident,
    )


async def rules(batch: Batch) -> Observed:
    raise AssertionError("a model could answer everything")


@pytest.mark.parametrize("turns", [10, USES])
def test_200_tool_uses_cost_at_most_400_000_tokens(turns: int) -> None:
    service, observer = Service(), ModelObserver()
    earlier: list[Observation] = []
    rested: set[int] = set()

    async def session() -> None:
        for turn in range(turns):
            numbers = range(turn * USES // turns, (turn + 1) * USES // turns)
            made = await observer.observe(
                batch(turn, numbers, earlier[-20:]), ask=service, rules=rules, mode=CODE,
                limits=Limits(),
            )  # fmt: skip
            for draft in made.observations:
                earlier.append(kept(draft, len(earlier) + 1))
                rested.update(draft.events)

    anyio.run(session)
    sent = {int(number) for text in service.texts for number in MARK.findall(text)}
    assert sent == set(range(USES)), "each tool use was shown to the model"
    assert {number + 1 for number in range(USES)} <= rested, "and a memory rests on it"
    assert service.bytes // BYTES_A_TOKEN <= CAP, service.bytes

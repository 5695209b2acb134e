"""What sub-agents were asked and what they answered."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from claude_mem_core.observer.steps import Act, Step
from claude_mem_core.observer.text import squash
from claude_mem_core.types import EventKind, StoredEvent, Trust

LEAST = 60  # characters from which a tool's result may be an answer
STARTED = re.compile(
    r"async_launched|launched successfully|agent_id|agentId|working in the background"
)


@attrs.frozen
class Helper:
    """A sub-agent's answer.

    Attributes:
        asked: what it had to do, where that is known.
        events: the answer, and what of it came from outside.
        kind: the host's word for this sort of agent.
    """

    asked: str
    answer: str
    events: tuple[int, ...]
    kind: str = ""


def helpers(events: Sequence[StoredEvent], taken: Sequence[Step]) -> list[Helper]:
    """The answers of a turn's sub-agents, in the order they came."""
    asked = [s for s in taken if s.act is Act.AGENT]
    found = [
        _ended(e, asked, taken)
        for e in events
        if e.event.kind is EventKind.SUBAGENT_ENDED and e.event.answer
    ]
    known = {squash(h.answer)[:200] for h in found}
    waited = (s for s in asked if _is_answer(s) and squash(s.text)[:200] not in known)
    return [*found, *(Helper(s.query, s.text.strip(), (s.event_id,)) for s in waited)]


def _ended(stored: StoredEvent, asked: Sequence[Step], taken: Sequence[Step]) -> Helper:
    event, agent = stored.event, stored.event.agent_id or ""
    named = [s.query for s in asked if agent and agent in s.text]
    task = named[0] if named else asked[0].query if len(asked) == 1 else ""
    alien = [s.event_id for s in taken if s.trust is Trust.FOREIGN and s.agent == agent]
    return Helper(task, event.answer or "", (stored.id, *alien[:3]), event.agent_type or "")


def _is_answer(step: Step) -> bool:
    """A sub-agent that was waited for answers in the tool's result."""
    return not step.failed and len(step.text) > LEAST and not STARTED.search(step.text)

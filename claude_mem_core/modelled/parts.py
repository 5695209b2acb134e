"""A turn cut into what goes out together: by agent, by trust, and by size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from claude_mem_core.modelled.telling import told
from claude_mem_core.types import Batch, EventKind, StoredEvent, Trust

PART_CHARS = 24_000  # what one request holds of events
FIELD_CHARS = 8_000
SPOKEN = frozenset({EventKind.PROMPT_SENT, EventKind.TURN_ENDED, EventKind.TURN_FAILED})


@attrs.frozen(kw_only=True)
class Part:
    """Events for one request.

    Attributes:
        events: those to observe, in order.
        texts: what the model reads of each.
        asked: the user's words of the turn, for orientation.
        foreign: it holds text from outside the project; its memories are so, too.
        last: of the turn's own agent, so that its summary is due.
    """

    events: tuple[StoredEvent, ...]
    texts: tuple[str, ...]
    asked: str = ""
    agent_id: str | None = None
    agent_type: str | None = None
    foreign: bool = False
    last: bool = False

    @property
    def ids(self) -> tuple[int, ...]:
        """Rows of the journal."""
        return tuple(stored.id for stored in self.events)

    @property
    def chars(self) -> int:
        """Length of what the model reads."""
        return sum(map(len, self.texts))

    def halves(self) -> tuple[Part, ...]:
        """Two parts of it; of a single event one with half of its text."""
        if len(self.events) < 2:
            shorter = tuple(
                text[: len(text) // 4] + "\n" + text[-len(text) // 4 :] for text in self.texts
            )
            return (attrs.evolve(self, texts=shorter),)
        middle = len(self.events) // 2
        return (
            attrs.evolve(
                self, events=self.events[:middle], texts=self.texts[:middle], last=False
            ),
            attrs.evolve(self, events=self.events[middle:], texts=self.texts[middle:]),
        )


def parts(
    batch: Batch, *, part_chars: int = PART_CHARS, field_chars: int = FIELD_CHARS
) -> list[Part]:
    """The requests that a turn needs; none for a prompt alone.

    Each agent's events go apart, and text from outside the project goes apart from the
    work, so that it can't colour what is remembered of the work.
    """
    asked = next((e for e in batch.events if e.event.kind is EventKind.PROMPT_SENT), None)
    words = told(asked, field_chars, batch.root) if asked else ""
    made: list[Part] = []
    for (agent, kind, foreign), events in _grouped(batch.events).items():
        if all(stored.event.kind is EventKind.PROMPT_SENT for stored in events):
            continue
        for group in _sized(events, part_chars, field_chars, batch.root):
            texts = tuple(told(stored, field_chars, batch.root) for stored in group)
            made.append(
                Part(events=tuple(group), texts=texts, asked=words, agent_id=agent,
                     agent_type=kind, foreign=foreign)
            )  # fmt: skip
    return _with_summary(made) if batch.finished else made


Key = tuple[str | None, str | None, bool]


def _grouped(events: Sequence[StoredEvent]) -> dict[Key, list[StoredEvent]]:
    """By agent and trust; the turn's own work last, when the others' is known."""
    groups: dict[Key, list[StoredEvent]] = {}
    for stored in events:
        event = stored.event
        own = (None, None) if not event.in_subagent else (event.agent_id, event.agent_type)
        foreign = stored.trust is Trust.FOREIGN and event.kind not in SPOKEN
        groups.setdefault((*own, foreign), []).append(stored)
    return dict(sorted(groups.items(), key=lambda item: (item[0][0] is None, not item[0][2])))


def _sized(
    events: Iterable[StoredEvent], part_chars: int, field_chars: int, root: str
) -> Iterator[list[StoredEvent]]:
    group: list[StoredEvent] = []
    size = 0
    for stored in events:
        if stored.event.kind is EventKind.PROMPT_SENT:
            continue  # it is said with every part
        length = len(told(stored, field_chars, root))
        if group and size + length > part_chars:
            yield group
            group, size = [], 0
        group.append(stored)
        size += length
    if group:
        yield group


def _with_summary(made: list[Part]) -> list[Part]:
    own = [at for at, part in enumerate(made) if part.agent_id is None and not part.foreign]
    if own:
        made[own[-1]] = attrs.evolve(made[own[-1]], last=True)
    return made

"""A turn cut into what goes out together: by agent, directory and trust, and by size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from claude_mem_core.modelled.telling import told
from claude_mem_core.types import Batch, EventKind, StoredEvent, Trust

PART_CHARS = 24_000  # what one request holds of events
FIELD_CHARS = 8_000
USES = 200  # tool uses in one request, however short
SPOKEN = frozenset({EventKind.PROMPT_SENT, EventKind.TURN_ENDED, EventKind.TURN_FAILED})
# Tools that only look: what they found needs no better model.
LOOKING = frozenset({"Read", "Glob", "Grep", "LS", "ListMcpResourcesTool"})


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

    @property
    def tier(self) -> str:
        """`simple` when it is only looking around, `summary` when it ends a turn."""
        if self.last:
            return "summary"
        tools = [stored.event.tool for stored in self.events]
        return "simple" if all(tool and tool.name in LOOKING for tool in tools) else ""

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


@attrs.frozen(kw_only=True)
class Size:
    """How much goes out at once, in characters, and how many tool uses.

    Attributes:
        bare: a prompt alone goes out, too.
    """

    part: int = PART_CHARS
    field: int = FIELD_CHARS
    uses: int = USES
    bare: bool = False


USUAL = Size()


def parts(batch: Batch, size: Size = USUAL) -> list[Part]:
    """The requests that a turn needs; none for a prompt alone.

    Each agent's events in each directory go apart, and text from outside the project goes
    apart from the work, so that it can't colour what is remembered of the work.
    """
    asked = next((e for e in batch.events if e.event.kind is EventKind.PROMPT_SENT), None)
    words = told(asked, size.field, batch.root) if asked else ""
    made: list[Part] = []
    for key, events in _grouped(batch.events).items():
        for group in _sized(events, size, batch.root):
            texts = tuple(told(stored, size.field, batch.root) for stored in group)
            made.append(
                Part(events=tuple(group), texts=texts, asked=words, agent_id=key.agent,
                     agent_type=key.kind, foreign=key.foreign)
            )  # fmt: skip
    if not made and size.bare and asked and words:
        made.append(Part(events=(asked,), texts=(words,)))
    return _with_summary(made) if batch.finished else made


@attrs.frozen
class Key:
    """What the events of one request have in common."""

    agent: str | None
    kind: str | None
    foreign: bool
    folder: str = ""


def _grouped(events: Sequence[StoredEvent]) -> dict[Key, list[StoredEvent]]:
    """By agent, trust and directory; the turn's own work last, when the others' is known.

    What the agent says belongs to the work before it. Of several directories the one that
    was worked in last comes last, with the turn's answer.
    """
    groups: dict[Key, list[StoredEvent]] = {}
    folders = _first_folders(events)
    for stored in events:
        if stored.event.kind is EventKind.PROMPT_SENT:
            continue  # it is said with every part
        key = _common(stored)
        if stored.event.tool is not None:
            folders[key] = stored.event.cwd
        groups.setdefault(attrs.evolve(key, folder=folders.get(key, "")), []).append(stored)
    place = {stored.id: at for at, stored in enumerate(events)}

    def late(group: tuple[Key, list[StoredEvent]]) -> tuple[bool, bool, int]:
        key, found = group
        return (key.agent is None, not key.foreign, place[found[-1].id])

    return dict(sorted(groups.items(), key=late))


def _common(stored: StoredEvent) -> Key:
    event = stored.event
    own = (None, None) if not event.in_subagent else (event.agent_id, event.agent_type)
    return Key(*own, stored.trust is Trust.FOREIGN and event.kind not in SPOKEN)


def _first_folders(events: Iterable[StoredEvent]) -> dict[Key, str]:
    """Where each agent begins to work: what is said before goes with it."""
    found: dict[Key, str] = {}
    for stored in events:
        if stored.event.tool is not None:
            found.setdefault(_common(stored), stored.event.cwd)
    return found


def _sized(events: Iterable[StoredEvent], size: Size, root: str) -> Iterator[list[StoredEvent]]:
    group: list[StoredEvent] = []
    chars = uses = 0
    for stored in events:
        length, more = len(told(stored, size.field, root)), int(stored.event.tool is not None)
        if group and (chars + length > size.part or uses + more > size.uses):
            yield group
            group, chars, uses = [], 0, 0
        group.append(stored)
        chars, uses = chars + length, uses + more
    if group:
        yield group


def _with_summary(made: list[Part]) -> list[Part]:
    own = [at for at, part in enumerate(made) if part.agent_id is None and not part.foreign]
    if own:
        made[own[-1]] = attrs.evolve(made[own[-1]], last=True)
    return made

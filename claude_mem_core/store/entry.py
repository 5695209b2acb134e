"""What goes into the journal and what comes back."""

from __future__ import annotations

import attrs

from claude_mem_core.store import text
from claude_mem_core.store.projects import ProjectRef
from claude_mem_core.types import Event, Trust


@attrs.frozen(kw_only=True)
class Entry:
    """An event on its way into the journal, cleaned and judged.

    Attributes:
        event_key: what makes two reports the same event.
        delivery_key: name of the delivery; empty when there was none. A delivery with
            several events needs one key for each.
        project: where it happened; None only for skipped events.
        state: `recorded`, `pending` or `skipped`; the latter with a `reason`.
        now_ms: when it was received.
    """

    event: Event
    event_key: str
    project: ProjectRef | None
    now_ms: int
    delivery_key: str = ""
    trust: Trust = Trust.WORK
    state: str = "recorded"
    reason: str | None = None

    @property
    def at_ms(self) -> int:
        """When it happened; when it was received, if the host does not say."""
        return min(max(self.event.at_ms, 0), text.LATEST_MS) or self.now_ms

    def safe(self) -> Entry:
        """The same with names that any column can hold; nearly always itself."""
        event = self.event
        names = (event.host, event.session_id, event.cwd, self.event_key, self.delivery_key)
        if all(name.isascii() and "\0" not in name for name in names):
            return self
        host, session_id, cwd, event_key, delivery_key = map(text.safe, names)
        event = attrs.evolve(event, host=host, session_id=session_id, cwd=cwd)
        return attrs.evolve(self, event=event, event_key=event_key, delivery_key=delivery_key)


@attrs.frozen(kw_only=True)
class Receipt:
    """What became of an event.

    Attributes:
        event_id: its row in the journal.
        session_db_id: row of its session; 0 when it has none (skipped events).
        prompt_number: the turn it belongs to.
        state, reason: as stored, which may differ from what was asked.
        duplicate: it was known already; nothing was added but what was missing.
        new_session: this event made the session's row.
    """

    event_id: int
    session_db_id: int
    prompt_number: int
    state: str
    reason: str | None = None
    duplicate: bool = False
    new_session: bool = False

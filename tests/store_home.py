"""A store in a temporary directory and short ways to put things into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw
import attrs

from claude_mem_core.projects import Place
from claude_mem_core.store import Store, fetch, journal, memories, projects, queue, verify
from claude_mem_core.types import (
    Draft,
    Event,
    EventKind,
    Observed,
    StartSource,
    SummaryDraft,
    ToolUse,
    Trust,
)

T = TypeVar("T")
NOW = 1_790_000_000_000
HERE = Place(key="folder-here", label="here", kind="folder", root="/home/u/here")
LEASE, IDLE = 60_000, 120_000


@attrs.define
class Home:
    """A store and a clock."""

    store: Store
    now: int = NOW
    place: Place = HERE
    host: str = "claude-code"
    session: str = "s1"

    @property
    def path(self) -> Path:
        return self.store.path

    def write(self, fn: Callable[[apsw.Connection], T]) -> T:
        return self.store.write(fn).result(timeout=20)

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.store.read(lambda conn: fetch.rows(conn, sql, *values))

    def value(self, sql: str, *values: Any) -> Any:
        return self.store.read(lambda conn: fetch.value(conn, sql, *values))

    def event(self, kind: EventKind, at: int = 0, **more: Any) -> Event:
        given = {"host": self.host, "session_id": self.session, "cwd": "/home/u/here", **more}
        return Event(kind=kind, at_ms=self.now + at, **given)

    def accept(
        self, event: Event, key: str = "", delivery: str = "", state: str = "",
        reason: str | None = None, trust: Trust = Trust.WORK,
    ) -> journal.Receipt:  # fmt: skip
        """Accept an event; work is pending, the rest recorded, unless said otherwise."""
        return self.write(
            lambda conn: accepted(conn, self, event, key, delivery, state, reason, trust)
        )

    def prompt(self, text: str, at: int = 0, **more: Any) -> journal.Receipt:
        fields = {k: more.pop(k) for k in ("key", "delivery", "state", "reason") if k in more}
        return self.accept(self.event(EventKind.PROMPT_SENT, at, prompt=text, **more), **fields)

    def private(self, at: int = 0, **more: Any) -> journal.Receipt:
        return self.prompt("", at, state="skipped", reason="private", **more)

    def tool(self, id: str, at: int = 0, **more: Any) -> journal.Receipt:
        fields = {k: more.pop(k) for k in ("key", "delivery", "state", "reason", "trust") if k in more}
        use = ToolUse(
            name=more.pop("name", "Bash"), id=id, input=more.pop("input", {"command": "ls"}),
            output=more.pop("output", {"stdout": "x"}), error=more.pop("error", None),
        )  # fmt: skip
        kind = more.pop("kind", EventKind.TOOL_USED)
        return self.accept(self.event(kind, at, tool=use, **more), **fields)

    def stop(self, answer: str = "done", at: int = 0, **more: Any) -> journal.Receipt:
        fields = {k: more.pop(k) for k in ("key", "delivery") if k in more}
        return self.accept(self.event(EventKind.TURN_ENDED, at, answer=answer, **more), **fields)

    def start(self, at: int = 0, source: StartSource = StartSource.STARTUP) -> journal.Receipt:
        return self.accept(self.event(EventKind.SESSION_STARTED, at, source=source))

    def end(self, at: int = 0) -> journal.Receipt:
        return self.accept(self.event(EventKind.SESSION_ENDED, at, reason="other"))

    def claim(self, at: int = 0, *, force: bool = False, limit: int = 10) -> list[queue.Work]:
        return self.write(
            lambda conn: queue.claim(conn, self.now + at, LEASE, limit, IDLE, force=force)
        )

    def keep(self, work: queue.Work, observed: Observed | None = None) -> memories.Kept:
        made = observed or observing(work)
        return self.write(
            lambda conn: memories.keep(conn, work, work.session_db_id, made, self.now + 1000)
        )

    def verify(self) -> verify.Accounting:
        return self.store.read(verify.verify)


WORK = {
    EventKind.TOOL_USED, EventKind.TOOL_FAILED, EventKind.FILE_EDITED, EventKind.TURN_ENDED,
    EventKind.TURN_FAILED,
}  # fmt: skip


def accepted(
    conn: apsw.Connection, home: Home, event: Event, key: str, delivery: str, state: str,
    reason: str | None, trust: Trust,
) -> journal.Receipt:  # fmt: skip
    entry = journal.Entry(
        event=event,
        event_key=key or key_of(event),
        delivery_key=delivery,
        project=projects.resolve(conn, home.place, home.now),
        trust=trust,
        state=state or ("pending" if event.kind in WORK else "recorded"),
        reason=reason,
        now_ms=min(max(event.at_ms, home.now), home.now + 10 * 86_400_000),
    )
    return journal.accept(conn, entry)


def key_of(event: Event) -> str:
    """A key as the pipeline makes them."""
    own = event.tool.id if event.tool else event.prompt_id
    said = own or f"{event.prompt}{event.answer}{event.source}@{event.at_ms}"
    return f"{event.host}:{event.session_id}:{event.kind.value}:{said}"


def observing(work: queue.Work, title: str = "Something was done") -> Observed:
    """One observation and a summary over all events of the work."""
    draft = Draft(
        type="change", title=f"{title} in turn {work.prompt_number}",
        narrative=f"events {work.event_ids}", events=work.event_ids,
        files_modified=("src/app.py",),
    )  # fmt: skip
    summary = SummaryDraft(request="do it", completed="done", events=work.event_ids)
    return Observed(observations=(draft,), summary=summary if work.finished else None)


@contextmanager
def opened(path: Path) -> Iterator[Home]:
    """A store at `path`, closed at the end."""
    store = Store.open(path)
    try:
        yield Home(store)
    finally:
        store.close()

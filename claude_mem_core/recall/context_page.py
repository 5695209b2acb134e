"""The page of a context: what fits is chosen newest first, then set oldest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from claude_mem_core.recall import dates, economics
from claude_mem_core.recall.context_rows import Row, SummaryRow
from claude_mem_core.recall.icons import DITTO, SESSION, icon
from claude_mem_core.render import for_prompt
from claude_mem_core.types import Block, Trust

TITLE_CHARS = 160
DETAIL_CHARS = 1_200
FROM_OUTSIDE = "[from web] "
VERIFY = "[verify] "
# Share of the room that plain rows may take before the newest ones are shown in full.
ROWS_FIRST = 0.6
# Share of the room that the person's own memories may take; the first always stands.
PERSONAL_SHARE = 0.25
# Share of the room that the state of the work may take.
WORK_SHARE = 0.2
WORK = "Work state:"
OWN = "### Yours, in every project"
OWN_CHARS = 600


@attrs.define
class Room:
    """What is left of a budget, in bytes and in characters, each line with its newline."""

    bytes: int
    chars: int

    def take(self, lines: Iterable[str]) -> bool:
        """Take the room of `lines`, or nothing when they don't all fit."""
        lines = tuple(lines)
        size = sum(len(line.encode()) + 1 for line in lines)
        chars = sum(len(line) + 1 for line in lines)
        if size > self.bytes or chars > self.chars:
            return False
        self.bytes -= size
        self.chars -= chars
        return True


class Page:
    """Collects lines until the room is used up."""

    def __init__(self, most_bytes: int, most_chars: int) -> None:
        self._room = Room(most_bytes, most_chars)
        self._head: list[str] = []
        self._foot: list[str] = []
        self._end: list[str] = []
        self._personal: dict[str, list[str]] = {}
        self._rows: dict[str, Row | SummaryRow] = {}
        self._full: dict[str, list[str]] = {}
        self._days: set[str] = set()
        self._reasons: dict[str, str] = {}
        self.why: dict[str, str] = {}  # reasons other than the time, by key
        self._summed = self._footed = False

    def fixed(self, line: str) -> None:
        """A line of ours at the top; left out only when there is no room at all."""
        if self._room.take([line]):
            self._head.append(line)

    def reserve(self, stats: str, footer: str) -> None:
        """Keep room for two lines whose numbers are known only at the end."""
        spare = " " * 8
        self._summed = bool(stats) and self._room.take([stats + spare])
        self._footed = bool(footer) and self._room.take(["", footer + spare])

    def sum_up(self, stats: str, footer: str) -> None:
        """Fill in the two lines that `reserve` kept room for."""
        if self._summed and stats:
            self._head.append(stats)
        if self._footed and footer:
            self._end = ["", footer]

    def summary_in_full(self, row: SummaryRow) -> None:
        """The fields of the last summary, after the rows."""
        lines = [f"| {name}: {for_prompt(text, 400)}" for name, text in row.fields.items()]
        if lines and row.trust is not Trust.FOREIGN:
            self._section(f"### Last session (S{row.id})", lines)

    def previously(self, answer: str) -> None:
        """The agent's last words of the session before."""
        if answer:
            self._section("### Previously", [f"| {for_prompt(answer, 600)}"])

    def work(self, lines: Sequence[str]) -> int:
        """Where work stands, in its share; how many lines had no room."""
        least = self._room.bytes - round(self._room.bytes * WORK_SHARE)
        for at, line in enumerate(lines):
            added = [f"| {line}"] if at else ["", WORK, f"| {line}"]
            size = sum(len(one.encode()) + 1 for one in added)
            if self._room.bytes - size < least or not self._room.take(added):
                return len(lines) - at
            self._foot += added
        return 0

    def block(self, block: Block) -> None:
        """A plugin's block."""
        lines = [f"| {line}" for line in map(for_prompt, block.text.splitlines()) if line]
        if lines:
            self._section(f"### {for_prompt(block.title, TITLE_CHARS)}", lines)

    def _section(self, heading: str, lines: list[str]) -> None:
        section = ["", heading, *lines]
        if self._room.take(section):
            self._foot += section

    def personal(self, rows: Sequence[Row]) -> int:
        """What belongs to the person, in its order, in its share; how many had no room."""
        least = self._room.bytes - round(self._room.bytes * PERSONAL_SHARE)
        left = 0
        for row in rows:
            lines = _own(row) if self._personal else ["", OWN, *_own(row)]
            if self._room.bytes <= least or not self._room.take(lines):
                left += 1
                continue
            self._personal[row.key] = lines
            self._reasons[row.key] = f"yours: number {len(self._personal)} of `mem personal`"
        return left

    @property
    def own(self) -> tuple[str, ...]:
        """The keys of what belongs to the person, as they stand."""
        return tuple(self._personal)

    def pinned(self, rows: Sequence[Row]) -> None:
        """Rows that a person pinned have room before all others."""
        for row in rows:
            if row.key not in self._personal and self._line(row):
                self._reasons[row.key] = "pinned"

    def climbed(self, rows: Iterable[Row], reasons: Mapping[str, str]) -> None:
        """Older rows that are there for another reason than their time; half of the room."""
        self.why.update(reasons)
        older = (row for row in rows if row.key in reasons and row.key not in self._rows | self._personal.keys())
        self._lines_until(iter(older), self._room.bytes // 2)

    def index(
        self, rows: Sequence[Row], sessions: Sequence[SummaryRow], settings: Mapping[str, Any]
    ) -> None:
        """Rows newest first until the room ends, the newest ones in full as they fit."""
        both: list[Row | SummaryRow] = [*rows, *sessions]
        both = [row for row in both if row.key not in self._rows | self._personal.keys()]
        both.sort(key=_newest_first)
        waiting = iter(both)
        rest = self._lines_until(waiting, round(self._room.bytes * (1 - ROWS_FIRST)))
        for row in rows[: settings["CLAUDE_MEM_CONTEXT_FULL_COUNT"]]:
            self._in_full(row, settings)
        if rest is not None and self._line(rest):
            self._lines_until(waiting, 0)

    def _lines_until(
        self, rows: Iterator[Row | SummaryRow], kept_free: int
    ) -> Row | SummaryRow | None:
        """Add rows while more than `kept_free` bytes are left; return the first left out."""
        for row in rows:
            if self._room.bytes <= kept_free or not self._line(row):
                return row
        return None

    def _line(self, row: Row | SummaryRow) -> bool:
        day = dates.heading(row.created_ms)
        lines = [_row_line(row, ditto=False)]
        if day not in self._days:
            lines += ["", f"### {day}"]
        if not self._room.take(lines):
            return False
        self._days.add(day)
        self._rows[row.key] = row
        place = f"number {len(self._rows)} of the newest in the project"
        self._reasons[row.key] = self.why.get(row.key, place)
        return True

    def _in_full(self, row: Row, settings: Mapping[str, Any]) -> None:
        if row.key not in self._rows or row.trust is Trust.FOREIGN:
            return
        lines = _details(row, settings)
        if lines and self._room.take([*lines, "****"]):
            self._full[row.key] = lines
            self._reasons[row.key] += "; in full, as one of the newest"

    def observations(self) -> list[Row]:
        """The observations on the page, newest first."""
        return [row for row in self._shown() if isinstance(row, Row)]

    def shown(self) -> tuple[tuple[str, ...], dict[str, str]]:
        """What is on the page, newest first, and why."""
        return tuple(row.key for row in self._shown()), self._reasons

    def _shown(self) -> list[Row | SummaryRow]:
        """The rows newest first; pinned ones stand at their own time."""
        return sorted(self._rows.values(), key=_newest_first)

    def text(self) -> str:
        """The page, oldest day first."""
        own = [line for lines in self._personal.values() for line in lines]
        return "\n".join([*self._head, *own, *self._index(), *self._foot, *self._end])

    def _index(self) -> Iterator[str]:
        day = clock = ""
        for row in reversed(self._shown()):
            if dates.heading(row.created_ms) != day:
                day, clock = dates.heading(row.created_ms), ""
                yield ""
                yield f"### {day}"
            now = dates.clock(row.created_ms)
            yield _row_line(row, ditto=now == clock, full=row.key in self._full)
            clock = now
            yield from self._full.get(row.key, ())


def _newest_first(row: Row | SummaryRow) -> tuple[int, bool, int]:
    return (-row.created_ms, isinstance(row, SummaryRow), -row.id)


def _row_line(row: Row | SummaryRow, *, ditto: bool, full: bool = False) -> str:
    """One row; a time that the row before has as well is a ditto mark."""
    at = DITTO if ditto else dates.clock(row.created_ms)
    if isinstance(row, SummaryRow):
        asked = for_prompt(row.request, TITLE_CHARS) or "(no request)"
        return f"{row.key} {at} {SESSION} {asked}"
    title = for_prompt(row.title, TITLE_CHARS) or "(no title)"
    if row.trust is Trust.FOREIGN:
        title = FROM_OUTSIDE + title
    if row.verify:
        title = VERIFY + title
    line = f"{row.key} {at} {icon(row.type)} {title}"
    return f"**{line}**" if full else line


def _own(row: Row) -> list[str]:
    """A memory of the person: its title, and its text where that says more."""
    title = for_prompt(row.title, TITLE_CHARS) or "(no title)"
    begin = f"{row.key} {icon(row.type)} {VERIFY if row.verify else ''}"
    if row.trust is Trust.FOREIGN:
        return [f"{begin}{FROM_OUTSIDE}{title}"]
    said = for_prompt(row.narrative, OWN_CHARS)
    if not said or said == title:
        return [f"{begin}{title}"]
    head = "" if said.startswith(title) else f"{title}: "
    return [f"{begin}{head}{said}"]


def _details(row: Row, settings: Mapping[str, Any]) -> list[str]:
    """The chosen field of an observation and what it cost, each line marked as ours."""
    if settings["CLAUDE_MEM_CONTEXT_FULL_FIELD"] == "facts":
        lines = [f"| - {for_prompt(fact, 300)}" for fact in row.facts[:12] if fact.strip()]
    else:
        said = for_prompt(row.narrative, DETAIL_CHARS)
        lines = [f"| {said}"] if said and said != for_prompt(row.title, DETAIL_CHARS) else []
    cost = economics.costs(row, settings)
    return [*lines, f"| ({cost})"] if lines and cost else lines

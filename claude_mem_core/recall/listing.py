"""Records as the documented index: day headings, and a table with ids and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from claude_mem_core.recall import dates
from claude_mem_core.recall.icons import DITTO, PROMPT, SESSION, icon
from claude_mem_core.recall.records import Record, key_of
from claude_mem_core.render import for_prompt
from claude_mem_core.types import Observation, Prompt, Summary, Trust

TITLE_CHARS = 160
_HEAD = ("| ID | Time | T | Title | Read |", "|----|------|---|-------|------|")


def found_line(query: str, records: Sequence[Record]) -> str:
    """`Found N result(s) matching "q" (n obs, n sessions, n prompts)`."""
    kinds = (Observation, Summary, Prompt)
    n, s, p = (sum(isinstance(record, kind) for record in records) for kind in kinds)
    about = f' matching "{for_prompt(query, 200)}"' if query.strip() else ""
    return f"Found {len(records)} result(s){about} ({n} obs, {s} sessions, {p} prompts)"


def nothing_found(query: str) -> str:
    """The documented words for an empty answer."""
    return f'No results found matching "{for_prompt(query, 200)}"'


def by_day(records: Iterable[Record], notes: Mapping[str, str] | None = None) -> Iterator[str]:
    """Lines: the days in the order in which they first come, their records in theirs.

    `notes` adds a word to a record by its key.
    """
    days: dict[str, list[Record]] = {}
    for record in records:
        days.setdefault(dates.heading(record.created_ms), []).append(record)
    for day, found in days.items():
        yield from ("", f"### {day}", "", *_HEAD)
        clock = ""
        for record in found:
            at = dates.clock_long(record.created_ms)
            yield _row(record, DITTO if at == clock else at, (notes or {}).get(key_of(record)))
            clock = at


def _row(record: Record, at: str, note: str | None) -> str:
    title = title_of(record).replace("|", "\u00a6")
    marked = f"{title} ({note})" if note else title
    return f"| #{key_of(record)} | {at} | {sign(record)} | {marked} | ~{cost(record)} |"


def sign(record: Record) -> str:
    """The icon of a record."""
    if isinstance(record, Observation):
        return icon(record.type)
    return SESSION if isinstance(record, Summary) else PROMPT


def title_of(record: Record) -> str:
    """One harmless line that names a record."""
    if isinstance(record, Prompt):
        return for_prompt(record.text, TITLE_CHARS) or "(empty)"
    if isinstance(record, Summary):
        title = for_prompt(record.request, TITLE_CHARS) or "(no request)"
    else:
        title = for_prompt(record.title, TITLE_CHARS) or "(no title)"
        if record.superseded_by == 0:
            title += " (marked wrong)"
        elif record.superseded_by:
            title += f" (superseded by #{record.superseded_by})"
        elif record.verify:
            title += f" (verify: {for_prompt(record.verify, 120)})"
    return f"[from web] {title}" if record.trust is Trust.FOREIGN else title


def cost(record: Record) -> int:
    """Tokens that reading a record costs: its characters by four."""
    if isinstance(record, Observation):
        texts = [record.title, record.subtitle, record.narrative, *record.facts]
    elif isinstance(record, Summary):
        texts = [record.request, record.investigated, record.learned, record.completed]
        texts += [record.next_steps, record.notes]
    else:
        texts = [record.text]
    return (sum(map(len, texts)) + 3) // 4

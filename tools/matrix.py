"""The page on what each host can do, from what its tests have seen.

`tests/e2e/proven.json` is written by the tests that drive the real programs; what a host's
recorded payloads say is read here through its adapter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from claude_mem_core.plugins.index import scan
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import EventKind, Host

ROOT = Path(__file__).resolve().parent.parent
PROVEN = ROOT / "tests" / "e2e" / "proven.json"
COLUMNS = {
    "start": (EventKind.SESSION_STARTED,),
    "prompt": (EventKind.PROMPT_SENT,),
    "tool": (EventKind.TOOL_USED, EventKind.FILE_EDITED),
    "failed tool": (EventKind.TOOL_FAILED,),
    "answer": (EventKind.TURN_ENDED,),
    "sub-agent": (EventKind.SUBAGENT_ENDED,),
    "compaction": (EventKind.COMPACTING, EventKind.COMPACTED),
    "end": (EventKind.SESSION_ENDED,),
}
PLACES = {
    EventKind.SESSION_STARTED: "session start",
    EventKind.PROMPT_SENT: "prompt",
    EventKind.TOOL_STARTING: "before a tool",
    EventKind.TOOL_USED: "after a tool",
}
SEEN, READ, NONE = "yes", "read", "-"
HEAD = """# What each host can do

**yes**: seen with the real program, at the version in the second column, in sessions with a
scripted model that `make test` repeats. **read**: our adapter reads it from recorded or
documented payloads of the program. **-**: the program does not tell it, or we don't read it.
"""


def matrix_page(note: str) -> str:
    """The page."""
    proven = json.loads(PROVEN.read_text(encoding="utf-8"))
    records = Registry(scan()).records("mem_hosts", Host)
    rows = sorted(records, key=lambda record: (record.name not in proven, record.title.lower()))
    lines = [note, *HEAD.splitlines(), "", "## What is captured", ""]
    lines += [_row("host", "version proven", *COLUMNS), _row(*["---"] * (len(COLUMNS) + 2))]
    lines += [_captured(record, proven.get(record.name)) for record in rows]
    lines += ["", "## What the agent is given", ""]
    lines += [_row("host", "context at", "in a request", "file history", "search", "limits")]
    lines += [_row(*["---"] * 6)]
    lines += [_given(record, proven.get(record.name)) for record in rows]
    lines += ["", "What is between two sessions of a host, and how: [Hosts](../hosts.md)."]
    return "\n".join(lines) + "\n"


def _captured(record: Host, seen: dict[str, Any] | None) -> str:
    shown = {kind for part in seen["captured"].values() for kind in part} if seen else set()
    known = set(_read(record))
    marks = [
        SEEN if shown & set(kinds) else READ if known & set(kinds) else NONE
        for kinds in COLUMNS.values()
    ]
    return _row(record.title, seen["version"] if seen else NONE, *marks)


def _given(record: Host, seen: dict[str, Any] | None) -> str:
    at = ", ".join(PLACES.get(kind, kind.value) for kind in record.injects_at)
    marks = [
        SEEN if seen and seen.get(name) else NONE for name in ("context", "history", "search")
    ]
    limits = (seen or {}).get("limits", "" if seen else "not run in our tests")
    return _row(record.title, at or NONE, *marks, limits)


def _read(record: Host) -> Iterator[EventKind]:
    """The kinds of events in the recorded payloads of a host's package."""
    adapter = record.open()
    folder = ROOT / "hosts" / record.name / "tests"
    for file in sorted((*folder.glob("examples/*.json"), *folder.glob("payloads/*.json"))):
        yield from (event.kind for event in adapter.parse(recorded(record.name, file)))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"

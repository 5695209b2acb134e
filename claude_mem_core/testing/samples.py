"""Small, true-to-life values for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from claude_mem_core.types import (
    Batch,
    Delivery,
    Event,
    EventKind,
    Observation,
    StoredEvent,
    ToolUse,
    Trust,
)

NOW_MS = 1_790_000_000_000
ROOT = "/home/dev/shop"
SESSION = "11111111-2222-3333-4444-555555555555"


def event(kind: EventKind, **fields: Any) -> Event:
    """An event of one session of a made-up host."""
    base = {"host": "sample", "session_id": SESSION, "cwd": ROOT, "at_ms": NOW_MS}
    return Event(kind=kind, **{**base, **fields})


def tool(name: str, given: Any, output: Any = None, error: str | None = None) -> Event:
    """A tool use that went well, or failed when `error` is given."""
    use = ToolUse(name=name, id=f"use-{name}", input=given, output=output, error=error)
    return event(EventKind.TOOL_FAILED if error else EventKind.TOOL_USED, tool=use)


def turn() -> list[Event]:
    """A bug found and mended: read, edit, a test that fails, an edit, the test passes."""
    path = f"{ROOT}/src/cart.py"
    test = {"command": "pytest tests/test_cart.py -q", "description": "Run the cart tests"}
    failure = "Exit code 1\nE  AssertionError: assert 107.1 == 107.10\n1 failed in 0.1s"
    wrong = {"file_path": path, "old_string": "price * 1.19", "new_string": "price * 1.190"}
    right = {"file_path": path, "old_string": "* 1.190", "new_string": "* Decimal('1.19')"}
    return [
        event(EventKind.PROMPT_SENT, prompt="The cart shows 107.1 instead of 107.10, mend it"),
        tool("Read", {"file_path": path}, {"file": {"content": "def total(price): ..."}}),
        tool("Edit", wrong, {"filePath": path}),
        tool("Bash", test, error=failure),
        tool("Edit", right, {"filePath": path}),
        tool("Bash", test, {"stdout": "1 passed in 0.1s", "stderr": ""}),
        event(EventKind.TURN_ENDED, answer="Prices are Decimal now, so cents keep two digits."),
    ]


def batch(events: list[Event] | None = None, *, finished: bool = True) -> Batch:
    """The events as a batch of one turn, with journal ids from 101 on."""
    kept = turn() if events is None else events
    stored = [
        StoredEvent(
            id=101 + at,
            event=one,
            prompt_number=1,
            trust=Trust.USER if one.kind is EventKind.PROMPT_SENT else Trust.WORK,
        )
        for at, one in enumerate(kept)
    ]
    return Batch(session_db_id=1, project="shop", events=stored, finished=finished, root=ROOT)


def observation(**fields: Any) -> Observation:
    """A stored observation."""
    base: dict[str, Any] = {
        "id": 7,
        "project": "shop",
        "type": "bugfix",
        "title": "Cart totals use Decimal",
        "created_ms": NOW_MS,
        "narrative": "Floats lost cents in total(); src/cart.py computes with Decimal now.",
    }
    return Observation(**{**base, **fields})


def recorded(host: str, file: Path) -> Delivery:
    """A delivery from a file with a recorded hook call: `{"stdin": ..., "env": {...}}`.

    `stdin` is the payload as a JSON value, or its text. The event is `event` in the
    file, else the payload's `hook_event_name`, else the file's name up to the first dot.
    """
    call = json.loads(file.read_text(encoding="utf-8"))
    payload = call["stdin"]
    text = payload if isinstance(payload, str) else json.dumps(payload)
    named = payload.get("hook_event_name") if isinstance(payload, dict) else None
    return Delivery(
        host=host,
        event=call.get("event") or named or file.name.partition(".")[0],
        stdin=text.encode(),
        env={k: v for k, v in (call.get("env") or {}).items() if isinstance(v, str)},
        at_ms=NOW_MS,
        size=len(text.encode()),
    )

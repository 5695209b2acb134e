"""What people said of memories, in a file that is imported: shown, and asked about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from claude_mem_core.cli.emit import emit
from claude_mem_core.errors import UsageError

NAMES = {
    "projects": "projects that were renamed, have other names or are one with another",
    "pins": "pinned memories, which stand in every context of their project",
    "feedback": "memories that were called useful or outdated",
}
ASKED = "Are these your own words? All of them would hold here too."
TITLE = 100  # characters


def agreed(heading: Mapping[str, Any]) -> bool:
    """Whether the person at the terminal takes it; True when there is nothing to ask.

    Raises:
        UsageError: nobody sits there.
    """
    from claude_mem_core.cli.commands.remember import is_typed
    from claude_mem_core.cli.install.run import agreed as yes
    from claude_mem_core.store.imports.own import count

    if not count(heading):
        return True
    if not is_typed():
        raise UsageError("only a person at a terminal can add --own: run it in one")
    for line in _lines(heading):
        emit(line)
    return yes(ASKED)


def _lines(heading: Mapping[str, Any]) -> Iterator[str]:
    own = heading["own"]
    for name, text in NAMES.items():
        if isinstance(own.get(name), list) and own[name]:
            yield f"  {len(own[name])} {text}"
    titles = list(_titles(heading, own.get("personal")))
    if titles:
        yield "  personal, which every session of every project is shown:"
        yield from (f"    {title}" for title in titles)


def _titles(heading: Mapping[str, Any], ids: Any) -> Iterator[str]:
    from claude_mem_core.store.personal import MOST

    rows = heading.get("observations")
    wanted = ids[:MOST] if isinstance(ids, list) else []
    by_id = {
        row.get("id"): row.get("title") for row in rows or () if isinstance(row, dict)
    }  # fmt: skip
    for number in wanted:
        title = by_id.get(number) if isinstance(number, int) else None
        yield f"#{number if isinstance(number, int) else '?'} {str(title or '')[:TITLE]}"

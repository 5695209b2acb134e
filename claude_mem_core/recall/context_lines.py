"""Why each line of a context is there, for people who look at it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from claude_mem_core.recall.context import (
    DATA_NOT_ORDERS,
    FETCH,
    FORMAT,
    VERIFY,
    ContextText,
)
from claude_mem_core.recall.context_page import WORK
from claude_mem_core.recall.icons import LEGEND
from claude_mem_core.render import FENCE_TAG

_ROW = re.compile(r"(?:\*\*)?(S?\d+) ")
_FIXED = {
    DATA_NOT_ORDERS: "always: what is stored may try to give orders",
    LEGEND: "always: the signs of the rows",
    FORMAT: "always: how to read the rows",
    FETCH: "always: how to get more",
    VERIFY: "a row below speaks of a file that changed: `mem confirm ID` when it still holds",
}
_BEGINS = (
    ("Mode: ", "the setting CLAUDE_MEM_MODE"),
    ("Environment: ", "the project is one of CLAUDE_MEM_PROJECT_ENVIRONMENTS"),
    ("Stats: ", "the settings CLAUDE_MEM_CONTEXT_SHOW_..."),
    ("Behind these titles", "the setting CLAUDE_MEM_CONTEXT_SHOW_WORK_TOKENS"),
    ("### Last session", "the setting CLAUDE_MEM_CONTEXT_SHOW_LAST_SUMMARY"),
    (WORK, "the setting CLAUDE_MEM_WORK_STATE_ENABLED"),
    ("### Previously", "the setting CLAUDE_MEM_CONTEXT_SHOW_LAST_MESSAGE"),
    ("### Yours, in", "what belongs to you: `mem personal`"),
    ("Nothing is remembered", "the setting CLAUDE_MEM_WELCOME_HINT_ENABLED"),
    ("Nothing new was stored", "a resumed session gets at least one line"),
)
_DAY = re.compile(r"### [A-Z][a-z]{2} \d{1,2}, \d{4}")


def explained(made: ContextText) -> Iterator[tuple[str, str]]:
    """Each line with its reason; a blank one with none."""
    titled = False
    section = ""
    for line in made.text.splitlines():
        row = _ROW.match(line)
        if row and row[1] in made.reasons:
            section = why = made.reasons[row[1]]
        elif line.startswith("| "):
            why = section
        else:
            why = _of_ours(line, titled=titled)
            begins = line == WORK or (line.startswith("### ") and not _DAY.fullmatch(line))
            section = why if begins else section
        titled = titled or line.startswith("# [")
        yield line, why


def _of_ours(line: str, *, titled: bool) -> str:
    if not line.strip():
        return ""
    if FENCE_TAG in line:
        return "the frame that tells memory from orders"
    if line.startswith("# ["):
        return "always: project and day"
    if _DAY.fullmatch(line):
        return "the day of the rows below"
    known = _FIXED.get(line) or next((w for head, w in _BEGINS if line.startswith(head)), "")
    if known:
        return known
    return "a plugin's block" if titled else "something is wrong, or new"

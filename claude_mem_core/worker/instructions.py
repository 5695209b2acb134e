"""Texts that tell an agent how to use its memory; static, never built from memories."""

from __future__ import annotations

WORKFLOW = """\
# Searching the memory

1. Search: `GET /api/search?query=...&limit=20` gives an index: id, time, type, title.
2. Look around: `GET /api/timeline?anchor=ID` gives what came before and after.
3. Fetch: `POST /api/observations/batch` with `{"ids": [...]}` gives full texts.

Read the index first and fetch only what matters: an index row costs about 50 tokens,
a full observation 500 to 1000."""

SEARCH_PARAMS = """\
# Parameters of a search

- query: plain words, in any script; no character is an operator
- type: observations, sessions, prompts, or a type of observation
- obs_type, concepts, files: lists separated by commas
- project: label or id; platformSource: name of the host
- dateStart, dateEnd: days or times; orderBy: relevance, date_desc, date_asc
- limit (at most 100), offset, format: index, full, json"""

EXAMPLES = """\
# Examples

- What broke the build last week: `query=build failed&dateStart=2026-11-23`
- Everything about one file: `GET /api/observations/by-file?path=src/app.py`
- Decisions of this project: `query=&obs_type=decision&project=my-project`
- Around a moment: `GET /api/timeline?anchor=2026-11-23T10:00:00Z`"""

TOPICS = ("workflow", "search_params", "examples", "all")
_TEXTS = {"workflow": WORKFLOW, "search_params": SEARCH_PARAMS, "examples": EXAMPLES}
_OPERATIONS = {"search": SEARCH_PARAMS, "timeline": WORKFLOW, "get_observations": WORKFLOW}


def of_topic(topic: str) -> str:
    """The text of a topic; all of them for `all`."""
    return _TEXTS.get(topic) or "\n\n".join(_TEXTS.values())


def of_operation(operation: str) -> str | None:
    """The text of one operation; None when there is no such operation."""
    return _OPERATIONS.get(operation)

"""A newer memory takes the place of an older one that says something else of the same thing.

Only where the words leave no doubt: "the port is 8080", then "port moved to 9090". Both have
one subject and one value of the same kind. What is pinned, yours or more trusted stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import apsw
import attrs

from claude_mem_core.errors import InvalidInput, NotFound
from claude_mem_core.store import fetch
from claude_mem_core.store.draft import ORDER, title_key
from claude_mem_core.types import Trust

RELATION = re.compile(
    r"\s+(?:(?:is|are|was)(?:\s+(?:now|set\s+to))?|(?:has\s+)?(?:moved|changed)\s+to|set\s+to"
    r"|defaults\s+to|lives\s+(?:in|at)|(?:now\s+)?(?:listens|runs|deploys?)\s+(?:on|at|to))\s+|\s*=\s*",
    re.IGNORECASE,
)
LEAD = re.compile(r"^(?:from\s+now\s+on|now|actually|note|remember)\b[,:]?\s*", re.IGNORECASE)
ARTICLES = frozenset({"the", "our", "my", "a", "an", "your"})
VAGUE = frozenset({"it", "this", "that", "there", "he", "she", "they", "what", "which", "who"})
NUMBER = re.compile(r"[^\w\s]?\d[\w.,:%-]*")
PATH = re.compile(r"[~.\w-]*(?:/[\w.@~-]+)+/?|https?://\S+")
WORD = re.compile(r"[\w.-]{2,40}")
MOST_WORDS = 6
LONGEST = 160
ROW = """
  SELECT project_id, title, coalesce(narrative, ''), trust FROM observations
  WHERE id = ? AND superseded_by IS NULL
"""
NOTE = "INSERT OR REPLACE INTO subjects VALUES (?, ?, ?, ?, ?)"
REPLACE = """
  UPDATE observations SET superseded_by = ?1 WHERE superseded_by IS NULL AND id IN (
    SELECT s.memory_id FROM subjects s JOIN observations o ON o.id = s.memory_id
    WHERE s.project_id = ?2 AND s.subject = ?3 AND s.kind = ?4 AND s.value <> ?5
      AND s.memory_id <> ?1
      AND (?6 = 'user' OR o.trust = ?6 OR o.trust = 'foreign')
      AND NOT EXISTS (SELECT 1 FROM personal p WHERE p.memory_id = o.id)
      AND NOT EXISTS (SELECT 1 FROM pins q WHERE q.kind = 'observation' AND q.record_id = o.id))
  RETURNING id
"""


@attrs.frozen
class Statement:
    """One value of one subject; `kind`: number, path or word."""

    subject: str
    kind: str
    value: str


def statement(text: str) -> Statement | None:
    """What a short sentence says of its subject, if it is of that form."""
    text = LEAD.sub("", text.strip().rstrip(".!"))
    found = RELATION.search(text)
    if found is None or len(text) > LONGEST:
        return None
    subject = " ".join(w for w in title_key(text[: found.start()]).split() if w not in ARTICLES)
    kind, value = _kind(text[found.end() :].strip().strip("\"'`"))
    words = subject.split()
    if not words or len(words) > MOST_WORDS or not kind or words[0] in VAGUE:
        return None
    return Statement(subject, kind, value.casefold())


def replace(conn: apsw.Connection, new: int, olds: Iterable[int]) -> None:
    """Let a memory take the place of these, by the word of whoever wrote it.

    Raises:
        NotFound: one of them is not there, or no longer holds.
        InvalidInput: one is more trusted than the new one.
    """
    trust = Trust(fetch.value(conn, "SELECT trust FROM observations WHERE id = ?", new))
    for old in olds:
        sql = "SELECT trust FROM observations WHERE id = ? AND superseded_by IS NULL AND id <> ?"
        found = fetch.value(conn, sql, old, new)
        if found is None:
            raise NotFound(f"#{old} is not there, or no longer holds; see `mem why {old}`")
        if ORDER.index(Trust(found)) > ORDER.index(trust):
            raise InvalidInput(f"#{old} is trusted more; run `mem remember` at a terminal")
        conn.execute("UPDATE observations SET superseded_by = ? WHERE id = ?", (new, old))


def _kind(value: str) -> tuple[str, str]:
    for kind, pattern in (("number", NUMBER), ("path", PATH), ("word", WORD)):
        if pattern.fullmatch(value):
            return kind, value
    return "", ""


def settle(conn: apsw.Connection, number: int) -> list[int]:
    """Let a memory take the place of what it contradicts; the ids of that."""
    row = fetch.row(conn, ROW, number)
    if row is None:
        return []
    project, title, narrative, trust = row
    whole = title or ""
    said = statement(whole) if narrative in ("", whole) or not narrative.startswith(whole) else None
    if said is None:
        conn.execute("DELETE FROM subjects WHERE memory_id = ?", (number,))
        return []
    about = (project, said.subject, said.kind, said.value)
    conn.execute(NOTE, (number, *about))
    return [found[0] for found in fetch.rows(conn, REPLACE, number, *about, trust)]

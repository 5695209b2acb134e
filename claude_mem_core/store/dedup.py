"""Observations that say the same in other words: the same title merges, a like one is shown.

Off unless it is switched on. Nothing is merged on a guess: what is only alike is noted as a
pair for a person to look at, and his verdict is kept.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw
import attrs

from claude_mem_core.errors import NotFound
from claude_mem_core.store import fetch
from claude_mem_core.store.draft import ORDER, title_key
from claude_mem_core.store.forget import give_way
from claude_mem_core.types import DocKind, Trust

SAME = """
  SELECT id FROM (SELECT id, title_key, platform_source, agent_id, memory_session_id
    FROM observations WHERE project_id = ?1 AND superseded_by IS NULL AND id < ?2
    ORDER BY created_at_epoch DESC, id DESC LIMIT ?6)
  WHERE title_key = ?3 AND platform_source = ?4 AND (agent_id IS NULL) = ?5
  ORDER BY id DESC LIMIT 1
"""
ABOUT = """
  SELECT project_id, title_key, platform_source, agent_id IS NULL, trust FROM observations
  WHERE id = ?
"""
TITLES = """
  SELECT id, title_key FROM observations
  WHERE project_id = ?1 AND superseded_by IS NULL AND title_key <> '' AND id < ?2
  ORDER BY created_at_epoch DESC, id DESC LIMIT ?3
"""
NOTE = """
  INSERT INTO observation_dedup_candidates
    (project_id, observation_id, other_id, score, created_at_epoch) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (observation_id, other_id) DO UPDATE SET score = excluded.score
"""
LISTED = """
  SELECT c.id, c.observation_id, a.title, c.other_id, b.title, c.score, c.status, p.label
  FROM observation_dedup_candidates c JOIN observations a ON a.id = c.observation_id
  JOIN observations b ON b.id = c.other_id JOIN projects p ON p.id = c.project_id
  WHERE (?1 IS NULL OR c.project_id IN (SELECT value FROM json_each(?1)))
    AND (?2 IS NULL OR c.status = ?2)
  ORDER BY c.score DESC, c.id LIMIT ?3
"""
NAMES = ("id", "observation_id", "title", "other_id", "other_title", "score", "status", "project")
EVER = 1 << 62
NEAR = 200  # newest titles with a word that a scan compares with


@attrs.frozen(kw_only=True)
class Rules:
    """When two titles are alike; the settings `CLAUDE_MEM_DEDUP_...` say what each means."""

    threshold: float = 0.8
    veto: int = 10
    shared: int = 2
    least: int = 10
    scan: int = 2_000
    largest: int = 50_000


def settle(conn: apsw.Connection, number: int, rules: Rules, now: int) -> int:
    """Merge a new observation into one of the same title, or note what is like it.

    Returns the id under which it goes on.
    """
    project, key, host, main, _ = fetch.row(conn, ABOUT, number) or (0, "", "", True, "")
    if not key:
        return number
    same = fetch.value(conn, SAME, project, number, key, host, main, rules.scan)
    if same is not None:
        merge(conn, number, int(same))
        return int(same)
    titles = fetch.rows(conn, TITLES, project, number, rules.scan)
    counts = _counted([key, *(other for _, other in titles)])
    found = _alike(number, key, titles, counts, len(titles) + 1, rules)
    note(conn, project, found, now)
    return number


def merge(conn: apsw.Connection, new: int, old: int) -> None:
    """Let one observation go into another: its evidence and files hang there from now on."""
    trusts = [Trust(fetch.row(conn, ABOUT, one)[4]) for one in (new, old)]  # type: ignore[index]
    for sql in (
        "UPDATE OR IGNORE evidence SET memory_id = ?1 WHERE kind = 'observation' AND memory_id = ?2",
        "UPDATE OR IGNORE memory_files SET memory_id = ?1 WHERE kind = 'observation' AND memory_id = ?2",
        "UPDATE tool_uses SET observation_id = ?1 WHERE observation_id = ?2",
        "UPDATE observations SET superseded_by = ?1 WHERE superseded_by = ?2",
    ):
        conn.execute(sql, (old, new))
    give_way(conn, DocKind.OBSERVATION, new)
    lowest = min(trusts, key=ORDER.index).value
    sql = "UPDATE observations SET occurrence_count = occurrence_count + 1, trust = ? WHERE id = ?"
    conn.execute(sql, (lowest, old))


def rekey(conn: apsw.Connection, project: int) -> int:
    """Give rows of before their title's key; how many."""
    sql = "SELECT id, title FROM observations WHERE project_id = ? AND title_key IS NULL"
    rows = fetch.rows(conn, sql, project)
    keys = [(title_key(title or ""), number) for number, title in rows]
    conn.executemany("UPDATE observations SET title_key = ? WHERE id = ?", keys)
    return len(keys)


def pairs(
    conn: apsw.Connection, project: int, rules: Rules
) -> list[tuple[int, int, float]] | None:
    """Every pair of a project that is alike; None for one that is too large."""
    titles = fetch.rows(conn, TITLES, project, EVER, rules.largest + 1)
    if len(titles) > rules.largest:
        return None
    titles.reverse()
    counts = _counted(key for _, key in titles)
    seen: dict[str, list[int]] = {}
    found: list[tuple[int, int, float]] = []
    for at, (number, key) in enumerate(titles):
        words = sorted(set(key.split()))
        near = Counter(one for word in words for one in seen.get(word, ())[-NEAR:])
        close = [one for one, n in near.items() if n >= rules.shared and at - one <= rules.scan]
        others = [titles[one] for one in sorted(close)]
        found += _alike(number, key, others, counts, len(titles), rules)
        for word in words:
            seen.setdefault(word, []).append(at)
    return found


def note(
    conn: apsw.Connection, project: int, found: Iterable[tuple[int, int, float]], now: int
) -> None:
    """Keep pairs for a person to look at; verdicts stay."""
    rows = [(project, new, old, round(score, 4), now) for new, old, score in found]
    conn.executemany(NOTE, rows)


def candidates(
    conn: apsw.Connection, project_ids: str | None, status: str | None, limit: int
) -> list[dict[str, Any]]:
    """Pairs that may say the same, the likest first."""
    rows = fetch.rows(conn, LISTED, project_ids, status, limit)
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


def resolve(conn: apsw.Connection, number: int, status: str) -> None:
    """Keep a person's verdict. Raises NotFound."""
    sql = "UPDATE observation_dedup_candidates SET status = ? WHERE id = ? RETURNING id"
    if fetch.row(conn, sql, status, number) is None:
        raise NotFound(f"there is no pair {number}; `mem dedup list` shows them")


def _alike(
    number: int, key: str, titles: Sequence[Any], counts: Mapping[str, int], total: int,
    rules: Rules,
) -> list[tuple[int, int, float]]:  # fmt: skip
    """What of `titles` is like a title: by the words they share, rare ones counting more."""
    if total < rules.least:
        return []
    mine = frozenset(key.split())
    found = []
    for other_id, other in titles:
        score = _score(mine, frozenset(other.split()), counts, total, rules)
        if score >= rules.threshold and other != key:
            found.append((number, other_id, score))
    return found


def _counted(keys: Iterable[str]) -> Counter[str]:
    """In how many titles each word is."""
    return Counter(word for key in keys for word in set(key.split()))


def _score(
    mine: frozenset[str], theirs: frozenset[str], counts: Mapping[str, int], total: int,
    rules: Rules,
) -> float:  # fmt: skip
    """The cosine of two titles; 0 where a rare word tells them apart."""
    both = mine & theirs
    if len(both) < rules.shared or any(counts[word] <= rules.veto for word in mine ^ theirs):
        return 0.0
    weights = {word: math.log(1 + total / counts[word]) ** 2 for word in mine | theirs}
    common, own, other = (sum(weights[word] for word in words) for words in (both, mine, theirs))
    return common / math.sqrt(own * other)

"""The rows that a session's first context is made from, by key from the newest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

import apsw
import attrs

from claude_mem_core.recall.suspicion import instruction_like
from claude_mem_core.store import fetch
from claude_mem_core.store.text import loads_list
from claude_mem_core.types import Trust

ORDERS = "instruction-like text from outside"
_SPARE = 20  # rows read beyond those wanted, for what is left out afterwards
_WALKED = 5_000  # rows read when much is left out, or to look for a concept
ALWAYS_SHOWN = ("manual", "import")
# A filter that names all of these is what older settings files hold for "no filter".
ALL_TYPES = frozenset({"bugfix", "feature", "refactor", "discovery", "decision", "change"})
ALL_CONCEPTS = frozenset({
    "how-it-works", "why-it-exists", "what-changed", "problem-solution", "gotcha", "pattern",
    "trade-off",
})  # fmt: skip

COLUMNS = """
  id, type, title, subtitle, coalesce(narrative, text), facts, concepts,
  created_at_epoch, discovery_tokens, trust,
  EXISTS (SELECT 1 FROM verify_marks v WHERE v.memory_id = id)
"""
_OBSERVATIONS = """
  SELECT {columns} FROM observations
  WHERE project_id = :project AND superseded_by IS NULL {limits}
    AND id NOT IN (SELECT memory_id FROM feedback WHERE outdated)
  ORDER BY created_at_epoch DESC, id DESC LIMIT :most
"""
# What was stored since, whatever its time says: from the newest id down.
_LATER = """
  SELECT {columns} FROM observations
  WHERE id > :after AND +project_id = :project AND superseded_by IS NULL {limits}
    AND id NOT IN (SELECT memory_id FROM feedback WHERE outdated)
  ORDER BY id DESC LIMIT :most
"""
_SUMMARIES = """
  SELECT id, request, investigated, learned, completed, next_steps, notes,
    created_at_epoch, trust
  FROM session_summaries
  WHERE project_id = :project AND superseded_by IS NULL {limits}
  ORDER BY created_at_epoch DESC, id DESC LIMIT :most
"""
_SESSIONS = """
  SELECT started_at_epoch, id FROM sdk_sessions WHERE project_id = ? AND id IS NOT ?
  ORDER BY started_at_epoch DESC LIMIT 10
"""
_ANSWER = """
  SELECT iif(EXISTS (
      SELECT 1 FROM events f WHERE f.session_db_id = e.session_db_id
        AND f.prompt_number = e.prompt_number AND f.trust = 'foreign'
    ), '', json_extract(e.payload, '$.answer'))
  FROM events e
  WHERE e.session_db_id = ? AND e.kind = 'turn_ended' AND e.payload IS NOT NULL
  ORDER BY e.id DESC LIMIT 1
"""
BY_HOST = "AND platform_source = :host"
_BY_TYPE = "AND type = :type"
BY_AGENT = "AND agent_id IS NULL"
_BY_OTHERS = "AND session_db_id IS NOT :own"
_BY_TIME = "AND created_at_epoch > :since"


@attrs.frozen
class Row:
    """An observation as the context needs it."""

    id: int
    type: str
    title: str
    subtitle: str
    narrative: str
    facts: tuple[str, ...]
    concepts_json: str | None
    created_ms: int
    work: int
    trust: Trust
    verify: bool = False

    @property
    def concepts(self) -> tuple[str, ...]:
        return loads_list(self.concepts_json)

    @property
    def key(self) -> str:
        return str(self.id)

    @property
    def read(self) -> int:
        """Tokens that reading it costs: its characters by four."""
        facts = sum(map(len, self.facts))
        return (len(self.title) + len(self.subtitle) + len(self.narrative) + facts + 3) // 4


@attrs.frozen
class SummaryRow:
    """A summary as the context needs it."""

    id: int
    request: str
    fields: Mapping[str, str]
    created_ms: int
    trust: Trust

    @property
    def key(self) -> str:
        return f"S{self.id}"


@attrs.frozen
class Wanted:
    """Which rows: of these projects, from these hosts, of these kinds, since when.

    Attributes:
        hosts: empty for all of them.
        types, concepts: empty for all of them.
        since_ms: rows made after this; `after_id` admits later ones with an older time.
        not_session: none of this session, which has its own turns before it; 0 for all.
    """

    project_ids: tuple[int, ...]
    hosts: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    concepts: frozenset[str] = frozenset()
    main_agent_only: bool = True
    since_ms: int | None = None
    after_id: int = 0
    not_session: int = 0


def wanted(settings: Mapping[str, Any], project_ids: tuple[int, ...], host: str) -> Wanted:
    """What the settings ask for."""
    every = settings["CLAUDE_MEM_SESSION_START_INCLUDE_ALL_SOURCES"] or not host
    types = tuple(settings["CLAUDE_MEM_CONTEXT_OBSERVATION_TYPES"])
    concepts = frozenset(settings["CLAUDE_MEM_CONTEXT_OBSERVATION_CONCEPTS"])
    return Wanted(
        project_ids=project_ids,
        hosts=() if every else (host, *ALWAYS_SHOWN),
        types=() if set(types) >= ALL_TYPES else types,
        concepts=frozenset() if concepts >= ALL_CONCEPTS else concepts,
        main_agent_only=settings["CLAUDE_MEM_CONTEXT_MAIN_AGENT_ONLY"],
    )


def observations(
    conn: apsw.Connection, what: Wanted, limit: int
) -> tuple[list[Row], dict[str, int]]:
    """The newest rows, newest first, and how many were left out for which reason."""
    found, left_out = speaking(_newest(conn, what, limit + _SPARE))
    if left_out > _SPARE and len(found) < limit:
        found, left_out = speaking(_newest(conn, what, _WALKED))
    return found[:limit], {ORDERS: left_out} if left_out else {}


def speaking(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """Rows without those from outside that read like orders, and how many these were."""
    kept = [row for row in rows if not (row.trust is Trust.FOREIGN and _orders(row))]
    return kept, len(rows) - len(kept)


def _newest(conn: apsw.Connection, what: Wanted, most: int) -> list[Row]:
    walked = _WALKED if what.concepts else most
    merged: dict[int, Row] = {}
    for sql, values in _queries(what):
        rows = map(row_of, conn.execute(sql, {**values, "most": walked}))
        fitting = (
            row for row in rows if not what.concepts or what.concepts & set(row.concepts)
        )
        merged.update((row.id, row) for row in islice(fitting, most))
    return sorted(merged.values(), key=lambda row: (-row.created_ms, -row.id))[:most]


def _queries(what: Wanted) -> Iterator[tuple[str, dict[str, Any]]]:
    """One statement for each project, host and type: each walks one index from its end."""
    for project, host, type_ in product(
        what.project_ids, what.hosts or (None,), what.types or (None,)
    ):
        limits = " ".join(
            text
            for text, on in (
                (BY_HOST, host is not None),
                (_BY_TYPE, type_ is not None),
                (BY_AGENT, what.main_agent_only),
                (_BY_OTHERS, what.not_session),
            )
            if on
        )
        values = {"project": project, "host": host, "type": type_, "own": what.not_session}
        if what.since_ms is None:
            yield _OBSERVATIONS.format(columns=COLUMNS, limits=limits), values
            continue
        values |= {"since": what.since_ms, "after": what.after_id}
        yield _OBSERVATIONS.format(columns=COLUMNS, limits=f"{limits} {_BY_TIME}"), values
        yield _LATER.format(columns=COLUMNS, limits=limits), values


def row_of(row: Sequence[Any]) -> Row:
    number, type_, title, subtitle, narrative, facts, concepts, made, work, trust, verify = row
    return Row(
        number, type_, title or "", subtitle or "", narrative or "", loads_list(facts),
        concepts, made, work, Trust(trust), bool(verify),
    )  # fmt: skip


def _orders(row: Row) -> bool:
    return instruction_like(row.title, row.subtitle, row.narrative, *row.facts)


def summaries(conn: apsw.Connection, what: Wanted, limit: int) -> list[SummaryRow]:
    """The newest summaries, newest first."""
    found: list[SummaryRow] = []
    since = "" if what.since_ms is None else _BY_TIME
    since += f" {_BY_OTHERS}" if what.not_session else ""
    for project, host in product(what.project_ids, what.hosts or (None,)):
        limits = f"{'' if host is None else BY_HOST} {since}"
        values = {"project": project, "host": host, "since": what.since_ms, "most": limit}
        values["own"] = what.not_session
        found += map(_summary, conn.execute(_SUMMARIES.format(limits=limits), values))
    found.sort(key=lambda row: (-row.created_ms, -row.id))
    return [row for row in found if not _foreign_orders(row)][:limit]


def _summary(row: Sequence[Any]) -> SummaryRow:
    number, request, *fields, made, trust = row
    names = ("Investigated", "Learned", "Completed", "Next Steps", "Notes")
    said = {name: text for name, text in zip(names, fields, strict=True) if text}
    return SummaryRow(number, request or "", said, made, Trust(trust))


def _foreign_orders(row: SummaryRow) -> bool:
    return row.trust is Trust.FOREIGN and instruction_like(row.request, *row.fields.values())


def last_answer(conn: apsw.Connection, what: Wanted, session_db_id: int | None) -> str:
    """The agent's last words in the newest other session of these projects.

    None of a turn in which something came from outside: they may repeat it.
    """
    sessions = [
        row
        for project in what.project_ids
        for row in fetch.rows(conn, _SESSIONS, project, session_db_id)
    ]
    for _, number in sorted(sessions, reverse=True):
        found = fetch.row(conn, _ANSWER, number)
        if found is not None:
            return str(found[0] or "")
    return ""


def given(conn: apsw.Connection, session_db_id: int) -> tuple[int | None, int]:
    """When a session last got its context, and the highest id that was in it."""
    at_ms = fetch.value(
        conn, "SELECT context_at_epoch FROM sdk_sessions WHERE id = ?", session_db_id
    )
    ids = fetch.value(
        conn,
        "SELECT ids FROM context_given WHERE session_db_id = ? AND what = 'session'",
        session_db_id,
    )
    return at_ms, max(_numbers(loads_list(ids)), default=0)


def _numbers(keys: Iterable[str]) -> Iterator[int]:
    return (int(key) for key in keys if key.isdigit())

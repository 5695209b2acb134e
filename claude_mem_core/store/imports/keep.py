"""Writing what was staged: each row once, whatever is imported how often."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import apsw
import attrs

from claude_mem_core.projects import Place
from claude_mem_core.store import fetch, text
from claude_mem_core.store.draft import FILE, file_name, title_key
from claude_mem_core.store.imports.own import OwnKeeper
from claude_mem_core.store.imports.places import Home, Projects, Sessions, origin_of
from claude_mem_core.store.imports.records import Incoming, Kind
from claude_mem_core.store.imports.seen import SAID, Seen, observation_words
from claude_mem_core.store.imports.staging import Staged
from claude_mem_core.types import DocKind, Trust

TITLE_WORDS = 12
LONGEST_TYPE = 64
TOOL = (
    "tool_input", "tool_response", "cwd", "agent_type", "agent_id", "or_generation_id",
    "or_session_id", "content_hash",
)  # fmt: skip


@attrs.define
class Count:
    """Rows of one kind. `skipped`: they were here, or nothing of them was left."""

    imported: int = 0
    skipped: int = 0


@attrs.frozen
class Counts:
    """What an import did, by kind; `left_out`: what it did not take, by its name.

    `own`: what of people's own words about memories and projects is new here.
    """

    by_kind: Mapping[Kind, Count] = attrs.field(factory=dict)
    left_out: Mapping[str, int] = attrs.field(factory=dict)
    own: Mapping[str, int] = attrs.field(factory=dict)

    @property
    def imported(self) -> int:
        """Rows that are new here."""
        return sum(count.imported for count in self.by_kind.values())

    def of(self, kind: Kind) -> Count:
        """The count of one kind."""
        return self.by_kind.get(kind, Count())

    def answer(self) -> dict[str, Any]:
        """The counts for machines, also by the names of the documented answer."""
        kinds = {kind.value: attrs.asdict(self.of(kind)) for kind in Kind}
        stats = {
            f"{_camel(kind)}{what.capitalize()}": n
            for kind, counts in kinds.items()
            for what, n in counts.items()
        }
        more = {"left_out": dict(self.left_out), "own": dict(self.own)}
        return {"success": True, "stats": stats, **kinds, **more}


def keep(
    conn: apsw.Connection, staged: Staged, now: int, source: str = "import",
    places: Mapping[str, Place] | None = None,
) -> Counts:  # fmt: skip
    """Write all rows, in the caller's transaction. A second time nothing is added.

    All of it is `foreign`: nobody here has seen how it came about.

    Args:
        source: names where they come from, in the origin columns.
        places: where on this machine the projects of some labels are.
    """
    keeper = Keeper(conn, now, source, places or {})
    own = OwnKeeper(conn, staged.own, keeper.projects, now)
    own.before()
    counts = keeper.take(staged)
    own.after(keeper.numbers)
    return Counts(counts, dict(staged.left_out), own.done)


class Keeper:
    """Writes rows and remembers which ones there are."""

    def __init__(
        self, conn: apsw.Connection, now: int, source: str, places: Mapping[str, Place]
    ) -> None:
        self._conn = conn
        self._now = now
        self._source = source
        self.projects = Projects(conn, places, now)
        self._sessions = Sessions(conn, self.projects, now)
        self._seen = Seen(conn)
        # Numbers there -> numbers here.
        self._observations: dict[str, int] = {}
        self._summaries: dict[str, int] = {}
        self.numbers = {
            DocKind.OBSERVATION: self._observations, DocKind.SUMMARY: self._summaries
        }

    def take(self, staged: Staged) -> dict[Kind, Count]:
        """All rows, kind after kind."""
        ways: Mapping[Kind, Callable[[Incoming], bool]] = {
            Kind.SESSION: self._sessions.take,
            Kind.SUMMARY: self._summary,
            Kind.OBSERVATION: self._observation,
            Kind.PROMPT: self._prompt,
            Kind.TOOL: self._tool,
        }
        counts = {}
        for kind, way in ways.items():
            count = counts[kind] = Count(skipped=staged.passed_over.get(kind, 0))
            for row in staged.rows(kind):
                new = way(row)
                count.imported += new
                count.skipped += not new
        self._sessions.finish()
        return counts

    def _observation(self, row: Incoming) -> bool:
        home = self._sessions.of(row)
        title = row.text("title") or derived_title(row)
        words = words_of(row, title)
        here = self._seen.find(Kind.OBSERVATION, home.id, title, row.at_ms, words)
        number = here or self._insert_observation(row, home, title, words)
        if row.origin.number:
            self._observations[row.origin.number] = number
        return not here

    def _insert_observation(self, row: Incoming, home: Home, title: str, words: str) -> int:
        project, label = self.projects.of_row(row, home)
        at_ms = row.at_ms or self._now
        number = self._insert("observations", {
            **self._common(row, home, (project, label), at_ms),
            "memory_session_id": home.memory_id, "session_db_id": home.id,
            "type": type_of(row), "title": title, "title_key": title_key(title),
            "text": row.text("text") or None, "subtitle": row.text("subtitle"),
            "narrative": row.text("narrative") or None,
            **lists(row, "facts", "concepts", "files_read", "files_modified"),
            "content_hash": self._free_hash(home, words, at_ms),
            "relevance_count": row.number("relevance_count") or 0,
            "occurrence_count": row.number("occurrence_count") or 1,
            "agent_type": row.text("agent_type") or None,
            "agent_id": row.text("agent_id") or None,
            "metadata": text.dumps(dict(row.metadata)) if row.metadata else None,
            **self._memory(row),
        })  # fmt: skip
        self._seen.add(Kind.OBSERVATION, home.id, number, title, row.at_ms, words)
        changed = (("files_read", 0), ("files_modified", 1))
        self._files("observation", number, project, at_ms, row, changed)
        return number

    def _free_hash(self, home: Home, words: str, at_ms: int) -> str:
        """The same words at another time are another row, which needs a hash of its own."""
        sql = "SELECT 1 FROM observations WHERE memory_session_id = ? AND content_hash = ?"
        wanted, number = words, 0
        while fetch.row(self._conn, sql, home.memory_id, wanted) is not None:
            number += 1
            wanted = text.hashed((words, str(at_ms), str(number)))
        return wanted

    def _summary(self, row: Incoming) -> bool:
        home = self._sessions.of(row)
        number = row.number("prompt_number")
        words = text.hashed(row.text(name) for name in SAID)
        here = self._seen.find(Kind.SUMMARY, home.id, number, row.at_ms, words)
        made = here or self._insert_summary(row, home, number, words)
        if row.origin.number:
            self._summaries[row.origin.number] = made
        return not here

    def _insert_summary(self, row: Incoming, home: Home, number: int | None, words: str) -> int:
        project, label = self.projects.of_row(row, home)
        at_ms = row.at_ms or self._now
        made = self._insert("session_summaries", {
            **self._common(row, home, (project, label), at_ms),
            "memory_session_id": home.memory_id, "session_db_id": home.id,
            **{name: row.text(name) for name in SAID},
            **lists(row, "files_read", "files_edited"), **self._memory(row),
        })  # fmt: skip
        self._seen.add(Kind.SUMMARY, home.id, made, number, row.at_ms, words)
        self._files("summary", made, project, at_ms, row, (("files_read", 0), ("files_edited", 1)))
        return made

    def _prompt(self, row: Incoming) -> bool:
        home = self._sessions.of(row)
        words = row.text("prompt_text")
        number = self._seen.prompt(home.id, row.number("prompt_number"), words)
        if number is None:
            return False
        where = self.projects.of_row(row, home)
        made = self._insert("user_prompts", {
            **self._common(row, home, where, row.at_ms or self._now),
            "session_db_id": home.id, "content_session_id": home.content_id,
            "prompt_number": number, "prompt_text": words,
            **origin_of(row.origin, self._source),
        })  # fmt: skip
        self._seen.add_prompt(home.id, made, number, words)
        self._sessions.touched.add(home.id)
        return True

    def _tool(self, row: Incoming) -> bool:
        home = self._sessions.of(row)
        where = self.projects.of_row(row, home)
        observation = self._observations.get(str(row.number("observation_id") or ""))
        self._insert("tool_uses", {
            **self._common(row, home, where, row.at_ms or self._now),
            "tool_use_id": row.text("tool_use_id") or f"imported-{row.origin.number}",
            "content_session_id": home.content_id, "memory_session_id": home.memory_id,
            "session_db_id": home.id, "tool_name": row.text("tool_name") or "unknown",
            **{name: row.text(name) or None for name in TOOL},
            "prompt_number": row.number("prompt_number"), "observation_id": observation,
        })  # fmt: skip
        return self._conn.changes() > 0

    # Shared --------------------------------------------------------------------------

    def _common(
        self, row: Incoming, home: Home, where: tuple[int, str], at_ms: int
    ) -> dict[str, Any]:
        """What rows of every table have."""
        return {
            "project_id": where[0], "project": where[1], "platform_source": home.host,
            "created_at": text.iso(at_ms), "created_at_epoch": at_ms,
        }  # fmt: skip

    def _memory(self, row: Incoming) -> dict[str, Any]:
        """What observations and summaries have."""
        return {
            "prompt_number": row.number("prompt_number"),
            "discovery_tokens": row.number("discovery_tokens") or 0,
            "generated_by_model": row.text("generated_by_model") or None,
            "merged_into_project": row.merged_into or None,
            "trust": Trust.FOREIGN.value,
            **origin_of(row.origin, self._source),
        }

    def _insert(self, table: str, values: Mapping[str, Any]) -> int:
        """Names come from this module only."""
        columns, marks = ", ".join(values), ", ".join("?" * len(values))
        sql = f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})"
        self._conn.execute(sql, tuple(values.values()))
        return self._conn.last_insert_rowid()

    def _files(
        self, kind: str, number: int, project: int, at_ms: int, row: Incoming,
        columns: Iterable[tuple[str, int]],
    ) -> None:  # fmt: skip
        self._conn.executemany(FILE, [
            (path, kind, number, project, modified, at_ms, file_name(path))
            for column, modified in columns for path in row.list(column)
        ])  # fmt: skip


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def lists(row: Incoming, *names: str) -> dict[str, str]:
    """List columns as the tables keep them."""
    return {name: text.dumps(list(row.list(name))) for name in names}


def derived_title(row: Incoming) -> str:
    """The first words of what a row says, for one that has no title."""
    said = row.text("narrative") or row.text("text") or " ".join(row.list("facts")[:1])
    return " ".join(said.split()[:TITLE_WORDS])


def words_of(row: Incoming, title: str) -> str:
    """What an observation says, in one hash."""
    said = row.text("narrative") or row.text("text")
    return observation_words(type_of(row), title, said, row.list("facts"))


def type_of(row: Incoming) -> str:
    """Its type; a discovery where it names none."""
    return (row.text("type") or "discovery")[:LONGEST_TYPE]

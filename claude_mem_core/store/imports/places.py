"""Projects and sessions that imported rows belong to: found, or made."""

from __future__ import annotations

from collections.abc import Mapping

import apsw
import attrs

from claude_mem_core.projects import Place
from claude_mem_core.store import fetch, projects, text
from claude_mem_core.store.imports.records import Incoming, Origin

NO_PROJECT = "imported"  # label of rows that name no project
HOST = "import"  # host of sessions that stand for rows without one
MERGE = """
  UPDATE projects SET merged_into = ?1
  WHERE id = ?2 AND id <> ?1 AND kind = 'named' AND merged_into IS NULL
"""
COLUMNS = "id, platform_source, content_session_id, memory_session_id, project, project_id"
BY_CONTENT = f"""
  SELECT {COLUMNS} FROM sdk_sessions WHERE content_session_id = ?1 AND platform_source = ?2
"""
BY_MEMORY = f"SELECT {COLUMNS} FROM sdk_sessions WHERE memory_session_id = ?1"
INSERT = """
  INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, project_id,
    platform_source, user_prompt, started_at, started_at_epoch, completed_at,
    completed_at_epoch, status, custom_title)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
REGISTER = """
  UPDATE sdk_sessions SET memory_session_id = ? WHERE id = ? AND memory_session_id IS NULL
"""
ADOPT = """
  UPDATE sdk_sessions SET content_session_id = ?, platform_source = ?, user_prompt = ?,
    custom_title = ?, started_at = ?, started_at_epoch = ?
  WHERE id = ?
"""
# A session that goes on counts its prompts from where the imported ones end.
COUNTED = """
  UPDATE sdk_sessions SET
    prompt_counter = max(prompt_counter, ?2),
    last_prompt_number = CASE WHEN ?4 > last_prompt_at_epoch THEN ?3
      ELSE last_prompt_number END,
    last_prompt_at_epoch = max(last_prompt_at_epoch, ?4)
  WHERE id = ?1
"""
NEWEST = """
  SELECT max(prompt_number), max(created_at_epoch) FROM user_prompts WHERE session_db_id = ?
"""
NEWEST_NUMBER = """
  SELECT prompt_number FROM user_prompts WHERE session_db_id = ?
  ORDER BY created_at_epoch DESC, prompt_number DESC LIMIT 1
"""


@attrs.frozen
class Home:
    """The session that rows hang on."""

    id: int
    host: str
    content_id: str
    memory_id: str
    project: str
    project_id: int


class Projects:
    """Projects by label: one that is known here, else a place that is known to be meant.

    Any other is `named`, a label without a place. A session that is recorded later in a
    folder of that name does not get these memories by itself, since anybody can call a
    folder so; the two have to be linked by the user.
    """

    def __init__(self, conn: apsw.Connection, places: Mapping[str, Place], now: int) -> None:
        self._conn = conn
        self._places = places
        self._now = now
        self._known: dict[str, tuple[int, str]] = {}
        self._merged: set[tuple[str, str]] = set()

    def of(self, label: str) -> tuple[int, str]:
        """Id of the project, and the label its rows carry."""
        if label not in self._known:
            self._known[label] = self._found(label)
        return self._known[label]

    def of_row(self, row: Incoming, home: Home) -> tuple[int, str]:
        """The project of a row; its session's when it names none."""
        if not row.project:
            return home.project_id, home.project
        number, label = self.of(row.project)
        if row.merged_into and row.merged_into != row.project:
            return self._where_merged(row, number), label
        return number, label

    def _found(self, label: str) -> tuple[int, str]:
        number = projects.labelled(self._conn, label)
        if number is not None and label != projects.GENERAL:
            return int(number), label
        named = Place(key=f"name:{label}", label=label, kind="named")
        made = projects.resolve(self._conn, self._places.get(label, named), self._now)
        return made.id, label if label != projects.GENERAL else made.label

    def _where_merged(self, row: Incoming, number: int) -> int:
        """A project that is only a name is merged as it was; a place stays what it is."""
        target, _ = self.of(row.merged_into)
        pair = (row.project, row.merged_into)
        if pair not in self._merged and target not in projects.find(self._conn, number):
            if number not in projects.find(self._conn, target):
                self._conn.execute(MERGE, (target, number))
            self._merged.add(pair)
        return number if target in projects.find(self._conn, number) else target


class Sessions:
    """Sessions by the names that rows have for them."""

    def __init__(self, conn: apsw.Connection, places: Projects, now: int) -> None:
        self._conn = conn
        self._projects = places
        self._now = now
        self._by_memory: dict[str, Home] = {}
        self._by_number: dict[int, Home] = {}
        self._made: dict[int, list[int]] = {}
        self.touched: set[int] = set()

    def take(self, row: Incoming) -> bool:
        """Take in a session; False when it is here already: it keeps what it has."""
        origin = row.origin
        content = origin.content_id or origin.memory_id
        home = self._one(BY_CONTENT, content, origin.host)
        if home is not None:
            self._register(home, origin)
            return False
        home = self._adopted(row, content) or self._insert(row, content)
        self._remember(home, origin)
        return True

    def of(self, row: Incoming) -> Home:
        """The session of a row; made when nobody knows it."""
        origin = row.origin
        home = self._by_number.get(origin.session) or self._by_memory.get(origin.memory_id)
        home = home or self._known(origin) or self._standing_for(row)
        self._stretch(home, row.at_ms)
        return home

    def finish(self) -> None:
        """Set what follows from the rows: when it was, how many prompts it has."""
        for number, (first, last) in self._made.items():
            sql = """UPDATE sdk_sessions SET started_at = ?, started_at_epoch = ?,
              completed_at = ?, completed_at_epoch = ? WHERE id = ?"""
            self._conn.execute(sql, (text.iso(first), first, text.iso(last), last, number))
        for number in self.touched:
            most, newest_ms = fetch.row(self._conn, NEWEST, number) or (None, None)
            if most is not None:
                newest = fetch.value(self._conn, NEWEST_NUMBER, number)
                self._conn.execute(COUNTED, (number, most, newest, newest_ms))

    def _one(self, sql: str, *values: str) -> Home | None:
        row = fetch.row(self._conn, sql, *values)
        return Home(*row) if row else None

    def _register(self, home: Home, origin: Origin) -> None:
        """The one here keeps its names; it gets a memory id if it has none."""
        if not home.memory_id:
            wanted = origin.memory_id or f"{home.host}:{home.content_id}"
            home = attrs.evolve(home, memory_id=self._free_memory_id(wanted, home.content_id))
            self._conn.execute(REGISTER, (home.memory_id, home.id))
        self._remember(home, origin)

    def _remember(self, home: Home, origin: Origin) -> None:
        if origin.memory_id:
            self._by_memory[origin.memory_id] = home
        if origin.number.isdigit():
            self._by_number[int(origin.number)] = home

    def _known(self, origin: Origin) -> Home | None:
        """A session that an earlier import or we ourselves have made."""
        found = self._one(BY_MEMORY, origin.memory_id) if origin.memory_id else None
        if found is None and origin.content_id:
            found = self._one(BY_CONTENT, origin.content_id, origin.host)
        return found

    def _adopted(self, row: Incoming, content: str) -> Home | None:
        """A session that stood for rows whose own one had not come yet."""
        found = self._one(BY_MEMORY, row.origin.memory_id) if row.origin.memory_id else None
        if found is None or found.host != HOST:
            return None
        at_ms = row.at_ms or self._now
        said = (row.text("user_prompt") or None, row.text("custom_title") or None)
        values = (content, row.origin.host, *said, text.iso(at_ms), at_ms, found.id)
        self._conn.execute(ADOPT, values)
        return attrs.evolve(found, host=row.origin.host, content_id=content)

    def _insert(self, row: Incoming, content: str) -> Home:
        origin = row.origin
        project, label = self._projects.of(row.project or NO_PROJECT)
        memory = self._free_memory_id(origin.memory_id or f"{origin.host}:{content}", content)
        at_ms = row.at_ms or self._now
        # Nothing of it runs here any more; whoever resumes it opens it again.
        ended = row.number("completed") or at_ms
        status = "failed" if row.text("status") == "failed" else "completed"
        self._conn.execute(INSERT, (
            content, memory, label, project, origin.host, row.text("user_prompt") or None,
            text.iso(at_ms), at_ms, text.iso(ended), ended, status,
            row.text("custom_title") or None,
        ))  # fmt: skip
        number = self._conn.last_insert_rowid()
        return Home(number, origin.host, content, memory, label, project)

    def _free_memory_id(self, wanted: str, content: str) -> str:
        found = wanted
        parts: tuple[str, ...] = (wanted, content)
        while self._one(BY_MEMORY, found) is not None:  # also of the same name elsewhere
            found = f"{wanted}~{text.hashed(parts)}"
            parts = (*parts, "")
        return found

    def _standing_for(self, row: Incoming) -> Home:
        """One for rows that come without theirs: of that name, else one a project."""
        origin = row.origin
        if not origin.content_id and not origin.memory_id:
            _, label = self._projects.of(row.project or NO_PROJECT)
            name = f"{HOST}:{label}"
            origin = Origin(host=HOST, content_id=name, memory_id=name)
        elif not origin.content_id:
            origin = attrs.evolve(origin, host=HOST)
        content = origin.content_id or origin.memory_id
        home = self._one(BY_CONTENT, content, origin.host)
        if home is None:
            bare = Incoming(origin=origin, project=row.project, at_ms=row.at_ms)
            home = self._insert(bare, content)
            at_ms = row.at_ms or self._now
            self._made[home.id] = [at_ms, at_ms]
        if row.origin.memory_id:
            self._by_memory[row.origin.memory_id] = home
        return home

    def _stretch(self, home: Home, at_ms: int) -> None:
        span = self._made.get(home.id)
        if span is not None and at_ms:
            span[0], span[1] = min(span[0], at_ms), max(span[1], at_ms)


def origin_of(origin: Origin, source: str) -> Mapping[str, str | None]:
    """The origin columns: the device it had come from, else the import itself."""
    return {
        "origin_device_id": origin.device or source,
        "origin_local_id": (origin.local if origin.device else origin.number) or None,
    }

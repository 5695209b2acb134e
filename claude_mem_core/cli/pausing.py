"""Beginning and ending a pause, for the worker and for hooks that find none."""

from __future__ import annotations

import json
import os
import time

import apsw

from claude_mem_core import edge
from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.errors import MemError, UsageError
from claude_mem_core.extensions import registry_of
from claude_mem_core.files import read_private
from claude_mem_core.paths import Paths, data_dir, home_dir
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.projects import place_of
from claude_mem_core.settings import Settings, writing
from claude_mem_core.settings.pausing import (
    KEY,
    OPEN_END,
    SESSIONS,
    SPANS,
    is_paused,
    paused_text,
    spans,
)
from claude_mem_core.store import fetch, projects
from claude_mem_core.store.look import look

LARGEST = 1 << 20
MOST = 100  # sessions that are left alone; the oldest are over long ago
NEWEST = """
  SELECT content_session_id FROM sdk_sessions WHERE project_id = ?
  ORDER BY started_at_epoch DESC, id DESC LIMIT 1
"""


def put(until_ms: int, *, as_json: bool) -> str:
    """Write it down and tell the hooks; how people are told of it.

    Raises:
        SettingsError, StoreError: it can't be written: the pause has not begun.
        MemError: a setting above the file holds another value.
    """
    paths = Paths(data_dir())
    source, registry = registry_of(paths)
    begins = until_ms if until_ms else None
    writing.put(paths, {KEY: str(until_ms), SPANS: _spans(source.current(), begins)})
    source, registry = registry_of(paths)
    settings = source.current()
    if is_paused(settings) is not (until_ms != 0):
        raise MemError(
            f"{KEY} is set to {settings[KEY]} elsewhere: `mem config explain {KEY}` says where"
        )
    _publish(paths, registry, settings)
    if as_json:
        emit_json({"paused": is_paused(settings), "until_ms": until_ms})
    return paused_text(settings)


def incognito(session: str, *, on: bool, as_json: bool) -> int:
    """Leave one session alone, or no longer; without an id the newest one of this folder.

    Raises:
        UsageError: there is none here, or the id can't be kept in a list.
        SettingsError, StoreError: it can't be written.
    """
    paths = Paths(data_dir())
    source, _ = registry_of(paths)
    wanted = session or newest(paths, os.getcwd(), source.current())
    if "," in wanted or wanted != wanted.strip():
        raise UsageError(f"{wanted!r} has a comma or blanks in it; `mem pause` stops all sessions")
    others = [one for one in source.current()[SESSIONS] if one != wanted]
    names = [*others, wanted][-MOST:] if on else others
    gone = _spans(source.current(), OPEN_END if on else None, wanted)
    writing.put(paths, {SESSIONS: ",".join(names), SPANS: gone})
    source, registry = registry_of(paths)
    _publish(paths, registry, source.current())
    if as_json:
        emit_json({"session": wanted, "incognito": on})
    elif on:
        emit(f"Nothing of session {wanted} is kept from now on, and it is shown nothing.")
        emit(f"`mem resume --session {wanted}` ends it. What was kept before stays.")
    else:
        emit(f"Session {wanted} is remembered again.")
    return 0


def newest(paths: Paths, cwd: str, settings: Settings) -> str:
    """The session that began last in this folder's project.

    Raises:
        UsageError: none is known.
    """
    place = place_of(cwd, settings, str(home_dir()))

    def read(conn: apsw.Connection) -> str | None:
        project = projects.known(conn, place)
        found = fetch.value(conn, NEWEST, project.id) if project else None
        return None if found is None else str(found)

    found = look(paths.database, read) if paths.database.exists() else None
    if found is None:
        raise UsageError(
            "no session is known in this folder yet; name it: `mem pause --session ID`, or"
            " `mem pause` stops all"
        )
    return found


def _spans(settings: Settings, until: int | None, session: str = "") -> str:
    now = time.time_ns() // 1_000_000
    return ",".join(spans(list(settings[SPANS]), now, until, session))


def _publish(paths: Paths, registry: Registry, settings: Settings) -> None:
    if paths.edge.exists():
        edge.publish(paths, edge.policy_of(registry, settings, own_id(paths)))


def own_id(paths: Paths) -> str:
    """The id that the worker has published; what it says stays as it is."""
    try:
        return str(json.loads(read_private(paths.edge, LARGEST)).get("own_id", ""))
    except (OSError, ValueError, AttributeError):
        return ""

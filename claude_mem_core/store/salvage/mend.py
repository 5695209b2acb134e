"""Making whole again what hangs together, after some rows are gone.

A memory whose session's row was lost is still a memory: the session is made again from
what its rows say of it. What points to nothing is let go.
"""

from __future__ import annotations

from collections.abc import Callable

import apsw

from claude_mem_core.projects import Place
from claude_mem_core.projects.place import GENERAL
from claude_mem_core.store import counters, fetch, projects, text
from claude_mem_core.store.draft import FILE, file_name

Locate = Callable[[str], Place]  # the project of a directory

LOST_PROJECTS = """
  WITH named(id, label) AS (
    SELECT project_id, project FROM sdk_sessions
    UNION ALL SELECT project_id, project FROM observations
    UNION ALL SELECT project_id, project FROM session_summaries
    UNION ALL SELECT project_id, project FROM user_prompts
    UNION ALL SELECT project_id, project FROM tool_uses
    UNION ALL SELECT project_id, project FROM work_lists)
  SELECT id, min(label) FROM named
  WHERE id > 0 AND id NOT IN (SELECT id FROM projects)
  GROUP BY id ORDER BY id
"""
ROOT_OF = "SELECT root FROM sdk_sessions WHERE project_id = ? AND root IS NOT NULL LIMIT 1"
PROJECT = """
  INSERT OR IGNORE INTO projects (id, key, label, kind, remote, created_at_epoch)
  VALUES (?, ?, ?, ?, ?, ?)
"""
# What its rows say of each session that is not there.
LOST_SESSIONS = """
  WITH said(id, host, content, memory, project, project_id, at_ms, cwd) AS (
    SELECT session_db_id, host, session, NULL, NULL, NULL, at_ms, cwd FROM events
    UNION ALL SELECT session_db_id, platform_source, content_session_id, NULL, project,
      project_id, created_at_epoch, NULL FROM user_prompts
    UNION ALL SELECT session_db_id, platform_source, content_session_id, NULL, project,
      project_id, created_at_epoch, cwd FROM tool_uses
    UNION ALL SELECT session_db_id, platform_source, NULL, memory_session_id, project,
      project_id, created_at_epoch, NULL FROM observations
    UNION ALL SELECT session_db_id, platform_source, NULL, memory_session_id, project,
      project_id, created_at_epoch, NULL FROM session_summaries)
  SELECT id, min(host), max(content), max(memory), max(project), max(project_id),
    min(at_ms), max(cwd)
  FROM said WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM sdk_sessions)
  GROUP BY id ORDER BY id
"""
SESSION = """
  INSERT OR IGNORE INTO sdk_sessions (id, platform_source, content_session_id,
    memory_session_id, project, project_id, started_at, started_at_epoch, cwd, status)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'completed')
"""
PROMPTS = """
  UPDATE sdk_sessions SET prompt_counter = max(prompt_counter, coalesce(
    (SELECT max(prompt_number) FROM user_prompts p WHERE p.session_db_id = sdk_sessions.id), 0))
"""
# Waiting events whose work item was lost are queued again; dead ones keep their letter.
REQUEUE = """
  INSERT OR IGNORE INTO pending_messages (id, session_db_id, content_session_id,
    message_type, tool_use_id, prompt_number, agent_id, created_at_epoch, status, retry_count,
    error, failed_at_epoch)
  SELECT e.id, e.session_db_id, e.session,
    CASE WHEN e.kind IN ('turn_ended', 'turn_failed') THEN 'summarize' ELSE 'observation' END,
    json_extract(e.payload, '$.tool.id'), e.prompt_number, e.agent_id, e.received_ms,
    CASE e.state WHEN 'dead' THEN 'failed' ELSE 'pending' END,
    CASE e.state WHEN 'dead' THEN 3 ELSE 0 END, e.reason,
    CASE e.state WHEN 'dead' THEN e.received_ms END
  FROM events e WHERE e.state IN ('pending', 'dead') AND e.session_db_id IS NOT NULL
"""
UNREADABLE = """
  UPDATE events SET payload = json_object('kind', kind, 'host', host,
    'session_id', session, 'at_ms', at_ms)
  WHERE payload IS NOT NULL AND NOT json_valid(payload)
"""
LET_GO = (
    """UPDATE events SET session_db_id = NULL WHERE session_db_id IS NOT NULL
         AND session_db_id NOT IN (SELECT id FROM sdk_sessions)""",
    """DELETE FROM pending_messages WHERE NOT EXISTS (SELECT 1 FROM events e
         WHERE e.id = pending_messages.id AND e.state =
           CASE pending_messages.status WHEN 'failed' THEN 'dead' ELSE 'pending' END)""",
    "DELETE FROM evidence WHERE event_id NOT IN (SELECT id FROM events)",
    """DELETE FROM evidence WHERE kind = 'observation'
         AND memory_id NOT IN (SELECT id FROM observations)""",
    """DELETE FROM evidence WHERE kind = 'summary'
         AND memory_id NOT IN (SELECT id FROM session_summaries)""",
    """DELETE FROM memory_files WHERE kind = 'observation'
         AND memory_id NOT IN (SELECT id FROM observations)""",
    """DELETE FROM memory_files WHERE kind = 'summary'
         AND memory_id NOT IN (SELECT id FROM session_summaries)""",
    "DELETE FROM deliveries WHERE event_id NOT IN (SELECT id FROM events)",
    "DELETE FROM private_turns WHERE session_db_id NOT IN (SELECT id FROM sdk_sessions)",
    "DELETE FROM advisor_calls WHERE session_db_id NOT IN (SELECT id FROM sdk_sessions)",
    "DELETE FROM project_labels WHERE project_id NOT IN (SELECT id FROM projects)",
    """UPDATE tool_uses SET observation_id = NULL
         WHERE observation_id NOT IN (SELECT id FROM observations)""",
    """UPDATE observations SET superseded_by = NULL
         WHERE superseded_by NOT IN (SELECT id FROM observations)""",
    """UPDATE session_summaries SET superseded_by = NULL
         WHERE superseded_by NOT IN (SELECT id FROM session_summaries)""",
    "UPDATE projects SET parent_id = NULL WHERE parent_id NOT IN (SELECT id FROM projects)",
    "UPDATE projects SET merged_into = NULL WHERE merged_into NOT IN (SELECT id FROM projects)",
    "DELETE FROM user_prompts WHERE session_db_id NOT IN (SELECT id FROM sdk_sessions)",
    """DELETE FROM observations
         WHERE memory_session_id NOT IN (SELECT memory_session_id FROM sdk_sessions)""",
    """DELETE FROM session_summaries
         WHERE memory_session_id NOT IN (SELECT memory_session_id FROM sdk_sessions)""",
)
# Nothing of these can be worked on: their session can't even be guessed.
HOPELESS = """
  UPDATE events SET state = 'skipped', reason = 'damaged', payload = NULL, cwd = NULL
  WHERE state IN ('pending', 'dead') AND id NOT IN (SELECT id FROM pending_messages)
"""
FILES = """
  SELECT 'observation', id, project_id, created_at_epoch, files_read, files_modified
  FROM observations
  UNION ALL SELECT 'summary', id, project_id, created_at_epoch, files_read, files_edited
  FROM session_summaries
"""


def mend(conn: apsw.Connection, locate: Locate, now: int) -> None:
    """Close every gap that the missing rows left."""
    conn.execute(UNREADABLE)
    _projects(conn, locate, now)
    _sessions(conn, locate, now)
    conn.execute(PROMPTS)
    for sql in LET_GO:
        conn.execute(sql)
    conn.execute(REQUEUE)
    conn.execute(HOPELESS)
    _files(conn)
    _count(conn, now)


def _projects(conn: apsw.Connection, locate: Locate, now: int) -> None:
    """A project whose row was lost: its place is known if a session says where it was."""
    for number, label in fetch.rows(conn, LOST_PROJECTS):
        root = fetch.value(conn, ROOT_OF, number)
        place = locate(root) if root else None
        if place is None or place.kind == GENERAL.kind:
            place = Place(key=f"lost-{number}", label=label, kind="named")
        label = projects.free_label(conn, label)
        conn.execute(PROJECT, (number, place.key, label, place.kind, place.remote, now))


def _sessions(conn: apsw.Connection, locate: Locate, now: int) -> None:
    for number, host, content, memory, label, project, at_ms, cwd in fetch.rows(
        conn, LOST_SESSIONS
    ):
        content = content or (memory or f"lost-{number}").removeprefix(f"{host}:")
        if not project:
            there = projects.resolve(conn, locate(cwd) if cwd else GENERAL, now)
            label, project = there.label, there.id
        conn.execute(SESSION, (
            number, host, content, memory or f"{host}:{content}", label, project,
            text.iso(at_ms), at_ms, cwd,
        ))  # fmt: skip


def _files(conn: apsw.Connection) -> None:
    """Files of memories are named in the memories themselves too."""
    for kind, number, project, at_ms, read, changed in fetch.rows(conn, FILES):
        pairs = [(path, 0) for path in text.loads_list(read)]
        pairs += [(path, 1) for path in text.loads_list(changed)]
        conn.executemany(FILE, [
            (path, kind, number, project, modified, at_ms, file_name(path))
            for path, modified in pairs
        ])  # fmt: skip


def _count(conn: apsw.Connection, now: int) -> None:
    """The accounting says that the lost events were there and are not any more."""
    here = int(fetch.value(conn, "SELECT count(*) FROM events"))
    missing = counters.total(conn, "accepted") - counters.total(conn, "removed") - here
    if missing > 0:
        counters.add(conn, "removed", now, missing)
        counters.add(conn, "lost_to_damage", now, missing)
    elif missing < 0:
        counters.add(conn, "accepted", now, -missing)

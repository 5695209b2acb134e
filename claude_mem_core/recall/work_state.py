"""Where work stands, for a session that starts: what was asked last, what still fails, which
files were changed, and the agents' own to-do lists.

All of it is read from rows that are there, along an index and only so many of them; nothing
is guessed. What reads like an order is left out, as in every context.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import apsw

from claude_mem_core.observer.commands import PROOF, Job, job
from claude_mem_core.observer.outcomes import outcome
from claude_mem_core.observer.payload import parsed
from claude_mem_core.observer.steps import Act, Step, steps
from claude_mem_core.recall.context_rows import Wanted
from claude_mem_core.recall.suspicion import instruction_like
from claude_mem_core.render import for_prompt
from claude_mem_core.store import fetch, work_lists
from claude_mem_core.store.text import loads_list
from claude_mem_core.store.work_lists import WorkList
from claude_mem_core.types import Event, EventKind, StoredEvent, ToolUse

SWITCH = "CLAUDE_MEM_WORK_STATE_ENABLED"
RULE = (
    "Your to-do list is kept with work_state_write and read with work_state_read: that one"
    " counts, in this session and the next ones."
)
LINE_CHARS = 160
MOST_LISTS, MOST_TASKS, MOST_FILES, MOST_COMMANDS = 3, 8, 6, 3
WALKED = 300  # newest events of the session that are looked at
INPUT_BYTES = 4_000  # a longer input is no command line
OUTPUT_LINES = 200

_ASKED = """
  SELECT created_at_epoch, id, session_db_id, prompt_text FROM user_prompts
  WHERE project_id = ?1 {host} ORDER BY created_at_epoch DESC, id DESC LIMIT 1
"""
_COMMANDS = """
  SELECT e.id, t.tool_name, t.tool_input FROM (
    SELECT id FROM events WHERE session_db_id = ?1
    ORDER BY prompt_number DESC, id DESC LIMIT ?2
  ) n JOIN events e ON e.id = n.id JOIN tool_uses t ON t.event_id = e.id
  WHERE e.agent_id IS NULL AND e.trust <> 'foreign' AND octet_length(t.tool_input) < ?3
  ORDER BY e.prompt_number DESC, e.id DESC
"""
_OUTPUT = "SELECT tool_response, failed FROM tool_uses WHERE event_id = ?"
_CHANGED = """
  SELECT files_modified FROM observations
  WHERE session_db_id = ? AND agent_id IS NULL AND superseded_by IS NULL
  ORDER BY id DESC LIMIT 20
"""


def lines(conn: apsw.Connection, what: Wanted, settings: Mapping[str, Any]) -> list[str]:
    """Lines for a context, the most telling first; none when the setting says so."""
    if not settings[SWITCH]:
        return []
    found = [RULE] if settings["CLAUDE_MEM_MCP_ENABLED"] else []
    found += _derived(conn, what)
    kept = work_lists.read(conn, what.project_ids, MOST_LISTS, open_only=True)
    return [*found, *(line for one in kept for line in listed(one, MOST_TASKS))]


def listed(one: WorkList, most: int) -> Iterator[str]:
    """A to-do list, what is open first in its own order; text that orders is left out."""
    still = [task for task in one.tasks if task.is_open]
    shown = [task for task in still if not instruction_like(task.text)][:most]
    title = "" if instruction_like(one.title) else for_prompt(one.title, LINE_CHARS)
    name = for_prompt(one.request_id, 60)
    about = f"{title} " if title else ""
    yield f"To do, as an agent keeps it: {about}({len(still)} open of {len(one.tasks)}; request_id {name})"
    for task in shown:
        yield f"- [{for_prompt(task.state, 20)}] {for_prompt(task.text, LINE_CHARS)}"
    if len(still) > len(shown):
        yield f"- and {len(still) - len(shown)} more: work_state_read"


def _derived(conn: apsw.Connection, what: Wanted) -> Iterator[str]:
    """What the newest session of these projects was asked, and how it was left."""
    asked = _newest_prompt(conn, what)
    if asked is None:
        return
    _, number, session, said = asked
    if line := for_prompt(said, LINE_CHARS):
        yield f"Last asked (P{number}): {line}"
    if session is None:
        return
    for command in failing(conn, session):
        yield f"Failed when last run: {for_prompt(command, LINE_CHARS)}"
    if files := _changed(conn, session):
        yield f"Files in hand: {', '.join(files)}"


def _newest_prompt(conn: apsw.Connection, what: Wanted) -> fetch.Row | None:
    found = []
    for project, host in product(what.project_ids, what.hosts or (None,)):
        limits = "" if host is None else "AND platform_source = ?2"
        values = (project,) if host is None else (project, host)
        found += fetch.rows(conn, _ASKED.format(host=limits), *values)
    return max(found, default=None, key=lambda row: row[:2])


def _changed(conn: apsw.Connection, session: int) -> list[str]:
    rows = fetch.rows(conn, _CHANGED, session)
    paths = dict.fromkeys(path for (files,) in rows for path in loads_list(files))
    return [for_prompt(path, LINE_CHARS) for path in list(paths)[:MOST_FILES]]


def failing(conn: apsw.Connection, session: int) -> list[str]:
    """Tests, checks and builds whose newest run in a session failed, the newest first."""
    newest: dict[str, tuple[Step, Job]] = {}
    for row in fetch.rows(conn, _COMMANDS, session, WALKED, INPUT_BYTES):
        step = _step(*row)
        if step is None or step.act is not Act.RUN or not step.command:
            continue
        work = job(step.command)
        if work.sort in PROOF and work.kin not in newest:
            newest[work.kin] = (step, work)
        if len(newest) == 2 * MOST_COMMANDS:
            break
    bad = (step.command for step, work in newest.values() if _is_bad(conn, step, work))
    return [command for command in bad if not instruction_like(command)][:MOST_COMMANDS]


def _is_bad(conn: apsw.Connection, step: Step, work: Job) -> bool:
    output, failed = fetch.row(conn, _OUTPUT, step.event_id) or (None, 0)
    whole = _step(step.event_id, step.tool, _command(step), output, failed=bool(failed))
    return whole is not None and not outcome(whole, work, OUTPUT_LINES).ok


def _command(step: Step) -> dict[str, str]:
    return {"command": step.command}


def _step(
    event_id: int, tool: str, used: Any, output: str | None = None, *, failed: bool = False
) -> Step | None:
    kind = EventKind.TOOL_FAILED if failed else EventKind.TOOL_USED
    call = ToolUse(name=tool, input=parsed(used), output=parsed(output))
    event = Event(kind=kind, host="", session_id="", tool=call)
    return next(iter(steps([StoredEvent(id=event_id, event=event)], "")), None)


def told(found: Sequence[WorkList], most: int) -> str:
    """Lists as the agent's tool gives them."""
    return "\n".join(line for one in found for line in listed(one, most))

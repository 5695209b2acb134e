"""Event keys: what makes two reports the same event.

The rules are those of the settled questions: host, session and kind, then the id the
host gives, else a hash of the cleaned event. Events that a host reports in the same
words at different times (a stop, an end) also carry the number of the last prompt.
"""

from __future__ import annotations

import hashlib

import apsw
import attrs

from claude_mem_core.convert import event_to_json
from claude_mem_core.store import tools
from claude_mem_core.types import Event, EventKind
from claude_mem_core.types.retelling import FROM

TOOLS = {EventKind.TOOL_USED, EventKind.TOOL_FAILED, EventKind.FILE_EDITED}
LAST_PROMPT = """
  SELECT prompt_counter FROM sdk_sessions
  WHERE platform_source = ? AND content_session_id = ?
"""


def digest(event: Event) -> str:
    """Hash of what the event says, whenever it was said."""
    timeless = attrs.evolve(event, at_ms=0)
    return hashlib.sha256(event_to_json(timeless).encode()).hexdigest()[:32]


def last_prompt_number(conn: apsw.Connection, event: Event) -> int:
    """Number of the session's newest prompt; 0 when there is none yet."""
    for (number,) in conn.execute(LAST_PROMPT, (event.host, event.session_id)):
        return int(number)
    return 0


def own_id(event: Event) -> str | None:
    """The host's own id of the event, when it is enough to tell it from all others."""
    if event.kind in TOOLS:
        return (event.tool.id if event.tool else "") or None
    if event.kind is EventKind.PROMPT_SENT:
        return event.prompt_id
    return None


def told_apart(conn: apsw.Connection, event: Event) -> Event:
    """The event, with an id of its own if its tool's id already means another use."""
    if event.kind not in TOOLS or event.tool is None or not event.tool.id:
        return event
    other = tools.another(conn, event, event_key(conn, event))
    if not other:
        return event
    return attrs.evolve(event, tool=attrs.evolve(event.tool, id=f"{event.tool.id}~{other}"))


def event_key(conn: apsw.Connection, event: Event) -> str:
    """The key that the journal keeps unique."""
    head = f"{event.host}:{event.session_id}:{event.kind.value}:"
    own = own_id(event)
    if own:
        return head + own
    if event.kind is EventKind.PROMPT_SENT:
        return f"{head}{digest(event)}@{event.at_ms}"
    if event.host_event == FROM:  # read again, it must not depend on what is here by now
        return f"{head}{event.prompt_id or ''}:{digest(event)}"
    if event.kind is EventKind.TURN_ENDED and event.prompt_id:
        return f"{head}{event.prompt_id}:{digest(event)}"
    return f"{head}{digest(event)}#{last_prompt_number(conn, event)}"

"""Events as steps: what was run, read, changed or asked, whatever the host calls it.

Tools are told apart by the fields of their input first and by their name second, so
that a host nobody has seen yet is understood as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import attrs

from claude_mem_core.observer.edits import CONTENT, NEW, OLD, PATH, Edit, edits
from claude_mem_core.observer.paths import is_inside, relative, without_root
from claude_mem_core.observer.payload import first, parsed, strings, text_of
from claude_mem_core.types import EventKind, StoredEvent, Trust

COMMAND = ("command", "cmd", "script", "shell_command", "commandLine", "CommandLine")
PATTERN = ("pattern", "query", "regex", "glob", "search", "glob_pattern", "q")
EXIT = re.compile(r"(?im)^.{0,40}\bexit(?:ed)?(?: with)?(?: code| status)?:? ?(\d{1,3})\.?\s*$")
MISSING = re.compile(
    r"(?i)does not exist|no such file|not found|ENOENT|is a directory|too large"
)


class Act(StrEnum):
    """What a step did."""

    RUN = "run"
    READ = "read"
    EDIT = "edit"
    SEARCH = "search"
    FETCH = "fetch"
    AGENT = "agent"
    ASK = "ask"
    PLAN = "plan"


@attrs.frozen(kw_only=True)
class Step:
    """One use of a tool.

    Attributes:
        index: place in the turn.
        query: what was searched, fetched or asked.
        text: what came back, as plain text.
        agent: id of the sub-agent that did it.
        server: where a foreign answer came from.
        note: what the agent said it was for.
        folder: where it was done, from the project's root; empty for the root.
    """

    event_id: int
    index: int
    act: Act
    tool: str
    trust: Trust = Trust.WORK
    path: str = ""
    command: str = ""
    query: str = ""
    edits: tuple[Edit, ...] = ()
    text: str = ""
    failed: bool = False
    interrupted: bool = False
    agent: str = ""
    server: str = ""
    note: str = ""
    folder: str = ""


def steps(events: Sequence[StoredEvent], root: str) -> list[Step]:
    """The steps of a turn, oldest first; events without a tool are left out."""
    kinds = (EventKind.TOOL_USED, EventKind.TOOL_FAILED, EventKind.FILE_EDITED)
    used = [e for e in events if e.event.kind in kinds and e.event.tool is not None]
    return [_step(e, i, root) for i, e in enumerate(used)]


def _step(stored: StoredEvent, index: int, root: str) -> Step:
    tool = stored.event.tool
    assert tool is not None
    given = tool.input if isinstance(tool.input, Mapping) else _loose(tool.input)
    output = parsed(tool.output)
    act = _act(tool.name, given)
    text = without_root(text_of(tool, output), root)
    failed = stored.event.kind is EventKind.TOOL_FAILED or bool(tool.error)
    return Step(
        event_id=stored.id, index=index, act=act, tool=tool.name, trust=stored.trust,
        path=relative(first(given, PATH), root), command=without_root(_command(given), root),
        query=_query(act, given), edits=edits(given, output, root) if act is Act.EDIT else (), text=text,
        failed=failed or _exit_code(act, text) or _said_false(output),
        interrupted=tool.is_interrupt or _flag(output, "interrupted"),
        agent=_agent(stored), server=_server(tool.name, given), note=first(given, ("description",)),
        folder=_folder(stored.event.cwd, root),
    )  # fmt: skip


def _folder(cwd: str, root: str) -> str:
    path = relative(cwd, root)
    return path if is_inside(path) and path != root else ""


def _loose(value: Any) -> Mapping[str, Any]:
    """An input that is no object: a patch or a command line."""
    read = parsed(value)
    if isinstance(read, Mapping):
        return read
    text = strings(read)
    return {"command": text} if text else {}


def _command(given: Mapping[str, Any]) -> str:
    for key in COMMAND:
        value = given.get(key)
        if isinstance(value, list | tuple):
            return " ".join(_quoted(str(part)) for part in value)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _quoted(word: str) -> str:
    return f"'{word}'" if re.search(r"\s", word) and "'" not in word else word


def _act(name: str, given: Mapping[str, Any]) -> Act:
    low = name.casefold()
    if low.startswith(("mcp__", "mcp_")):
        return Act.ASK
    for act, pattern in _NAMED:
        if pattern.search(low):
            return act
    return _act_by_fields(given)


_NAMED: tuple[tuple[Act, re.Pattern[str]], ...] = (
    (Act.PLAN, re.compile(r"todo|plan_?mode|^update_plan|askuser|^skill$|slashcommand|toolsearch")),
    (Act.FETCH, re.compile(r"web|fetch|browser|url")),
    (Act.AGENT, re.compile(r"^(?:agent|task|subagent|spawn_agent|dispatch_agent)$")),
    (Act.EDIT, re.compile(r"edit|write|replace|patch|create_?file|^create$|insert")),
    (Act.SEARCH, re.compile(r"grep|glob|search|find|^ls$|list_?(?:dir|files)")),
    (Act.READ, re.compile(r"read|view|^cat$|open_?file")),
    (Act.RUN, re.compile(r"bash|shell|exec|command|terminal|powershell|^run")),
)  # fmt: skip


def _act_by_fields(given: Mapping[str, Any]) -> Act:
    if _command(given):
        return Act.RUN
    if first(given, PATH):
        changes = any(k in given for k in (*OLD, *NEW, *CONTENT, "edits", "edit"))
        return Act.EDIT if changes else Act.READ
    if first(given, ("url", "uri")):
        return Act.FETCH
    return Act.SEARCH if first(given, ("pattern", "regex", "glob")) else Act.ASK


def _query(act: Act, given: Mapping[str, Any]) -> str:
    if act is Act.AGENT:
        return first(given, ("description", "prompt", "message", "task"))
    if act is Act.FETCH:
        return first(given, ("url", "uri", "query", "q"))
    if act is Act.SEARCH:
        return first(given, PATTERN)
    values = [v for v in given.values() if isinstance(v, str | int)]
    return " ".join(map(str, values))[:2000] if act is Act.ASK else ""


def _server(name: str, given: Mapping[str, Any]) -> str:
    """Who says it: the MCP server, or the site."""
    if name.startswith("mcp__"):
        return name.split("__")[1] if name.count("__") > 1 else name[5:]
    site = re.match(r"https?://([^/:?#]+)", first(given, ("url", "uri")))
    return site.group(1) if site else ""


def _agent(stored: StoredEvent) -> str:
    return (stored.event.agent_id or "") if stored.event.in_subagent else ""


def _exit_code(act: Act, text: str) -> bool:
    """Hosts without a failure event write the code into the output."""
    if act is not Act.RUN:
        return False
    ends = text[:200] + "\n" + text[-200:]
    return any(int(code) > 0 for code in EXIT.findall(ends))


def _said_false(output: Any) -> bool:
    return isinstance(output, Mapping) and (
        output.get("success") is False or output.get("is_error") is True
    )


def _flag(output: Any, name: str) -> bool:
    return isinstance(output, Mapping) and output.get(name) is True

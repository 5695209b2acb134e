"""Events as steps: what was run, read, changed or asked, whatever the host calls it.

Tools are told apart by the fields of their input first and by their name second, so
that a host nobody has seen yet is understood as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import attrs

from claude_mem_core.observer.paths import is_inside, is_scratch, relative, without_root
from claude_mem_core.types import EventKind, StoredEvent, ToolUse, Trust

DEPTH = 6
MOST_CHARS = 400_000

COMMAND = ("command", "cmd", "script", "shell_command", "commandLine", "CommandLine")
PATH = (
    "file_path", "path", "filePath", "filepath", "file", "filename", "notebook_path",
    "target_file", "absolute_path", "relative_workspace_path", "TargetFile", "AbsolutePath",
)  # fmt: skip
OLD = ("old_string", "oldString", "old_str", "old", "oldText", "search", "old_source")
NEW = (
    "new_string",
    "newString",
    "new_str",
    "new",
    "newText",
    "replace",
    "replacement",
    "new_source",
)
CONTENT = ("content", "contents", "file_text", "text", "code_edit", "new_source")
PATTERN = ("pattern", "query", "regex", "glob", "search", "glob_pattern", "q")
RESULT = (
    "stdout", "stderr", "output", "content", "contents", "result", "text", "llmContent",
    "returnDisplay", "message", "error", "matches", "body", "data", "answer", "head", "tail",
)  # fmt: skip
NUMBERED = re.compile(r"^\s*\d+(?:\t|→|\s?\|\s?)", re.MULTILINE)
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
class Edit:
    """One change of one file.

    Attributes:
        old: what was replaced; None when the whole file was written.
        new: what stands there now; None when the file was deleted.
        before: the whole file before, where the host tells; "" when it was not there.
        every: whether all occurrences were replaced.
    """

    path: str
    old: str | None = None
    new: str | None = None
    before: str | None = None
    every: bool = False


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
    output = _parsed(tool.output)
    act = _act(tool.name, given)
    text = without_root(_text(tool, output), root)
    failed = stored.event.kind is EventKind.TOOL_FAILED or bool(tool.error)
    return Step(
        event_id=stored.id, index=index, act=act, tool=tool.name, trust=stored.trust,
        path=relative(_first(given, PATH), root), command=without_root(_command(given), root),
        query=_query(act, given), edits=_edits(given, output, act, root), text=text,
        failed=failed or _exit_code(act, text) or _said_false(output),
        interrupted=tool.is_interrupt or _flag(output, "interrupted"),
        agent=_agent(stored), server=_server(tool.name, given), note=_first(given, ("description",)),
        folder=_folder(stored.event.cwd, root),
    )  # fmt: skip


def _folder(cwd: str, root: str) -> str:
    path = relative(cwd, root)
    return path if is_inside(path) and path != root else ""


def _loose(value: Any) -> Mapping[str, Any]:
    """An input that is no object: a patch or a command line."""
    parsed = _parsed(value)
    if isinstance(parsed, Mapping):
        return parsed
    text = _strings(parsed)
    return {"command": text} if text else {}


def _parsed(value: Any) -> Any:
    """A JSON text as its value; anything else as it is."""
    if not isinstance(value, str) or value[:1] not in "{[":
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _first(given: Mapping[str, Any], keys: Sequence[str]) -> str:
    for key in keys:
        value = given.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""


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
    if _first(given, PATH):
        changes = any(k in given for k in (*OLD, *NEW, *CONTENT, "edits", "edit"))
        return Act.EDIT if changes else Act.READ
    if _first(given, ("url", "uri")):
        return Act.FETCH
    return Act.SEARCH if _first(given, ("pattern", "regex", "glob")) else Act.ASK


def _query(act: Act, given: Mapping[str, Any]) -> str:
    if act is Act.AGENT:
        return _first(given, ("description", "prompt", "message", "task"))
    if act is Act.FETCH:
        return _first(given, ("url", "uri", "query", "q"))
    if act is Act.SEARCH:
        return _first(given, PATTERN)
    values = [v for v in given.values() if isinstance(v, str | int)]
    return " ".join(map(str, values))[:2000] if act is Act.ASK else ""


def _server(name: str, given: Mapping[str, Any]) -> str:
    """Who says it: the MCP server, or the site."""
    if name.startswith("mcp__"):
        return name.split("__")[1] if name.count("__") > 1 else name[5:]
    site = re.match(r"https?://([^/:?#]+)", _first(given, ("url", "uri")))
    return site.group(1) if site else ""


def _agent(stored: StoredEvent) -> str:
    return (stored.event.agent_id or "") if stored.event.in_subagent else ""


def _text(tool: ToolUse, output: Any) -> str:
    text = tool.error if isinstance(tool.error, str) and tool.error else _result(output)
    text = text[:MOST_CHARS]
    head = text[:200]
    return NUMBERED.sub("", text) if NUMBERED.match(head) and "\n" in text else text


def _result(output: Any) -> str:
    if isinstance(output, Mapping):
        inner = output.get("file")
        if isinstance(inner, Mapping):
            return _strings(inner.get("content", ""))
        found = [_strings(output[k]) for k in RESULT if output.get(k)]
        names = output.get("filenames")
        listed = "\n".join(map(str, names)) if isinstance(names, list) else ""
        return "\n".join(dict.fromkeys(t for t in (*found, listed) if t))
    return _strings(output)


def _strings(value: Any, depth: int = 0) -> str:
    """All texts in a JSON value, one a line, but no ids or types."""
    if isinstance(value, str):
        return value
    if depth > DEPTH or value is None or isinstance(value, bool):
        return ""
    if isinstance(value, Mapping):
        parts = [_strings(v, depth + 1) for k, v in value.items() if k not in ("type", "id")]
    elif isinstance(value, list | tuple):
        parts = [_strings(v, depth + 1) for v in value]
    else:
        return str(value)
    return "\n".join(p for p in parts if p)


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


def _edits(given: Mapping[str, Any], output: Any, act: Act, root: str) -> tuple[Edit, ...]:
    if act is not Act.EDIT:
        return ()
    path = relative(_first(given, PATH), root)
    if is_scratch(path):
        return ()
    patch = _patch_text(given)
    if patch:
        return tuple(_from_patch(patch, root))
    if not path:
        return ()
    before = _before(output)
    pairs = list(_pairs(given))
    if pairs:
        return tuple(
            Edit(path=path, old=old, new=new, before=before if i == 0 else None, every=every)
            for i, (old, new, every) in enumerate(pairs)
        )
    content = _first(given, CONTENT)
    return (Edit(path=path, new=content, before=before),) if content else ()


def _pairs(given: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """(old, new, every) of each replacement in an edit's input."""
    several = given.get("edits") or given.get("edit")
    parts = several if isinstance(several, list) else [several] if several else [given]
    for part in parts:
        if not isinstance(part, Mapping):
            continue
        old = next((part[k] for k in OLD if isinstance(part.get(k), str)), None)
        new = next((part[k] for k in NEW if isinstance(part.get(k), str)), None)
        if old is not None and new is not None and (old or not several):
            yield old, new, bool(part.get("replace_all"))


def _before(output: Any) -> str | None:
    """The whole file before the change, where the host gives it."""
    if not isinstance(output, Mapping):
        return None
    shown = output.get("returnDisplay")
    sources = [output, shown] if isinstance(shown, Mapping) else [output]
    for source in sources:
        for key in ("originalFile", "originalContent"):
            if isinstance(source.get(key), str):
                return str(source[key])
    return "" if output.get("type") == "create" else None


def _patch_text(given: Mapping[str, Any]) -> str:
    for key in ("patch", "diff", "command", "input"):
        value = given.get(key)
        if isinstance(value, str) and "*** Begin Patch" in value:
            return value
    return ""


HEADER = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+)$")


def _from_patch(patch: str, root: str) -> Iterator[Edit]:
    """The edits of a patch in the form that Codex and its kin use."""
    kind, path = "", ""
    old: list[str] = []
    new: list[str] = []
    for line in [*patch.split("\n"), "*** End"]:
        header = HEADER.match(line)
        if header or line.startswith(("@@", "*** End")):
            if old or new:
                yield _hunk(kind, path, old, new)
            old, new = [], []
            if header:
                kind, path = header.group(1), relative(header.group(2), root)
                if kind == "Delete":
                    yield Edit(path=path, old=None, new=None)
        elif line[:1] in ("-", " "):
            old.append(line[1:])
            new += [line[1:]] if line[:1] == " " else []
        elif line[:1] == "+":
            new.append(line[1:])


def _hunk(kind: str, path: str, old: list[str], new: list[str]) -> Edit:
    if kind == "Add":
        return Edit(path=path, new="\n".join(new), before="")
    return Edit(path=path, old="\n".join(old), new="\n".join(new))

"""The door: whether an event is kept at all, and what class of trust its text has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from claude_mem_core.clean import skip_pattern
from claude_mem_core.errors import MemError
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.projects import Place, excluded
from claude_mem_core.types import Event, EventKind, Trust

SHELLS = {"Bash", "PowerShell", "exec_command", "shell", "run_shell_command"}
READERS = {"Read", "View", "read_file"}
WEB = {"WebFetch", "WebSearch", "web_fetch", "google_web_search", "fetch"}
TOOL_KINDS = {EventKind.TOOL_USED, EventKind.TOOL_FAILED, EventKind.FILE_EDITED}
SWITCHES = {
    "CLAUDE_MEM_DISABLE_TOOL_HOOKS": TOOL_KINDS,
    "CLAUDE_MEM_DISABLE_OBSERVATION": TOOL_KINDS,
}


class RecordingStopped(MemError):
    """A redactor or policy plugin is broken: nothing is recorded until it is mended."""


def switched_off(event: Event, env: Mapping[str, str]) -> str | None:
    """The host's own switches, passed on by the hook."""
    for name, kinds in SWITCHES.items():
        if event.kind in kinds and env.get(name) == "1":
            return name
    return None


def skip_reason(event: Event, place: Place, settings: Mapping[str, Any]) -> str | None:
    """Why the settings keep this event out; None when they don't."""
    if excluded(place, event.cwd, settings):
        return "project_excluded"
    if event.kind is EventKind.NOTICE:
        return event.reason or "internal_protocol"
    if event.in_subagent and event.kind in TOOL_KINDS and _agent_skipped(event, settings):
        return "subagent_skipped"
    if event.kind in TOOL_KINDS and event.tool is not None:
        return _tool_skipped(event, settings)
    return None


def _agent_skipped(event: Event, settings: Mapping[str, Any]) -> bool:
    if settings["CLAUDE_MEM_SKIP_SUBAGENT_OBSERVATIONS"]:
        return True
    return event.agent_type in settings["CLAUDE_MEM_SKIP_AGENT_TYPES"]


def _tool_skipped(event: Event, settings: Mapping[str, Any]) -> str | None:
    assert event.tool is not None
    if event.tool.name in settings["CLAUDE_MEM_SKIP_TOOLS"]:
        return "tool_skipped"
    if event.tool.name in SHELLS and skip_pattern.skips(
        settings["CLAUDE_MEM_SKIP_BASH_PATTERNS"] or "", command_of(event)
    ):
        return "command_skipped"
    return None


def command_of(event: Event) -> str:
    """The shell command of a tool event, as text; empty when there is none."""
    given = event.tool.input if event.tool else None
    command = given.get("command", given.get("cmd", "")) if isinstance(given, dict) else given
    return " ".join(map(str, command)) if isinstance(command, list) else str(command or "")


def ask_plugins(registry: Registry, event: Event, project: str) -> str | None:
    """What policy plugins say: a reason to skip, or None.

    Raises:
        RecordingStopped: a policy plugin failed; privacy fails closed.
    """
    for outcome in registry.call("mem_should_record", event=event, project=project):
        if outcome.error is not None:
            raise RecordingStopped(f"plugin {outcome.plugin} failed: recording is stopped")
        if outcome.value is False:
            return f"policy {outcome.plugin}"
        if isinstance(outcome.value, str):
            return f"policy {outcome.plugin}: {outcome.value}"[:200]
        if outcome.value is True:
            return None
    return None


def trust_of(event: Event, place: Place) -> Trust:
    """`user` for what the user typed, `foreign` for what came from outside the work."""
    if event.kind is EventKind.PROMPT_SENT:
        return Trust.USER
    if event.tool is None:
        return Trust.WORK
    name = event.tool.name
    if name in WEB or name.startswith("mcp__"):
        return Trust.FOREIGN
    if name in READERS and not _inside(event, place):
        return Trust.FOREIGN
    return Trust.WORK


def read_path(event: Event) -> str:
    """The file that a reading tool is about to read; empty for any other event."""
    if event.tool is None or event.tool.name not in READERS:
        return ""
    return _path_of(event)


def _path_of(event: Event) -> str:
    given = event.tool.input if event.tool else None
    if not isinstance(given, dict):
        return ""
    return str(given.get("file_path") or given.get("path") or "")


def _inside(event: Event, place: Place) -> bool:
    given = _path_of(event)
    if not given or not place.root:
        return True
    # Plain text, since this is asked of every tool use; `..` must not count as inside.
    path = os.path.normpath(os.path.join(event.cwd or place.root, given))
    roots = (place.root.rstrip("/"), event.cwd.rstrip("/"))
    return any(path == root or path.startswith(f"{root}/") for root in roots if root)

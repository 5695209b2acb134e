"""The door: whether an event is kept at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from claude_mem_core.clean import skip_pattern
from claude_mem_core.errors import MemError
from claude_mem_core.pipeline.origin import command_of, path_of
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.projects import Place, excluded
from claude_mem_core.settings.pausing import is_incognito, is_paused, was_paused
from claude_mem_core.types import Event, EventKind
from claude_mem_core.types.retelling import FROM

SHELLS = {
    "Bash",
    "PowerShell",
    "bash",
    "exec",
    "exec_command",
    "powershell",
    "run_shell_command",
    "shell",
}
READERS = {"Read", "View", "view", "read_file"}
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
    if is_paused(settings):
        return "paused"
    if is_incognito(event.session_id, settings):
        return "incognito"
    if event.host_event == FROM and (quiet := was_paused(event.at_ms, event.session_id, settings)):
        return quiet
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


def read_path(event: Event) -> str:
    """The file that a reading tool is about to read; empty for any other event."""
    if event.tool is None or event.tool.name not in READERS:
        return ""
    return path_of(event)

"""Our part of Claude Code's settings: put in, found, and taken out again.

Hooks are written in exec form (`command` and `args`), which starts the program without
a shell. No other host understands that form; never copy such a block elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from claude_mem_core.editing import HookGroups, starts_us

HOST = "claude-code"
LAUNCH = ("/hook/launch.py", "\\hook\\launch.py")
TOOLS = "Read|Bash|Grep|Glob|memory_search|memory|mcp__.*__memory_search"

Group = dict[str, Any]

# Seconds until Claude Code gives up on a hook. Ours end long before, each by its own
# deadline. SessionEnd needs one: without it the host cancels hooks after a second.
TIMEOUTS = {
    "SessionStart": 60,
    "UserPromptSubmit": 15,
    "PreToolUse": 15,
    "PostToolUse": 120,
    "PostToolUseFailure": 120,
    "Stop": 120,
    "StopFailure": 120,
    "SubagentStop": 120,
    "PreCompact": 60,
    "PostCompact": 60,
    "SessionEnd": 60,
}
MATCHERS = {"PreToolUse": TOOLS, "PostToolUse": "*", "PostToolUseFailure": "*"}


def wanted(argv: Sequence[str]) -> dict[str, Group]:
    """The group of hooks for each event; none is async: such a Stop dies with `-p`."""
    return {event: _group(event, argv) for event in TIMEOUTS}


def _group(event: str, argv: Sequence[str]) -> Group:
    hook = {
        "type": "command",
        "command": argv[0],
        "args": [*argv[1:], HOST, event],
        "timeout": TIMEOUTS[event],
    }
    head = {"matcher": MATCHERS[event]} if event in MATCHERS else {}
    return {**head, "hooks": [hook]}


def is_ours(hook: object) -> bool:
    """Whether one hook starts our client for this host, of whatever version or place."""
    if not isinstance(hook, dict):
        return False
    args = hook.get("args")
    words = [str(word) for word in args] if isinstance(args, list) else []
    if any(w.endswith(LAUNCH) and HOST in words[i + 1 :] for i, w in enumerate(words)):
        return True
    return starts_us(hook.get("command"), HOST)


EDIT = HookGroups(TIMEOUTS, is_ours)
put, take, found, whole = EDIT.put, EDIT.take, EDIT.found, EDIT.whole

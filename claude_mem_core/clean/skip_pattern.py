"""The user's pattern for shell commands that are not kept, tried where it can be killed.

A command that it takes too long for is not kept; after three of these the pattern is not
tried any more, and the status says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from claude_mem_core.clean.own_patterns import OwnPatterns

KEY = "CLAUDE_MEM_SKIP_BASH_PATTERNS"


class _State:
    """The runner of the pattern that is set now; at most one child lives for it."""

    def __init__(self) -> None:
        self.pattern = ""
        self.runner: OwnPatterns | None = None

    def of(self, pattern: str) -> OwnPatterns:
        """The runner of `pattern`."""
        if self.runner is None or pattern != self.pattern:
            from claude_mem_core.clean.own_patterns import OwnPattern, OwnPatterns

            self.close()
            self.pattern, self.runner = pattern, OwnPatterns([OwnPattern(KEY, pattern)])
        return self.runner

    def close(self) -> None:
        if self.runner is not None:
            self.runner.close()
        self.runner = None


_state = _State()


def skips(pattern: str, command: str) -> bool:
    """Whether a command is one of those that are not kept."""
    return bool(pattern) and _state.of(pattern).found_in(command)


def faults() -> list[str]:
    """What is wrong with the pattern, for the status."""
    return list(_state.runner.faults.values()) if _state.runner else []


def close() -> None:
    """End the child, when the worker goes."""
    _state.close()

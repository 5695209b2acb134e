"""The edge: what the hook client is, and what it must know while no worker answers."""

from __future__ import annotations

from claude_mem_core.edge.install import (
    ensure_hook,
    hook_argv,
    hook_faults,
    install_hook,
    recorded_environment,
)
from claude_mem_core.edge.keeping import began, follow
from claude_mem_core.edge.policy import EdgePolicy, EdgeRedactor, policy_of, publish
from claude_mem_core.edge.state import confirm_start, lost, take_lost

__all__ = [
    "EdgePolicy",
    "EdgeRedactor",
    "began",
    "confirm_start",
    "ensure_hook",
    "follow",
    "hook_argv",
    "hook_faults",
    "install_hook",
    "lost",
    "policy_of",
    "publish",
    "recorded_environment",
    "take_lost",
]

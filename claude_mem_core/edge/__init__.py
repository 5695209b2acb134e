"""The edge: what the hook client is, and what it must know while no worker answers.

Names are looked up late: `mem hook` needs one of them and must not pay for the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from claude_mem_core.edge.install import (
        bridge_argv,
        ensure_hook,
        hook_argv,
        hook_faults,
        install_hook,
        recorded_environment,
    )
    from claude_mem_core.edge.keeping import began, follow, prepare
    from claude_mem_core.edge.policy import EdgePolicy, EdgeRedactor, policy_of, publish
    from claude_mem_core.edge.state import confirm_start, lost, take_lost

__all__ = [
    "EdgePolicy",
    "EdgeRedactor",
    "began",
    "bridge_argv",
    "confirm_start",
    "ensure_hook",
    "follow",
    "hook_argv",
    "hook_faults",
    "install_hook",
    "lost",
    "policy_of",
    "prepare",
    "publish",
    "recorded_environment",
    "take_lost",
]

_HOMES = {
    "install": (
        "bridge_argv",
        "ensure_hook",
        "hook_argv",
        "hook_faults",
        "install_hook",
        "recorded_environment",
    ),
    "keeping": ("began", "follow", "prepare"),
    "policy": ("EdgePolicy", "EdgeRedactor", "policy_of", "publish"),
    "state": ("confirm_start", "lost", "take_lost"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

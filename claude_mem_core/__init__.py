"""Core of claude-mem: the hooks that plugins fill, and the runtime that calls them.

`from claude_mem_core import hookimpl` is all a plugin needs besides
`claude_mem_core.types`, `.errors` and `.testing`. The name is looked up late so that
importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from claude_mem_core.hookspecs import hookimpl as hookimpl

__all__ = ["__version__", "hookimpl"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "hookimpl":
        from claude_mem_core.hookspecs import hookimpl

        return hookimpl
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

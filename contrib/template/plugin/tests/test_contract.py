"""What the core expects of every command."""

from __future__ import annotations

from claude_mem_core.testing import CommandContract


class TestCommand(CommandContract):
    plugin = "plugin.{{name}}"
    works = ("--json",)

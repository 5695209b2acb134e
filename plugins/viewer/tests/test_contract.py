"""What the core expects of everything that adds pages."""

from __future__ import annotations

from claude_mem_core.testing import RoutesContract


class TestRoutes(RoutesContract):
    plugin = "plugin.viewer"

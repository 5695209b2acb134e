"""Fixtures that every test of the repo may use."""

from __future__ import annotations

pytest_plugins = ["claude_mem_core.testing.fixtures"]

"""Fixtures for tests of plugins.

pytest_plugins = ["claude_mem_core.testing.fixtures"]   # in your conftest.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_core.testing.fake_site import FakeSite


@pytest.fixture
def install_fake_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSite]:
    """Lays plugins down as files, each a module and a `.dist-info`, and cleans up.

    install_fake_plugin("provider.bad", "import a_module_that_is_not_there")
    registry = install_fake_plugin.registry()
    """
    folder = tmp_path / "fake_site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    # A module rewritten within one second must not be read from old byte code.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    site = FakeSite(folder)
    yield site
    site.forget()

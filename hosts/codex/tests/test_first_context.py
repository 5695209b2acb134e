"""A session's context says which of our hooks still wait for trust."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from claude_mem_host_codex import trust
from claude_mem_host_codex.installer import CodexInstaller

from claude_mem_core import edge
from claude_mem_core.cli.install.apply import apply
from claude_mem_core.editing import Json
from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.readiness import unready
from claude_mem_core.plugins.index import scan
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.types import Host, HostSetup


def record() -> Host:
    found = Registry(scan()).records("mem_hosts", Host)
    (host,) = [one for one in found if one.name == "codex"]
    return host


def test_only_what_waits_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with TemporaryDirectory(prefix="mem-") as folder:
        home, paths = Path(folder), Paths(Path(folder, ".claude-mem"))
        monkeypatch.setenv("HOME", folder)
        monkeypatch.delenv("CODEX_HOME", raising=False)
        assert unready(record(), paths) == ()
        setup = HostSetup(
            home=folder,
            data_dir=str(paths.data),
            argv=edge.hook_argv(paths),
            env=dict(os.environ),
        )
        installer = CodexInstaller()
        for change in installer.install(setup):
            apply(change, paths)
        (said,) = unready(record(), paths)
        assert said.startswith("memory: 8 of our 8 hooks are not trusted yet")
        assert "run `codex`" in said
        file = home / ".codex" / "hooks.json"
        keys = trust.wanted(Json(file.read_text(), str(file)), installer.edit)
        rows = [f"[hooks.state.{json.dumps(key)}]\ntrusted_hash = {json.dumps(value)}\n"
                for key, value in keys.items()]  # fmt: skip
        (home / ".codex" / "config.toml").write_text("".join(rows))
        assert unready(record(), paths) == ()

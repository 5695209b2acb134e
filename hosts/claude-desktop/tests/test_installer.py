"""Where Claude Desktop's configuration lies, and what `mem install` does with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from claude_mem_host_claude_desktop.installer import ClaudeDesktopInstaller, config

from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import HostSetup

MCP = ("/usr/bin/python3", "/d/hook/bridge.py")


def setup(tmp_path: Path, **more: object) -> HostSetup:
    return HostSetup(home=str(tmp_path), data_dir=str(tmp_path / "d"), argv=("x",), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("platform", "env", "place"),
    [
        ("darwin", {}, "Library/Application Support/Claude"),
        ("win32", {"APPDATA": "roaming"}, "roaming/Claude"),
        ("win32", {}, "AppData/Roaming/Claude"),
        ("linux", {}, ".config/Claude"),
        ("linux", {"XDG_CONFIG_HOME": "xdg"}, "xdg/Claude"),
    ],
)
def test_each_system_has_its_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, env: dict[str, str], place: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    given = setup(tmp_path, env={name: str(tmp_path / value) for name, value in env.items()})
    assert config(given) == str(tmp_path / place / "claude_desktop_config.json")


def test_it_is_detected_by_its_folder_and_installed_by_its_server(tmp_path: Path) -> None:
    installer, given = ClaudeDesktopInstaller(), setup(tmp_path, mcp=MCP)
    assert not installer.status(given).detected
    Path(config(given)).parent.mkdir(parents=True)
    assert installer.status(given).detected
    (change,) = installer.install(given)
    entry = json.loads(change.after or b"")["mcpServers"]["claude-mem"]
    assert entry == {"command": MCP[0], "args": [MCP[1], "claude-desktop"]}
    Path(change.path).write_bytes(change.after or b"")
    assert installer.status(given).installed
    assert "--all-projects" in installer.steps(given)[1]
    assert installer.install(setup(tmp_path)) == (), "`--no-mcp` leaves nothing to do"


def test_a_repository_has_none(tmp_path: Path) -> None:
    with pytest.raises(HostConfigError, match="--scope user"):
        ClaudeDesktopInstaller().install(setup(tmp_path, mcp=MCP, scope="project"))

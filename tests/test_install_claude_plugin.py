"""Claude Code's plugin: the marketplace's folder and the two lines that name it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.errors import HostConfigError
from tests.install_home import Home, target

HOST = "claude-code"
MCP = ("/usr/bin/python3", "/x/.claude-mem/hook/bridge.py")
DIRTY = [
    None,
    b"{}",
    b'{\n  "model": "opus"\n}\n',
    b'\xef\xbb\xbf{\r\n\t"enabledPlugins": {},\r\n\t"env": {"A": "b"}\r\n}\r\n',
    b'// mine\n{\n    "enabledPlugins": {"other@market": true,}, // trailing\n}\n// end',
    b'{"extraKnownMarketplaces": {"x": {"source": {"source": "git", "url": "u"}}}}',
]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.at(tmp_path / "home")


@pytest.fixture
def config(home: Home) -> Path:
    path = home.folder / ".claude" / "settings.json"
    path.parent.mkdir()
    return path


def put(home: Home) -> None:
    home.run(HOST, options=("plugin",), mcp=MCP)


def folder(home: Home) -> Path:
    return home.paths.data / "hosts" / "claude-code-plugin"


def read(file: Path) -> Any:
    return json.loads(file.read_bytes())


@pytest.mark.parametrize("content", DIRTY)
def test_it_goes_without_a_trace(home: Home, config: Path, content: bytes | None) -> None:
    if content is not None:
        config.write_bytes(content)
    before = home.tree()
    put(home)
    assert target(HOST).status(home.setup()).installed
    assert target(HOST).plan(home.setup(options=("plugin",), mcp=MCP), remove=False) == ()
    home.run(HOST, remove=True)
    assert home.tree() == before
    assert not folder(home).exists()
    assert not target(HOST).status(home.setup()).installed


def test_what_others_wrote_meanwhile_stays(home: Home, config: Path) -> None:
    config.write_bytes(b'{\n  "model": "opus"\n}\n')
    put(home)
    now = read(config)
    config.write_text(json.dumps({**now, "theme": "dark"}, indent=2))
    home.run(HOST, remove=True)
    assert read(config) == {"model": "opus", "theme": "dark"}


def test_the_folder_is_a_marketplace_with_the_hooks_of_the_settings(
    home: Home, config: Path
) -> None:
    put(home)
    market = read(folder(home) / ".claude-plugin" / "marketplace.json")
    plugin = folder(home) / market["plugins"][0]["source"]
    hooks = read(plugin / "hooks" / "hooks.json")["hooks"]
    server = read(plugin / ".mcp.json")["mcpServers"]["claude-mem"]
    assert server["args"] == [MCP[1], HOST]
    assert (plugin / "skills" / "mem-search" / "SKILL.md").read_text().startswith("---\nname:")
    home.run(HOST, remove=True)
    home.run(HOST)
    assert read(config)["hooks"] == hooks


def test_it_stays_a_plugin_when_installed_again(home: Home, config: Path) -> None:
    put(home)
    (folder(home) / "mem" / "hooks" / "hooks.json").write_text('{"hooks": {}}')
    (folder(home) / "mem" / "of-an-older-version.json").write_text("{}")
    home.run(HOST, mcp=MCP)
    assert "hooks" not in read(config)
    assert read(folder(home) / "mem" / "hooks" / "hooks.json")["hooks"]["Stop"]
    assert not (folder(home) / "mem" / "of-an-older-version.json").exists()
    assert not (config.parent / "skills").exists(), "the plugin brings its own"
    assert not (home.folder / ".claude.json").exists(), "the plugin brings its own server"


def test_hooks_and_plugin_never_stand_side_by_side(home: Home, config: Path) -> None:
    home.run(HOST)
    before = home.tree()
    with pytest.raises(HostConfigError, match="mem uninstall --ide claude-code"):
        put(home)
    assert home.tree() == before


def test_a_plugin_that_was_switched_off_stays_so_and_is_told(home: Home, config: Path) -> None:
    put(home)
    config.write_text(
        config.read_text().replace('"mem@mem-core": true', '"mem@mem-core": false')
    )
    put(home)
    assert read(config)["enabledPlugins"] == {"mem@mem-core": False}
    assert "switched off" in target(HOST).status(home.setup()).problems[0]


def test_a_folder_that_is_gone_is_told(home: Home, config: Path) -> None:
    put(home)
    folder(home).rename(folder(home).with_name("away"))
    assert "is gone; run `mem install` again" in target(HOST).status(home.setup()).problems[0]


def test_another_data_directorys_plugin_is_not_taken_over(home: Home, config: Path) -> None:
    put(home)
    moved = Home(home.folder, type(home.paths)(home.folder / "other-data"))
    with pytest.raises(HostConfigError, match="another data directory"):
        put(moved)


@pytest.mark.parametrize("scope", ["project", "local"])
def test_a_repository_gets_no_plugin(home: Home, scope: str) -> None:
    with pytest.raises(HostConfigError, match="scope user only"):
        home.run(HOST, scope=scope, project=str(home.folder), options=("plugin",))


@pytest.mark.parametrize("content", [b"{", b'{"enabledPlugins": []}', b"[]"])
def test_what_can_not_be_edited_is_left_alone(home: Home, config: Path, content: bytes) -> None:
    config.write_bytes(content)
    with pytest.raises(HostConfigError):
        put(home)
    assert config.read_bytes() == content
    assert not folder(home).exists()

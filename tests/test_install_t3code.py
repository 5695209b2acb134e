"""`mem install --ide t3code`: into the homes of the hosts that T3 Code runs, and out again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.cli.install.hosts import registry_for, setup_for, targets
from claude_mem_core.cli.main import main
from claude_mem_core.paths import Paths

Mem = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / ".t3" / "userdata").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "CLAUDE_MEM_DATA_DIR", "T3CODE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def mem(home: Path, capsys: pytest.CaptureFixture[str]) -> Mem:
    """Runs `mem ... --json` in this home; its exit code and what it says."""

    def run(*args: str) -> tuple[int, dict[str, Any]]:
        code = main([*args, "--yes", "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def t3(home: Path, **settings: Any) -> Path:
    file = home / ".t3" / "userdata" / "settings.json"
    file.write_text(json.dumps({"theme": "dark", **settings}))
    return file


def providers(home: Path) -> dict[str, Any]:
    """A Codex in a home of its own, a Claude Code in the usual one."""
    own = {"driver": "codex", "config": {"homePath": str(home / "codex")}}
    return {"work": own, "claudeAgent": {"driver": "claudeAgent"}}


def tree(home: Path) -> dict[str, bytes]:
    files = (p for p in home.rglob("*") if p.is_file() and ".claude-mem" not in p.parts)
    return {str(p): p.read_bytes() for p in files}


def states(found: dict[str, Any]) -> list[str]:
    assert {row["host"] for row in found["hosts"]} == {"t3code"}
    return [row["state"] for row in found["hosts"]]


def test_it_goes_into_the_homes_and_out_without_a_trace(mem: Mem, home: Path) -> None:
    t3(home, providerInstances=providers(home))
    (home / "codex").mkdir()
    (home / "codex" / "config.toml").write_text("# mine\nmodel = 'x'\n")
    before = tree(home)
    code, found = mem("install", "--ide", "t3")
    assert (code, states(found)) == (0, ["installed", "installed"])
    assert "codex SessionStart" in (home / "codex" / "hooks.json").read_text()
    assert "claude-code" in (home / ".claude" / "settings.json").read_text()
    assert not (home / ".codex").exists()
    assert any("trust" in note for note in found["hosts"][0]["notes"]), "trust is the user's"
    code, found = mem("install", "--ide", "t3-code")
    assert (code, states(found)) == (0, ["unchanged", "unchanged"])
    paths = Paths(home / ".claude-mem")
    (target,) = (t for t in targets(registry_for(paths)) if t.name == "t3code")
    assert target.status(setup_for(paths, ["x"])).installed
    code, found = mem("uninstall", "--ide", "t3code")
    assert (code, states(found)) == (0, ["uninstalled", "uninstalled"])
    assert tree(home) == before


def test_one_that_can_not_be_had_holds_up_none_of_the_others(mem: Mem, home: Path) -> None:
    managed = {"driver": "codex", "config": {"setupMode": "managed"}}
    t3(home, providerInstances={**providers(home), "own": managed})
    code, found = mem("install", "--ide", "t3code")
    assert (code, states(found)) == (1, ["installed", "installed", "failed"])
    assert "finish that in T3 Code" in found["hosts"][2]["error"]
    assert not (home / ".codex").exists()
    code, _ = mem("uninstall", "--ide", "t3code")
    assert code == 0


def test_a_home_that_is_shared_is_changed_once(mem: Mem, home: Path) -> None:
    t3(home, providerInstances={"codex": {"driver": "codex"}})
    code, found = mem("install", "--ide", "codex", "--ide", "t3code")
    assert code == 0
    assert [row["state"] for row in found["hosts"]] == ["installed", "unchanged"]
    code, found = mem("uninstall")
    assert code == 0
    assert not (home / ".codex" / "hooks.json").exists()


def test_launch_arguments_in_the_way_are_told(mem: Mem, home: Path) -> None:
    config = {"launchArgs": "--strict-mcp-config"}
    file = t3(home, providerInstances={"c": {"driver": "claudeAgent", "config": config}})
    before = file.read_bytes()
    code, found = mem("install", "--ide", "t3code")
    assert (code, states(found)) == (0, ["installed"])
    assert "--strict-mcp-config" in found["hosts"][0]["notes"][0]
    assert file.read_bytes() == before


@pytest.mark.parametrize("text", [None, "{", '{"providers": {}}'])
def test_settings_that_name_nothing(mem: Mem, home: Path, text: str | None) -> None:
    if text is not None:
        (home / ".t3" / "userdata" / "settings.json").write_text(text)
    code, found = mem("install", "--ide", "t3code")
    assert (code, states(found)) == (1, ["failed"])
    assert "settings.json" in found["hosts"][0]["error"]
    code, _ = mem("uninstall", "--ide", "t3code")
    assert code == (1 if text == "{" else 0)

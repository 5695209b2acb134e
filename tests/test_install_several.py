"""`mem install` without a name: whatever is on this machine, each host on its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from claude_mem_core.cli.install.hosts import chosen, registry_for, targets
from claude_mem_core.cli.main import main
from claude_mem_core.paths import Paths

HOMES = {
    "codex": ".codex",
    "cursor": ".cursor",
    "gemini": ".gemini",
    "qoder": ".qoder",
    "windsurf": ".codeium/windsurf",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home where five hosts were used; the settings of one can't be read."""
    for folder in HOMES.values():
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".qoder" / "settings.json").write_text('{"hooks" []}')
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("CODEX_HOME", "GEMINI_CLI_HOME", "CLAUDE_MEM_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tree(home: Path) -> dict[str, bytes]:
    files = (p for p in home.rglob("*") if p.is_file() and ".claude-mem" not in p.parts)
    return {str(p): p.read_bytes() for p in files}


def test_a_dry_run_shows_every_difference_and_makes_none(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(home)
    assert main(["install", "--dry-run"]) == 1, "one of them can't be planned"
    shown = capsys.readouterr().out
    for path in (
        ".codex/hooks.json", ".codex/config.toml", ".cursor/hooks.json", ".cursor/mcp.json",
        ".gemini/settings.json", ".codeium/windsurf/hooks.json",
        ".codeium/windsurf/mcp_config.json",
    ):  # fmt: skip
        assert f"+++ {home}/{path}" in shown
    for title in ("Codex CLI", "Cursor", "Gemini CLI", "Windsurf"):
        assert f"{title}: planned" in shown
    assert "Qoder: failed" in shown
    assert tree(home) == before
    assert not (home / ".claude-mem" / "hook").exists()


def test_several_at_once_and_one_that_fails_is_named(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(home)
    for state in ("installed", "unchanged"):
        assert main(["install", "--yes", "--json"]) == 1
        rows = {row["host"]: row for row in json.loads(capsys.readouterr().out)["hosts"]}
        assert {name: row["state"] for name, row in rows.items()} == {
            **dict.fromkeys(HOMES, state), "qoder": "failed",
        }  # fmt: skip
        error = rows["qoder"]["error"]
        assert f"{home}/.qoder/settings.json, line 1, column 10: a colon was expected" in error
    (home / ".qoder" / "settings.json").write_text("{}")
    assert main(["install", "--yes"]) == 0
    said = capsys.readouterr().out
    assert "Qoder: installed" in said
    assert "Cursor: unchanged" in said
    assert main(["uninstall", "--yes"]) == 0
    broken = str(home / ".qoder" / "settings.json")
    assert tree(home) == {**before, broken: b"{}"}


def test_other_names_of_hosts(home: Path) -> None:
    known = targets(registry_for(Paths(home / ".claude-mem")))
    names = ["codex-cli", "codex", "qwen-code", "omp", "copilot-cli", "gemini-cli", "agy", "t3"]
    assert [target.name for target in chosen(known, names)] == [
        "codex", "qwen", "pi", "copilot", "gemini", "antigravity", "t3code",
    ]  # fmt: skip
    taken = [name for t in known for name in (t.name, *t.record.aliases)]
    assert len(taken) == len(set(taken)), "no name means two hosts"


def test_hooks_and_server_in_one_file_leave_it_as_it_was(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / ".gemini" / "settings.json"
    file.write_text('{\n  // mine\n  "mcpServers": {"other": {"command": "x"}},\n}\n')
    before = file.read_bytes()
    assert main(["install", "--ide", "gemini", "--yes"]) == 0
    assert b"bridge.py" in file.read_bytes()
    assert b"launch.py" in file.read_bytes()
    assert file.read_bytes().count(b'"mcpServers"') == 1
    assert main(["mcp", "remove", "--ide", "gemini", "--yes"]) == 0
    assert b"bridge.py" not in file.read_bytes()
    assert b"launch.py" in file.read_bytes(), "the hooks stay"
    assert main(["install", "--ide", "gemini", "--yes"]) == 0
    file.write_bytes(file.read_bytes().replace(b"// mine", b"// mine, changed since"))
    assert main(["uninstall", "--ide", "gemini", "--yes"]) == 0
    capsys.readouterr()
    assert file.read_bytes() == before.replace(b"// mine", b"// mine, changed since")

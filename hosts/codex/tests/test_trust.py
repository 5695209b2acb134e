"""Codex CLI's trust: what is missing is said, nothing of it is given by us."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from claude_mem_host_codex import trust
from claude_mem_host_codex.installer import CodexInstaller

from claude_mem_core.editing import Json
from claude_mem_core.types import FileChange, HostSetup

# As version 0.171.0 itself worded it in `hooks/list`.
LISTED = {
    "session_start": "b244a99b8eb5d7a0a128512a0a09926b7c5a479768fa0914f02d7eee086f0d53",
    "session_end": "3a77f6214a1fc904ec3c34db73f74db5d254ba7cfe462739bd9d37a130a2839f",
    "stop": "2ba34c7a02841fada06b868a093d041fd3d9de81883c789a321916b0aa118851",
}
MINE = '# mine\nmodel = "x" # why\n\n[projects."/srv/app"]\ntrust_level = "trusted"\n'


@pytest.fixture
def setup(tmp_path: Path) -> HostSetup:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(MINE)
    launch = str(tmp_path / ".claude-mem" / "hook" / "launch.py")
    data = str(tmp_path / ".claude-mem")
    return HostSetup(home=str(tmp_path), data_dir=data, argv=["/usr/bin/python3", launch])


@pytest.fixture
def installed(setup: HostSetup) -> HostSetup:
    apply(CodexInstaller().install(setup))
    return setup


def apply(changes: object) -> None:
    for change in changes:  # type: ignore[attr-defined]
        assert isinstance(change, FileChange)
        if change.after is None:
            Path(change.path).unlink()
        else:
            Path(change.path).write_bytes(change.after)


def config(setup: HostSetup) -> Path:
    return Path(CodexInstaller().config_of(setup))


def expected(setup: HostSetup) -> dict[str, str]:
    installer = CodexInstaller()
    file = installer.file_of(setup)
    return trust.wanted(Json(Path(file).read_text(), file), installer.edit)


def give(setup: HostSetup, keys: dict[str, str]) -> None:
    rows = [f'[hooks.state."{key}"]\ntrusted_hash = "{hash_}"\n' for key, hash_ in keys.items()]
    config(setup).write_text(MINE + "\n[hooks.state]\n\n" + "\n".join(rows))


def test_the_hash_is_codexs_own() -> None:
    for event, digest in LISTED.items():
        seconds = {"session_start": 60, "session_end": 1, "stop": 600}[event]
        hook = {"type": "command", "command": "true", "timeout": seconds}
        assert trust._hash(event, {"hooks": [hook]}, hook) == f"sha256:{digest}"


def test_untrusted_hooks_are_named_with_the_command(installed: HostSetup) -> None:
    status = CodexInstaller().status(installed)
    assert status.installed
    (problem,) = status.problems
    assert problem.startswith("8 of our 8 hooks are not trusted yet")
    assert "run `codex`" in problem


def test_trusted_hooks_are_no_problem(installed: HostSetup) -> None:
    give(installed, expected(installed))
    assert CodexInstaller().status(installed).problems == ()


def test_a_hook_that_was_changed_since_is_untrusted(installed: HostSetup) -> None:
    keys = expected(installed)
    first = next(iter(keys))
    give(installed, {**keys, first: "sha256:0"})
    (problem,) = CodexInstaller().status(installed).problems
    assert problem.startswith("1 of our 8 hooks")


def test_hooks_may_be_switched_off(installed: HostSetup) -> None:
    give(installed, expected(installed))
    config(installed).write_text("[features]\nhooks = false\n" + config(installed).read_text())
    (problem,) = CodexInstaller().status(installed).problems
    assert "hooks = false" in problem


def test_installing_gives_no_trust(installed: HostSetup) -> None:
    assert config(installed).read_text() == MINE


def test_uninstall_takes_the_notes_on_our_hooks_along(installed: HostSetup) -> None:
    foreign = {"/other/hooks.json:stop:0:0": "sha256:1"}
    give(installed, {**expected(installed), **foreign})
    apply(CodexInstaller().uninstall(installed))
    left = tomllib.loads(config(installed).read_text())["hooks"]["state"]
    assert left == {"/other/hooks.json:stop:0:0": {"trusted_hash": "sha256:1"}}
    assert config(installed).read_text().startswith(MINE)


def test_uninstall_leaves_no_empty_table(installed: HostSetup) -> None:
    give(installed, expected(installed))
    apply(CodexInstaller().uninstall(installed))
    assert tomllib.loads(config(installed).read_text()) == tomllib.loads(MINE)
    assert config(installed).read_text().rstrip() == MINE.rstrip()


def test_a_config_that_can_not_be_read_is_said(installed: HostSetup) -> None:
    config(installed).write_text("x =")
    status = CodexInstaller().status(installed)
    assert "config.toml, line 1" in status.problems[0]

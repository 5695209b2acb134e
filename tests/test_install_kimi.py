"""Kimi Code's config: one block, exact schema, no trace afterwards."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from claude_mem_core.errors import HostConfigError
from tests.install_home import Home

MINE = '# mine\ndefault_model = "k"\n\n[models.k]\nname = "x"   # kept\n'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.at(tmp_path / "home")


@pytest.fixture
def config(home: Home) -> Path:
    path = home.folder / ".kimi-code" / "config.toml"
    path.parent.mkdir()
    return path


def test_only_the_fields_that_kimi_knows(home: Home, config: Path) -> None:
    config.write_text(MINE)
    home.run("kimi")
    value = tomllib.loads(config.read_text())
    assert config.read_text().startswith(MINE)
    for hook in value["hooks"]:
        assert set(hook) == {"event", "command", "timeout"}
        assert isinstance(hook["timeout"], int)
        assert 1 <= hook["timeout"] <= 600
        words = shlex.split(hook["command"])
        # The context comes with the prompt here, so that hook waits for a starting worker.
        wait = ["--wait", "3"] if hook["event"] == "UserPromptSubmit" else []
        assert words[words.index("kimi") :] == ["kimi", hook["event"], *wait]


@pytest.mark.parametrize(
    "before", [None, "", "\n", MINE, MINE.rstrip(), MINE.replace("\n", "\r\n"), "\ufeff" + MINE]
)
def test_install_then_uninstall_is_the_identity(
    home: Home, config: Path, before: str | None
) -> None:
    if before is not None:
        config.write_bytes(before.encode())
    kept = home.tree()
    home.run("kimi")
    assert home.run("kimi") == []
    home.run("kimi", remove=True)
    assert home.tree() == kept


def test_a_block_is_renewed_in_its_place(home: Home, config: Path) -> None:
    config.write_text(MINE)
    home.run("kimi")
    fresh = config.read_text()
    config.write_text(fresh.replace("timeout = 60", "timeout = 7") + "\n[later]\nx = 1\n")
    home.run("kimi")
    assert config.read_text() == fresh + "\n[later]\nx = 1\n"
    home.run("kimi", remove=True)
    assert config.read_text() == MINE + "\n[later]\nx = 1\n"


def test_tables_whose_marks_are_gone_are_found(home: Home, config: Path) -> None:
    import tomlkit

    other = '[[hooks]]\nevent = "Stop"\ncommand = "say done"\n\n'
    config.write_text(MINE + "\n" + other)
    home.run("kimi")
    config.write_text(tomlkit.dumps(tomllib.loads(config.read_text())))
    home.run("kimi")
    hooks = tomllib.loads(config.read_text())["hooks"]
    assert len(hooks) == 11
    home.run("kimi", remove=True)
    assert tomllib.loads(config.read_text()) == tomllib.loads(MINE + "\n" + other)


@pytest.mark.parametrize("text", ["x =", "[a\n", "hooks = []\n", '[hooks]\nevent = "x"\n'])
def test_a_broken_file_is_left_alone_and_named(home: Home, config: Path, text: str) -> None:
    config.write_text(text)
    with pytest.raises(HostConfigError, match=r"config\.toml, line \d+, column \d+: "):
        home.run("kimi")
    assert config.read_text() == text


@pytest.mark.parametrize("name", ["it's here", "sp ace", "do$llar `x`", "ä"])
def test_paths_are_quoted_for_the_shell(tmp_path: Path, name: str) -> None:
    home = Home.at(tmp_path / name)
    home.run("kimi")
    text = (home.folder / ".kimi-code" / "config.toml").read_text()
    words = shlex.split(tomllib.loads(text)["hooks"][0]["command"])
    assert words[4] == str(home.paths.hook / "launch.py")


@pytest.mark.parametrize("name", ['quo"te', "new\nline"])
def test_paths_that_no_shell_takes_are_refused(tmp_path: Path, name: str) -> None:
    home = Home.at(tmp_path / name)
    with pytest.raises(HostConfigError, match="CLAUDE_MEM_DATA_DIR"):
        home.run("kimi")
    assert home.tree() == {}


def test_there_is_no_project_scope(home: Home) -> None:
    with pytest.raises(HostConfigError, match="--scope user"):
        home.run("kimi", scope="project", project=str(home.folder))

"""Claude Code's settings: put in, brought up to date, taken out, over dirty files."""

from __future__ import annotations

import json
import stat
import tempfile
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_mem_core.errors import HostConfigError
from tests.install_home import Home, target

FOREIGN = {"hooks": [{"type": "command", "command": "say done"}]}
HOOK_PART = st.fixed_dictionaries(
    {},
    optional={
        "Stop": st.lists(st.just(FOREIGN), max_size=2),
        "PreToolUse": st.lists(st.just({"matcher": "Bash", **FOREIGN}), max_size=2),
        "Notification": st.lists(st.just(FOREIGN), max_size=1),
    },
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": st.text(max_size=5),
        "env": st.dictionaries(st.sampled_from("AB"), st.text(max_size=3), max_size=2),
        "permissions": st.just({"allow": ["Bash(ls:*)"], "deny": []}),
        "hooks": HOOK_PART,
    },
)
STYLES = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 4},
        {"indent": "\t"},
        {"separators": (",", ":")},
        {"separators": (", ", ": ")},
    ]
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.at(tmp_path / "home")


@pytest.fixture
def config(home: Home) -> Path:
    path = home.folder / ".claude" / "settings.json"
    path.parent.mkdir()
    return path


@settings(max_examples=60, deadline=None)
@given(SETTINGS, STYLES, st.sampled_from(["", "\n"]), st.booleans(), st.booleans())
def test_install_then_uninstall_is_the_identity(
    value: dict[str, object], style: dict[str, object], end: str, bom: bool, quiet: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home.at(Path(folder))
        path = home.folder / ".claude" / "settings.json"
        path.parent.mkdir()
        text = json.dumps(value, **style) + end  # type: ignore[arg-type]
        path.write_text(("\ufeff" if bom else "") + text, encoding="utf-8")
        before = home.tree()
        options = ["disable-auto-memory"] if quiet else []
        home.run("claude-code", options=options)
        installed = json.loads(path.read_bytes().decode("utf-8-sig"))
        assert {k for k in installed if k not in ("hooks", "env")} <= set(value)
        assert len(installed["hooks"]) >= 11
        assert home.run("claude-code", options=options) == [], "the second time changes nothing"
        home.run("claude-code", remove=True)
        assert home.tree() == before


def test_hooks_are_written_as_claude_code_wants_them(home: Home, config: Path) -> None:
    home.run("claude-code")
    hooks = json.loads(config.read_text())["hooks"]
    assert set(hooks) == {
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse",
        "PostToolUseFailure", "Stop", "StopFailure", "SubagentStop", "PreCompact",
        "PostCompact", "SessionEnd",
    }  # fmt: skip
    for event, (group,) in hooks.items():
        (hook,) = group["hooks"]
        assert hook["type"] == "command"
        assert hook["command"] == "/usr/bin/python3", "exec form: a program, no shell line"
        assert hook["args"][:3] == ["-I", "-S", "-E"]
        assert hook["args"][-2:] == ["claude-code", event]
        assert 0 < hook["timeout"] <= 120, "seconds"
        assert set(hook) == {"type", "command", "args", "timeout"}, "async would die with -p"
    assert "Read" in hooks["PreToolUse"][0]["matcher"].split("|")
    assert "matcher" not in hooks["SessionStart"][0], "every source, fork as well"


def test_a_file_that_did_not_exist_goes_with_its_folder(home: Home) -> None:
    home.run("claude-code")
    path = home.folder / ".claude" / "settings.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    home.run("claude-code", remove=True)
    assert not path.parent.exists()


def test_an_older_block_is_renewed_in_its_place(home: Home, config: Path) -> None:
    config.write_text('{\n  "model": "x"\n}\n')
    home.run("claude-code")
    fresh = config.read_text()
    old = fresh.replace("/.claude-mem/hook/", "/old-place/hook/").replace("120", "20")
    config.write_text(old.replace('"model": "x"', '"model": "y"'))
    home.run("claude-code")
    assert config.read_text() == fresh.replace('"model": "x"', '"model": "y"')
    home.run("claude-code", remove=True)
    assert config.read_text() == '{\n  "model": "y"\n}\n'


def test_doubled_unwanted_and_mixed_hooks_of_ours_are_put_right(
    home: Home, config: Path
) -> None:
    home.run("claude-code")
    fresh = json.loads(config.read_text())
    (stop,) = fresh["hooks"]["Stop"]
    odd = json.loads(config.read_text())
    odd["hooks"]["Stop"] = [stop, {"hooks": [FOREIGN["hooks"][0], stop["hooks"][0]]}, stop]
    odd["hooks"]["Setup"] = [stop]
    config.write_text(json.dumps(odd, indent=2))
    home.run("claude-code")
    fresh["hooks"]["Stop"].append(FOREIGN)
    assert json.loads(config.read_text()) == fresh
    home.run("claude-code", remove=True)
    assert json.loads(config.read_text()) == {"hooks": {"Stop": [FOREIGN]}}


def test_what_others_wrote_meanwhile_stays(home: Home, config: Path) -> None:
    config.write_text('{\n  "hooks": {},\n  "a": 1\n}\n')
    home.run("claude-code")
    value = json.loads(config.read_text())
    value["later"] = True
    value["hooks"]["Stop"].insert(0, FOREIGN)
    config.write_text(json.dumps(value, indent=2))
    home.run("claude-code", remove=True)
    left = json.loads(config.read_text())
    assert left == {"hooks": {"Stop": [FOREIGN]}, "a": 1, "later": True}


def test_an_empty_list_of_the_users_stays_though_others_wrote(home: Home, config: Path) -> None:
    config.write_text('{"a": 1, "hooks": {"Stop": [ ]}}')
    home.run("claude-code")
    config.write_text(config.read_text().replace('"a": 1', '"a": 2'))
    home.run("claude-code", remove=True)
    assert config.read_text() == '{"a": 2, "hooks": {"Stop": [ ]}}'


def test_a_file_of_ours_that_others_wrote_anew_is_removed_when_nothing_is_left(
    home: Home, config: Path
) -> None:
    home.run("claude-code")
    config.write_text(json.dumps(json.loads(config.read_text())))
    home.run("claude-code", remove=True)
    assert not config.exists()


@pytest.mark.parametrize("before", ["{}", '{"env": {}}', '{"env": {"A": "b"}}'])
def test_auto_memory_is_restored_exactly(home: Home, config: Path, before: str) -> None:
    config.write_text(before)
    home.run("claude-code", options=["disable-auto-memory"])
    env = json.loads(config.read_text())["env"]
    assert env["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] == "1"
    value = json.loads(config.read_text())
    config.write_text(json.dumps({**value, "other": 1}))
    home.run("claude-code", remove=True)
    assert json.loads(config.read_text()) == {**json.loads(before), "other": 1}


@pytest.mark.parametrize("own", ['"1"', '"0"', "1"])
def test_the_users_own_value_of_the_switch_comes_back(
    home: Home, config: Path, own: str
) -> None:
    before = f'{{"env": {{"CLAUDE_CODE_DISABLE_AUTO_MEMORY": {own}}}}}'
    config.write_text(before)
    home.run("claude-code", options=["disable-auto-memory"])
    value = json.loads(config.read_text())
    config.write_text(json.dumps({**value, "other": 1}))
    home.run("claude-code", remove=True)
    assert json.loads(config.read_text()) == {**json.loads(before), "other": 1}


def test_without_the_option_the_switch_is_not_ours(home: Home, config: Path) -> None:
    before = '{"env": {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}}'
    config.write_text(before)
    home.run("claude-code")
    config.write_text(config.read_text() + "\n")
    home.run("claude-code", remove=True)
    assert config.read_text() == before + "\n"


def test_project_and_local_scope_write_into_the_repository(home: Home) -> None:
    repo = home.folder / "repo"
    (repo / ".git").mkdir(parents=True)
    home.run("claude-code", scope="project", project=str(repo))
    home.run("claude-code", scope="local", project=str(repo))
    made = {path.name for path in (repo / ".claude").iterdir()}
    assert made == {"settings.json", "settings.local.json", "skills"}
    assert not (home.folder / ".claude").exists()
    home.run("claude-code", remove=True, scope="project", project=str(repo))
    home.run("claude-code", remove=True, scope="local", project=str(repo))
    assert [path.name for path in repo.iterdir()] == [".git"]


@pytest.mark.parametrize("text", ["{", "[1]", '{"hooks": 3}', "{,}"])
def test_a_broken_file_is_left_alone_and_named(home: Home, config: Path, text: str) -> None:
    config.write_text(text)
    with pytest.raises(HostConfigError, match=r"settings\.json"):
        home.run("claude-code")
    with pytest.raises(HostConfigError, match=r"settings\.json"):
        home.run("claude-code", remove=True)
    assert config.read_text() == text


def test_an_old_claude_code_is_named(home: Home, config: Path) -> None:
    folder = home.folder / "bin"
    folder.mkdir()
    program = folder / "claude"
    program.write_text("#!/bin/sh\necho '2.1.138 (Claude Code)'\n")
    program.chmod(0o755)
    setup = attrs.evolve(home.setup(), env={"PATH": str(folder)})
    status = target("claude-code").status(setup)
    assert status.detected
    assert status.version == "2.1.138"
    assert any("2.1.139" in problem for problem in status.problems)

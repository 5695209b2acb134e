"""`mem install` and `mem mcp`: server and skills beside the hooks, each with a way back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.cli.install import run as course
from claude_mem_core.cli.install.apply import apply
from claude_mem_core.cli.install.extras import is_untouched, marked, skills
from claude_mem_core.editing import JsonServers
from claude_mem_core.types import FileChange
from tests import cli_run
from tests.install_home import Home, target


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with Claude Code in it, which commands of this process take for the user's."""
    folder = tmp_path / "home"
    (folder / ".claude").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return Home.at(folder)


@pytest.fixture
def skill(made: Home) -> Path:
    return made.folder / ".claude" / "skills" / "mem-search" / "SKILL.md"


def mem(made: Home, *args: str) -> cli_run.Ran:
    return cli_run.mem(made.paths.data, *args, plugins=True)


def servers(made: Home) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((made.folder / ".claude.json").read_text())
    return dict(found["mcpServers"])


def test_install_brings_server_and_skill_and_uninstall_takes_them(
    made: Home, skill: Path
) -> None:
    (made.folder / ".claude.json").write_text('{"numStartups": 7}\n')
    assert mem(made, "install", "--yes").code == 0
    entry = servers(made)["claude-mem"]
    assert (entry["type"], entry["args"][-1]) == ("stdio", "claude-code")
    assert str(made.paths.hook / "bridge.py") in entry["args"]
    assert "name: mem-search" in skill.read_text()
    assert "Claude Code: unchanged" in mem(made, "install", "--yes").out
    assert mem(made, "uninstall", "--yes").code == 0
    assert (made.folder / ".claude.json").read_text() == '{"numStartups": 7}\n'
    assert not (made.folder / ".claude" / "skills").exists()


def test_what_is_not_wanted_is_left_out(made: Home, skill: Path) -> None:
    assert mem(made, "install", "--yes", "--no-mcp", "--no-skills").code == 0
    assert not (made.folder / ".claude.json").exists()
    assert not skill.exists()
    assert "Claude Code: not registered" in mem(made, "mcp").out


def test_mcp_alone(made: Home) -> None:
    done = mem(made, "mcp", "install", "--ide", "claude-code", "--yes")
    assert done.code == 0
    assert "Claude Code: registered" in done.out
    assert "claude-mem" in servers(made)
    assert not (made.folder / ".claude" / "settings.json").exists()
    rows = mem(made, "mcp", "status", "--json").json
    registered = {row["host"]: row["registered"] for row in rows["hosts"]}
    assert registered["claude-code"] is True
    assert registered["kimi"] is False
    bridge = made.paths.hook / "bridge.py"
    assert rows["command"][-1] == str(bridge)
    assert bridge.exists()
    assert "planned" in mem(made, "mcp", "remove", "--ide", "claude-code", "--dry-run").out
    assert "claude-mem" in servers(made)
    assert "removed" in mem(made, "mcp", "remove", "--ide", "claude-code", "--yes").out
    assert not (made.folder / ".claude.json").exists()


@pytest.mark.slow
def test_serve_speaks_the_protocol(made: Home) -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    done = subprocess.run(
        [sys.executable, "-m", "claude_mem_core.cli.main", "mcp", "serve"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(made.folder)}, cwd=made.folder, check=False,
        input=json.dumps(hello).encode() + b"\n", capture_output=True, timeout=60,
    )  # fmt: skip
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["result"]["serverInfo"]["name"] == "claude-mem"
    assert done.returncode == 0
    mem(made, "stop")


@pytest.mark.parametrize("scope", ["project", "local"])
def test_other_scopes(tmp_path: Path, scope: str) -> None:
    made = Home.at(tmp_path / "home")
    repo = made.folder / "repo"
    (repo / ".git").mkdir(parents=True)
    before = made.tree()
    bridge = (str(made.paths.hook / "bridge.py"),)
    made.run("claude-code", scope=scope, project=str(repo), mcp=("python", *bridge))
    if scope == "project":
        assert "claude-mem" in json.loads((repo / ".mcp.json").read_text())["mcpServers"]
        assert (repo / ".claude" / "skills" / "mem-search" / "SKILL.md").exists()
    else:
        known = json.loads((made.folder / ".claude.json").read_text())
        assert "claude-mem" in known["projects"][str(repo)]["mcpServers"]
        assert not (repo / ".claude" / "skills").exists()
    made.run("claude-code", remove=True, scope=scope, project=str(repo))
    assert made.tree() == before


# Skills --------------------------------------------------------------------------


def test_a_skill_that_somebody_changed_stays(made: Home, skill: Path) -> None:
    made.run("claude-code")
    mine = skill.read_text().replace("Three steps", "My steps")
    skill.write_text(mine)
    made.run("claude-code")
    made.run("claude-code", remove=True)
    assert skill.read_text() == mine


def test_an_older_one_of_ours_is_renewed(made: Home, skill: Path) -> None:
    skill.parent.mkdir(parents=True)
    skill.write_bytes(marked(b"---\nname: mem-search\n---\nold words\n"))
    made.run("claude-code")
    assert "old words" not in skill.read_text()
    assert is_untouched(skill.read_bytes())


def test_every_skill_is_well_formed() -> None:
    found = dict(skills())
    assert set(found) == {"mem-search", "mem-troubleshoot"}
    for name, text in found.items():
        head, _, body = text.decode().removeprefix("---\n").partition("\n---\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        assert fields["name"] == name
        assert 40 < len(fields["description"]) < 1024
        assert len(body) < 6_000
        assert is_untouched(text)
        assert not is_untouched(text.replace(b"the", b"that", 1))


def test_the_skill_names_only_tools_and_commands_that_exist() -> None:
    import re

    from claude_mem_core.cli.main import known
    from claude_mem_core.mcp.tools import BY_NAME

    text = dict(skills())["mem-search"].decode()
    named = set(re.findall(r"`(\w+)\(", text))
    by_context = {"session_start_context", "work_state_write", "work_state_read"}
    assert named == set(BY_NAME) - {"important_workflow", *by_context}
    others = " ".join(body.decode() for _, body in skills())
    assert set(re.findall(r"`mem ([\w-]+)", others)) <= set(known())
    for call in re.findall(r"`(\w+)\((\w+)=", text):
        assert call[1] in BY_NAME[call[0]].properties
    assert set(re.findall(r"(?m)^    mem (\w+)", others)) <= set(known())


# Files that the host writes, too --------------------------------------------------


def test_what_the_host_wrote_meanwhile_is_kept(tmp_path: Path) -> None:
    made = Home.at(tmp_path / "home")
    path = made.folder / ".claude.json"
    path.write_text('{"numStartups": 1}')
    found = target("claude-code")
    setup = made.setup()

    def plan(_: object) -> list[FileChange]:
        file = JsonServers(str(path))
        return list(file.install({"command": "p", "args": ["/x/hook/bridge.py"]}))

    (planned,) = course.planned([found], plan)
    path.write_text('{"numStartups": 2}')
    course.carry_out([planned], made.paths)
    assert planned.error is None
    known = json.loads(path.read_text())
    assert known["numStartups"] == 2
    assert "claude-mem" in known["mcpServers"]
    assert setup.scope == "user"


def test_without_a_way_to_plan_anew_it_is_an_error(tmp_path: Path) -> None:
    from claude_mem_core.errors import HostConfigError

    made = Home.at(tmp_path / "home")
    path = made.folder / "x.json"
    path.write_text("{}")
    with pytest.raises(HostConfigError, match="meanwhile"):
        apply(FileChange(path=str(path), before=b"[]", after=b"{ }"), made.paths)


def test_a_name_that_is_taken_twice_is_an_error(tmp_path: Path) -> None:
    from claude_mem_core.errors import HostConfigError

    path = tmp_path / "x.json"
    taken = {"claude-mem": {"command": "a"}, "claude-mem-core": {"command": "b"}}
    path.write_text(json.dumps({"mcpServers": taken}))
    with pytest.raises(HostConfigError, match="names are taken"):
        JsonServers(str(path)).install({"command": "p", "args": ["/x/hook/bridge.py"]})


@pytest.mark.parametrize("keys", [("mcpServers",), ("projects", "/a b", "mcpServers")])
@pytest.mark.parametrize("text", ["", "{}", '{"a": 1}\n', '{\n  "projects": {}\n}\n'])
def test_put_and_take_leave_no_trace(keys: tuple[str, ...], text: str) -> None:
    file = JsonServers("/nonexistent", keys)
    entry = {"command": "p", "args": ["/x/hook/bridge.py"]}
    put = file.put(text.encode(), entry)
    assert file.entry(put) == entry
    assert file.put(put, entry) == put
    assert file.take(put, text.encode()) == (text or "{}\n").encode()

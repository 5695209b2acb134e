"""`mem install` and `mem uninstall` as people run them."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.quick_mem import run_mem

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / ".claude").mkdir(parents=True)
    return folder


@pytest.fixture
def mem(home: Path) -> Run:
    """Runs `mem ...` in this home, without a terminal."""

    def run(
        *args: str, cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        own = {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}
        done = run_mem(*args, env={**own, **env}, cwd=cwd or home)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


def test_install_and_uninstall(mem: Run, home: Path) -> None:
    config = home / ".claude" / "settings.json"
    config.write_text('{\n  "model": "opus"\n}\n')
    start = time.monotonic()
    done = mem("install", "--yes")
    assert time.monotonic() - start < 3
    assert done.returncode == 0, done.stderr
    assert '+  "hooks": {' in done.stdout, "the difference is shown"
    assert "Claude Code: installed" in done.stdout
    assert "Kimi" not in done.stdout, "what is not here is left alone"
    hook = json.loads(config.read_text())["hooks"]["SessionStart"][0]["hooks"][0]
    said = subprocess.run(
        [hook["command"], *hook["args"]], input="", capture_output=True, timeout=20, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home)},
    )  # fmt: skip
    assert said.returncode == 0, "the hook that was installed starts"
    copies = [p for p in (home / ".claude-mem" / "backups").iterdir() if "settings" in p.name]
    assert [stat.S_IMODE(p.stat().st_mode) for p in copies] == [0o600]
    assert "Claude Code: unchanged" in mem("install", "--yes").stdout
    done = mem("uninstall", "--yes")
    assert done.returncode == 0
    assert str(home / ".claude-mem") in done.stdout, "says what stays"
    assert config.read_text() == '{\n  "model": "opus"\n}\n'
    mem("stop")


def test_the_status_says_which_hosts_wait_for_trust(mem: Run, home: Path) -> None:
    mem("install", "--ide", "codex", "--ide", "claude-code")
    found = json.loads(mem("status", "--json").stdout)
    assert found["connected"] == ["claude-code", "codex"]
    assert list(found["unready"]) == ["codex"]
    assert "8 of our 8 hooks are not trusted yet" in found["unready"]["codex"][0]
    lines = mem("status").stdout.splitlines()
    assert "host      codex: connected; no event yet" in lines
    assert any(line.startswith("! codex: 8 of our 8 hooks") for line in lines)


def test_a_dry_run_writes_nothing(mem: Run, home: Path) -> None:
    done = mem("install", "--dry-run", "--ide", "claude-code", "--ide", "kimi")
    assert done.returncode == 0
    assert "Claude Code: planned" in done.stdout
    assert "[[hooks]]" in done.stdout
    assert not (home / ".claude" / "settings.json").exists()
    assert not (home / ".kimi-code").exists()
    assert not (home / ".claude-mem" / "hook").exists()


def test_json(mem: Run, home: Path) -> None:
    rows = json.loads(mem("install", "--ide", "claude-code", "--json").stdout)
    (row,) = rows["hosts"]
    assert (row["host"], row["state"], row["error"]) == ("claude-code", "installed", None)
    assert row["changes"][0]["path"] == str(home / ".claude" / "settings.json")
    rows = json.loads(mem("uninstall", "--ide", "claude-code", "--json").stdout)
    assert rows["hosts"][0]["state"] == "uninstalled"


def test_an_unknown_host_gives_the_list(mem: Run) -> None:
    for command in ("install", "uninstall"):
        done = mem(command, "--ide", "emacs")
        assert done.returncode == 1
        assert "(known: " in done.stderr
        assert " kimi" in done.stderr


def test_nobody_to_ask(mem: Run, home: Path) -> None:
    done = mem("install")
    assert done.returncode == 2
    assert "--ide" in done.stderr
    assert "--yes" in done.stderr
    done = mem("uninstall", "--purge")
    assert done.returncode == 2
    assert "--yes" in done.stderr


def test_no_host_on_the_machine(mem: Run, home: Path) -> None:
    (home / ".claude").rmdir()
    done = mem("install", "--yes")
    assert done.returncode == 2
    assert "(known: " in done.stderr


def test_one_that_fails_does_not_stop_the_other(mem: Run, home: Path) -> None:
    config = home / ".claude" / "settings.json"
    config.write_text('{\n  "model" "opus"\n}')
    done = mem("install", "--ide", "claude-code", "--ide", "kimi")
    assert done.returncode == 1
    assert f"{config}, line 2, column 11: a colon was expected" in done.stdout
    assert "Claude Code: failed" in done.stdout
    assert "Kimi Code: installed" in done.stdout
    assert config.read_text() == '{\n  "model" "opus"\n}'
    assert "claude-mem" in (home / ".kimi-code" / "config.toml").read_text()


def test_why_a_host_failed_is_said_once(mem: Run, home: Path) -> None:
    (home / ".claude" / "settings.json").write_text('{\n  "model" "opus"\n}')
    said = mem("install", "--ide", "claude-code")
    assert (said.stdout + said.stderr).count("a colon was expected") == 1


def test_a_second_data_directory_says_whose_hooks_it_takes(mem: Run, home: Path) -> None:
    config = home / ".claude" / "settings.json"
    first, second = home / "one", home / "the second"
    mem("install", "--ide", "claude-code", CLAUDE_MEM_DATA_DIR=str(first))
    before = config.read_bytes()
    told = f"Claude Code's hooks are those of another data directory, {first}"
    done = mem("install", "--ide", "claude-code", CLAUDE_MEM_DATA_DIR=str(second))
    assert done.returncode == 2
    assert told in done.stderr
    assert "--yes" in done.stderr
    done = mem("install", "--ide", "claude-code", "--json", CLAUDE_MEM_DATA_DIR=str(second))
    assert done.returncode == 2
    assert config.read_bytes() == before
    assert not (second / "hook").exists()
    shown = mem("install", "--dry-run", CLAUDE_MEM_DATA_DIR=str(second))
    assert told in shown.stdout
    args = ("install", "--ide", "claude-code", "--yes", "--json")
    done = mem(*args, CLAUDE_MEM_DATA_DIR=str(second))
    assert [other["data"] for other in json.loads(done.stdout)["takes_over"]] == [str(first)]
    assert str(first) not in config.read_text()
    shown = mem("install", "--yes", CLAUDE_MEM_DATA_DIR=str(second)).stdout
    assert "another data directory" not in shown


def test_a_directory_that_is_gone_is_taken_over_without_a_question(
    mem: Run, home: Path
) -> None:
    (home / ".kimi-code").mkdir()
    first = home / "first one"
    mem("install", "--ide", "kimi", CLAUDE_MEM_DATA_DIR=str(first))
    shutil.rmtree(first)
    done = mem("install", "--ide", "kimi")
    assert done.returncode == 0, done.stderr
    assert f"another data directory, {first}" in done.stdout
    assert "not in use any more" in done.stdout


def test_hosts_without_the_scope_are_left_out(mem: Run, home: Path) -> None:
    (home / ".kimi-code").mkdir()
    repo = home / "repo"
    (repo / ".git").mkdir(parents=True)
    for command in ("install", "uninstall"):
        done = mem(command, "--yes", "--scope", "local", cwd=repo)
        assert done.returncode == 0, done.stdout
        assert "Kimi" not in done.stdout
    done = mem("install", "--ide", "kimi", "--scope", "local", cwd=repo)
    assert done.returncode == 1
    assert "--scope user" in done.stdout


def test_purge_leaves_what_is_not_ours(mem: Run, home: Path) -> None:
    mem("install", "--ide", "claude-code")
    data = home / ".claude-mem"
    (data / "claude-mem.db").write_bytes(b"another program's")
    (data / "settings.json").write_text("{}")
    done = mem("uninstall", "--purge", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in data.iterdir()) == ["claude-mem.db", "settings.json"]


def test_purge_takes_all_that_is_ours(mem: Run, home: Path) -> None:
    mem("install", "--ide", "claude-code")
    for name in ("plugins-policy.lock", "worker.err", "notice.json"):
        (home / ".claude-mem" / name).touch()
    assert mem("uninstall", "--purge", "--yes").returncode == 0
    assert [path.name for path in home.iterdir()] == [".claude"]
    assert list((home / ".claude").iterdir()) == []


def test_the_data_directory_can_lie_elsewhere(mem: Run, home: Path, tmp_path: Path) -> None:
    place = tmp_path / "else where"
    mem("install", "--ide", "claude-code", CLAUDE_MEM_DATA_DIR=str(place))
    text = (home / ".claude" / "settings.json").read_text()
    assert str(place / "hook" / "launch.py") in text
    assert not (home / ".claude-mem").exists()


def test_the_folders_of_hosts_are_recorded_for_the_worker(mem: Run, home: Path) -> None:
    elsewhere = home / "config"
    elsewhere.mkdir()
    mem("install", "--ide", "claude-code", CLAUDE_CONFIG_DIR=str(elsewhere))
    assert (elsewhere / "settings.json").exists()
    recorded = (home / ".claude-mem" / "worker.argv").read_bytes().split(b"\0")
    assert f"CLAUDE_CONFIG_DIR={elsewhere}".encode() in recorded


def test_links_in_a_repository_lead_nowhere(mem: Run, home: Path) -> None:
    """CFG-1: a hostile checkout makes `--scope project` write nothing outside of it."""
    keep = home / ".bashrc"
    keep.write_text("keep\n")
    outside = home / "outside"
    outside.mkdir()

    def repo(name: str) -> Path:
        folder = home / name
        (folder / ".git").mkdir(parents=True)
        return folder

    def install(folder: Path) -> subprocess.CompletedProcess[str]:
        args = ("install", "--ide", "claude-code", "--scope", "project", "--yes")
        return mem(*args, cwd=folder)

    one = repo("one")
    (one / ".claude").mkdir()
    (one / ".claude" / "settings.json").symlink_to(keep)
    done = install(one)
    assert done.returncode == 1
    assert str(keep) in done.stdout, "names where the link leads"
    two = repo("two")
    (two / ".claude").symlink_to(outside)
    assert install(two).returncode == 1
    three = repo("three")
    (three / ".claude").mkdir()
    (three / ".claude" / "settings.json").symlink_to(home / "new_file")
    assert install(three).returncode == 1
    four = repo("four")
    (four / ".claude").mkdir()
    os.mkfifo(four / ".claude" / "settings.json")
    assert install(four).returncode == 1
    five = repo("five")
    (five / ".claude").mkdir()
    (five / ".claude" / "loop").symlink_to("loop")
    (five / ".claude" / "settings.json").symlink_to(five / ".claude" / "loop")
    assert install(five).returncode == 1
    assert keep.read_text() == "keep\n"
    assert list(outside.iterdir()) == []
    assert not (home / "new_file").exists()


def test_modes_and_foreign_keys_in_a_repository(mem: Run, home: Path) -> None:
    repo = home / "repo"
    (repo / ".git").mkdir(parents=True)
    (repo / ".claude").mkdir()
    config = repo / ".claude" / "settings.json"
    config.write_text('{"env": {"KEY": "x"}}')
    config.chmod(0o600)
    (repo / "deep").mkdir()
    mem("install", "--ide", "claude-code", "--scope", "project", cwd=repo / "deep")
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert json.loads(config.read_text())["env"] == {"KEY": "x"}
    found = [
        p for p in home.rglob("*settings.json*") if p.is_file() and '"KEY"' in p.read_text()
    ]
    assert all(not p.stat().st_mode & 0o077 for p in found)
    assert len(found) == 2, "the file and its copy"


@pytest.mark.parametrize(("answer", "installed"), [("y", True), ("n", False), ("", False)])
def test_at_a_terminal_it_asks(home: Path, answer: str, installed: bool) -> None:
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        env = {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb"}
        argv = [sys.executable, "-m", "claude_mem_core.cli.main", "install"]
        os.execve(sys.executable, argv, env)
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(terminal, 4096)
    os.write(terminal, answer.encode() + b"\n")
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:
            break
        if not more:
            break
        shown += more
    os.waitpid(pid, 0)
    os.close(terminal)
    assert b"Make these changes for Claude Code?" in shown
    assert (home / ".claude" / "settings.json").exists() is installed


ALL_HOSTS = (
    "antigravity",
    "claude-code",
    "codex",
    "copilot",
    "cursor",
    "gemini",
    "kimi",
    "openclaw",
    "opencode",
    "pi",
    "qoder",
    "qwen",
    "windsurf",
)


@pytest.mark.slow
def test_all_hosts_at_once_and_out_again_without_a_trace(mem: Run, home: Path) -> None:
    """One that can't be edited is named, and holds up none of the others."""
    (home / ".gemini").mkdir()
    broken = home / ".gemini" / "settings.json"
    broken.write_text("{")
    before = {str(p): p.read_bytes() for p in home.rglob("*") if p.is_file()}
    chosen = [word for host in ALL_HOSTS for word in ("--ide", host)]
    done = mem("install", *chosen, "--yes", "--json")
    assert done.returncode == 1
    states = {row["host"]: row["state"] for row in json.loads(done.stdout)["hosts"]}
    assert states == {**dict.fromkeys(ALL_HOSTS, "installed"), "gemini": "failed"}
    assert broken.read_text() == "{"
    again = mem("install", *chosen, "--yes", "--json")
    states = {row["host"]: row["state"] for row in json.loads(again.stdout)["hosts"]}
    assert states == {**dict.fromkeys(ALL_HOSTS, "unchanged"), "gemini": "failed"}
    broken.unlink()
    mem("uninstall", "--yes")
    left = {
        str(p): p.read_bytes()
        for p in home.rglob("*")
        if p.is_file() and ".claude-mem" not in p.parts
    }
    assert left == {
        k: v for k, v in before.items() if ".claude-mem" not in k and k != str(broken)
    }

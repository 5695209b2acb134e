"""`mem plugins` and the commands that plugins add, through the real command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from claude_mem_core.testing.fake_site import FakeSite

Mem = Callable[..., "Done"]

COMMAND = """
    from claude_mem_core import hookimpl
    from claude_mem_core.errors import MemError
    from claude_mem_core.types import Command

    def arguments(parser):
        parser.add_argument("--loud", action="store_true")

    def run(args):
        {body}

    @hookimpl
    def mem_commands():
        yield Command(name="hello", summary="says hello", run=run, arguments=arguments)
"""

HOST = """
    from claude_mem_core import hookimpl
    from claude_mem_core.types import Host

    @hookimpl
    def mem_hosts():
        yield Host(name="x", summary="X", open=lambda: None)
"""


@attrs.frozen
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def mem(install_fake_plugin: FakeSite, tmp_path: Path) -> Mem:
    """Runs `mem` in a process of its own, with the fake plugins installed."""

    def run(*args: str) -> Done:
        env = {
            **os.environ,
            "HOME": str(tmp_path),
            "CLAUDE_MEM_DATA_DIR": str(tmp_path / "data"),
            "PYTHONPATH": str(install_fake_plugin.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-m", "claude_mem_core.cli.main", *args]
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=60, check=False
        )
        assert "Traceback" not in done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    return run


def states(done: Done) -> dict[str, tuple[str, str]]:
    assert done.code == 0, done.err
    rows = json.loads(done.out)["plugins"]
    return {row["name"]: (row["state"], row["fault"]) for row in rows}


def test_lists_plugins_and_faults(install_fake_plugin: FakeSite, mem: Mem) -> None:
    install_fake_plugin("host.x", HOST)
    install_fake_plugin("host.bad", "import a_module_that_is_not_there")
    install_fake_plugin("host.odd", HOST.replace("yield Host", "yield 3; Host"))
    found = states(mem("plugins", "--json"))
    assert found["host.x"] == ("loaded", "")
    assert found["redactor.secrets"] == ("loaded", "")
    assert found["host.bad"][0] == "broken"
    assert "a_module_that_is_not_there" in found["host.bad"][1]
    assert found["host.odd"] == ("loaded", "TypeError: mem_hosts yields Host, not int")
    text = mem("plugins").out
    assert "host.x" in text
    assert "fake-host-x 1.0, package index, by fake" in text
    assert mem("plugins", "list", "--json").out.startswith("{")


def test_a_fault_can_not_drive_the_terminal(install_fake_plugin: FakeSite, mem: Mem) -> None:
    install_fake_plugin("host.bad", r"raise OSError('\x1b]52;c;x\x07')")
    out = mem("plugins").out
    assert "\x1b" not in out
    assert "OSError" in out


@pytest.mark.slow
def test_a_stopped_recording_is_told(install_fake_plugin: FakeSite, mem: Mem) -> None:
    install_fake_plugin("redactor.bad", "import a_module_that_is_not_there")
    done = mem("plugins")
    assert done.code == 0
    assert "Recording is stopped: plugin redactor.bad (fake-redactor-bad 1.0)" in done.out
    assert "redactor.bad" in json.loads(mem("plugins", "--json").out)["recording_stopped"]
    assert mem("plugins", "block", "redactor.bad").code == 0
    assert json.loads(mem("plugins", "--json").out)["recording_stopped"] is None


@pytest.mark.slow
def test_block_and_unblock(install_fake_plugin: FakeSite, mem: Mem, tmp_path: Path) -> None:
    install_fake_plugin("host.x", HOST)
    for name in ("host.x", "host", "fake-host-x", "Fake_Host.x"):
        assert mem("plugins", "block", name).code == 0
        assert states(mem("plugins", "--json"))["host.x"][0] == "blocked"
        assert mem("plugins", "unblock", name).code == 0
        assert states(mem("plugins", "--json"))["host.x"][0] == "loaded"
    assert (tmp_path / "data" / "plugins-policy.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_names_that_are_not_there(mem: Mem) -> None:
    done = mem("plugins", "block", "nope")
    assert done.code == 1
    assert "no plugin named 'nope'" in done.err
    assert mem("plugins", "unblock", "nope").code == 1
    assert mem("plugins", "allow", "nope").code == 1
    core = mem("plugins", "block", "redactor.secrets")
    assert core.code == 1
    assert "part of the core" in core.err


def test_without_plugins(install_fake_plugin: FakeSite, mem: Mem) -> None:
    install_fake_plugin("host.x", "raise AssertionError")
    found = states(mem("--no-plugins", "plugins", "--json"))
    assert found["host.x"] == ("refused", "started with --no-plugins")
    assert found["redactor.secrets"][0] == "loaded"


@pytest.mark.slow
def test_what_is_allowed_and_stays_blocked_is_said(
    install_fake_plugin: FakeSite, mem: Mem, tmp_path: Path
) -> None:
    install_fake_plugin("host.x", HOST)
    assert "stays blocked" not in mem("plugins", "allow", "host.x").out
    mem("plugins", "block", "host.x")
    done = mem("plugins", "allow", "host.x")
    assert "It stays blocked, as host.x: `mem plugins unblock host.x`." in done.out
    mem("plugins", "unblock", "host.x")
    settings = {"CLAUDE_MEM_PLUGINS_BLOCKED": "fake-host-x"}
    (tmp_path / "data" / "settings.json").write_text(json.dumps(settings))
    done = mem("plugins", "allow", "host.x")
    assert "It stays blocked, as fake-host-x, by CLAUDE_MEM_PLUGINS_BLOCKED" in done.out


@pytest.mark.slow
def test_strict_mode(install_fake_plugin: FakeSite, mem: Mem, tmp_path: Path) -> None:
    module = install_fake_plugin("host.x", HOST)
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    strict = {"CLAUDE_MEM_PLUGINS_STRICT": "true"}
    (data / "settings.json").write_text(json.dumps(strict))
    assert states(mem("plugins", "--json"))["host.x"][0] == "refused"
    assert mem("plugins", "allow", "host.x").code == 0
    assert states(mem("plugins", "--json"))["host.x"] == ("loaded", "")
    module.write_text(module.read_text() + "\n")
    assert "changed" in states(mem("plugins", "--json"))["host.x"][1]

    (data / "settings.json").write_text("{damaged")
    assert states(mem("plugins", "--json"))["host.x"][0] == "refused", "still strict"


def test_a_damaged_policy_is_left_alone(
    install_fake_plugin: FakeSite, mem: Mem, tmp_path: Path
) -> None:
    install_fake_plugin("host.x", HOST)
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    policy = data / "plugins-policy.json"
    policy.write_text("{damaged")
    done = mem("plugins", "block", "host.x")
    assert done.code == 1
    assert "plugins-policy.json" in done.err
    assert policy.read_text() == "{damaged"
    assert states(mem("plugins", "--json"))["host.x"][0] == "refused"


# Commands of plugins ---------------------------------------------------------


def test_a_command_of_a_plugin_runs(install_fake_plugin: FakeSite, mem: Mem) -> None:
    install_fake_plugin(
        "command.hello", COMMAND.format(body="print('hi', args.loud); return 5")
    )
    done = mem("hello", "--loud")
    assert (done.code, done.out) == (5, "hi True\n")
    assert "--loud" in mem("hello", "--help").out
    wrong = mem("hello", "--nope")
    assert wrong.code == 2


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("raise OSError('disk')", "its command failed: OSError: disk"),
        ("return 'text'", "returned str, not an exit code"),
        ("raise MemError('do this')", "mem: do this"),
    ],
)
def test_a_command_that_fails(
    install_fake_plugin: FakeSite, mem: Mem, body: str, text: str
) -> None:
    install_fake_plugin("command.hello", COMMAND.format(body=body))
    done = mem("hello")
    assert done.code == 1
    assert text in done.err


def test_a_built_in_command_wins(install_fake_plugin: FakeSite, mem: Mem) -> None:
    code = COMMAND.format(body="return 9").replace('"hello"', '"plugins"')
    install_fake_plugin("command.hello", code)
    assert mem("plugins").code == 0


def test_cap_243_an_unknown_command_points_to_help(
    install_fake_plugin: FakeSite, mem: Mem
) -> None:
    done = mem("plugin")
    assert done.code == 1
    assert done.err == (
        "mem: unknown command 'plugin'. Did you mean `mem plugins`? See `mem --help`.\n"
    )
    install_fake_plugin("command.bad", "import a_module_that_is_not_there")
    assert "Some plugins failed to load: `mem plugins`." in mem("zzzz").err

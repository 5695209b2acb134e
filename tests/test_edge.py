"""What the worker publishes for the hook, and how the hook is laid down."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import anyio
import pytest

from claude_mem_core import edge
from claude_mem_core.errors import StoreError
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.pipeline.services import open_services
from claude_mem_core.settings import CORE
from claude_mem_core.store import Store
from claude_mem_core.types import Redactor
from tests.hook_home import HookHome, hook_home

SETTINGS: dict[str, Any] = {setting.key: setting.default for setting in CORE}


@pytest.fixture
def home() -> Iterator[HookHome]:
    with hook_home() as made:
        yield made


def registry(*records: Redactor, fault: str | None = None, **hooks: frozenset[str]) -> Any:
    plugins = {
        name: SimpleNamespace(name=f"policy.{name}", hooks=found)
        for name, found in hooks.items()
    }
    return SimpleNamespace(
        recording_fault=lambda: fault, records=lambda *_: records, plugins=plugins
    )


def test_a_policy_says_what_settings_and_plugins_say() -> None:
    settings = SETTINGS | {
        "CLAUDE_MEM_EXCLUDED_PROJECTS": ("~/work/*", "name"),
        "CLAUDE_MEM_WORKER_AUTOSTART": False,
        "CLAUDE_MEM_REDACT_CUSTOM_PATTERNS": [{"name": "a", "regex": "b"}],
        "CLAUDE_MEM_REDACT_DISABLED_BUILTINS": ("jwt",),
    }
    record = Redactor(name="acme", open=lambda _: str)
    plugins = registry(record, asks=frozenset({"mem_should_record"}), other=frozenset())
    policy = edge.policy_of(plugins, settings, "a1b2")
    assert policy.own_id == "a1b2"
    assert os.path.expanduser("~/work/*") in policy.excluded
    assert "name" in policy.excluded
    assert (policy.autostart, policy.patterns, policy.disabled) == (False, True, ("jwt",))
    assert policy.redactors == (edge.EdgeRedactor("acme", False),)
    assert policy.judges == ("policy.asks",)
    assert policy.recording
    assert not edge.policy_of(registry(fault="broken"), SETTINGS).recording


def test_links_in_a_glob_are_resolved(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    settings = SETTINGS | {"CLAUDE_MEM_EXCLUDED_PROJECTS": (f"{tmp_path}/link/*",)}
    policy = edge.policy_of(registry(), settings)
    assert f"{tmp_path.resolve()}/real/*" in policy.excluded


def test_rules_are_written_only_when_they_say_something_else(home: HookHome) -> None:
    policy = edge.EdgePolicy(own_id="a1b2")
    assert edge.publish(home.paths, policy) is True
    assert edge.publish(home.paths, policy) is False
    assert home.paths.edge.stat().st_mode & 0o777 == 0o600
    assert json.loads(home.paths.edge.read_bytes())["v"] == 1


def test_the_default_rules_let_the_hook_keep_content(home: HookHome) -> None:
    edge.publish(home.paths, edge.policy_of(registry(), SETTINGS, "a1b2"))
    home.run("PostToolUse", {"session_id": "s", "prompt": "p"})
    assert home.record()[0]["dropped"] is None


# Installing ----------------------------------------------------------------------------


def test_the_hook_is_laid_down_for_us_alone(home: HookHome) -> None:
    assert home.argv == edge.hook_argv(home.paths)
    assert home.argv[1:4] == ["-I", "-S", "-E"]
    for path in home.paths.hook.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600
    assert edge.hook_faults(home.paths) == []


def test_no_name_in_the_hook_s_folder_speaks_of_the_spool(home: HookHome) -> None:
    """Tests from outside look for spooled events by that word."""
    assert not [path for path in home.paths.hook.iterdir() if "spool" in path.name]


def test_installing_again_writes_nothing(home: HookHome) -> None:
    def state() -> dict[str, int]:
        return {p.name: p.stat().st_mtime_ns for p in home.paths.hook.iterdir()}

    edge.install_hook(home.paths)
    before = state()
    edge.install_hook(home.paths)
    assert state() == before


def test_what_is_missing_or_changed_is_named_and_mended(home: HookHome) -> None:
    (home.paths.hook / "cold.py").write_text("x = 1")
    (home.paths.hook / "wire.py").unlink()
    (fault,) = edge.hook_faults(home.paths)
    assert "cold.py, wire.py" in fault
    edge.install_hook(home.paths)
    assert edge.hook_faults(home.paths) == []
    assert "mem install" in edge.hook_faults(Paths(home.paths.data / "other"))[0]


def test_an_upgrade_is_seen(home: HookHome) -> None:
    edge.ensure_hook(home.paths)
    (home.paths.hook / "installed").write_text("older\n5\n")
    (home.paths.hook / "cold.py").write_text("x = 1")
    assert edge.ensure_hook(home.paths) == home.argv
    assert edge.hook_faults(home.paths) == []


def test_of_the_environment_little_is_recorded(home: HookHome) -> None:
    given = {
        "PATH": f"relative{os.pathsep}/usr/bin{os.pathsep}.{os.pathsep}", "HOME": "/home/u",
        "XDG_CONFIG_HOME": "/home/u/.config", "HTTPS_PROXY": "http://evil", "PYTHONPATH": "/evil",
        "ANTHROPIC_API_KEY": "sk", "CLAUDE_MEM_REDACT_ENABLED": "false",
    }  # fmt: skip
    env = edge.recorded_environment(given)
    assert env == {
        "PATH": "/usr/bin", "HOME": "/home/u", "XDG_CONFIG_HOME": "/home/u/.config",
        "LANG": "C.UTF-8",
    }  # fmt: skip


def test_a_host_s_environment_does_not_replace_what_is_recorded(home: HookHome) -> None:
    edge.install_hook(home.paths, environ={"PATH": "/opt/good", "HOME": "/home/u"})
    edge.install_hook(home.paths, environ={})
    words = home.paths.worker_argv.read_bytes().split(b"\0")
    count = int(words[0])
    assert words[1 : count + 1][1:4] == [b"-I", b"-m", b"claude_mem_core.worker.main"]
    assert b"PATH=/opt/good" in words[count + 1 :]


def test_a_directory_of_others_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    os.chmod(tmp_path / "open", 0o777)
    with pytest.raises(StoreError, match="chmod go-w"):
        edge.install_hook(Paths(tmp_path / "open" / "d"))


def test_the_cached_code_holds_what_the_source_says(home: HookHome) -> None:
    """No annotation, docstring or type-checking import is left to cost time."""
    code = (
        "import marshal, sys; c = marshal.loads(open(sys.argv[1], 'rb').read()[16:]);"
        "print(sorted(c.co_names))"
    )
    cached = next(home.paths.hook.glob("client.*.pyc"))
    done = subprocess.run(
        [sys.executable, "-c", code, str(cached)], capture_output=True, text=True, check=True
    )
    assert "annotations" not in done.stdout
    assert "__future__" not in done.stdout
    assert "__annotations__" not in done.stdout
    assert "attend" in done.stdout


def test_a_start_without_a_note_leaves_one(home: HookHome) -> None:
    edge.confirm_start(home.paths)
    assert (home.paths.data / "starting").read_text().split()[1:] == [str(os.getpid()), "ok"]


def test_a_counter_that_is_none_counts_nothing(home: HookHome) -> None:
    (home.paths.data / "lost.count").write_text("many")
    assert edge.lost(home.paths) == 0
    (home.paths.data / "lost.count").unlink()
    assert (edge.lost(home.paths), edge.take_lost(home.paths)) == (0, 0)


def test_rules_are_there_before_a_database_is(tmp_path: Path) -> None:
    """A worker that is killed while it first starts must not leave the hook without them."""
    paths = Paths(secure_dir(tmp_path / "d"))
    seen: list[bool] = []

    def opened(_: Path) -> Store:
        seen.append(paths.edge.exists())
        raise StoreError("enough seen")

    async def open_it() -> None:
        async with open_services(paths):
            pass

    with mock.patch.object(Store, "open", opened), pytest.raises(StoreError):
        anyio.run(open_it)
    assert seen == [True]

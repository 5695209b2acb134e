"""What is installed is known from a cached index that outdates itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from claude_mem_core.paths import Paths
from claude_mem_core.plugins import index
from claude_mem_core.plugins.entry import OWN, OWN_PACKAGE
from claude_mem_core.plugins.index import entries, installed, scan
from claude_mem_core.plugins.news import news
from claude_mem_core.plugins.policy import (
    Pin,
    Policy,
    changed_file,
    policy_bytes,
    read_policy,
    refusals,
)
from claude_mem_core.plugins.registry import State, open_registry
from claude_mem_core.testing.fake_site import FakeSite

ROOT = Path(__file__).parent.parent
GOOD = """
    from claude_mem_core import hookimpl

    @hookimpl
    def mem_stopped():
        pass
"""


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    return Paths(data)


def fakes(cache: Path) -> list[str]:
    return [e.name for e in entries(cache) if e.package.startswith("fake-")]


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders count as settled however young, and the checkout is not among them."""
    monkeypatch.setattr(index, "SETTLED_NS", -1)
    outside = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]
    monkeypatch.setattr(sys, "path", outside)


@pytest.mark.usefixtures("settled")
def test_installing_and_uninstalling_are_noticed(
    install_fake_plugin: FakeSite, paths: Paths
) -> None:
    cache = paths.plugin_index
    assert fakes(cache) == []
    install_fake_plugin("host.x", GOOD)
    assert fakes(cache) == ["host.x"]
    assert fakes(cache) == ["host.x"]
    assert cache.stat().st_mode & 0o777 == 0o600
    install_fake_plugin.remove("fake-host-x")
    assert fakes(cache) == []


@pytest.mark.usefixtures("settled")
def test_nothing_is_scanned_while_nothing_changed(
    install_fake_plugin: FakeSite, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_fake_plugin("host.x", GOOD)
    first = installed(paths.plugin_index)
    monkeypatch.setattr(index, "survey", lambda: pytest.fail("scanned again"))
    assert installed(paths.plugin_index) == first
    assert fakes(paths.plugin_index) == ["host.x"]


def test_a_folder_that_changes_right_now_is_not_kept(
    install_fake_plugin: FakeSite, paths: Paths
) -> None:
    install_fake_plugin("host.x", GOOD)
    assert fakes(paths.plugin_index) == ["host.x"]
    assert not paths.plugin_index.exists()


@pytest.mark.usefixtures("settled")
def test_two_search_paths_do_not_evict_each_other(
    install_fake_plugin: FakeSite, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_fake_plugin("host.x", GOOD)
    long_path, short_path = sys.path[:], sys.path[1:]
    for path in (long_path, short_path):
        monkeypatch.setattr(sys, "path", path)
        installed(paths.plugin_index)
    monkeypatch.setattr(index, "survey", lambda: pytest.fail("scanned again"))
    for path, found in ((long_path, ["host.x"]), (short_path, [])):
        monkeypatch.setattr(sys, "path", path)
        assert fakes(paths.plugin_index) == found


DAMAGE = ["", "{", "[]", "null", '{"views": 3}', '{"views": [{}]}', '{"views": [[1]]}', "\0"]


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("text", DAMAGE)
def test_a_damaged_cache_means_a_fresh_scan(
    install_fake_plugin: FakeSite, paths: Paths, text: str
) -> None:
    install_fake_plugin("host.x", GOOD)
    paths.plugin_index.write_text(text)
    paths.plugin_index.chmod(0o600)
    assert fakes(paths.plugin_index) == ["host.x"]
    assert "views" in json.loads(paths.plugin_index.read_text())


@pytest.mark.usefixtures("settled")
def test_a_cache_that_others_may_write_is_not_believed(
    install_fake_plugin: FakeSite, paths: Paths
) -> None:
    installed(paths.plugin_index)
    kept = json.loads(paths.plugin_index.read_text())
    kept["views"][0]["entries"] = [["host.evil", "evil", "fake-evil", "1"]]
    paths.plugin_index.write_text(json.dumps(kept))
    assert fakes(paths.plugin_index) == ["host.evil"], "the file is believed while it is ours"
    paths.plugin_index.chmod(0o666)
    assert fakes(paths.plugin_index) == []


@pytest.mark.usefixtures("settled")
def test_a_cache_behind_a_link_is_not_followed(
    install_fake_plugin: FakeSite, paths: Paths, tmp_path: Path
) -> None:
    target = tmp_path / "precious"
    target.write_text("kept")
    paths.plugin_index.symlink_to(target)
    installed(paths.plugin_index)
    assert target.read_text() == "kept"


@pytest.mark.usefixtures("settled")
def test_a_read_only_home_costs_time_only(
    install_fake_plugin: FakeSite, tmp_path: Path
) -> None:
    install_fake_plugin("host.x", GOOD)
    (tmp_path / "file").write_text("")
    assert fakes(tmp_path / "file" / "plugins.json") == ["host.x"]


def test_damaged_metadata_hides_no_other_plugin(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("host.good", GOOD)
    for name, files in {
        "empty": {},
        "nameless": {"METADATA": "", "entry_points.txt": "[claude_mem]\nhost.a = a\n"},
        "bad": {"METADATA": "Name: bad\n", "entry_points.txt": "[claude_mem]\n= =\n[["},
        "binary": {"METADATA": "Name: b\n", "entry_points.txt": "[claude_mem]\n\udcff = x\n"},
    }.items():
        info = install_fake_plugin.folder / f"{name}-1.dist-info"
        info.mkdir()
        for file, text in files.items():
            (info / file).write_bytes(text.encode("utf-8", "surrogateescape"))
    names = [entry.name for entry in scan([str(install_fake_plugin.folder)])]
    assert "host.good" in names


def test_nobody_else_can_be_the_core(install_fake_plugin: FakeSite) -> None:
    install_fake_plugin("redactor.secrets", GOOD, package="fake-x")
    info = next(install_fake_plugin.folder.glob("*.dist-info"))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Claude_Mem.Core\nVersion: 9\n")
    assert scan([str(install_fake_plugin.folder)]) == []


def test_the_cores_own_plugins_are_those_of_its_metadata() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == OWN_PACKAGE
    assert dict(project["entry-points"]["claude_mem"]) == {e.name: e.value for e in OWN}


def test_a_warm_index_imports_next_to_nothing(tmp_path: Path) -> None:
    """In a process of its own, on a search path that nobody else changes."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "claude_mem_core").symlink_to(ROOT / "claude_mem_core")
    os.utime(site, (1, 1))
    code = (
        f"import sys; sys.path.append({str(site)!r})\n"
        "import pathlib, claude_mem_core.plugins.index as index\n"
        "index.entries(pathlib.Path(sys.argv[1])); print(*sys.modules)"
    )
    run = [sys.executable, "-I", "-S", "-c", code, str(tmp_path / "plugins.json")]
    cold, warm = (
        set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())
        for _ in range(2)
    )
    heavy = {"attr", "attrs", "pluggy", "importlib.metadata", "logging"}
    assert heavy & cold == {"importlib.metadata"}
    assert not heavy & warm


# Strict mode -----------------------------------------------------------------


def allow(paths: Paths, *names: str) -> None:
    packages = {p.name: p for p in installed(paths.plugin_index).packages}
    pins = {name: Pin(packages[name].version, packages[name].record) for name in names}
    paths.plugin_policy.write_bytes(policy_bytes(Policy(allowed=pins)))


def state(paths: Paths, name: str, *, strict: bool = True) -> tuple[State, str]:
    registry = open_registry(paths, strict=strict)
    registry.load("host", "redactor")
    return registry.plugins[name].state, registry.plugins[name].error


def test_strict_mode_loads_what_was_allowed_as_it_was(
    install_fake_plugin: FakeSite, paths: Paths
) -> None:
    module = install_fake_plugin("host.x", GOOD)
    refused, reason = state(paths, "host.x")
    assert refused is State.REFUSED
    assert "`mem plugins allow fake-host-x`" in reason
    assert "fake_host_x" not in sys.modules
    allow(paths, "fake-host-x")
    assert state(paths, "host.x") == (State.LOADED, "")

    install_fake_plugin.forget()
    module.write_text(module.read_text().replace("pass", "...."))
    refused, reason = state(paths, "host.x")
    assert refused is State.REFUSED
    assert "fake_host_x.py changed" in reason
    assert "fake_host_x" not in sys.modules


def test_strict_mode_notices_an_upgrade(install_fake_plugin: FakeSite, paths: Paths) -> None:
    install_fake_plugin("host.x", GOOD)
    allow(paths, "fake-host-x")
    install_fake_plugin("host.x", GOOD, version="1.1")
    refused, reason = state(paths, "host.x")
    assert refused is State.REFUSED
    assert "allowed was 1.0, installed is 1.1" in reason


def test_a_refused_redactor_stops_recording(
    install_fake_plugin: FakeSite, paths: Paths
) -> None:
    install_fake_plugin("redactor.x", GOOD)
    registry = open_registry(paths, strict=True)
    assert "not allowed yet" in str(registry.recording_fault())


def test_changed_file_reads_record(install_fake_plugin: FakeSite, paths: Paths) -> None:
    module = install_fake_plugin("host.x", GOOD)
    (package,) = [p for p in installed(paths.plugin_index).packages if p.name == "fake-host-x"]
    assert changed_file(package) == ""
    module.unlink()
    assert changed_file(package) != ""


def test_blocked_by_policy_file(install_fake_plugin: FakeSite, paths: Paths) -> None:
    install_fake_plugin("host.x", GOOD)
    paths.plugin_policy.write_bytes(policy_bytes(Policy(blocked=frozenset({"host.x"}))))
    assert state(paths, "host.x", strict=False)[0] is State.BLOCKED
    assert read_policy(paths.plugin_policy).blocked == {"host.x"}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"blocked": [1]}', '{"allowed": {"a": 1}}'])
def test_a_damaged_policy_loads_no_stranger(
    install_fake_plugin: FakeSite, paths: Paths, text: str
) -> None:
    install_fake_plugin("host.x", GOOD)
    paths.plugin_policy.write_text(text)
    refused, reason = state(paths, "host.x", strict=False)
    assert refused is State.REFUSED
    assert "plugins-policy.json" in reason
    assert refusals(Policy(), installed(paths.plugin_index).packages) == {}


def test_no_plugins_is_heard_from_the_environment(
    install_fake_plugin: FakeSite, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_fake_plugin("host.x", GOOD)
    monkeypatch.setenv("CLAUDE_MEM_NO_PLUGINS", "1")
    assert state(paths, "host.x", strict=False)[0] is State.REFUSED


# News ------------------------------------------------------------------------


def about(lines: list[str]) -> list[str]:
    return [line for line in lines if "fake-" in line]


def test_new_and_changed_plugins_are_named_once_at_each_place(
    install_fake_plugin: FakeSite, paths: Paths
) -> None:
    install_fake_plugin("host.x", GOOD)
    told = "fake-host-x 1.0 (package index, by fake) offers host.x; "
    told += "`mem plugins block fake-host-x` stops it"
    assert about(news(paths, mark=False)) == [f"new plugin {told}"]
    assert about(news(paths)) == [f"new plugin {told}"]
    assert about(news(paths)) == []
    assert about(news(paths, "session")) == [f"new plugin {told}"]
    assert about(news(paths, "session")) == []

    install_fake_plugin("host.x", GOOD.replace("pass", "...."))
    assert about(news(paths)) == [f"changed plugin {told}"]
    install_fake_plugin("host.x", GOOD, version="2.0")
    assert "changed plugin fake-host-x 2.0" in about(news(paths))[0]

    install_fake_plugin.remove("fake-host-x")
    assert about(news(paths)) == []
    install_fake_plugin("host.x", GOOD, version="2.0")
    assert "new plugin" in about(news(paths))[0]


@pytest.mark.usefixtures("settled")
def test_what_was_told_and_offered_outlives_a_rescan(
    install_fake_plugin: FakeSite, paths: Paths
) -> None:
    install_fake_plugin("host.x", GOOD)
    news(paths)
    open_registry(paths).load("host")
    installed(paths.plugin_index)
    kept = json.loads(paths.plugin_index.read_text())
    assert kept["offers"]["fake-host-x:host.x"] == ["mem_stopped"]
    assert "fake-host-x" in kept["told"]["status"]

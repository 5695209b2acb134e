"""Which hosts T3 Code's settings run, where, and what stands in their way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from claude_mem_host_t3code.installer import T3CodeInstaller

from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import HostSetup, RunHost

INSTALLER = T3CodeInstaller()


@attrs.define
class T3:
    """A home with T3 Code's settings in it."""

    home: Path
    env: dict[str, str] = attrs.field(factory=dict)

    @property
    def settings(self) -> Path:
        return self.home / ".t3" / "userdata" / "settings.json"

    def write(self, text: str) -> None:
        self.settings.parent.mkdir(parents=True, exist_ok=True)
        self.settings.write_text(text)

    def hosts(self, *, remove: bool = False, **settings: Any) -> list[RunHost]:
        if settings:
            self.write(json.dumps(settings))
        return list(INSTALLER.hosts(self.setup(), remove=remove))

    def setup(self, **fields: Any) -> HostSetup:
        data = str(self.home / ".claude-mem")
        return HostSetup(home=str(self.home), data_dir=data, argv=["x"], env=self.env, **fields)


@pytest.fixture
def t3(tmp_path: Path) -> T3:
    return T3(tmp_path)


def test_instances_in_their_homes(t3: T3) -> None:
    found = t3.hosts(
        providerInstances={
            "codex": {"driver": "codex", "config": {"homePath": "~/agents/codex"}},
            "second": {
                "driver": "codex",
                "environment": [{"name": "CODEX_HOME", "value": "/x"}],
            },
            "claudeAgent": {"driver": "claudeAgent"},
            "cursor": {"driver": "cursor"},
        }
    )
    assert [(host.host, host.home, dict(host.env)) for host in found] == [
        ("codex", f"{t3.home}/agents/codex", {"CODEX_HOME": f"{t3.home}/agents/codex"}),
        ("codex", "/x", {"CODEX_HOME": "/x"}),
        ("claude-code", f"{t3.home}/.claude", {"CLAUDE_CONFIG_DIR": f"{t3.home}/.claude"}),
    ]


def test_an_instance_stands_for_the_older_entry(t3: T3) -> None:
    older = {"codex": {"homePath": "/old"}, "claudeAgent": {"homePath": "/claude"}}
    (claude,) = t3.hosts(
        providers=older, providerInstances={"codex": {"driver": "codex", "enabled": False}}
    )
    assert (claude.host, claude.home) == ("claude-code", "/claude")
    found = t3.hosts(providers=older)
    assert [host.home for host in found] == ["/old", "/claude"]


def test_those_switched_off_are_only_removed_from(t3: T3) -> None:
    settings = {
        "providers": {"codex": {"enabled": False}},
        "providerInstances": {"c": {"driver": "claudeAgent", "enabled": False}},
    }
    with pytest.raises(HostConfigError, match="switched on"):
        t3.hosts(**settings)
    assert {host.host for host in t3.hosts(remove=True)} == {"codex", "claude-code"}


def test_one_home_is_installed_into_once(t3: T3) -> None:
    pair = {"a": {"driver": "codex"}, "b": {"driver": "codex"}}
    assert len(t3.hosts(providerInstances=pair)) == 1


def test_the_environment_says_where_the_homes_are(t3: T3) -> None:
    t3.env = {"CODEX_HOME": "/around"}
    secret = [
        {"name": "CODEX_HOME", "value": "/secret", "sensitive": True},
        {"name": 3, "value": "x"},
        "odd",
    ]
    (host,) = t3.hosts(providerInstances={"codex": {"driver": "codex", "environment": secret}})
    assert host.home == "/around"


@pytest.mark.parametrize(
    "active", [None, "{", '{"version": "../../x"}', '{"version": "1.2.3"}']
)
def test_a_managed_codex_that_is_not_set_up(t3: T3, active: str | None) -> None:
    managed = {"codex": {"driver": "codex", "config": {"setupMode": "managed"}}}
    folder = t3.home / ".t3" / "tools" / "codex"
    folder.mkdir(parents=True)
    if active:
        (folder / "active.json").write_text(active)
    t3.env = {"CODEX_HOME": "/not/this/one"}
    (host,) = t3.hosts(providerInstances=managed)
    assert "finish that in T3 Code" in host.refusal
    assert host.home == f"{t3.home}/.codex"
    if active and "1.2.3" in active:
        (folder / "1.2.3" / "bin").mkdir(parents=True)
        (folder / "1.2.3" / "bin" / "codex").touch()
        (host,) = t3.hosts()
        assert host.refusal == ""


@pytest.mark.parametrize(
    ("driver", "arguments", "said"),
    [
        ("codex", "--model x", ""),
        ("codex", "--disable hooks", "`--disable hooks`"),
        ("codex", "--disable=hooks", "`--disable hooks`"),
        ("codex", "-c features.hooks=false", "`features.hooks=false`"),
        ("codex", "--config='features.hooks = false'", "`features.hooks = false`"),
        ("codex", "-c features.hooks=true", ""),
        ("codex", "'open", "can't be read"),
        ("claudeAgent", "--setting-sources user,project", ""),
        ("claudeAgent", "--setting-sources project", "`--setting-sources project`"),
        ("claudeAgent", "--setting-sources=project --setting-sources=user", ""),
        ("claudeAgent", "--strict-mcp-config", "our MCP server"),
        ("claudeAgent", "--disable-all-hooks=true", "our hooks"),
        ("claudeAgent", "--disable-all-hooks=false", ""),
    ],
)
def test_launch_arguments_that_stand_in_the_way_are_named(
    t3: T3, driver: str, arguments: str, said: str
) -> None:
    config = {"launchArgs": arguments}
    (host,) = t3.hosts(providerInstances={"mine": {"driver": driver, "config": config}})
    assert bool(host.problems) == bool(said)
    assert all(said in text and text.startswith("mine: ") for text in host.problems)
    assert host.refusal == ""


def test_the_settings_of_another_server(t3: T3, tmp_path: Path) -> None:
    other = tmp_path / "srv" / "userdata" / "settings.json"
    other.parent.mkdir(parents=True)
    other.write_text('\ufeff{"providers": {"codex": {}}}')
    for env in (
        {"T3CODE_HOME": str(tmp_path / "srv")},
        {
            "CLAUDE_MEM_T3CODE_SETTINGS_PATH": "~/srv/userdata/settings.json",
            "T3CODE_HOME": "/x",
        },
    ):
        t3.env = env
        assert INSTALLER.status(t3.setup()).config == str(other)
        assert [host.host for host in t3.hosts()] == ["codex"]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"providers": []}',
        '{"providerInstances": {"codex": 1}}',
        '{"providers": {"codex": {"driver": "codex"}}, "providerInstances": {"a": {"config": 1}}}',
        '{"providerInstances": {"codex": {"driver": "codex", "environment": {}}}}',
    ],
)
def test_settings_that_can_not_be_read_are_told_and_left(t3: T3, text: str) -> None:
    t3.write(text)
    with pytest.raises(HostConfigError, match="settings.json"):
        t3.hosts()
    status = INSTALLER.status(t3.setup())
    assert status.detected
    assert "settings.json" in status.problems[0]
    assert t3.settings.read_text() == text


def test_without_t3_code(t3: T3) -> None:
    with pytest.raises(HostConfigError, match="CLAUDE_MEM_T3CODE_SETTINGS_PATH"):
        t3.hosts()
    assert t3.hosts(remove=True) == []
    status = INSTALLER.status(t3.setup())
    assert (status.detected, status.problems) == (False, ())


def test_it_is_the_users_only(t3: T3) -> None:
    setup = t3.setup(scope="project", project="/p")
    with pytest.raises(HostConfigError, match="--scope user"):
        INSTALLER.hosts(setup, remove=False)
    with pytest.raises(HostConfigError, match="--scope user"):
        INSTALLER.status(setup)

"""A host that a TOML file teaches keeps the same contracts as one with a package."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import ClassVar

import attrs
import pytest

from claude_mem_core.plugins.entry import OWN
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.testing import HostContract, McpContract
from claude_mem_core.testing.installer import InstallerContract
from claude_mem_core.testing.samples import recorded
from claude_mem_core.types import EventKind, HostAdapter, HostInstaller, HostSetup

TAUGHT = Path(__file__).parent / "taught"
DIRTY = [
    b"{}",
    b'{\n  "on": {"asked": [{"run": "say hello"}]},\n  "theme": "dark"\n}\n',
    b'\xef\xbb\xbf{\r\n\t"on": {},\r\n\t"a": 1\r\n}\r\n',
    b'// mine\n{\n    "on": {"begin": [], /* x */},\n}\n// end',
]


def taught(folder: Path) -> Registry:
    """A registry of a data directory with the file in it."""
    place = folder / "hosts" / "taught"
    place.mkdir(parents=True)
    shutil.copy(TAUGHT / "my-agent.toml", place)
    registry = Registry(OWN, data_dir=str(folder))
    registry.load("host")
    return registry


class TestTaught(HostContract):
    plugin = "host.taught"
    name = "my-agent"
    payloads = TAUGHT / "payloads"
    kinds = frozenset(
        {
            EventKind.SESSION_STARTED, EventKind.PROMPT_SENT, EventKind.TOOL_STARTING,
            EventKind.TOOL_USED, EventKind.TOOL_FAILED, EventKind.TURN_ENDED,
            EventKind.SESSION_ENDED,
        }
    )  # fmt: skip

    @pytest.fixture
    def registry(self, tmp_path: Path) -> Registry:
        return taught(tmp_path / "known")

    def test_the_files_paths_are_followed(self, adapter: HostAdapter) -> None:
        calls = [recorded(self.name, file) for file in sorted(self.payloads.glob("*.json"))]
        found = {call.event: adapter.parse(call)[0] for call in calls}
        assert {event.session_id for event in found.values()} == {"4711"}
        assert {event.cwd for event in found.values()} == {"/home/dev/shop"}
        assert found["asked"].prompt == "mend the cart\nand test it"
        assert found["asked"].prompt_id == "3"
        assert found["answered"].answer == "The cart is mended."
        assert found["gone"].reason == "quit"

    def test_a_tool_with_an_error_has_failed(self, adapter: HostAdapter) -> None:
        good, bad = (
            adapter.parse(recorded(self.name, self.payloads / f"{name}.json"))[0]
            for name in ("tool-after", "tool-after.failed")
        )
        assert good.kind is EventKind.TOOL_USED
        assert good.tool is not None
        assert good.tool.output == "2 passed"
        assert bad.kind is EventKind.TOOL_FAILED
        assert bad.tool is not None
        assert bad.tool.error == "exit code 2: no rule"

    def test_the_payload_may_name_the_event(self, adapter: HostAdapter) -> None:
        call = recorded(self.name, self.payloads / "gone.json")
        named = {**json.loads(call.stdin), "hook_event_name": "gone"}
        bare = attrs.evolve(call, event="", stdin=json.dumps(named).encode())
        assert [event.kind for event in adapter.parse(bare)] == [EventKind.SESSION_ENDED]
        assert adapter.parse(attrs.evolve(call, event="unheard-of")) == []


class TestTaughtInstaller(InstallerContract):
    plugin = "host.taught"
    name = "my-agent"
    config = ".my-agent/settings.json"
    contents = DIRTY
    unreadable = (b"{", b"[]", b'{"on": 3}', b'{"on": {"asked": "x"}}', b"\xff\xfe{\x00")

    @pytest.fixture
    def registry(self, tmp_path: Path) -> Registry:
        return taught(tmp_path / "known")

    def test_the_commands_wait_where_the_context_is_taken(
        self, installer: HostInstaller, setup: HostSetup
    ) -> None:
        change = next(c for c in installer.install(setup) if c.path.endswith(self.config))
        on = json.loads(change.after or b"")["on"]
        launch = f"{setup.data_dir}/hook/launch.py"
        assert on["begin"] == [
            {
                "run": f"/usr/bin/python3 -I -S -E {launch} my-agent begin --wait 3",
                "seconds": 10,
            }
        ]
        assert on["gone"][0]["run"].endswith(f"{launch} my-agent gone")


class TestTaughtMcp(McpContract):
    plugin = "host.taught"
    name = "my-agent"
    config = ".my-agent/servers.json"
    contents: ClassVar = [b"{}", b'{"tools": {"servers": {"x": {"command": "y"}}}, "b": 1}']
    unreadable = (b"{", b'{"tools": {"servers": []}}')

    @pytest.fixture
    def registry(self, tmp_path: Path) -> Registry:
        return taught(tmp_path / "known")

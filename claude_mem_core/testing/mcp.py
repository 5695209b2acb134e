"""The contract of installers that name our MCP server: put in once, gone without a trace.

class TestKimiMcp(McpContract):
    plugin = "host.kimi"
    config = ".kimi-code/mcp.json"
    contents = [b"{}", b'{"mcpServers": {"other": {"command": "x"}}}']
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest

from claude_mem_core.cli.install.apply import apply
from claude_mem_core.errors import HostConfigError
from claude_mem_core.paths import Paths
from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.types import FileChange, Host, HostSetup, RegistersMcp


class McpContract(RecordContract[Host]):
    """Inherit, name the file with the host's MCP servers and what people have in it.

    Attributes:
        config: path of that file below the home directory.
        contents: contents of it to live with; each is restored byte for byte.
        unreadable: contents that the installer must refuse and leave alone.
    """

    hook: ClassVar[str] = "mem_hosts"
    kind: ClassVar[type[Any]] = Host
    config: ClassVar[str] = ""
    contents: ClassVar[Sequence[bytes]] = ()
    unreadable: ClassVar[Sequence[bytes]] = ()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test for each content, and one without the file."""
        if "content" in metafunc.fixturenames:
            metafunc.parametrize("content", [None, *self.contents])
        if "broken" in metafunc.fixturenames:
            metafunc.parametrize("broken", self.unreadable)

    @pytest.fixture
    def installer(self, record: Host) -> RegistersMcp:
        """The host's installer, which names our server."""
        assert record.installer is not None
        made = record.installer()
        assert isinstance(made, RegistersMcp)
        return made

    @pytest.fixture
    def setup(self, tmp_path: Path) -> HostSetup:
        """A home of its own and our data directory in it."""
        data = tmp_path / "home" / ".claude-mem"
        data.mkdir(parents=True)
        argv = ["/usr/bin/python3", "-I", "-S", "-E", "-c", "pass"]
        return HostSetup(
            home=str(data.parent), data_dir=str(data),
            argv=[*argv, str(data / "hook" / "launch.py")],
            mcp=[*argv, str(data / "hook" / "bridge.py")],
        )  # fmt: skip

    def test_an_empty_home_is_no_error(self, installer: RegistersMcp, setup: HostSetup) -> None:
        assert not installer.mcp_status(setup).registered
        assert list(installer.mcp_uninstall(setup)) == []

    def test_planning_writes_nothing(
        self, installer: RegistersMcp, setup: HostSetup, content: bytes | None
    ) -> None:
        self._lay(setup, content)
        before = _tree(setup)
        installer.mcp_status(setup)
        installer.mcp_install(setup)
        installer.mcp_uninstall(setup)
        assert _tree(setup) == before

    def test_registers_once_and_leaves_without_a_trace(
        self, installer: RegistersMcp, setup: HostSetup, content: bytes | None, record: Host
    ) -> None:
        self._lay(setup, content)
        before = _tree(setup)
        _apply(installer.mcp_install(setup), setup)
        status = installer.mcp_status(setup)
        assert status.registered
        text = Path(status.config).read_text("utf-8-sig")
        assert all(word in text for word in ("hook/bridge.py", record.name, "claude-mem"))
        assert list(installer.mcp_install(setup)) == [], "a second time changes nothing"
        _apply(installer.mcp_uninstall(setup), setup)
        assert not installer.mcp_status(setup).registered
        assert _tree(setup) == before

    def test_another_place_of_ours_gives_way(
        self, installer: RegistersMcp, setup: HostSetup
    ) -> None:
        elsewhere = [word.replace("/usr/bin/python3", "/opt/old/python") for word in setup.mcp]
        _apply(installer.mcp_install(attrs.evolve(setup, mcp=elsewhere)), setup)
        _apply(installer.mcp_install(setup), setup)
        text = Path(setup.home, self.config).read_text("utf-8")
        assert "/opt/old/python" not in text
        assert text.count("hook/bridge.py") == 1

    def test_what_can_not_be_read_is_left_alone(
        self, installer: RegistersMcp, setup: HostSetup, broken: bytes
    ) -> None:
        self._lay(setup, broken)
        before = _tree(setup)
        assert not installer.mcp_status(setup).registered
        with pytest.raises(HostConfigError):
            list(installer.mcp_install(setup))
        assert _tree(setup) == before

    def _lay(self, setup: HostSetup, content: bytes | None) -> None:
        if content is not None:
            path = Path(setup.home, self.config)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _tree(setup: HostSetup) -> dict[str, bytes]:
    backups = Path(setup.data_dir, "backups")
    files = (path for path in Path(setup.home).rglob("*") if path.is_file())
    return {str(p): p.read_bytes() for p in files if not p.is_relative_to(backups)}


def _apply(changes: Iterable[FileChange], setup: HostSetup) -> None:
    """Make the changes as `mem install` does, with a copy of each file before."""
    for change in changes:
        apply(change, Paths(Path(setup.data_dir)))

"""The contract of host installers: plans only, repeatable, and gone without a trace.

class TestKimiInstaller(InstallerContract):
    plugin = "host.kimi"
    config = ".kimi-code/config.toml"
    contents = [b"", b"# mine\\n[model]\\nname = 'x'\\n"]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from claude_mem_core.errors import HostConfigError
from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.types import FileChange, Host, HostInstaller, HostSetup


class InstallerContract(RecordContract[Host]):
    """Inherit, name the configuration file and what people have in it.

    Attributes:
        config: path of the host's configuration below the home directory.
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
    def installer(self, record: Host) -> HostInstaller:
        """The host's installer."""
        assert record.installer is not None
        return record.installer()

    @pytest.fixture
    def setup(self, tmp_path: Path) -> HostSetup:
        """A home of its own and our data directory in it."""
        home = tmp_path / "home"
        data = home / ".claude-mem"
        data.mkdir(parents=True)
        launch = str(data / "hook" / "launch.py")
        argv = ["/usr/bin/python3", "-I", "-S", "-E", launch]
        return HostSetup(home=str(home), data_dir=str(data), argv=argv)

    def test_an_empty_home_is_no_error(
        self, installer: HostInstaller, setup: HostSetup
    ) -> None:
        assert not installer.status(setup).installed
        assert list(installer.uninstall(setup)) == []

    def test_planning_writes_nothing(
        self, installer: HostInstaller, setup: HostSetup, content: bytes | None
    ) -> None:
        self._lay(setup, content)
        before = _tree(setup)
        installer.status(setup)
        installer.install(setup)
        installer.uninstall(setup)
        assert _tree(setup) == before

    def test_installs_once_and_leaves_without_a_trace(
        self, installer: HostInstaller, setup: HostSetup, content: bytes | None
    ) -> None:
        self._lay(setup, content)
        before = _tree(setup)
        changes = list(installer.install(setup))
        assert changes
        _apply(changes)
        assert installer.status(setup).installed
        assert list(installer.install(setup)) == [], "a second install changes nothing"
        _apply(installer.uninstall(setup))
        assert not installer.status(setup).installed
        assert _tree(setup) == before

    def test_what_can_not_be_read_is_left_alone(
        self, installer: HostInstaller, setup: HostSetup, broken: bytes
    ) -> None:
        self._lay(setup, broken)
        before = _tree(setup)
        installer.status(setup)
        with pytest.raises(HostConfigError):
            list(installer.install(setup))
        assert _tree(setup) == before

    def _lay(self, setup: HostSetup, content: bytes | None) -> None:
        if content is not None:
            path = Path(setup.home, self.config)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _tree(setup: HostSetup) -> dict[str, bytes]:
    files = (path for path in Path(setup.home).rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files}


def _apply(changes: Iterable[FileChange]) -> None:
    """What the core does, without backups and questions."""
    for change in changes:
        path = Path(change.path)
        assert path.is_absolute()
        assert (path.read_bytes() if path.exists() else None) == change.before
        if change.after is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(change.after)

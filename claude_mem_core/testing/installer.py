"""The contract of host installers: plans only, repeatable, and gone without a trace.

class TestKimiInstaller(GoldenInstallerContract):
    plugin = "host.kimi"
    config = ".kimi-code/config.toml"
    contents = [b"", b"# mine\\n[model]\\nname = 'x'\\n"]
    golden = Path(__file__).parent / "golden"

A folder in `golden` holds a file's contents as they have to be, to the byte: `before`, with
our part as `installed`, and, if there, as an `older` version of ours left it. `{home}` stands
for the home directory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from claude_mem_core.cli.install.apply import apply
from claude_mem_core.errors import HostConfigError
from claude_mem_core.paths import Paths
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
        _apply(changes, setup)
        assert installer.status(setup).installed
        assert list(installer.install(setup)) == [], "a second install changes nothing"
        _apply(installer.uninstall(setup), setup)
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

    def _now(self, setup: HostSetup) -> bytes | None:
        path = Path(setup.home, self.config)
        return path.read_bytes() if path.exists() else None

    def _lay(self, setup: HostSetup, content: bytes | None) -> None:
        if content is not None:
            path = Path(setup.home, self.config)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


class GoldenInstallerContract(InstallerContract):
    """The same, and what the file holds at each step, to the byte.

    Attributes:
        golden: folder of cases, each a folder with `before` (none: no file), `installed`,
            and, if there, `older`: what an older version of ours left.
    """

    golden: ClassVar[Path]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test for each case, too."""
        super().pytest_generate_tests(metafunc)
        if "case" in metafunc.fixturenames:
            cases = sorted(self.golden.iterdir())
            assert cases, f"no cases in {self.golden}"
            metafunc.parametrize("case", cases, ids=[case.name for case in cases])

    def test_install_repeat_and_uninstall_to_the_byte(
        self, installer: HostInstaller, setup: HostSetup, case: Path
    ) -> None:
        before, installed = _golden(case, "before", setup), _golden(case, "installed", setup)
        self._lay(setup, before)
        _apply(installer.install(setup), setup)
        assert self._now(setup) == installed
        assert list(installer.install(setup)) == []
        assert self._now(setup) == installed
        _apply(installer.uninstall(setup), setup)
        assert self._now(setup) == before

    def test_an_older_version_of_ours_is_renewed_in_its_place(
        self, installer: HostInstaller, setup: HostSetup, case: Path
    ) -> None:
        older = _golden(case, "older", setup)
        if older is None:
            older = _golden(case, "installed", setup)
        self._lay(setup, older)
        _apply(installer.install(setup), setup)
        assert self._now(setup) == _golden(case, "installed", setup)


def _tree(setup: HostSetup) -> dict[str, bytes]:
    """Every file of the home but our own copies of what was there before."""
    backups = Path(setup.data_dir, "backups")
    files = (path for path in Path(setup.home).rglob("*") if path.is_file())
    return {str(p): p.read_bytes() for p in files if not p.is_relative_to(backups)}


def _golden(case: Path, name: str, setup: HostSetup) -> bytes | None:
    file = case / name
    if not file.exists():
        return None
    return file.read_bytes().replace(b"{home}", json.dumps(setup.home)[1:-1].encode())


def _apply(changes: Iterable[FileChange], setup: HostSetup) -> None:
    """Make the changes as `mem install` does, with a copy of each file before."""
    for change in changes:
        apply(change, Paths(Path(setup.data_dir)))

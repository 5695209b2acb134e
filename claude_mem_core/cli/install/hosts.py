"""Which hosts there are, and what an installer has to know of this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import attrs

from claude_mem_core.cli.install import extras
from claude_mem_core.errors import MemError, PluginError, UnknownName
from claude_mem_core.paths import Paths, home_dir
from claude_mem_core.plugins.registry import Registry, open_registry
from claude_mem_core.types import (
    FileChange,
    Host,
    HostInstaller,
    HostSetup,
    HostStatus,
    TellsSteps,
)

T = TypeVar("T")


@attrs.frozen
class Target:
    """A host that can be installed into."""

    record: Host
    installer: HostInstaller

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def title(self) -> str:
        return self.record.title or self.record.name

    def status(self, setup: HostSetup) -> HostStatus:
        """What the installer finds.

        Raises:
            MemError: it could not look.
        """
        return self.guarded(lambda: self.installer.status(setup))

    def steps(self, setup: HostSetup) -> Sequence[str]:
        """What an installation leaves to the user.

        Raises:
            MemError: the installer could not say.
        """
        installer = self.installer
        if not isinstance(installer, TellsSteps):
            return ()
        return self.guarded(lambda: tuple(installer.steps(setup)))

    def plan(self, setup: HostSetup, *, remove: bool) -> Sequence[FileChange]:
        """The changes of an installation, or of its removal.

        Raises:
            MemError: the host's files can't be edited.
        """
        work = self.installer.uninstall if remove else self.installer.install
        return self.guarded(lambda: self._whole(tuple(work(setup)), setup, remove))

    def _whole(
        self, own: Sequence[FileChange], setup: HostSetup, remove: bool
    ) -> Sequence[FileChange]:
        """The installer's plan, with server and skills; of one file there is one change."""
        paths = {change.path for change in own}
        more = extras.changes(self.installer, setup, remove=remove)
        return (*own, *(change for change in more if change.path not in paths))

    def parts(self, setup: HostSetup, *, remove: bool) -> Sequence[Target]:
        """What is to be installed into; one after the other, each on its own."""
        return [self]

    def guarded(self, work: Callable[[], T]) -> T:
        """Do the installer's work.

        Raises:
            MemError: it failed; whatever else it raised is the plugin's fault.
        """
        try:
            return work()
        except MemError:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise PluginError(f"host.{self.name}", what) from error


def registry_for(paths: Paths) -> Registry:
    """The installed plugins, as far as the user lets them load."""
    from claude_mem_core.settings import SettingsSource

    blocked = SettingsSource(paths).current()["CLAUDE_MEM_PLUGINS_BLOCKED"]
    return open_registry(
        paths, blocked=blocked, no_plugins=os.environ.get("CLAUDE_MEM_NO_PLUGINS") == "1"
    )


def targets(registry: Registry) -> list[Target]:
    """The hosts of all plugins that have an installer, by name."""
    from claude_mem_core.cli.install.within import with_outer

    records = [r for r in registry.records("mem_hosts", Host) if r.installer is not None]
    plain = [_opened(record) for record in sorted(records, key=lambda record: record.name)]
    return with_outer(plain)


def parts(wanted: Sequence[Target], setup: HostSetup, *, remove: bool) -> list[Target]:
    """The hosts of all of these: a program that runs several of them gives each."""
    return [part for target in wanted for part in target.parts(setup, remove=remove)]


def _opened(record: Host) -> Target:
    assert record.installer is not None
    return Target(record, record.installer())


def chosen(known: Sequence[Target], names: Sequence[str]) -> list[Target]:
    """The hosts of these names, in the order given, each once.

    A name that is a file's is that of a host which the file teaches.

    Raises:
        UnknownName: one of them is not installed; the text lists those that are.
        BadHostFile: a file can't be used.
    """
    by_name = {name: t for t in known for name in t.record.aliases}
    by_name |= {target.name: target for target in known}
    found: dict[str, Target] = {}
    for name in names:
        target = _named(name, by_name)
        found.setdefault(target.name, target)
    return list(found.values())


def _named(name: str, by_name: Mapping[str, Target]) -> Target:
    """The host of a name, or the one that a TOML file teaches."""
    from claude_mem_core.taught import files as taught

    if name in by_name:
        return by_name[name]
    if not taught.is_file(name):
        raise UnknownName("host", name, sorted({t.name for t in by_name.values()}))
    return _opened(taught.named(name, {known: t.record for known, t in by_name.items()}))


def setup_for(
    paths: Paths,
    argv: Sequence[str],
    *,
    scope: str = "user",
    project: str | None = None,
    mcp: Sequence[str] = (),
    options: frozenset[str] = frozenset(),
    environ: Mapping[str, str] | None = None,
) -> HostSetup:
    """What an installer has to know of this machine."""
    return HostSetup(
        home=str(home_dir()),
        data_dir=str(paths.data),
        argv=tuple(argv),
        mcp=tuple(mcp),
        env=dict(os.environ if environ is None else environ),
        scope=scope,
        project=project or "" if scope == "user" else project or project_root(os.getcwd()),
        options=options,
    )


def project_root(cwd: str) -> str:
    """The repository's root, by its `.git`; the directory itself outside of one."""
    for folder in (Path(cwd), *Path(cwd).parents):
        if (folder / ".git").exists():
            return str(folder)
    return cwd

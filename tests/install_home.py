"""A home directory for tests of installers: hosts' files, our data directory, plans."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import attrs

from claude_mem_core.cli.install.apply import Applied, apply
from claude_mem_core.cli.install.hosts import Target, chosen, targets
from claude_mem_core.paths import Paths
from claude_mem_core.plugins.index import scan
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.types import HostSetup


@attrs.frozen
class Home:
    """A home of its own; `paths` is the data directory in it."""

    folder: Path
    paths: Paths

    @classmethod
    def at(cls, folder: Path) -> Home:
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, Paths(folder / ".claude-mem"))

    def setup(
        self, *, scope: str = "user", project: str = "", options: Sequence[str] = (),
        mcp: Sequence[str] = (),
    ) -> HostSetup:  # fmt: skip
        launch = str(self.paths.hook / "launch.py")
        return HostSetup(
            home=str(self.folder),
            data_dir=str(self.paths.data),
            argv=("/usr/bin/python3", "-I", "-S", "-E", launch),
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder)},
            scope=scope,
            project=project,
            mcp=tuple(mcp),
            options=frozenset(options),
        )

    def run(self, host: str, *, remove: bool = False, **setup: object) -> list[Applied]:
        """Plan and apply, as the command does."""
        found = target(host)
        plan = found.plan(self.setup(**setup), remove=remove)  # type: ignore[arg-type]
        return [apply(change, self.paths) for change in plan]

    def tree(self) -> dict[str, bytes]:
        """Every file outside of our data directory."""
        files = (p for p in self.folder.rglob("*") if p.is_file() and not p.is_symlink())
        ours = self.paths.data
        return {str(p): p.read_bytes() for p in files if not p.is_relative_to(ours)}


def target(name: str) -> Target:
    """The installed host of that name."""
    return chosen(targets(Registry(scan())), [name])[0]

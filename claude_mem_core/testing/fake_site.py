"""A folder of plugins laid down as pip would, without pip."""

from __future__ import annotations

import base64
import hashlib
import importlib
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent
from typing import Any

from claude_mem_core.plugins.index import scan
from claude_mem_core.plugins.registry import Registry

PREFIX = "fake_"


class FakeSite:
    """A folder on `sys.path`; calling it installs a plugin there.

    Attributes:
        folder: where modules and their `.dist-info` lie.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self, name: str, code: str, *, package: str = "", version: str = "1.0"
    ) -> Path:
        """Install `code` as the plugin `name` (`provider.echo`); return its module's path.

        `package` names the distribution, `fake-provider-echo` when left out. Laying
        down a package again replaces it, as an upgrade would.
        """
        module = PREFIX + (package or name).replace(".", "_").replace("-", "_")
        self.remove(package or module)
        file = self.folder / f"{module}.py"
        file.write_text(dedent(code), encoding="utf-8")
        info = self.folder / f"{module}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package or module}\nVersion: {version}\n"
        )
        (info / "entry_points.txt").write_text(f"[claude_mem]\n{name} = {module}\n")
        (info / "INSTALLER").write_text("fake\n")
        (info / "RECORD").write_text(f"{_recorded(file)}\n{info.name}/RECORD,,\n")
        importlib.invalidate_caches()
        return file

    def remove(self, package: str) -> None:
        """Uninstall a distribution, if it is there, and forget its module."""
        stem = package.replace(".", "_").replace("-", "_")
        module = stem if stem.startswith(PREFIX) else PREFIX + stem
        for info in self.folder.glob(f"{module}-*.dist-info"):
            shutil.rmtree(info)
        (self.folder / f"{module}.py").unlink(missing_ok=True)
        sys.modules.pop(module, None)
        importlib.invalidate_caches()

    def registry(self, blocked: Iterable[str] = (), **options: Any) -> Registry:
        """A registry of the plugins in this folder only, without the core's own."""
        return Registry(scan([str(self.folder)]), blocked, **options)

    def forget(self) -> None:
        """Drop the imported modules, so that the next registry imports afresh."""
        for name in [name for name in sys.modules if name.startswith(PREFIX)]:
            del sys.modules[name]


def _recorded(file: Path) -> str:
    data = file.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{file.name},sha256={digest},{len(data)}"

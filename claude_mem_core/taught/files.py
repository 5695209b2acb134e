"""The TOML files of taught hosts: those that are known, and one that somebody names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from claude_mem_core.editing import read_config
from claude_mem_core.errors import MemError
from claude_mem_core.taught.reading import NAME, BadHostFile, read_spec
from claude_mem_core.taught.spec import Spec
from claude_mem_core.types import Host, HostAdapter, HostInstaller

if TYPE_CHECKING:
    from collections.abc import Callable

SUFFIX = ".toml"


def folder(data_dir: str) -> str:
    """Where the files of known hosts lie."""
    return os.path.join(data_dir, "hosts", "taught")


def is_file(name: str) -> bool:
    """Whether a host's name on the command line is a file's."""
    return name.endswith(SUFFIX) or os.sep in name


def known(data_dir: str) -> Iterator[Host]:
    """The hosts of a data directory, by name."""
    try:
        names = sorted(os.listdir(folder(data_dir)))
    except OSError:
        return
    for name in names:
        stem = name.removesuffix(SUFFIX)
        if name.endswith(SUFFIX) and NAME.fullmatch(stem):
            yield _known(os.path.join(folder(data_dir), name), stem)


def _known(path: str, stem: str) -> Host:
    try:
        spec = read_spec(_content(path), path)
        if spec.name != stem:
            raise BadHostFile(path, [f"name: {spec.name!r} is not the name of the file"])
    except MemError as error:
        return Host(
            name=stem,
            summary=f"taught by {path}, which can't be used",
            open=partial(_fail, error),
            installer=partial(_broken, stem, path, error),
            injects_at=(),
        )
    return host_of(spec, _content(path))


def named(path: str, taken: Mapping[str, Host]) -> Host:
    """The host that a file teaches, which need not be known yet.

    Args:
        taken: the hosts that there are, by name.

    Raises:
        MemError: the file can't be read or used, or its name is another host's.
    """
    content = _content(os.path.abspath(path))
    spec = read_spec(content, path)
    other = taken.get(spec.name)
    if other is not None and not other.summary.startswith("taught by"):
        raise BadHostFile(
            path, [f"name: {spec.name!r} is a host that comes with a package; choose another"]
        )
    return host_of(spec, content)


def host_of(spec: Spec, content: bytes) -> Host:
    """The record of a taught host."""
    kinds = [event.kind for event in spec.events.values() if event.context]
    return Host(
        name=spec.name,
        summary=f"taught by the file {spec.name}{SUFFIX}",
        title=spec.label,
        open=partial(_adapter, spec),
        installer=partial(_installer, spec, content),
        injects_at=tuple(dict.fromkeys(kinds)),
        context_chars=spec.context.limit,
        hooks=tuple(spec.events),
    )


def _content(path: str) -> bytes:
    content = read_config(path)
    if content is None:
        raise BadHostFile(path, ["there is no such file"])
    return content


def _adapter(spec: Spec) -> HostAdapter:
    from claude_mem_core.taught.adapter import Taught

    return Taught(spec)


def _installer(spec: Spec, content: bytes) -> HostInstaller:
    from claude_mem_core.taught.installer import TaughtInstaller, TaughtWithMcp

    made: Callable[[Spec, bytes], HostInstaller] = (
        TaughtWithMcp if spec.mcp else TaughtInstaller
    )
    return made(spec, content)


def _fail(error: MemError) -> HostAdapter:
    raise error


def _broken(name: str, path: str, error: MemError) -> HostInstaller:
    from claude_mem_core.taught.installer import BrokenInstaller

    return BrokenInstaller(name, path, error)

"""Hosts that a user has taught with a TOML file: a plugin of the core's own, `host.taught`.

The files lie in `<data>/hosts/taught`; `mem install --ide FILE` puts them there.
"""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core.hookspecs import hookimpl
from claude_mem_core.types import Host


@hookimpl
def mem_hosts(data_dir: str) -> Iterator[Host]:
    """One host for each file; one that can't be read says so when it is used."""
    if data_dir:
        from claude_mem_core.taught.files import known

        yield from known(data_dir)

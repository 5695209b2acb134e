"""{{title}} as a host."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import EventKind, Host, HostAdapter

CLAUDE_MEM_CONTRACT = 1


def open_adapter() -> HostAdapter:
    from claude_mem_host_{{module}}.adapter import {{class}}

    return {{class}}()


@hookimpl
def mem_hosts() -> Iterator[Host]:
    yield Host(
        name="{{name}}",
        title="{{title}}",
        summary="{{title}}: its hooks are read, context goes in at the session's start",
        open=open_adapter,
        injects_at=(EventKind.SESSION_STARTED,),
    )

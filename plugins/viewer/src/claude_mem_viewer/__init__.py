"""The viewer of claude-mem: pages at `/`, static files, no code of its own in the worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from claude_mem_core import hookimpl
from claude_mem_core.types import RouteSet

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

CLAUDE_MEM_CONTRACT = 1


def routes(services: Any) -> Sequence[BaseRoute]:
    """The page under each of its addresses, and its files."""
    from claude_mem_viewer.pages import routes as made

    return made()


@hookimpl
def mem_routes() -> Iterator[RouteSet]:
    yield RouteSet(name="viewer", summary="the page of `mem open`", routes=routes, mount="/")

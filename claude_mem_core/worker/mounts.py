"""Pages and endpoints that plugins bring: each under its own mount, each on its own."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Mount, Router

from claude_mem_core.plugins.calls import call_sync
from claude_mem_core.types import RouteSet
from claude_mem_core.worker.replies import Receive, Scope, Send, reply

if TYPE_CHECKING:
    from claude_mem_core.pipeline.services import Services

log = logging.getLogger(__name__)


def routes(services: Services) -> list[BaseRoute]:
    """A mount for each plugin's routes, and last what lies at `/`."""
    from claude_mem_core.worker.routes import pages

    sets = list(services.registry.records("mem_routes", RouteSet))
    named = [_mount(services, s, s.mount or f"/x/{s.name}") for s in sets if s.mount != "/"]
    roots = [_mount(services, s, "") for s in sets if s.mount == "/"]
    return [*named, *(roots or pages.ROUTES)]


def _mount(services: Services, record: RouteSet, path: str) -> Mount:
    outcome = call_sync(record.name, record.routes, services)
    if outcome.error is not None:
        log.warning("routes of %s: %s", record.name, type(outcome.error).__name__)
        return Mount(path, app=_Broken(record.name))
    return Mount(path, app=_Isolated(record.name, Router(routes=list(outcome.value))))


class _Broken:
    """Stands for a plugin whose routes could not be made."""

    def __init__(self, name: str) -> None:
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        text = f"plugin {self._name} is broken; see `mem plugins`"
        await reply(send, 503, {"error": text})


class _Isolated:
    """A plugin's routes; what they raise is the plugin's fault and costs one answer."""

    def __init__(self, name: str, app: Router) -> None:
        self._name = name
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.exceptions import HTTPException

        try:
            await self._app(scope, receive, send)
        except HTTPException:
            raise
        except Exception as error:
            log.exception("a route of plugin %s failed", self._name)
            raise HTTPException(503, f"plugin {self._name} failed; see `mem logs`") from error

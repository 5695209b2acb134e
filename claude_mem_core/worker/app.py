"""The Starlette application: every declared endpoint, the pages, the plugins' mounts."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from claude_mem_core.errors import (
    InvalidInput,
    MemError,
    NotFound,
    SettingsError,
    StoreError,
    UsageError,
)
from claude_mem_core.worker import mounts
from claude_mem_core.worker.body import json_body
from claude_mem_core.worker.check import parameters
from claude_mem_core.worker.replies import Receive, Scope, Send, reply, to_json
from claude_mem_core.worker.routes import all_endpoints
from claude_mem_core.worker.spec import Call, Endpoint, Refused, Reply, Right
from claude_mem_core.worker.state import WorkerState

if TYPE_CHECKING:
    from claude_mem_core.pipeline.services import Services

log = logging.getLogger(__name__)

STATUS: Mapping[type[MemError], int] = {
    InvalidInput: 400,
    UsageError: 400,
    SettingsError: 400,
    NotFound: 404,
    StoreError: 503,
}


def build_app(services: Services, state: WorkerState) -> Starlette:
    """The application behind the front; all routes are checked by their declarations."""
    routes: list[BaseRoute] = _routes(all_endpoints(), services, state)
    routes += mounts.routes(services)
    handlers: Any = {
        HTTPException: _http_error,
        Refused: _refused,
        MemError: _mem_error,
        Exception: _any_error,
    }
    return Starlette(routes=routes, exception_handlers=handlers)


def _routes(
    endpoints: Iterable[Endpoint], services: Services, state: WorkerState
) -> list[BaseRoute]:
    """One route a path; literal paths before those with a parameter."""
    by_path: dict[str, list[Endpoint]] = {}
    for endpoint in endpoints:
        by_path.setdefault(endpoint.path, []).append(endpoint)
    order = sorted(by_path, key=lambda path: "{" in path)
    return [_route(path, by_path[path], services, state) for path in order]


def _route(
    path: str, endpoints: Sequence[Endpoint], services: Services, state: WorkerState
) -> Route:
    table = {endpoint.method: endpoint for endpoint in endpoints}
    if "GET" in table:
        table["HEAD"] = table["GET"]
    # No methods here: a plugin's mount would take those that are missing for its own.
    return Route(path, _Endpoints(table, services, state))


class _Endpoints:
    """The methods of one path, as an ASGI application."""

    def __init__(
        self, table: Mapping[str, Endpoint], services: Services, state: WorkerState
    ) -> None:
        self._table = table
        self._services = services
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._table.get(scope["method"])
        if endpoint is None:
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(self._table))})
        right: Right = scope["state"]["right"]
        if right < endpoint.right:
            raise Refused(403, "a page may not do this; use the command line")
        call = Call(
            services=self._services,
            worker=self._state,
            params=parameters(endpoint, scope["query_string"], scope["path_params"]),
            body=await json_body(endpoint, scope, receive),
            right=right,
            local=scope["state"]["local"],
            number=scope["state"]["number"],
        )
        await _answered(await endpoint.handler(call), scope, receive, send)


async def _answered(value: object, scope: Scope, receive: Receive, send: Send) -> None:
    if isinstance(value, Response):
        await value(scope, receive, send)
    elif isinstance(value, Reply):
        await reply(send, value.status, value.value)
    else:
        await reply(send, 200, value)


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    texts = {404: "there is no such endpoint", 405: "this path has no such method"}
    text = texts.get(error.status_code, str(error.detail)[:200])
    return _json(error.status_code, text, error.headers)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return _json(error.status, error.text)


async def _mem_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, MemError)
    status = next((s for kind, s in STATUS.items() if isinstance(error, kind)), 500)
    if status >= 500:
        log.error("a request failed: %s", type(error).__name__)
    return _json(status, str(error)[:1000])


async def _any_error(_: Request, error: Exception) -> Response:
    """The front logs it; the client learns nothing of what is inside."""
    return _json(500, "the worker failed here; see `mem logs`")


def _json(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    body = to_json({"error": text})
    return Response(body, status, headers=dict(headers or {}), media_type="application/json")


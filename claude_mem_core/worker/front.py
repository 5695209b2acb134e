"""The front of the worker: hooks and health at once, the rest through Starlette.

Starlette and the routes are imported at the first request that needs them, so that a
starting worker answers hooks early and an idle one stays small.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from claude_mem_core.worker import hook_route
from claude_mem_core.worker.auth import HEALTH, admit, server_proof
from claude_mem_core.worker.health import health
from claude_mem_core.worker.reading import Gone
from claude_mem_core.worker.refusal import Refused, Right
from claude_mem_core.worker.replies import Receive, Scope, Send, refuse, reply, secured
from claude_mem_core.worker.state import WorkerState

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from claude_mem_core.pipeline.services import Services

log = logging.getLogger(__name__)


class Front:
    """The ASGI application that the server calls."""

    def __init__(self, state: WorkerState) -> None:
        self.state = state
        self.services: Services | None = None
        self.tcp_connections = 0
        self._app: Starlette | None = None
        self._building = asyncio.Lock()

    def open(self, services: Services) -> None:
        """The services are there: let the waiting requests in."""
        self.services = services
        services.recorder.alone = self.state.is_alone
        self.state.ready.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; whatever happens, with a status and no traceback."""
        number = self.state.begin()
        started = _Started(send)
        try:
            await self._dispatch(scope, receive, started, number)
        except Gone:
            return
        except Refused as refusal:
            await self._refuse(started, refusal.status, refusal.text)
        except Exception:  # one bad request must not end the worker
            log.exception("%s failed", scope["path"][:60])
            await self._refuse(started, 500, "the worker failed here; see `mem logs`")
        finally:
            self.state.end(number)

    async def _refuse(self, started: _Started, status: int, text: str) -> None:
        self.state.refused += 1
        if not started.yes:
            await refuse(started, status, text)

    async def _dispatch(
        self, scope: Scope, receive: Receive, send: Send, number: int
    ) -> None:
        path: str = scope["path"]
        if path == "/hook" and scope["state"]["local"]:
            await hook_route.until_ready(self.state)
            await hook_route.answer(scope, receive, self.state, self.services)
            return
        right = admit(scope, self.state)
        if path in HEALTH:
            await self._health(scope, right, send)
        elif path == "/prove":
            await reply(send, 200, server_proof(_nonce(scope), self.state))
        else:
            await self._framework(scope, receive, send, right, number)

    async def _health(self, scope: Scope, right: Right, send: Send) -> None:
        if scope["method"] not in {"GET", "HEAD"}:
            allow = [(b"allow", b"GET, HEAD"), (b"connection", b"close")]
            await reply(send, 405, {"error": "this path has no such method"}, allow)
        elif right is Right.NONE:
            await reply(send, 200, {"status": "ok"})
        else:
            provider = await self.services.models.brief() if self.services else None
            await reply(send, 200, {**health(self.state, self.services), "provider": provider})

    async def _framework(
        self, scope: Scope, receive: Receive, send: Send, right: Right, number: int
    ) -> None:
        await hook_route.until_ready(self.state)
        scope["state"] |= {"right": right, "number": number}
        app = self._app or await self._built()
        await app(scope, receive, secured(send))

    async def _built(self) -> Starlette:
        async with self._building:
            if self._app is None:
                assert self.services is not None
                self._app = await asyncio.to_thread(_build, self.services, self.state)
            return self._app


def _build(services: Services, state: WorkerState) -> Starlette:
    from claude_mem_core.worker.app import build_app

    return build_app(services, state)


def _nonce(scope: Scope) -> str:
    from urllib.parse import parse_qs

    query: str = scope["query_string"].decode("latin-1")
    return parse_qs(query).get("n", [""])[-1]


class _Started:
    """`send`, knowing whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.yes = False

    async def __call__(self, message: Any) -> None:
        self.yes = True
        await self._send(message)

"""The command line's way to the worker: over the socket, and starting it if need be."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import attrs

from claude_mem_core.errors import InvalidInput, MemError, NotFound, StoreError, WorkerError
from claude_mem_core.paths import Paths
from claude_mem_core.worker.ask import NotThere, ask

TIMEOUT_S = 10.0
ERRORS: Mapping[int, type[MemError]] = {400: InvalidInput, 404: NotFound, 503: StoreError}


@attrs.frozen
class Response:
    """What the worker answered; `json` is None when the body is no JSON."""

    status: int
    json: Any
    body: bytes = b""

    @property
    def ok(self) -> bool:
        return self.status < 400


class WorkerClient:
    """Asks the worker of one data directory. Sends no token: the socket is proof enough."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths

    def request(
        self, method: str, path: str, params: Mapping[str, Any] | None = None,
        json: Any = None, timeout: float = TIMEOUT_S,
    ) -> Response:  # fmt: skip
        """One request; `timeout` in seconds for all of it.

        Raises:
            WorkerError: no worker runs, or it gave no answer.
        """
        body = None if json is None else jsonlib.dumps(json).encode()
        raw = ask(self.paths, method, target(path, params), body, timeout)
        return Response(raw.status, raw.json, raw.body)

    def get(self, path: str, timeout: float = TIMEOUT_S, **params: Any) -> Any:
        """The JSON that GET gives.

        Raises:
            InvalidInput, NotFound, StoreError: what the worker said.
            WorkerError: no worker, or no answer.
        """
        return checked(self.request("GET", path, params, timeout=timeout))

    def post(self, path: str, json: Any = None, timeout: float = TIMEOUT_S) -> Any:
        """The JSON that POST gives. Raises as `get` does."""
        return checked(self.request("POST", path, json=json or {}, timeout=timeout))

    def health(self, timeout: float = 3.0) -> dict[str, Any] | None:
        """What the worker says of itself; None when no worker is there.

        Raises:
            WorkerError: one is there, but gives no answer.
        """
        try:
            found = self.request("GET", "/api/health", timeout=timeout).json
        except NotThere:
            return None
        return found if isinstance(found, dict) else None

    def running(self) -> bool:
        """Whether a worker answers."""
        try:
            return self.health() is not None
        except WorkerError:
            return False


def target(path: str, params: Mapping[str, Any] | None) -> str:
    """Path and query of a request; parameters that are None are left out.

    Bytes of the command line that are no text travel as they are.
    """
    given = [(k, _worded(v)) for k, v in (params or {}).items() if v is not None]
    where = quote(path, safe="/:~!$&'()*+,;=@%-._?", errors="surrogateescape")
    return where + ("?" + urlencode(given, errors="surrogateescape") if given else "")


def _worded(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def checked(response: Response) -> Any:
    """The JSON of a good answer; our error for any other."""
    if response.ok:
        return response.json
    found = response.json
    text = found.get("error") if isinstance(found, dict) else None
    kind = ERRORS.get(response.status, MemError)
    raise kind(str(text or f"the worker answered {response.status}; see `mem logs`"))


def ensure_started(paths: Paths) -> WorkerClient:
    """A client of a running worker; starts one if none runs.

    Raises:
        WorkerError: it can't be started; the text says why.
    """
    client = WorkerClient(paths)
    if client.health() is None:
        from claude_mem_core.cli.launch import start

        start(paths)
    return client

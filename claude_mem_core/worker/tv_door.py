"""The read-only door for a screen in another room: titles, through a TLS front, with a token.

The worker itself never listens where other machines could reach it. Somebody who wants
the TV page elsewhere runs a front that speaks TLS and passes requests on to the worker's
port under the name in `CLAUDE_MEM_TV_FRONT`. Whoever comes by that name gets the page, its
files and the titles, and nothing else, whatever else he can prove.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Mapping
from typing import Any

from claude_mem_core.worker.refusal import Refused, Right
from claude_mem_core.worker.replies import Headers, Scope

PAGES = {"/tv", "/tv.html"}
TITLES = "/api/tv"
FILES = "/assets/"
SHORTEST = 20  # of the token: it is the only thing that keeps others out
WRONG, WINDOW_S = 10, 60.0  # wrong tokens that are looked at in that time


class TvDoor:
    """Who comes by the front's name, and whether he may."""

    def __init__(self, name: str = "", token: str = "") -> None:
        self.names = frozenset({name.strip().lower().encode()} if name.strip() else ())
        self._token = token
        self._wrong: list[float] = []

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> TvDoor:
        """The door that the settings ask for; shut unless a name and a token are set."""
        name, token = str(settings["CLAUDE_MEM_TV_FRONT"]), str(settings["CLAUDE_MEM_TV_TOKEN"])
        return cls(name, token) if name and len(token) >= SHORTEST else cls()

    def is_meant(self, hosts: list[bytes]) -> bool:
        """Whether a request came by the front's name."""
        return len(hosts) == 1 and hosts[0].lower() in self.names

    def admit(self, scope: Scope) -> Right:
        """Nothing but the page, its files and, with the token, the titles.

        Raises:
            Refused: 404 for every other path, by exact match; 401, 403 or 429.
        """
        headers: Headers = scope["headers"]
        path, method = scope["path"], scope["method"]
        known = path in PAGES or path == TITLES or path.startswith(FILES)
        if not known or method not in {"GET", "HEAD"}:
            raise Refused(404, "there is no such page")
        host = next(value for name, value in headers if name == b"host")
        if any(name == b"origin" and value != b"https://" + host for name, value in headers):
            raise Refused(403, "requests of other pages are refused")
        if path == TITLES:
            self._check(headers)
        return Right.NONE

    def _check(self, headers: Headers) -> None:
        given = [value for name, value in headers if name == b"authorization"]
        now = time.monotonic()
        self._wrong = [at for at in self._wrong if now - at < WINDOW_S]
        if len(self._wrong) >= WRONG:
            raise Refused(429, "too many wrong tokens; wait a minute")
        wanted = b"Bearer " + self._token.encode()
        if len(given) != 1 or not hmac.compare_digest(given[0], wanted):
            self._wrong.append(now)
            raise Refused(401, "this needs the token in CLAUDE_MEM_TV_TOKEN")

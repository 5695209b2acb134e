"""Pages that `mem open` opened: one-time codes and what they are traded for.

All of it lives in memory and dies with the worker.
"""

from __future__ import annotations

import hashlib
import secrets
import time

CODE_S = 30.0
SESSION_S = 12 * 3600.0
NONCE_S = 180.0
MOST = 20_000


class Sessions:
    """Codes, session tokens and used nonces, each until it is too old."""

    def __init__(self) -> None:
        self._codes: dict[bytes, float] = {}
        self._sessions: dict[bytes, float] = {}
        self._nonces: dict[bytes, float] = {}

    def new_code(self) -> str:
        """A code for one use within 30 s."""
        code = secrets.token_urlsafe(16)
        _put(self._codes, code, CODE_S)
        return code

    def trade(self, code: str) -> str | None:
        """A session token for a good code; None for any other."""
        if not _take(self._codes, code):
            return None
        token = secrets.token_urlsafe(32)
        _put(self._sessions, token, SESSION_S)
        return token

    def knows(self, token: str) -> bool:
        """Whether a session token is valid."""
        return self._sessions.get(_key(token), 0.0) > time.monotonic()

    def first_use(self, nonce: str) -> bool:
        """Whether a nonce is new; it is not any more after this."""
        if _key(nonce) in self._nonces:
            return False
        _put(self._nonces, nonce, NONCE_S)
        return True

    @property
    def open(self) -> int:
        """How many sessions are valid."""
        now = time.monotonic()
        return sum(until > now for until in self._sessions.values())


def _key(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _put(table: dict[bytes, float], secret: str, seconds: float) -> None:
    now = time.monotonic()
    for key in [k for k, until in table.items() if until <= now]:
        del table[key]
    while len(table) >= MOST:
        del table[next(iter(table))]
    table[_key(secret)] = now + seconds


def _take(table: dict[bytes, float], secret: str) -> bool:
    return table.pop(_key(secret), 0.0) > time.monotonic()

"""What is known of keys without knowing them: cooldowns, and where each may go.

`api-key-cooldown.json` holds salted fingerprints; no key can be read out of it. Where a
claude-mem lives in the same directory that file is its own, and ours has another name.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets as random
from contextlib import suppress
from pathlib import Path
from typing import Any

from claude_mem_core.errors import StoreError
from claude_mem_core.files import read_private, write_private

NAME, BESIDE_OTHER = "api-key-cooldown.json", "provider-keys.json"
OTHER_STORE = "claude-mem.db"
FILE_BYTES = 200_000
KEPT = 200  # keys; the oldest go first
DIGITS = 16


class KeyBook:
    """The file, kept in memory and written on each change. One process writes it."""

    def __init__(self, folder: Path) -> None:
        shared = (folder / OTHER_STORE).exists()
        self._path = folder / (BESIDE_OTHER if shared else NAME)
        self._known: dict[str, Any] | None = None

    def fingerprint(self, key: str) -> str:
        """A short mark of a key that is the same on this machine and nowhere else."""
        salt = bytes.fromhex(self._book()["salt"])
        return hmac.new(salt, key.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[
            :DIGITS
        ]

    def cools_until(self, mark: str, now: int) -> int:
        """When a key may be used again (ms); 0 when it may now."""
        until = int(self._book()["cooldowns"].get(mark, {}).get("until_ms", 0))
        return until if until > now else 0

    def cool(self, mark: str, until: int, kind: str) -> None:
        """Leave a key alone until then."""
        self._put("cooldowns", mark, {"until_ms": until, "kind": kind})

    def warm(self, mark: str) -> None:
        """A key works: it has no cooldown."""
        if self._book()["cooldowns"].pop(mark, None) is not None:
            self._write()

    def origin(self, provider: str, key: str) -> str:
        """Where this provider's key was meant to go; empty when that was never noted."""
        return str(self._book()["origins"].get(self._whose(provider, key), ""))

    def bind(self, provider: str, key: str, origin: str) -> None:
        """From now on this provider's key goes to this origin only."""
        if self.origin(provider, key) != origin:
            self._put("origins", self._whose(provider, key), origin)

    def _whose(self, provider: str, key: str) -> str:
        return self.fingerprint(f"{provider}\n{key}")

    def _put(self, part: str, mark: str, value: Any) -> None:
        entries = self._book()[part]
        entries.pop(mark, None)
        entries[mark] = value
        for old in list(entries)[:-KEPT]:
            del entries[old]
        self._write()

    def _book(self) -> dict[str, Any]:
        if self._known is None:
            self._known = self._read()
            if "salt" not in self._known:
                self._known["salt"] = random.token_hex(16)
                self._write()
        return self._known

    def _read(self) -> dict[str, Any]:
        found: Any = {}
        with suppress(FileNotFoundError, StoreError, ValueError):
            found = json.loads(read_private(self._path, FILE_BYTES))
        if not isinstance(found, dict):
            found = {}
        parts = {name: found.get(name) for name in ("cooldowns", "origins")}
        kept = {name: part if isinstance(part, dict) else {} for name, part in parts.items()}
        kept["cooldowns"] = {k: v for k, v in kept["cooldowns"].items() if isinstance(v, dict)}
        salt = found.get("salt")
        good = (
            isinstance(salt, str) and len(salt) == 32 and set(salt) <= set("0123456789abcdef")
        )
        return {**({"salt": salt} if good else {}), **kept}

    def _write(self) -> None:
        with suppress(StoreError, OSError):  # it holds in memory then
            write_private(self._path, json.dumps(self._known, indent=1).encode())

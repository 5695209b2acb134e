"""Which providers are left alone, why and until when; kept across restarts."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core.errors import Failure, ProviderError, StoreError
from claude_mem_core.files import read_private, write_private

FILE_BYTES = 200_000
UNTIL_CHANGED = 0
ABOUT_TALK = frozenset({Failure.TOO_LONG, Failure.BAD_REQUEST, Failure.UNUSABLE})


@attrs.frozen(kw_only=True)
class Hold:
    """Why a provider is left alone.

    Attributes:
        until_ms: when it is tried again; 0: when its key or settings changed.
        since_ms: when the first of these failures came.
        last_ms: when the last one came.
        streak: failures since it last worked.
        digest: its settings and keys then; other ones void the hold.
    """

    failure: str
    text: str
    since_ms: int
    last_ms: int
    until_ms: int = 0
    streak: int = 1
    digest: str = ""
    action: str = ""
    url: str = ""

    def error(self, provider: str, now: int) -> ProviderError:
        """What a request gets instead of an answer.

        Never one that tells of the conversation: nobody has looked at it.
        """
        left = (self.until_ms - now) / 1000 if self.until_ms > now else None
        failure = Failure(self.failure)
        return ProviderError(
            Failure.OUTAGE if failure in ABOUT_TALK else failure, self.text, retry_after_s=left, provider=provider,
            action=self.action, url=self.url,
        )  # fmt: skip


class Holds:
    """The holds by provider, written on each change. One process writes them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Hold] | None = None

    def get(self, provider: str) -> Hold | None:
        """Its hold, whether over or not."""
        return self._all().get(provider)

    def all(self) -> dict[str, Hold]:
        """Every hold by provider."""
        return dict(self._all())

    def put(self, provider: str, hold: Hold) -> None:
        """Leave a provider alone."""
        self._all()[provider] = hold
        self._write()

    def drop(self, provider: str) -> bool:
        """It works, or is to be tried at once; says whether it was held."""
        if self._all().pop(provider, None) is None:
            return False
        self._write()
        return True

    def _all(self) -> dict[str, Hold]:
        if self._known is None:
            self._known = read(self._path)
        return self._known

    def _write(self) -> None:
        found = {name: attrs.asdict(hold) for name, hold in self._all().items()}
        with suppress(StoreError, OSError):  # it holds in memory then
            write_private(self._path, json.dumps(found, indent=1).encode())


def read(path: Path) -> dict[str, Hold]:
    """The holds in a file; what can't be read is none."""
    found: Any = {}
    with suppress(FileNotFoundError, StoreError, ValueError):
        found = json.loads(read_private(path, FILE_BYTES))
    holds = {}
    for name, entry in found.items() if isinstance(found, dict) else ():
        with suppress(TypeError, ValueError):
            hold = Hold(**entry)
            Failure(hold.failure)
            holds[str(name)] = hold
    return holds

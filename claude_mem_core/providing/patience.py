"""Leaves failing providers alone, lets one request try them again, and knows when to stop.

A hold ends by itself: after its time one request goes out as a probe, the others wait
for what it finds. After three probes in a row with nobody at work it waits for somebody.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from claude_mem_core.errors import ProviderError
from claude_mem_core.providing import policy
from claude_mem_core.providing.holds import UNTIL_CHANGED, Hold, Holds

log = logging.getLogger(__name__)

TEXT_CHARS = 500


class Patience:
    """The holds of all providers, and the probes that end them."""

    def __init__(
        self, path: Path, clock: Callable[[], int], active_ms: Callable[[], int]
    ) -> None:
        self.holds = Holds(path)
        self._clock = clock
        self._active_ms = active_ms
        self._probing: set[str] = set()
        self._soft: dict[str, int] = {}
        self._held_at: dict[str, int] = {}
        self.count = 0  # of holds so far: tells what came before what, however fast

    def refusal(self, name: str, digest: str) -> ProviderError | None:
        """Why a provider is not to be asked now; None when it may be."""
        hold = self.holds.get(name)
        if hold is None or self._is_void(hold, digest):
            return None
        now = self._clock()
        open_end = hold.until_ms == UNTIL_CHANGED
        if open_end or now < hold.until_ms or name in self._probing or self._waits(hold):
            return hold.error(name, now)
        return None

    @contextmanager
    def entered(self, name: str, digest: str) -> Iterator[bool]:
        """Ask a provider, if it is not held; true when this request is a probe.

        Raises:
            ProviderError: it is held.
        """
        refused = self.refusal(name, digest)
        if refused is not None:
            raise refused
        hold = self.holds.get(name)
        if hold is None or self._is_void(hold, digest):
            yield False
            return
        log.info("provider %s: its hold is over, one request tries it", name)
        self._probing.add(name)
        try:
            yield True
        finally:
            self._probing.discard(name)

    def worked(self, name: str) -> None:
        """It answered: no hold, no streak."""
        self._soft.pop(name, None)
        if self.holds.drop(name):
            log.info("provider %s works again", name)

    def failed(
        self, name: str, error: ProviderError, digest: str, begun: int, *, keyed: bool,
        gateway: bool, deadline_ms: int,
    ) -> None:  # fmt: skip
        """It failed: leave it alone for as long as that kind of failure asks for.

        Args:
            begun: `count` when the request was made; of several that fail together one
                counts.
        """
        from claude_mem_core.providing.budget import OverBudget

        if isinstance(error, OverBudget):
            return  # the user's own limit; the provider is well
        before = self.holds.get(name)
        if before is not None and self._held_at.get(name, 0) > begun:
            return
        if error.failure in policy.OWN - policy.OWN_REPEATED:
            return
        if error.failure in policy.OWN:
            self._soft[name] = self._soft.get(name, 0) + 1
            if self._soft[name] < policy.OWN_STREAK:
                return
        streak = before.streak + 1 if before and before.digest == digest else 1
        until = policy.hold_until(
            error, streak, self._clock(), keyed=keyed, gateway=gateway, deadline_ms=deadline_ms
        )
        self.held(name, error, until, digest, streak)

    def held(
        self, name: str, error: ProviderError, until: int, digest: str = "", streak: int = 1
    ) -> None:
        """Leave a provider alone until then."""
        now, before = self._clock(), self.holds.get(name)
        same = before is not None and before.failure == error.failure.value and streak > 1
        hold = Hold(
            failure=error.failure.value, text=str(error)[:TEXT_CHARS], last_ms=now, until_ms=until,
            since_ms=before.since_ms if before and same else now, streak=streak, digest=digest,
            action=error.action, url=error.url,
        )  # fmt: skip
        self.holds.put(name, hold)
        self.count += 1
        self._held_at[name] = self.count
        log.warning("provider %s is left alone (%s) %s", name, hold.failure, _until(hold, now))

    def reset(self, name: str) -> None:
        """Try it at the next occasion."""
        self.holds.drop(name)
        self._soft.pop(name, None)

    def _waits(self, hold: Hold) -> bool:
        """Enough probes with nobody at work."""
        return hold.streak > policy.UNATTENDED and self._active_ms() <= hold.last_ms

    @staticmethod
    def _is_void(hold: Hold, digest: str) -> bool:
        """Its settings or keys were changed since: it may work now."""
        return bool(hold.digest) and hold.digest != digest


def _until(hold: Hold, now: int) -> str:
    if hold.until_ms == UNTIL_CHANGED:
        return "until its key or settings are changed"
    return f"for {max(hold.until_ms - now, 0) / 1000:.0f} s"

"""One request to one provider: its keys in turn, another try where that may help."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing import policy
from claude_mem_core.providing.candidates import Candidate
from claude_mem_core.providing.fields import told
from claude_mem_core.providing.keybook import KeyBook
from claude_mem_core.providing.keys import Credential
from claude_mem_core.providing.origins import checked_key, host_of, is_loopback, origin_of
from claude_mem_core.types import Reply

log = logging.getLogger(__name__)

Call = Callable[[Credential], Awaitable[Reply]]
Clock = Callable[[], int]


class Attempts:
    """Asks a provider until it answers, or until asking again at once is no use."""

    def __init__(self, book: KeyBook, clock: Clock) -> None:
        self._book = book
        self._clock = clock

    async def reply(self, candidate: Candidate, call: Call, *, once: bool = False) -> Reply:
        """The provider's reply, by whichever of its keys.

        Args:
            once: one try for each key, for a probe.

        Raises:
            ProviderError: the last failure.
        """
        tried: set[str] = set()
        attempt = 1
        while True:
            credential = self._pick(candidate, tried)
            try:
                return await self._with(candidate, credential, call)
            except ProviderError as error:
                if self._rotated(candidate, credential, error, tried):
                    continue
                seconds = policy.wait_s(error.failure, attempt, error.retry_after_s)
                if once or seconds is None:
                    raise
            attempt += 1
            await anyio.sleep(seconds)

    async def _with(self, candidate: Candidate, credential: Credential, call: Call) -> Reply:
        mark = self._checked(candidate, credential)
        reply = await call(credential)
        if mark:
            self._book.warm(mark)
        return reply

    def _checked(self, candidate: Candidate, credential: Credential) -> str:
        """Whether the key may go there; its fingerprint.

        Raises:
            ProviderError: it may not.
        """
        if not credential.key:
            return ""
        mark, origin = self._book.fingerprint(credential.key), origin_of(candidate.address)
        if not origin:
            return mark
        for value in filter(None, credential.values.values()):
            checked_key(value, candidate.address)
        bound = self._book.origin(candidate.name, credential.key)
        both_here = is_loopback(host_of(bound)) and is_loopback(host_of(origin))
        if bound and bound != origin and not both_here:
            text = f"the key was set for {bound} and is not sent to {origin}"
            raise ProviderError(Failure.KEY_REFUSED, text, provider=candidate.name)
        self._book.bind(candidate.name, credential.key, origin)
        return mark

    def _pick(self, candidate: Candidate, tried: set[str]) -> Credential:
        """The first key without a cooldown; if all have one, the one that is over first."""
        pool = [c for c in candidate.credentials if c.key not in tried] or list(
            candidate.credentials
        )
        if len(candidate.credentials) == 1:
            return pool[0]
        now = self._clock()
        return min(pool, key=lambda c: self._book.cools_until(self._mark(c), now))

    def _rotated(
        self,
        candidate: Candidate,
        credential: Credential,
        error: ProviderError,
        tried: set[str],
    ) -> bool:
        """Leave a key alone that failed; whether another one is to be tried."""
        if len(candidate.credentials) == 1 or error.failure not in policy.ROTATES:
            return False
        mark = self._mark(credential)
        until = self._clock() + policy.cooldown_ms(error)
        self._book.cool(mark, until, error.failure.value)
        log.warning(
            "provider %s: key %d/%d cools down (%s, fingerprint %s)",
            candidate.name, credential.position, credential.of, error.failure.value, mark,
        )  # fmt: skip
        tried.add(credential.key)
        return any(
            c.key not in tried and not self._book.cools_until(self._mark(c), self._clock())
            for c in candidate.credentials
        )

    def _mark(self, credential: Credential) -> str:
        return self._book.fingerprint(credential.key)


def scrubbed(error: ProviderError, credential: Credential, name: str) -> ProviderError:
    """The same failure with no key in any of its words."""
    texts = {"text": str(error), "action": error.action, "url": error.url}
    for value in filter(None, credential.values.values()):
        texts = {part: text.replace(value, "***") for part, text in texts.items()}
    return ProviderError(
        error.failure, told(texts["text"]) or error.failure.value,
        retry_after_s=error.retry_after_s, provider=error.provider or name,
        action=told(texts["action"]), url=texts["url"][:300],
    )  # fmt: skip

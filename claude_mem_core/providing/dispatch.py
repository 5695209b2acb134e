"""The one way to a model: picks provider and key, keeps to holds and budget, falls back.

    dispatcher = Dispatcher(paths=..., settings=..., registry=..., send=..., active_ms=...)
    reply = await dispatcher.reply(system, messages, max_tokens=4096, session=7, project=2)

It raises `ProviderError` only when nobody can answer now; then the built-in observer
takes the work, and `ready` says when a model can again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol

import attrs

from claude_mem_core.errors import Failure, ProviderError, StoreError
from claude_mem_core.paths import Paths
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.providing import budget, classify, guard, policy
from claude_mem_core.providing.accounting import Accounting
from claude_mem_core.providing.attempts import Attempts, scrubbed
from claude_mem_core.providing.budget import OverBudget
from claude_mem_core.providing.candidates import Candidate, Candidates, Incomplete
from claude_mem_core.providing.choice import BUILTIN, CHOICE, FALLBACK, OFF, chosen
from claude_mem_core.providing.gateway_notes import GatewayNotes
from claude_mem_core.providing.keybook import KeyBook
from claude_mem_core.providing.keys import Credential
from claude_mem_core.providing.ledger import Ledger
from claude_mem_core.providing.origins import is_gateway
from claude_mem_core.providing.patience import Patience
from claude_mem_core.providing.tiers import Tiers
from claude_mem_core.settings import SettingsSource
from claude_mem_core.types import Message, Reply

log = logging.getLogger(__name__)

SECONDS = 300.0  # of one request, whatever else is set


class Send(Protocol):
    """Carries one conversation to a provider, in whatever process it lives."""

    def __call__(
        self, provider: str, system: str, messages: Sequence[Message], *, max_tokens: int,
        seconds: float, session: int, values: Mapping[str, str],
    ) -> Awaitable[Reply]: ...  # fmt: skip


@attrs.frozen(kw_only=True)
class Asked:
    """One conversation, and whose cost it is."""

    system: str
    messages: Sequence[Message]
    max_tokens: int
    session: int = 0
    project: int = 0
    model: str = ""
    tier: str = ""
    probe: bool = False


class Dispatcher:
    """Asks models for the whole worker.

    Args:
        send: the way to a provider.
        active_ms: when a person was last at work here (ms since the epoch).
        clock: now (ms).
    """

    def __init__(
        self, *, paths: Paths, settings: SettingsSource, registry: Registry, send: Send,
        active_ms: Callable[[], int], clock: Callable[[], int],
    ) -> None:  # fmt: skip
        self._settings = settings
        self._send = send
        self._clock = clock
        self.candidates = Candidates(paths, settings, registry)
        self.book = KeyBook(paths.data)
        self.ledger = Ledger(paths.data / "usage.db")
        self.patience = Patience(paths.data / "provider-holds.json", clock, active_ms)
        self.accounting = Accounting(self.ledger)
        self.tiers = Tiers(settings)
        self._notes = GatewayNotes(settings, clock)
        self._attempts = Attempts(self.book, clock)

    # Asking -----------------------------------------------------------------------------

    async def reply(
        self, system: str, messages: Sequence[Message], *, max_tokens: int, session: int = 0,
        project: int = 0, avoid: Collection[str] = (), tier: str = "",
    ) -> Reply:  # fmt: skip
        """The reply of the chosen provider, or of the fallback while that one can't.

        Args:
            session: row of the session, for its budget; 0 for none.
            project: row of the project, for the account.
            avoid: providers that are not to be asked, whose replies could not be used.
            tier: what the work is worth: `simple`, `summary` or as usual.

        Raises:
            ProviderError: nobody can answer now. `too-long`, `bad-request` and `unusable`
                tell of this conversation; with any other one no model can be asked at
                present.
        """
        asked = Asked(
            system=system, messages=messages, max_tokens=max_tokens, session=session,
            project=project, tier=tier,
        )  # fmt: skip
        failed: ProviderError | None = None
        names = [name for name in self.order() if name not in avoid]
        for name in names:
            try:
                return await self._through(name, asked)
            except ProviderError as error:
                if error.failure in policy.OWN and not _another_may(error, name, names):
                    raise
                failed = failed or error
                if not await self._falls_back(name, error):
                    break
        raise failed or ProviderError(Failure.OUTAGE, "no provider is set up")

    def order(self) -> list[str]:
        """Names of the providers to ask, in order; none when rules do all."""
        settings = self._settings.current()
        primary = chosen(settings, CHOICE)
        if primary in (BUILTIN, OFF):
            return []
        second = chosen(settings, FALLBACK)
        return [primary] if second in (BUILTIN, OFF, primary) else [primary, second]

    async def _falls_back(self, name: str, error: ProviderError) -> bool:
        """Whether the next provider takes what this one can't."""
        if isinstance(error, OverBudget):
            return False  # it would cost the same there
        if isinstance(error, Incomplete):
            return True
        try:
            gateway = is_gateway((await self.candidate(name)).address)
        except ProviderError:
            gateway = False
        return policy.falls_back(error.failure, gateway=gateway)

    async def _through(self, name: str, asked: Asked) -> Reply:
        """One provider's reply; a failure of it becomes a hold."""
        candidate = await self.candidate(name)
        if (missing := candidate.incomplete()) is not None:
            raise missing
        if asked.probe:
            return await self._counted(candidate, asked, once=True)
        begun = self.patience.count
        with self.patience.entered(name, candidate.digest) as is_probe:
            try:
                return await self._tiered(candidate, asked, once=is_probe)
            except ProviderError as error:
                self._failed(candidate, error, begun)
                await self._notes.failed(candidate, error)
                raise

    async def _tiered(self, candidate: Candidate, asked: Asked, *, once: bool) -> Reply:
        """By the model that suits the work; by the usual one where that is not to be had."""
        model = self.tiers.model(candidate, asked.tier, first=candidate.name == self.order()[0])
        try:
            return await self._counted(candidate, attrs.evolve(asked, model=model), once=once)
        except ProviderError as error:
            if error.failure is not Failure.MODEL or not self.tiers.give_up(candidate, model):
                raise
        return await self._counted(candidate, attrs.evolve(asked, tier=""), once=once)

    async def _counted(self, candidate: Candidate, asked: Asked, *, once: bool) -> Reply:
        reply = await self._attempts.reply(
            candidate, lambda credential: self._call(candidate, credential, asked), once=once
        )
        self.patience.worked(candidate.name)
        await self._notes.worked(candidate)
        stopped = guard.stops(reply.windows, self._settings.current(), self._clock())
        if stopped is not None:
            self._failed(candidate, stopped, self.patience.count)
        return attrs.evolve(reply, provider=candidate.name)

    async def _call(self, candidate: Candidate, credential: Credential, asked: Asked) -> Reply:
        """Send it once, enter what it cost, and read refusals that come as prose."""
        name, model = candidate.name, asked.model or candidate.model
        values = {**candidate.filed, **credential.values}
        if asked.model and candidate.record.model_key:
            values[candidate.record.model_key] = asked.model
        entry = await self.accounting.enter(
            name, model, asked.session, asked.project, self._settings.current(), asked.system,
            asked.messages, self._clock(),
        )  # fmt: skip
        try:
            reply = await self._send(
                name, asked.system, asked.messages, max_tokens=asked.max_tokens,
                seconds=SECONDS, session=asked.session, values=values,
            )  # fmt: skip
        except ProviderError as error:
            failure = scrubbed(error, credential, name)
            await self.accounting.failed(entry, failure.failure)
            log.warning("provider %s: %s: %s", name, failure.failure.value, failure)
            raise failure from None
        await self.accounting.done(entry, reply.usage)
        prose = classify.from_prose(reply.text, name)
        if prose is not None:
            log.warning("provider %s: %s: %s", name, prose.failure.value, prose)
            raise prose
        log.info(
            "provider %s: model %s, %d tokens in (%d cached), %d out, %.4f USD, %d messages",
            name, reply.model or model, reply.usage.input_tokens, reply.usage.cached_tokens,
            reply.usage.output_tokens, reply.usage.cost_usd, len(asked.messages),
        )  # fmt: skip
        return reply

    # What follows from a failure --------------------------------------------------------

    def _failed(self, candidate: Candidate, error: ProviderError, begun: int) -> None:
        self.patience.failed(
            candidate.name, error, candidate.digest, begun, keyed=candidate.keyed,
            gateway=is_gateway(candidate.address),
            deadline_ms=int(self._settings.current()["CLAUDE_MEM_LLM_TIMEOUT_MS"]),
        )  # fmt: skip

    def unusable(self, name: str) -> None:
        """A batch could not be used twice: the provider is left alone for a while."""
        error = classify.unusable("two answers in a row could not be used", name)
        self.patience.held(name, error, self._clock() + policy.STUBBORN_RATE)

    async def candidate(self, name: str) -> Candidate:
        """A provider as it is set up now.

        Raises:
            ProviderError: there is none of that name, or its keys can't be read.
        """
        try:
            return await asyncio.to_thread(self.candidates.find, name)
        except StoreError as error:
            raise ProviderError(Failure.KEY_REFUSED, str(error), provider=name) from None

    # Whether asking makes sense -----------------------------------------------------------

    async def ready(self, session: int = 0) -> bool:
        """Whether a model can be asked now; asks nobody, costs nothing."""
        return await self.obstacle(session) is None

    async def obstacle(self, session: int = 0) -> ProviderError | None:
        """Why no model can be asked now, with the time after which one may be."""
        first: ProviderError | None = None
        for name in self.order():
            found = await self._obstacle(name, session)
            if found is None:
                return None
            first = first or found
            if not await self._falls_back(name, found):
                break
        return first or ProviderError(Failure.OUTAGE, "no provider is set up")

    async def _obstacle(self, name: str, session: int) -> ProviderError | None:
        try:
            candidate = await self.candidate(name)
            if (missing := candidate.incomplete()) is not None:
                return missing
            limit = await self.accounting.reached(
                session, self._settings.current(), self._clock()
            )
        except ProviderError as error:
            return error
        if limit is not None:
            return budget.refusal(limit, self._clock(), name)
        return self.patience.refusal(name, candidate.digest)

    async def test(self, name: str) -> Reply:
        """Ask a provider for one word, whatever holds it; a good answer ends its hold.

        Raises:
            ProviderError: it can't answer; the text says why.
        """
        said = [Message(role="user", text="Answer with the word: ready")]
        asked = Asked(system="Answer in one word.", messages=said, max_tokens=256, probe=True)
        return await self._through(name, asked)

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()


def _another_may(error: ProviderError, name: str, names: list[str]) -> bool:
    """Whether the next provider may do better with the same conversation."""
    return error.failure is Failure.UNUSABLE and name != names[-1]

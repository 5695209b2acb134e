"""Enters each call in the ledger before it is sent, and corrects the entry afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import attrs

from claude_mem_core.errors import Failure, ProviderError, StoreError
from claude_mem_core.providing import budget
from claude_mem_core.providing.ledger import Account, Cost, Ledger
from claude_mem_core.store import text
from claude_mem_core.types import Message, Usage, Values

# Refused before any token was counted.
FREE = frozenset(Failure) - {Failure.TIMEOUT, Failure.UNUSABLE, Failure.OUTAGE}


@attrs.frozen(kw_only=True)
class Entry:
    """A call that is entered, and how many tokens were guessed for it."""

    account: Account
    guess: int


class Accounting:
    """The budget, kept: one call after the other is let through."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._turn = asyncio.Lock()

    async def enter(
        self, provider: str, model: str, session: int, project: int, values: Values,
        system: str, messages: Sequence[Message], now: int,
    ) -> Entry:  # fmt: skip
        """Enter a call, if the budget has room for it.

        Raises:
            OverBudget: it has none; nothing may be sent.
            ProviderError: the account can't be kept; nothing may be sent.
        """
        guess = budget.estimate(system, messages)
        account = Account(
            day=text.day(now), provider=provider, model=model, session=session, project=project
        )
        async with self._turn:  # nobody may look at the sum between our look and our entry
            limit = await self.reached(session, values, now, guess)
            if limit is not None:
                raise budget.refusal(limit, now, provider)
            await self._add(account, Cost(calls=1, input=guess))
        return Entry(account=account, guess=guess)

    async def reached(
        self, session: int, values: Values, now: int, tokens: int | None = None
    ) -> budget.Limit | None:
        """The limit that a call of so many tokens would break; None: one not known yet.

        Raises:
            ProviderError: the account can't be read.
        """
        day = text.day(now)
        try:
            spent = await asyncio.to_thread(self._ledger.spent, day)
            own = await asyncio.to_thread(self._ledger.spent, day, session)
        except StoreError as error:
            raise ProviderError(Failure.QUOTA, str(error)) from None
        return budget.reached(budget.limits(values, spent, own), tokens)

    async def done(self, entry: Entry, usage: Usage) -> None:
        """Correct the entry of a call that was answered."""
        told = usage.input_tokens or usage.output_tokens
        cost = Cost(
            input=(usage.input_tokens - entry.guess) if told else 0,
            output=usage.output_tokens,
            cached=usage.cached_tokens,
            cost=usage.cost_usd,
        )
        await self._add(entry.account, cost)

    async def failed(self, entry: Entry, failure: Failure) -> None:
        """Correct the entry of a call that failed."""
        back = -entry.guess if failure in FREE else 0
        await self._add(entry.account, Cost(failed=1, input=back))

    async def _add(self, account: Account, cost: Cost) -> None:
        try:
            await asyncio.to_thread(self._ledger.add, account, cost)
        except StoreError as error:
            raise ProviderError(Failure.QUOTA, str(error), provider=account.provider) from None

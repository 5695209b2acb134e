"""The limits on what models may cost: by day and by session, on unless set to 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing.ledger import Spent
from claude_mem_core.types import Message, Values

DAY_MS = 86_400_000
CHARS_A_TOKEN = 4
DAILY_TOKENS = "CLAUDE_MEM_BUDGET_DAILY_TOKENS"
DAILY_CALLS = "CLAUDE_MEM_BUDGET_DAILY_CALLS"
SESSION_TOKENS = "CLAUDE_MEM_BUDGET_SESSION_TOKENS"
SESSION_CALLS = "CLAUDE_MEM_BUDGET_SESSION_CALLS"


class OverBudget(ProviderError):
    """A limit that the user set is reached; nothing was sent."""


@attrs.frozen
class Limit:
    """One limit and how much of it is used."""

    key: str
    limit: int
    used: int

    @property
    def whole_day(self) -> bool:
        """Whether it concerns all sessions."""
        return self.key in {DAILY_TOKENS, DAILY_CALLS}


def limits(values: Values, day: Spent, session: Spent) -> Iterator[Limit]:
    """Every limit that is on."""
    used = {
        DAILY_TOKENS: day.tokens, DAILY_CALLS: day.calls,
        SESSION_TOKENS: session.tokens, SESSION_CALLS: session.calls,
    }  # fmt: skip
    for key, spent in used.items():
        limit = int(values[key])
        if limit:
            yield Limit(key, limit, spent)


def estimate(system: str, messages: Sequence[Message]) -> int:
    """Tokens that a conversation is about to cost, from its length."""
    chars = len(system) + sum(len(message.text) for message in messages)
    return chars // CHARS_A_TOKEN + 1


def reached(found: Iterator[Limit], tokens: int | None) -> Limit | None:
    """The first limit that a call of so many tokens would break.

    `tokens` None: of a call that is not known yet; the last 2 % of a limit are no room.
    """
    for each in found:
        if each.key in {DAILY_TOKENS, SESSION_TOKENS}:
            more = each.limit // 50 + 1 if tokens is None else tokens
        else:
            more = 1
        if each.used + more > each.limit:
            return each
    return None


def refusal(limit: Limit, now: int, provider: str) -> OverBudget:
    """What a request gets that would break a limit."""
    left = (DAY_MS - now % DAY_MS) / 1000
    return OverBudget(Failure.QUOTA, told(limit), retry_after_s=left, provider=provider)


def told(limit: Limit) -> str:
    """A reached limit, for people, with the command that raises it."""
    what = "tokens" if limit.key.endswith("TOKENS") else "requests"
    whose = "today's budget" if limit.whole_day else "this session's budget"
    name = limit.key.removeprefix("CLAUDE_MEM_").lower().replace("_", "-")
    return (
        f"{whose} of {limit.limit:,} {what} for models is used up until 0:00 UTC;"
        f" to raise it: mem config set {name} NUMBER"
    )

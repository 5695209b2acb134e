"""What follows from a failure: ask again at once, use another key, leave it alone, for how long."""

from __future__ import annotations

import random

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing.holds import ABOUT_TALK, UNTIL_CHANGED

SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000

# Worth another try within the same request; it costs nobody anything.
TRANSIENT = frozenset({Failure.OVERLOAD, Failure.OUTAGE})
# The key is to blame: another one may do.
ROTATES = frozenset({Failure.RATE_LIMIT, Failure.QUOTA, Failure.KEY_REFUSED, Failure.PAYMENT})
# The conversation is to blame, not the provider: whoever asked has to change it.
OWN = ABOUT_TALK
# Nothing but the user can mend it.
FOR_USER = frozenset({Failure.KEY_REFUSED, Failure.MODEL})
# Says something about the provider, if it comes again and again with other conversations.
OWN_REPEATED = OWN - {Failure.TOO_LONG}

TRIES = 3
FIRST_WAIT_S, LONGEST_WAIT_S = 0.1, 30.0
INLINE_S = 10.0  # a named wait up to this is waited for on the spot
OWN_STREAK = 3  # so many in a row, and it is the provider after all

RATE_MIN, RATE_DEFAULT, RATE_MAX = SECOND, 60 * SECOND, 15 * MINUTE
STUBBORN_RATE = 90 * SECOND
SPENT = 30 * MINUTE
REFUSED_KEY = 6 * HOUR
REFUSED_LOGIN = 30 * MINUTE  # a new login can't be seen from here, so it is tried
REFUSED_GATEWAY = 15 * MINUTE
ABROAD = 30 * MINUTE
OUTAGE_FIRST, OUTAGE_LONGEST = 90 * SECOND, 30 * MINUTE
UNATTENDED = 3  # probes without anybody at work; then it waits for somebody


def falls_back(failure: Failure, *, gateway: bool) -> bool:
    """Whether another provider takes the work meanwhile.

    A refused key is the user's to mend, but cmem.ai's gateway mends its own.
    """
    if failure is Failure.UNUSABLE:
        return True
    return failure not in OWN and (gateway or failure is not Failure.KEY_REFUSED)


def wait_s(failure: Failure, attempt: int, named: float | None) -> float | None:
    """Seconds after which the same key is asked again at once; None: not at once.

    Args:
        attempt: how many were made, from 1.
        named: the wait that the service named.
    """
    if failure is Failure.UNUSABLE:
        return 0.0 if attempt == 1 else None
    if attempt >= TRIES:
        return None
    if failure is Failure.RATE_LIMIT:
        return named if named is not None and named <= INLINE_S else None
    if failure not in TRANSIENT or (named or 0) > INLINE_S:
        return None
    backoff = min(FIRST_WAIT_S * 2 ** (attempt - 1), LONGEST_WAIT_S)
    # The jitter spreads the sessions that failed together; it is no secret.
    return max(named or 0.0, float(backoff * random.uniform(0.5, 1.5)))


def cooldown_ms(error: ProviderError) -> int:
    """How long a key is left alone while others serve."""
    named = None if error.retry_after_s is None else int(error.retry_after_s * SECOND)
    if error.failure is Failure.RATE_LIMIT:
        return min(max(RATE_DEFAULT if named is None else named, RATE_MIN), RATE_MAX)
    if error.failure is Failure.KEY_REFUSED:
        return REFUSED_KEY
    return max(SPENT, named or 0)


def hold_until(
    error: ProviderError, streak: int, now: int, *, keyed: bool, gateway: bool, deadline_ms: int
) -> int:
    """When a provider is tried again (ms); 0: when its key or settings changed.

    Args:
        streak: failures in a row, this one included.
        keyed: whether a key of the user's was refused, and not a login of another program.
        gateway: whether it is cmem.ai, which mends refused keys by itself.
        deadline_ms: a request's own deadline; waits after a time-out start there.
    """
    named = int((error.retry_after_s or 0) * SECOND)
    failure = error.failure
    if failure is Failure.MODEL:
        return UNTIL_CHANGED
    if failure is Failure.KEY_REFUSED:
        if gateway:
            return now + REFUSED_GATEWAY
        return UNTIL_CHANGED if keyed else now + REFUSED_LOGIN
    if failure is Failure.RATE_LIMIT:
        least = STUBBORN_RATE if streak > 1 else RATE_MIN
        return now + min(max(named or RATE_DEFAULT, least), RATE_MAX)
    if failure in {Failure.QUOTA, Failure.PAYMENT}:
        return now + max(SPENT, named)
    if failure is Failure.REGION:
        return now + ABROAD
    first = deadline_ms if failure is Failure.TIMEOUT else OUTAGE_FIRST
    grown = min(first * 2 ** min(streak - 1, 10), max(OUTAGE_LONGEST, first))
    return now + max(named, int(grown * random.uniform(0.8, 1.2)))

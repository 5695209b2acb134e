"""Which failure a refusal means: by its status, and by its words where a status says little.

Vendors use one status for several things (a spent quota and a short throttle are both
429; a wrong key is 400 with one, 401 with another), so words decide first where they are
plain, the status decides the rest.
"""

from __future__ import annotations

import re

from claude_mem_core.errors import Failure
from claude_mem_core.providing.fields import Refused


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


TOO_LONG = _words(
    r"context_length_exceeded", r"context[ _-]?(?:length|window|size)", r"prompt is too long",
    r"maximum context", r"input (?:is )?too long", r"too many (?:input )?tokens",
    r"input token count", r"request_too_large", r"exceeds? the maximum number of tokens",
    r"reduce the length",
)  # fmt: skip
REGION = _words(
    r"location is not supported", r"unsupported_country", r"country, region, or territory",
    r"not (?:available|supported|offered) in your (?:country|region|location)",
    r"\bregion\b.{0,40}not (?:supported|available)",
)  # fmt: skip
KEY = _words(
    r"api[ _-]?key[ _](?:not valid|invalid|expired|not found)", r"invalid[ _-](?:x-)?api[ _-]?key",
    r"incorrect api key", r"api_key_invalid", r"authentication_error", r"invalid_authentication",
    r"(?:token|session|login|credentials?) (?:has |have |is )?(?:expired|revoked|invalid)",
    r"user not found",
)  # fmt: skip
PAYMENT = _words(
    r"credit balance", r"insufficient[ _](?:credit|balance|fund)", r"payment[ _]required",
    r"add (?:more )?credits", r"billing_not_active", r"billing (?:is )?(?:disabled|not)",
    r"inactive[ _]subscription", r"subscription (?:is )?(?:inactive|required|expired)",
    r"account is not active",
)  # fmt: skip
DAILY = _words(
    r"per[ _-]?(?:day|week|month)", r"(?:daily|weekly|monthly)[ _](?:limit|quota)",
    r"insufficient_quota", r"usage[ _]limit", r"key limit exceeded", r"quota_exceeded",
    r"spending[ _]limit", r"allowance", r"free-models-per-day", r"out of (?:extra )?usage",
)  # fmt: skip
MINUTE = _words(
    r"per[ _-]?min", r"requests per second", r'"retrydelay"', r"\brpm\b", r"\btpm\b"
)
CURRENT_QUOTA = _words(r"exceeded your current quota", r"quota (?:has been )?exceeded")
MODEL = _words(
    r"model_not_found", r"model[^.\"]{0,120}(?:does not exist|not found|not available|not exist"
    r"|no longer available|not supported|deprecated|retired|decommissioned)",
    r"(?:unknown|invalid|unsupported) model", r"no endpoints found", r"not a valid model",
    r"(?:access to|allowed to use|permission (?:for|to use))[^.\"]{0,40}model",
    r"models?/[^ \"]{1,80} is not found",
)  # fmt: skip
OVERLOADED = _words(r"overloaded", r"at capacity", r"high demand")
FLAGGED = _words(r"moderation", r"flagged", r"safety")

BY_STATUS = {
    400: Failure.BAD_REQUEST, 401: Failure.KEY_REFUSED, 402: Failure.PAYMENT,
    403: Failure.KEY_REFUSED, 404: Failure.MODEL, 408: Failure.TIMEOUT, 409: Failure.OUTAGE,
    410: Failure.MODEL, 413: Failure.TOO_LONG, 425: Failure.OVERLOAD,
    429: Failure.RATE_LIMIT, 451: Failure.REGION, 500: Failure.OUTAGE, 502: Failure.OUTAGE,
    503: Failure.OVERLOAD, 504: Failure.TIMEOUT, 524: Failure.TIMEOUT, 529: Failure.OVERLOAD,
}  # fmt: skip

# In the order in which they are asked; each stands for the statuses at which it is plain.
WORDS: tuple[tuple[Failure, re.Pattern[str], frozenset[int]], ...] = (
    (Failure.REGION, REGION, frozenset({400, 403, 412, 422, 451})),
    (Failure.TOO_LONG, TOO_LONG, frozenset({400, 413, 422})),
    (Failure.PAYMENT, PAYMENT, frozenset({400, 401, 402, 403, 429})),
    (Failure.QUOTA, DAILY, frozenset({402, 403})),
    (Failure.KEY_REFUSED, KEY, frozenset({400, 401, 403, 404})),
    (Failure.MODEL, MODEL, frozenset({400, 401, 403, 404, 422})),
    (Failure.BAD_REQUEST, FLAGGED, frozenset({403})),
    (Failure.OVERLOAD, OVERLOADED, frozenset({500, 502, 504})),
)


def failure_of(answer: Refused) -> Failure:
    """The failure that an answer means."""
    status, words = answer.status, answer.words
    if status == 429:
        return _throttled(words)
    for failure, pattern, statuses in WORDS:
        if status in statuses and pattern.search(words):
            return failure
    if status:
        return BY_STATUS.get(status) or _by_class(status)
    return _by_type(words)


def _throttled(words: str) -> Failure:
    """A throttle of minutes, or a quota of days: both come as 429."""
    if PAYMENT.search(words):
        return Failure.PAYMENT
    if DAILY.search(words):
        return Failure.QUOTA
    if MINUTE.search(words) or not CURRENT_QUOTA.search(words):
        return Failure.RATE_LIMIT
    return Failure.QUOTA


def _by_class(status: int) -> Failure:
    if status >= 500:
        return Failure.OUTAGE
    return Failure.BAD_REQUEST


TYPES = (
    (Failure.OVERLOAD, OVERLOADED),
    (Failure.QUOTA, DAILY),
    (Failure.RATE_LIMIT, _words(r"rate[ _-]?limit", r"too many requests")),
    (Failure.PAYMENT, PAYMENT),
    (Failure.KEY_REFUSED, KEY),
    (Failure.TOO_LONG, TOO_LONG),
    (Failure.MODEL, MODEL),
    (
        Failure.OUTAGE,
        _words(r"api_error", r"server[ _]error", r"internal", r"provider returned"),
    ),
    (Failure.TIMEOUT, _words(r"timed? ?out")),
)


def _by_type(words: str) -> Failure:
    """An error inside a stream has no status, only a type and a sentence."""
    return next((f for f, pattern in TYPES if pattern.search(words)), Failure.UNUSABLE)


PROSE = (
    (
        Failure.KEY_REFUSED,
        _words(
            r"^\W*failed to authenticate", r"^\W*not logged in\b", r"please run /login",
            r"(?:session|token) (?:has )?expired.{0,60}(?:sign|log) ?in",
            r"^\W*invalid api key", r"api error: 40[13]\b", r"^\W*authentication (?:failed|error)",
        ),
    ),
    (
        Failure.QUOTA,
        _words(
            r"(?:hit|reached|exceeded) your (?:[\w-]+ ){0,3}limit", r"usage limit (?:reached|exceeded)",
            r"you're out of (?:extra )?usage", r"limit (?:reached|exceeded) ?[·∙|]",
        ),
    ),
    (Failure.PAYMENT, _words(r"^\W*(?:your )?credit balance is too low", r"api error: 402\b")),
    (Failure.RATE_LIMIT, _words(r"api error: 429\b", r"^\W*(?:too many requests|rate limit)")),
    (Failure.OVERLOAD, _words(r"api error: 529\b", r"api error: 503\b", r"^\W*overloaded")),
    (Failure.OUTAGE, _words(r"api error: 5\d\d\b", r"api error: connection error")),
    (Failure.TIMEOUT, _words(r"api error: request timed out")),
    (Failure.TOO_LONG, _words(r"^\W*prompt is too long", r"^\W*input is too long")),
    (
        Failure.MODEL,
        _words(r"^\W*(?:api error: 404\b|there's an issue with the selected model)"),
    ),
)  # fmt: skip


def prose_failure(text: str) -> Failure | None:
    """The failure that a reply says in words."""
    said = text.strip()
    return next((failure for failure, pattern in PROSE if pattern.search(said)), None)

"""What every provider does with an answer and with a failure, whatever its service.

async with failures("gemini", advice, deadline_s):
    answer = await sdk.generate(...)
return usable(Reply(text=..., stop=...), "gemini")
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
import attrs

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing.classify import from_exception, from_prose, unusable
from claude_mem_core.types import Message, Reply

CAP = "CLAUDE_MEM_OBSERVER_MAX_OUTPUT_TOKENS"
# A model's thoughts before its answer; the end is missing when the cap cut them off.
THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})

BETWEEN = "The conversation so far, oldest first:"

Advice = Mapping[Failure, str]


@asynccontextmanager
async def failures(
    provider: str, advice: Advice | None = None, deadline_s: float | None = None
) -> AsyncIterator[None]:
    """Whatever goes wrong inside comes out as a `ProviderError`, past the deadline too.

    Args:
        provider: its name.
        advice: for kinds of failure, the sentence that says what to do, with the command.
        deadline_s: seconds for everything inside.

    Raises:
        ProviderError: nothing else leaves this block, cancellation excepted.
    """
    try:
        with anyio.fail_after(deadline_s):
            yield
    except Exception as error:  # noqa: BLE001 - SDKs raise anything; it all means: no reply
        raise advised(from_exception(error, provider), advice or {}) from None


def advised(error: ProviderError, advice: Advice) -> ProviderError:
    """The failure with what to do about it in its text."""
    more = advice.get(error.failure)
    if not more or more in str(error):
        return error
    return ProviderError(
        error.failure,
        f"{str(error).rstrip('. ')}. {more}",
        retry_after_s=error.retry_after_s,
        provider=error.provider,
        action=error.action,
        url=error.url,
    )


def usable(reply: Reply, provider: str) -> Reply:
    """The reply without the model's thoughts before it.

    Raises:
        ProviderError: it says in words that the service refused, or there is none: empty,
            cut off before the first word, or broken off without an end.
    """
    text = THOUGHTS.sub("", reply.text, count=1).strip()
    if not text and reply.stop.lower() in CUT:
        raise unusable(f"the cap on output came before the first word; raise {CAP}", provider)
    if not text:
        raise unusable(f"it is empty (ended by {reply.stop or 'nothing'})", provider)
    refusal = from_prose(text, provider)
    if refusal is not None:
        raise refusal
    if not reply.stop:
        raise unusable("it breaks off in the middle", provider)
    return attrs.evolve(reply, text=text)


def as_one(messages: Sequence[Message]) -> str:
    """The conversation as one prompt, for a program that knows nothing of the last run."""
    *earlier, last = messages
    if not earlier:
        return last.text
    return "\n\n".join((BETWEEN, *_turns(earlier), "Now answer this:", last.text))


def _turns(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        yield f'<turn by="{message.role}">\n{message.text}\n</turn>'

"""The opened providers of this process: one conversation in, one reply out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from claude_mem_core.errors import Failure, ProviderError, UnknownName
from claude_mem_core.extensions import declared, registry_of
from claude_mem_core.paths import Paths
from claude_mem_core.plugins.calls import call_async, call_sync, describe
from claude_mem_core.processor.wire import Asked
from claude_mem_core.types import Model, Provider, Reply, Values

REPLY_CHARS = 1_000_000


class Models:
    """Opens providers when they are first asked, and again when settings changed."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._settings, self._registry = registry_of(paths)
        self._opened: dict[tuple[str, str], tuple[dict[str, object], Model]] = {}
        self._opening = asyncio.Lock()

    async def reply(self, asked: Asked) -> Reply:
        """Send one conversation.

        Raises:
            ProviderError: there is no usable reply; nothing else leaves here.
        """
        model = await self._model(asked)
        work = model.reply(asked.system, asked.messages, max_tokens=asked.max_tokens)
        return _checked(await _answered(asked, work), asked)

    async def _model(self, asked: Asked) -> Model:
        """The opened provider, one for each key and model: several may be in use at once."""
        async with self._opening:
            record = self._record(asked.provider)
            # It may be asked before it is chosen: then its settings come with it.
            self._settings.learn(declared(self._registry))
            values = self._values(record, asked.values)
            name = (record.name, str([values.get(key) for key in _telling(record)]))
            known = self._opened.get(name)
            if known is None or known[0] != values:
                await self._open(name, record, values)
            return self._opened[name][1]

    def _record(self, name: str) -> Provider:
        try:
            return self._registry.record("mem_providers", Provider, name)
        except UnknownName as error:
            raise ProviderError(Failure.MODEL, str(error), provider=name) from None

    def _values(self, record: Provider, given: Values) -> dict[str, object]:
        """The settings with the given credentials of this provider and of no other."""
        hidden = {s.key for s in declared(self._registry) if s.type == "secret"}
        values = dict(self._settings.current())
        values = {key: value for key, value in values.items() if key not in hidden}
        allowed = {*record.keys, record.model_key, *record.in_file.values()} - {""}
        chosen = {key: given[key] for key in allowed if key in given}
        # Programs that a provider runs get a folder of their own in it.
        values["CLAUDE_MEM_DATA_DIR"] = str(self._paths.data)
        return {**values, **dict.fromkeys(record.keys, ""), **chosen}

    async def _open(self, name: tuple[str, str], record: Provider, values: Values) -> None:
        """Off the event loop: importing an SDK takes seconds."""
        if lacks := _lacks(record, values):
            raise ProviderError(Failure.KEY_REFUSED, lacks, provider=record.name)
        outcome = await asyncio.to_thread(call_sync, record.name, record.open, values)
        if isinstance(outcome.error, ProviderError):
            raise outcome.error
        if outcome.error is not None:
            text = f"provider {record.name} can't be opened: {describe(outcome.error)}"
            raise ProviderError(Failure.BAD_REQUEST, text, provider=record.name)
        old = self._opened.pop(name, None)
        self._opened[name] = (dict(values), outcome.value)
        if old is not None:
            await call_async(record.name, old[1].aclose)

    async def aclose(self) -> None:
        """Close what was opened."""
        for (name, _), (_, model) in self._opened.items():
            await call_async(name, model.aclose)


def _telling(record: Provider) -> tuple[str, ...]:
    """What may differ from request to request."""
    return (*record.keys, record.model_key)


def _lacks(record: Provider, values: Values) -> str:
    """What is missing before it can be asked."""
    if record.lacks is not None:
        return record.lacks(values)
    if all(values.get(key) for key in record.keys):
        return ""
    return f"{record.name} has no key; run: mem auth set {record.name}"


async def _answered(asked: Asked, work: Awaitable[Reply]) -> Reply:
    async def waited() -> Reply:
        async with asyncio.timeout(asked.seconds):
            return await work

    outcome = await call_async(asked.provider, waited)
    if isinstance(outcome.error, TimeoutError):
        text = f"{asked.provider} gave no answer in {asked.seconds:g} s"
        raise ProviderError(Failure.TIMEOUT, text, provider=asked.provider)
    if isinstance(outcome.error, ProviderError):
        outcome.error.provider = outcome.error.provider or asked.provider
        raise outcome.error
    if outcome.error is not None:
        text = f"provider {asked.provider} failed: {describe(outcome.error)}"
        raise ProviderError(Failure.UNUSABLE, text, provider=asked.provider)
    reply: Reply = outcome.value
    return reply


def _checked(reply: object, asked: Asked) -> Reply:
    if not isinstance(reply, Reply) or not isinstance(reply.text, str):
        text = f"provider {asked.provider} gave no Reply"
        raise ProviderError(Failure.UNUSABLE, text, provider=asked.provider)
    if len(reply.text) > REPLY_CHARS:
        text = f"{asked.provider} answered with {len(reply.text):,} characters"
        raise ProviderError(Failure.UNUSABLE, text, provider=asked.provider)
    return reply

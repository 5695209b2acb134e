"""The contract of providers: one conversation in, one reply out.

class TestMine(ProviderContract):
    plugin = "provider.mine"
    settings = {"CLAUDE_MEM_MINE_API_KEY": "test-key"}

    def pointed(self, url):                            # to the scripted server
        return {"CLAUDE_MEM_MINE_BASE_URL": f"{url}/v1"}

`FailuresContract` has it meet every failure of a service.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

import anyio

from claude_mem_core.testing.fake_models import FakeModels
from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.types import Message, Provider, Reply

LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class ProviderContract(RecordContract[Provider]):
    """Inherit and point the settings at the scripted server.

    Attributes:
        said: what the reply to `hello` must contain; the scripted server says it.
    """

    hook: ClassVar[str] = "mem_providers"
    kind: ClassVar[type[Any]] = Provider
    said: ClassVar[str] = ""

    def pointed(self, url: str) -> Mapping[str, Any]:
        """The settings that make requests go to `url`; none for one without a server."""
        return {}

    def test_replies_with_text_and_usage(
        self, record: Provider, values: Mapping[str, Any]
    ) -> None:
        with FakeModels([], side=self.said or "hello") as models:
            reply = anyio.run(self._ask, record, {**values, **self.pointed(models.url)})
        assert isinstance(reply, Reply)
        assert reply.text
        assert self.said in reply.text
        usage = reply.usage
        counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
        assert all(type(count) is int and count >= 0 for count in counts)

    def test_keys_go_to_a_named_and_safe_place(self, record: Provider) -> None:
        where = urlsplit(record.origin)
        assert all(key.isidentifier() and key.isupper() for key in record.keys)
        if record.keys and record.address is None:
            assert where.scheme == "https" or where.hostname in LOOPBACK
            assert where.path in {"", "/"}, "an origin has no path"

    async def _ask(self, record: Provider, values: Mapping[str, Any]) -> Reply:
        model = record.open(values)
        try:
            said = [Message(role="user", text="hello")]
            return await model.reply("Answer in one word.", said, max_tokens=64)
        finally:
            await model.aclose()
            await model.aclose()  # closing twice is no error

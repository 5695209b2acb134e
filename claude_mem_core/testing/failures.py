"""Every failure of a model service over real HTTP; for providers that speak to one.

class TestMineFails(FailuresContract):
    plugin = "provider.mine"
    settings = {"CLAUDE_MEM_MINE_API_KEY": KEY}

    def pointed(self, url):
        return {"CLAUDE_MEM_MINE_BASE_URL": f"{url}/v1"}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import anyio
import pytest

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.testing.fake_models import FakeModels, Talk, Turn, closed_port
from claude_mem_core.testing.offer import RecordCase
from claude_mem_core.types import Message, Provider, Reply

KEY = "test-key-0123456789abcdef0123456789abcdef"
PAGE = {"Content-Type": "text/html"}
# Only where nothing comes: an answer that comes may take as long as the machine needs.
SHORT = {"CLAUDE_MEM_LLM_TIMEOUT_MS": 300, "CLAUDE_MEM_LLM_STREAM_IDLE_TIMEOUT_MS": 300}

FAILURES: dict[str, tuple[Turn, Failure]] = {
    "throttled": (Turn(status=429, text="Rate limit reached, slow down"), Failure.RATE_LIMIT),
    "quota": (Turn(status=429, text="insufficient_quota: check your plan"), Failure.QUOTA),
    "key": (Turn(status=401, text=f"Incorrect API key: {KEY}"), Failure.KEY_REFUSED),
    "credit": (Turn(status=402, text="Payment required: add credits"), Failure.PAYMENT),
    "forbidden": (Turn(status=403, text="Request not allowed"), Failure.KEY_REFUSED),
    "model": (Turn(status=404, text="The model `gone-1` does not exist"), Failure.MODEL),
    "bad": (Turn(status=400, text="messages: unknown role"), Failure.BAD_REQUEST),
    "long": (Turn(status=400, text="maximum context length is 8192 tokens"), Failure.TOO_LONG),
    "large": (Turn(status=413, text="request_too_large"), Failure.TOO_LONG),
    "region": (
        Turn(status=403, text="User location is not supported for the API use."),
        Failure.REGION,
    ),
    "down": (Turn(status=500, raw=""), Failure.OUTAGE),
    "gateway": (Turn(status=502, raw="<h1>Bad gateway</h1>", headers=PAGE), Failure.OUTAGE),
    "busy": (Turn(status=503, text="try again later"), Failure.OVERLOAD),
    "overloaded": (Turn(status=529, text="Overloaded"), Failure.OVERLOAD),
    "late": (Turn(status=504, text="upstream timed out"), Failure.TIMEOUT),
    "silent": (Turn(stuck=True), Failure.TIMEOUT),
    "gone quiet": (Turn(text="half an answer", stuck=True), Failure.TIMEOUT),
    "empty": (Turn(text=""), Failure.UNUSABLE),
    "web page": (Turn(raw="<html>Welcome</html>", headers=PAGE), Failure.UNUSABLE),
    "not json": (Turn(raw="{"), Failure.UNUSABLE),
    "other json": (Turn(raw='{"hello": 1}'), Failure.UNUSABLE),
    "login in words": (Turn(text="Not logged in · Please run /login"), Failure.KEY_REFUSED),
    "quota in words": (Turn(text="You've hit your usage limit"), Failure.QUOTA),
    "long in words": (Turn(text="Prompt is too long"), Failure.TOO_LONG),
}


class FailuresContract(RecordCase[Provider]):
    """Inherit, and say how the settings name the server.

    Attributes:
        differs: what other kind of failure one of `FAILURES` is with this service.
        most: requests that a failure may cost; more than one only where the provider
            asks again in another form.
    """

    hook: ClassVar[str] = "mem_providers"
    kind: ClassVar[type[Any]] = Provider
    differs: ClassVar[Mapping[str, Failure]] = {}
    most: ClassVar[int] = 1

    def pointed(self, url: str) -> Mapping[str, Any]:
        """The settings that make requests go to `url`."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def service(cls) -> Iterator[FakeModels]:
        """The service, for all tests."""
        with FakeModels([]) as models:
            yield models

    @pytest.mark.parametrize("name", FAILURES)
    def test_failure(
        self, record: Provider, values: Mapping[str, Any], service: FakeModels, name: str
    ) -> None:
        turn, kind = FAILURES[name]
        error = self.failed(record, values, service, turn)
        assert error.failure is self.differs.get(name, kind), str(error)
        assert KEY not in str(error)
        assert 1 <= len(service.requests) <= self.most, "the core asks again, not the SDK"

    def test_the_wait_that_a_service_names(
        self, record: Provider, values: Mapping[str, Any], service: FakeModels
    ) -> None:
        turn = Turn(status=429, text="Rate limit reached", headers={"Retry-After": "7"})
        error = self.failed(record, values, service, turn)
        assert (error.failure, error.retry_after_s) == (Failure.RATE_LIMIT, 7)

    def test_nobody_listens(self, record: Provider, values: Mapping[str, Any]) -> None:
        nowhere = f"http://127.0.0.1:{closed_port()}"
        with pytest.raises(ProviderError) as caught:
            anyio.run(self.ask, record, {**values, **self.pointed(nowhere)})
        assert caught.value.failure is Failure.OUTAGE

    def test_an_answer_that_breaks_off_is_none(
        self, record: Provider, values: Mapping[str, Any], service: FakeModels
    ) -> None:
        half = Turn(text="half an answer", cut=True)
        error = self.failed(record, values, service, half)
        assert error.failure in {Failure.UNUSABLE, Failure.OUTAGE}

    def test_a_redirect_is_not_followed(
        self, record: Provider, values: Mapping[str, Any], service: FakeModels
    ) -> None:
        with FakeModels([], side="stolen") as other:
            to = {"Location": f"{other.url}/v1/chat/completions"}
            for status in (302, 307, 308):
                turn = Turn(status=status, raw="", headers=to)
                error = self.failed(record, values, service, turn)
                assert error.failure is Failure.BAD_REQUEST
            assert other.requests == []

    def failed(
        self, record: Provider, values: Mapping[str, Any], service: FakeModels, turn: Turn
    ) -> ProviderError:
        """What comes of a request that the server answers with `turn`, each time."""
        service.talks[:] = [Talk(match=".", anywhere=True, turns=[turn] * 9)]
        service.requests.clear()
        given = {**values, **(SHORT if turn.stuck else {}), **self.pointed(service.url)}
        with pytest.raises(ProviderError) as caught:
            anyio.run(self.ask, record, given)
        return caught.value

    async def ask(self, record: Provider, values: Mapping[str, Any]) -> Reply:
        """One short conversation."""
        model = record.open(values)
        said: Sequence[Message] = [Message(role="user", text="hello")]
        try:
            return await model.reply("Answer in one word.", said, max_tokens=64)
        finally:
            await model.aclose()

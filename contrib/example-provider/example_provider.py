"""A provider in one file: any server that speaks Chat Completions, without an SDK."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from claude_mem_core import hookimpl
from claude_mem_core.types import Message, Provider, Reply, Setting, Usage, Values

NAME = "example"
BASE_URL = "CLAUDE_MEM_EXAMPLE_BASE_URL"
MODEL = "CLAUDE_MEM_EXAMPLE_MODEL"
KEY = "CLAUDE_MEM_EXAMPLE_API_KEY"


class ExampleModel:
    def __init__(self, settings: Values) -> None:
        self.settings = settings
        self.url = f"{settings[BASE_URL].rstrip('/')}/chat/completions"
        self.key = settings.get(KEY) or ""

    async def reply(
        self, system: str, messages: Sequence[Message], *, max_tokens: int
    ) -> Reply:
        from claude_mem_core.providing import outgoing
        from claude_mem_core.providing.classify import from_response
        from claude_mem_core.providing.replied import failures, usable

        said = [{"role": message.role, "content": message.text} for message in messages]
        body = {
            "model": self.settings[MODEL],
            "messages": [{"role": "system", "content": system}, *said],
            "max_tokens": max_tokens,
        }
        # Whatever goes wrong in this block comes out as a ProviderError.
        async with failures(NAME):
            async with outgoing.client(self.url, self.settings, key=self.key) as http:
                headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
                answer = await http.post(self.url, json=body, headers=headers)
            if answer.status_code != 200:
                raise from_response(answer.status_code, answer.headers, answer.content, NAME)
            found = answer.json()
            choice, used = found["choices"][0], found.get("usage") or {}
            usage = Usage(
                input_tokens=used.get("prompt_tokens", 0),
                output_tokens=used.get("completion_tokens", 0),
            )
            text = choice["message"]["content"] or ""
            return usable(Reply(text=text, usage=usage, stop=choice["finish_reason"]), NAME)

    async def aclose(self) -> None:
        """Nothing stays open between two requests."""


def address(settings: Values) -> str:
    return str(settings[BASE_URL])


def lacks(settings: Values) -> str:
    return "" if settings[MODEL] else "it has no model: mem config set example-model MODEL"


@hookimpl
def mem_settings() -> Iterator[Setting]:
    yield Setting(
        key=BASE_URL, default="http://localhost:8080/v1", scope="machine", help="Its address."
    )
    yield Setting(key=MODEL, default="", scope="machine", help="Model to ask.")
    yield Setting(key=KEY, type="secret", default="", scope="machine", help="Its key, if any.")


@hookimpl
def mem_providers() -> Iterator[Provider]:
    yield Provider(
        name=NAME,
        summary="an example: a model server of your own",
        open=ExampleModel,
        keys=(KEY,),
        address=address,
        lacks=lacks,
        model_key=MODEL,
    )

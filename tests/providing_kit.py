"""A dispatcher on a data directory, with providers that a test scripts and a clock it sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.extensions import declared
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.providing.dispatch import Dispatcher
from claude_mem_core.settings import SettingsSource
from claude_mem_core.testing.fake_site import FakeSite
from claude_mem_core.types import Message, Reply, Usage

DAWN = 1_790_000_000_000
SAID = [Message(role="user", text="hello " * 20)]
PLUGIN = """
    from claude_mem_core import hookimpl
    from claude_mem_core.types import Provider, Room, Setting

    @hookimpl
    def mem_settings():
        yield Setting(key="CLAUDE_MEM_{KEY}_API_KEY", type="secret")
        yield Setting(key="CLAUDE_MEM_{KEY}_API_KEYS", type="secret")
        yield Setting(key="CLAUDE_MEM_{KEY}_MODEL", default="small-1")
        yield Setting(key="CLAUDE_MEM_{KEY}_BASE_URL", default="{url}")

    @hookimpl
    def mem_providers():
        yield Provider(name="{name}", open=lambda values: None, keys={keys},
                       address=lambda values: values["CLAUDE_MEM_{KEY}_BASE_URL"],
                       model_key="CLAUDE_MEM_{KEY}_MODEL", {more})
"""

Step = Reply | ProviderError


def fails(
    failure: Failure, wait: float | None = None, text: str = "no", **more: str
) -> ProviderError:
    """A step of a script."""
    return ProviderError(failure, text, retry_after_s=wait, **more)


def says(text: str = "<skip_summary/>", tokens: int = 100, **more: Any) -> Reply:
    """A step of a script: a reply with its usage."""
    return Reply(text=text, usage=Usage(input_tokens=tokens, output_tokens=0), **more)


@attrs.define
class Call:
    """One request that went out."""

    provider: str
    values: Mapping[str, str]
    at: int
    seconds: float

    @property
    def key(self) -> str:
        return next((v for k, v in self.values.items() if k.endswith("_API_KEY")), "")


@attrs.define
class Scene:
    """A dispatcher, the script of its providers, what went out, and the clock."""

    site: FakeSite
    paths: Paths
    script: dict[str, list[Step | Callable[[Call], Step]]] = attrs.field(factory=dict)
    calls: list[Call] = attrs.field(factory=list)
    now: int = DAWN
    active: int = DAWN
    dispatcher: Dispatcher = attrs.field(init=False)
    settings: SettingsSource = attrs.field(init=False)

    @classmethod
    def make(cls, site: FakeSite, folder: Path) -> Scene:
        made = cls(site, Paths(secure_dir(folder / "data")))
        made.offer("alpha")
        made.offer("beta")
        return made

    def offer(
        self, name: str, url: str | None = None, *, keys: tuple[str, ...] | None = None, more: str = ""
    ) -> None:
        """Install a provider; one key, unless said otherwise."""
        key = name.upper().replace("-", "_")
        named = (f"CLAUDE_MEM_{key}_API_KEY",) if keys is None else keys
        where = f"https://{name}.example/v1" if url is None else url
        code = PLUGIN.format(KEY=key, name=name, url=where, keys=repr(named), more=more)
        self.site(f"provider.{name}", code)

    def open(self, **settings: str) -> Dispatcher:
        """The dispatcher, as after a start of the worker; settings as `mem config set` does."""
        registry = self.site.registry()
        registry.load("provider")
        self.settings = SettingsSource(self.paths, declared(registry), environ={})
        if settings:
            self.set(**settings)
        self.dispatcher = Dispatcher(
            paths=self.paths, settings=self.settings, registry=registry, send=self._send,
            active_ms=lambda: self.active, clock=lambda: self.now,
        )  # fmt: skip
        return self.dispatcher

    def set(self, **settings: str) -> None:
        """Change settings, as `mem config set` does."""
        self.settings.update({f"CLAUDE_MEM_{k.upper()}": v for k, v in settings.items()})

    async def _send(
        self, provider: str, system: str, messages: Sequence[Message], *, max_tokens: int,
        seconds: float, session: int, values: Mapping[str, str],
    ) -> Reply:  # fmt: skip
        call = Call(provider, values, self.now, seconds)
        self.calls.append(call)
        steps = self.script.get(provider, [])
        step = steps.pop(0) if steps else says()
        answer = step(call) if callable(step) else step
        if isinstance(answer, ProviderError):
            raise answer
        return answer

    async def ask(self, **more: Any) -> Reply:
        """One request."""
        return await self.dispatcher.reply("system", SAID, max_tokens=100, **more)

    async def failure(self, **more: Any) -> ProviderError:
        """The failure of one request."""
        try:
            reply = await self.ask(**more)
        except ProviderError as error:
            return error
        raise AssertionError(f"it answered: {reply}")

    def later(self, seconds: float, *, active: bool = True) -> None:
        """Time passes; with `active` somebody was at work meanwhile."""
        self.now += int(seconds * 1000)
        if active:
            self.active = self.now

    @property
    def asked(self) -> list[str]:
        """Names of the providers that were asked, in order."""
        return [call.provider for call in self.calls]

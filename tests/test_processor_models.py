"""What the processor keeps open: one client for each key and model, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.processor.models import Models
from claude_mem_core.processor.wire import Asked
from claude_mem_core.testing.fake_site import FakeSite
from claude_mem_core.types import Message

CODE = """
    from claude_mem_core import hookimpl
    from claude_mem_core.types import Provider, Reply, Setting

    opened, closed = [], []
    KEY, MODEL, URL = "CLAUDE_MEM_ECHO_API_KEY", "CLAUDE_MEM_ECHO_MODEL", "CLAUDE_MEM_ECHO_URL"

    class Model:
        def __init__(self, values):
            self.says = "|".join((values[KEY], values[MODEL], values[URL]))
            opened.append(self.says)

        async def reply(self, system, messages, *, max_tokens):
            return Reply(text=self.says, stop="stop")

        async def aclose(self):
            closed.append(self.says)

    @hookimpl
    def mem_settings():
        yield Setting(key=KEY, type="secret")
        yield Setting(key=MODEL, default="usual")
        yield Setting(key=URL)

    @hookimpl
    def mem_providers():
        yield Provider(name="echo", summary="echo", open=Model, keys=(KEY,), model_key=MODEL,
                       in_file={"ECHO_URL": URL})
"""


def values(key: str = "k-1", model: str = "", url: str = "") -> dict[str, str]:
    given = {"CLAUDE_MEM_ECHO_MODEL": model, "CLAUDE_MEM_ECHO_URL": url}
    return {"CLAUDE_MEM_ECHO_API_KEY": key, **{k: v for k, v in given.items() if v}}


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(secure_dir(tmp_path / "data"))


@pytest.fixture
def said(install_fake_plugin: FakeSite, paths: Paths) -> Any:
    """Asks with these values, one after the other; what was answered, opened and closed."""
    install_fake_plugin("provider.echo", CODE)
    models = Models(paths)

    def ask(*requests: dict[str, str]) -> tuple[list[str], list[str], list[str]]:
        async def all_of_them() -> list[str]:
            return [(await models.reply(asked(given))).text for given in requests]

        answers = anyio.run(all_of_them)
        import fake_provider_echo as module  # type: ignore[import-not-found]

        return answers, module.opened, module.closed

    return ask


def asked(given: dict[str, str]) -> Asked:
    hello = (Message(role="user", text="hello"),)
    return Asked(
        provider="echo", system="", messages=hello, max_tokens=9, seconds=30, values=given
    )


def test_two_models_in_turn_are_opened_once_each(said: Any) -> None:
    usual, small = values(), values(model="tiny")
    answers, opened, closed = said(usual, small, usual, small)
    assert answers == ["k-1|usual|", "k-1|tiny|"] * 2
    assert opened == ["k-1|usual|", "k-1|tiny|"]
    assert closed == []


def test_two_keys_as_well_and_another_address_takes_the_place_of_the_old(said: Any) -> None:
    answers, opened, closed = said(
        values("k-1"), values("k-2"), values("k-1"), values("k-1", url="https://b")
    )
    assert answers == ["k-1|usual|", "k-2|usual|", "k-1|usual|", "k-1|usual|https://b"]
    assert len(opened) == 3
    assert closed == ["k-1|usual|"]


def test_a_setting_that_is_not_its_own_is_not_taken(said: Any) -> None:
    answers, _, _ = said({**values(), "CLAUDE_MEM_ECHO_OTHER": "x", "CLAUDE_MEM_MODE": "y"})
    assert answers == ["k-1|usual|"]


def test_a_provider_that_is_not_chosen_yet_has_the_users_settings(
    said: Any, paths: Paths
) -> None:
    paths.settings.write_text('{"CLAUDE_MEM_ECHO_MODEL": "mine", "CLAUDE_MEM_ECHO_URL": "u"}')
    assert said(values())[0] == ["k-1|mine|u"]

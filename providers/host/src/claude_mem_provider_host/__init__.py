"""A logged-in agent program on this machine as a provider of models."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Model, Provider, Setting, Values

CLAUDE_MEM_CONTRACT = 1
NAME = "host"
COMMAND = "CLAUDE_MEM_HOST_OBSERVER_COMMAND"
PORT = "CLAUDE_MEM_HOST_OBSERVER_PORT"
USUAL_PORT = 37_778


def open_model(settings: Values) -> Model:
    """The agent program itself, or whoever answers for it on the loopback port."""
    from claude_mem_provider_host.model import AgentModel, loopback_model

    return AgentModel(settings) if settings.get(COMMAND) else loopback_model(settings)


def address(settings: Values) -> str:
    """Where the loopback observer listens; empty for a program that is run."""
    from claude_mem_provider_host.model import base_url

    return "" if settings.get(COMMAND) else base_url(settings)


def lacks(settings: Values) -> str:
    """What is missing, with the command that mends it."""
    from claude_mem_provider_host.agent import missing

    return missing(settings)


@hookimpl
def mem_settings() -> Iterator[Setting]:
    def setting(key: str, help: str, **more: object) -> Setting:
        given = {"scope": "machine", "area": "provider", **more}
        return Setting(key=key, help=help, **given)  # type: ignore[arg-type]

    help_text = (
        "Agent program that makes memories with its own login: claude, codex, gemini, qwen, or"
        " a command that reads a prompt from stdin. Empty: whoever listens on the port."
    )
    yield setting(COMMAND, help_text)
    help_text = "Port on 127.0.0.1 where a loopback observer listens; never the worker's."
    bounds = {"low": 1024, "high": 65_535}
    yield setting(PORT, help_text, type="int", default=USUAL_PORT, **bounds)


@hookimpl
def mem_providers() -> Iterator[Provider]:
    yield Provider(
        name=NAME,
        summary="a logged-in agent program on this machine, without a key",
        open=open_model,
        address=address,
        lacks=lacks,
    )

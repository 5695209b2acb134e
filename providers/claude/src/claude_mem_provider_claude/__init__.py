"""Claude as a provider of models: by subscription, API key or gateway."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from claude_mem_core import hookimpl
from claude_mem_core.types import Provider, Setting, Values

CLAUDE_MEM_CONTRACT = 1
NAME = "claude"
MODEL = "CLAUDE_MEM_MODEL"
METHOD = "CLAUDE_MEM_CLAUDE_AUTH_METHOD"
BASE_URL = "CLAUDE_MEM_CLAUDE_BASE_URL"
PATH = "CLAUDE_MEM_CLAUDE_PATH"
CONFIG_DIR = "CLAUDE_MEM_CLAUDE_CONFIG_DIR"
THINKING = "CLAUDE_MEM_OBSERVER_THINKING"
USES = "CLAUDE_MEM_CLAUDE_OBSERVATION_BATCH_SIZE"
FAST, SMART = "CLAUDE_MEM_TIER_FAST_MODEL", "CLAUDE_MEM_TIER_SMART_MODEL"
KEY, TOKEN = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"
DEFAULT_MODEL = "claude-haiku-4-5-20251001"
ORIGIN = "https://api.anthropic.com"
METHODS = ("subscription", "api-key", "gateway")
FILE = ("file", "environment")
VIEWER = (*FILE, "viewer")


def _chosen(name: str) -> Callable[[Values], Any]:
    """A function of `choice`, which is imported when it is called."""

    def call(settings: Values) -> Any:
        from claude_mem_provider_claude import choice

        return getattr(choice, name)(settings)

    return call


# Opened as settings and keys mean; where requests go; what is missing; how much goes at once.
open_model = _chosen("opened")
address, lacks = _chosen("base_url"), _chosen("missing")
room, small = _chosen("room"), _chosen("small")


@hookimpl
def mem_settings() -> Iterator[Setting]:
    def setting(key: str, help: str, **more: object) -> Setting:
        given = {"sources": FILE, "scope": "machine", "area": "provider", **more}
        return Setting(key=key, help=help, **given)  # type: ignore[arg-type]

    help_text = "Claude model to ask, or haiku, sonnet, opus; a gateway gets it as it is."
    yield setting(MODEL, help_text, default=DEFAULT_MODEL, sources=VIEWER)
    help_text = "How Claude is paid: `subscription` through Claude Code, `api-key`, or `gateway`."
    words = {"type": "enum", "choices": METHODS, "default": "subscription"}
    yield setting(METHOD, help_text, sources=VIEWER, **words)
    help_text = "Address of a gateway that speaks Anthropic's form; empty: Anthropic's."
    yield setting(BASE_URL, help_text)
    help_text = "Claude Code's program for the subscription, by name or path."
    yield setting(PATH, help_text, type="path", default="claude")
    help_text = "Folder of the Claude Code profile whose login is used; empty: the usual one."
    yield setting(CONFIG_DIR, help_text, type="path")
    help_text = (
        "How much Claude may think: disabled, omit (for a gateway that refuses the field),"
        " enabled or enabled:TOKENS."
    )
    yield setting(THINKING, help_text, default="disabled")
    help_text = "Most tool uses in one request to Claude."
    yield setting(USES, help_text, type="int", default=32, low=1, high=32)
    help_text = "Claude model for simple work, and what `$TIER:fast` stands for."
    yield setting(FAST, help_text, default="haiku")
    yield setting(SMART, "What `$TIER:smart` stands for as a model's name.", default="sonnet")


@hookimpl
def mem_providers() -> Iterator[Provider]:
    yield Provider(
        name=NAME,
        summary="Claude: your subscription through Claude Code, an API key, or a gateway",
        open=open_model,
        keys=(KEY, TOKEN),
        origin=ORIGIN,
        address=address,
        lacks=lacks,
        model_key=MODEL,
        login="claude auth login",
        offers=("haiku", "sonnet", "opus"),
        room=room,
        small=small,
        in_file={"ANTHROPIC_BASE_URL": BASE_URL},
    )

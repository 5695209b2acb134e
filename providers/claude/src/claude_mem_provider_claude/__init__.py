"""Claude as a provider of models: by subscription, API key or gateway."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Model, Provider, Setting, Values

CLAUDE_MEM_CONTRACT = 1
NAME = "claude"
MODEL = "CLAUDE_MEM_MODEL"
METHOD = "CLAUDE_MEM_CLAUDE_AUTH_METHOD"
BASE_URL = "CLAUDE_MEM_CLAUDE_BASE_URL"
PATH = "CLAUDE_MEM_CLAUDE_PATH"
CONFIG_DIR = "CLAUDE_MEM_CLAUDE_CONFIG_DIR"
THINKING = "CLAUDE_MEM_OBSERVER_THINKING"
KEY, TOKEN = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"
DEFAULT_MODEL = "claude-haiku-4-5-20251001"
ORIGIN = "https://api.anthropic.com"
METHODS = ("subscription", "api-key", "gateway")
FILE = ("file", "environment")
VIEWER = (*FILE, "viewer")


def open_model(settings: Values) -> Model:
    """Claude in the way that the settings and keys mean."""
    from claude_mem_provider_claude.choice import method

    if method(settings) == "subscription":
        from claude_mem_provider_claude.subscription import SubscriptionModel

        return SubscriptionModel(settings)
    from claude_mem_provider_claude.api import ApiModel

    return ApiModel(settings)


def address(settings: Values) -> str:
    """Where requests go; a subscription's go where Claude Code sends them."""
    from claude_mem_provider_claude.choice import base_url

    return base_url(settings)


def lacks(settings: Values) -> str:
    """What is missing, with the command that mends it."""
    from claude_mem_provider_claude.choice import missing

    return missing(settings)


@hookimpl
def mem_settings() -> Iterator[Setting]:
    def setting(key: str, help: str, **more: object) -> Setting:
        given = {"sources": FILE, "scope": "machine", "area": "provider", **more}
        return Setting(key=key, help=help, **given)  # type: ignore[arg-type]

    help_text = "Claude model to ask, or haiku, sonnet, opus; a gateway gets it as it is."
    yield setting(MODEL, help_text, default=DEFAULT_MODEL, sources=VIEWER)
    yield setting(
        METHOD,
        "How Claude is paid: `subscription` through Claude Code, `api-key`, or `gateway`.",
        type="enum",
        choices=METHODS,
        default="subscription",
        sources=VIEWER,
    )
    yield setting(
        BASE_URL, "Address of a gateway that speaks Anthropic's form; empty: Anthropic's."
    )
    help_text = "Claude Code's program for the subscription, by name or path."
    yield setting(PATH, help_text, type="path", default="claude")
    help_text = "Folder of the Claude Code profile whose login is used; empty: the usual one."
    yield setting(CONFIG_DIR, help_text, type="path")
    help_text = (
        "How much Claude may think: disabled, omit (for a gateway that refuses the field),"
        " enabled or enabled:TOKENS."
    )
    yield setting(THINKING, help_text, default="disabled")


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
    )

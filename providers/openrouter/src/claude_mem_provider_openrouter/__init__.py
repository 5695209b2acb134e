"""OpenRouter, and services that speak like it, as a provider of models."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Model, Provider, Setting, Values

CLAUDE_MEM_CONTRACT = 1
NAME = "openrouter"
KEY = "CLAUDE_MEM_OPENROUTER_API_KEY"
KEYS = "CLAUDE_MEM_OPENROUTER_API_KEYS"
MODEL = "CLAUDE_MEM_OPENROUTER_MODEL"
BASE_URL = "CLAUDE_MEM_OPENROUTER_BASE_URL"
SITE_URL = "CLAUDE_MEM_OPENROUTER_SITE_URL"
APP_NAME = "CLAUDE_MEM_OPENROUTER_APP_NAME"
EFFORT = "CLAUDE_MEM_OPENROUTER_REASONING_EFFORT"
TEMPERATURE = "CLAUDE_MEM_OPENROUTER_TEMPERATURE"
EXTRA_BODY = "CLAUDE_MEM_OPENROUTER_EXTRA_BODY"
DEFAULT_MODEL = "cohere/north-mini-code:free"
EFFORTS = ("none", "minimal", "low", "medium", "high")
UNSET = -1.0  # no temperature was set
FILE = ("file", "environment")
VIEWER = (*FILE, "viewer")


def open_model(settings: Values) -> Model:
    """OpenRouter or the place the settings name; the SDK is imported here."""
    import openai

    from claude_mem_core.providing.chat import ChatModel
    from claude_mem_provider_openrouter.endpoint import endpoint

    return ChatModel(openai, endpoint(settings), settings)


def address(settings: Values) -> str:
    """The base URL that the settings mean."""
    from claude_mem_provider_openrouter.endpoint import base_url

    return base_url(settings)


def lacks(settings: Values) -> str:
    """What is missing, with the command that mends it."""
    from claude_mem_provider_openrouter.endpoint import missing

    return missing(settings)


@hookimpl
def mem_settings() -> Iterator[Setting]:
    def setting(key: str, help: str, **more: object) -> Setting:
        given = {"sources": VIEWER, "scope": "machine", "area": "provider", **more}
        return Setting(key=key, help=help, **given)  # type: ignore[arg-type]

    yield setting(KEY, "Key of OpenRouter; better kept by `mem auth set`.", type="secret")
    help_text = "More keys, used in turn when one is spent or refused."
    yield setting(KEYS, help_text, type="secret", sources=FILE)
    help_text = "Model to ask, as OpenRouter names it; of several, it takes the next one when one fails."
    yield setting(MODEL, help_text, type="csv", default=(DEFAULT_MODEL,))
    yield setting(
        BASE_URL, "Another service that speaks Chat Completions; empty: openrouter.ai."
    )
    yield setting(SITE_URL, "Address sent along as the one that asks, for OpenRouter's lists.")
    yield setting(APP_NAME, "Name sent along with it.", default="claude-mem")
    help_text = "How much a model reasons, on openrouter.ai only; empty: nothing is sent."
    yield setting(EFFORT, help_text, type="enum", choices=("", *EFFORTS), sources=FILE)
    bounds = {"low": UNSET, "high": 2.0, "default": UNSET}
    help_text = "Temperature of sampling from 0 to 2; -1: 0.3."
    yield setting(TEMPERATURE, help_text, type="number", sources=FILE, **bounds)
    help_text = "JSON object of more fields for each request; the conversation's own stay."
    yield setting(EXTRA_BODY, help_text, type="json", default={}, sources=FILE)


@hookimpl
def mem_providers() -> Iterator[Provider]:
    yield Provider(
        name=NAME,
        summary="OpenRouter: many models behind one key, some of them free",
        open=open_model,
        keys=(KEY,),
        origin="https://openrouter.ai",
        address=address,
        lacks=lacks,
        model_key=MODEL,
        in_file={"OPENROUTER_BASE_URL": BASE_URL},
    )

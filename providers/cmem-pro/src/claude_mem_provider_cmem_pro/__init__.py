"""The observer of cmem.ai as a provider of models."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Model, Provider, Setting, Values

CLAUDE_MEM_CONTRACT = 1
NAME = "cmem-pro"
# As the service's own set-up stages them ...
KEY = "CLAUDE_MEM_PRO_MEMORY_KEY"
BASE_URL = "CLAUDE_MEM_PRO_MEMORY_BASE_URL"
MODEL = "CLAUDE_MEM_PRO_MEMORY_MODEL"
# ... and where it puts them when it activates them, beside those of OpenRouter.
ACTIVE_KEY = "CLAUDE_MEM_OPENROUTER_API_KEY"
ACTIVE_BASE_URL = "CLAUDE_MEM_OPENROUTER_BASE_URL"
ACTIVE_MODEL = "CLAUDE_MEM_OPENROUTER_MODEL"

WRITTEN = {
    "CLAUDE_MEM_PRO_TRIAL_STATE": "State of the plan as its set-up noted it; `active` once paired.",
    "CLAUDE_MEM_PRO_TRIAL_ENDS_AT": "Date the trial ends, for information; it switches nothing.",
    "CLAUDE_MEM_PRO_PLAN": "Plan as its set-up noted it: trial, pro or none.",
    "CLAUDE_MEM_PRO_FALLBACK_AT": "When claude-mem last found that the gateway does not serve.",
    "CLAUDE_MEM_PRO_FALLBACK_MESSAGE": "What the gateway said then.",
    "CLAUDE_MEM_PRO_FALLBACK_ACTION": "What it said to do.",
    "CLAUDE_MEM_PRO_FALLBACK_URL": "Where to do it.",
}


def open_model(settings: Values) -> Model:
    """The gateway; the SDK is imported here."""
    import openai

    from claude_mem_core.providing.chat import ChatModel
    from claude_mem_provider_cmem_pro.endpoint import endpoint

    return ChatModel(openai, endpoint(settings), settings)


def address(settings: Values) -> str:
    """The base URL that the settings mean."""
    from claude_mem_provider_cmem_pro.endpoint import base_url

    return base_url(settings)


def lacks(settings: Values) -> str:
    """What is missing, with the command that mends it."""
    from claude_mem_provider_cmem_pro.endpoint import missing

    return missing(settings)


@hookimpl
def mem_settings() -> Iterator[Setting]:
    def setting(key: str, help: str, **more: object) -> Setting:
        given = {"sources": ("file",), "scope": "machine", "area": "cmem-pro", **more}
        return Setting(key=key, help=help, **given)  # type: ignore[arg-type]

    yield setting(KEY, "Key of cmem.ai; better kept by `mem auth set`.", type="secret")
    yield setting(
        BASE_URL, "Address of the gateway as its set-up gave it; empty: the usual one."
    )
    yield setting(MODEL, "Model as its set-up gave it; empty: cmem-observer.")
    for key, help_text in WRITTEN.items():
        yield setting(key, help_text)


@hookimpl
def mem_providers() -> Iterator[Provider]:
    yield Provider(
        name=NAME,
        summary="the observer of cmem.ai, with a key of its plans",
        open=open_model,
        keys=(KEY, ACTIVE_KEY),
        origin="https://cmem.ai",
        address=address,
        lacks=lacks,
        pool=False,
        model_key=MODEL,
    )

"""Any service that speaks Chat Completions as a provider of models."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Model, Provider, Setting, Values

CLAUDE_MEM_CONTRACT = 1
NAME = "openai-compatible"
PRESET = "CLAUDE_MEM_OPENAI_COMPAT_PRESET"
BASE_URL = "CLAUDE_MEM_OPENAI_COMPAT_BASE_URL"
MODEL = "CLAUDE_MEM_OPENAI_COMPAT_MODEL"
KEY = "CLAUDE_MEM_OPENAI_COMPAT_API_KEY"
KEYS = "CLAUDE_MEM_OPENAI_COMPAT_API_KEYS"
VIEWER = ("file", "environment", "viewer")
# What they stand for is in `presets`.
PRESET_NAMES = (
    "nvidia-nim", "orcarouter", "api-route", "opper", "atlascloud", "deepseek", "opencode-go",
    "opencode-zen", "groq", "together", "minimax", "minimax-cn", "iflytek", "ollama", "lmstudio",
    "vllm", "llamacpp", "custom",
)  # fmt: skip


def open_model(settings: Values) -> Model:
    """The chosen endpoint; its SDK is imported here."""
    import openai

    from claude_mem_core.providing.chat import ChatModel
    from claude_mem_provider_openai_compatible.endpoint import endpoint

    return ChatModel(openai, endpoint(settings), settings)


def address(settings: Values) -> str:
    """The base URL that the settings mean."""
    from claude_mem_provider_openai_compatible.endpoint import base_url

    return base_url(settings)


def lacks(settings: Values) -> str:
    """What is missing, with the command that mends it."""
    from claude_mem_provider_openai_compatible.endpoint import missing

    return missing(settings)


@hookimpl
def mem_settings() -> Iterator[Setting]:
    def setting(key: str, help: str, **more: object) -> Setting:
        given = {"sources": VIEWER, "scope": "machine", "area": "provider", **more}
        return Setting(key=key, help=help, **given)  # type: ignore[arg-type]

    yield setting(
        PRESET,
        "Named service that gives base URL and model where you set none; empty: `custom`.",
        type="enum",
        choices=("", *PRESET_NAMES),
        default="",
    )
    yield setting(BASE_URL, "Base URL of the service; empty: the preset's.", default="")
    yield setting(MODEL, "Model to ask, as the service names it; empty: the preset's.")
    unseen = {"type": "secret", "sources": ("file", "environment")}
    yield setting(KEY, "Key that the service issued; better kept by `mem auth set`.", **unseen)
    yield setting(KEYS, "More keys, used in turn when one is spent or refused.", **unseen)


@hookimpl
def mem_providers() -> Iterator[Provider]:
    yield Provider(
        name=NAME,
        summary="any service that speaks Chat Completions, hosted or on your machine",
        open=open_model,
        keys=(KEY,),
        address=address,
        lacks=lacks,
        model_key=MODEL,
    )

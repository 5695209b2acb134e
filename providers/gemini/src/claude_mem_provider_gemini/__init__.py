"""Google's Gemini API as a provider of models."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Model, Provider, Room, Setting, Values

CLAUDE_MEM_CONTRACT = 1
NAME = "gemini"
KEY = "CLAUDE_MEM_GEMINI_API_KEY"
KEYS = "CLAUDE_MEM_GEMINI_API_KEYS"
MODEL = "CLAUDE_MEM_GEMINI_MODEL"
BASE_URL = "CLAUDE_MEM_GEMINI_BASE_URL"
PACED = "CLAUDE_MEM_GEMINI_RATE_LIMITING_ENABLED"
BILLED = "CLAUDE_MEM_GEMINI_BILLING_ENABLED"
DEFAULT_MODEL = "gemini-flash-latest"
ORIGIN = "https://generativelanguage.googleapis.com"
GATEWAY_KEY = "cm_pro_"
SMALL_MODEL = "gemini-flash-lite-latest"
WINDOW = 1_048_576  # tokens; all models of the family that are served have it
FILE = ("file", "environment")
VIEWER = (*FILE, "viewer")


def open_model(settings: Values) -> Model:
    """Gemini; the SDK is imported with the first request."""
    from claude_mem_provider_gemini.model import GeminiModel

    return GeminiModel(settings)


def address(settings: Values) -> str:
    """Google's address, or the user's own."""
    return settings.get(BASE_URL) or ORIGIN


def lacks(settings: Values) -> str:
    """What is missing, with the command that mends it; a key of cmem.ai is none."""
    key = settings.get(KEY) or ""
    return (
        "" if key and not key.startswith(GATEWAY_KEY) else f"it has no key: mem auth set {NAME}"
    )


def room(settings: Values) -> Room:
    """The window of Google's models; at another address there may be other ones."""
    return Room(window=0 if settings.get(BASE_URL) else WINDOW)


def small(settings: Values) -> str:
    """The model for simple work, at Google."""
    return "" if settings.get(BASE_URL) else SMALL_MODEL


@hookimpl
def mem_settings() -> Iterator[Setting]:
    def setting(key: str, help: str, **more: object) -> Setting:
        given = {"sources": VIEWER, "scope": "machine", "area": "provider", **more}
        return Setting(key=key, help=help, **given)  # type: ignore[arg-type]

    yield setting(KEY, "Key of Google AI Studio; better kept by `mem auth set`.", type="secret")
    help_text = "More keys, used in turn when one is spent or refused."
    yield setting(KEYS, help_text, type="secret", sources=FILE)
    yield setting(MODEL, "Model to ask, as Google names it.", default=DEFAULT_MODEL)
    help_text = "Another address that speaks as Gemini does; empty: Google's."
    yield setting(BASE_URL, help_text, sources=FILE)
    help_text = "Keep to the requests a minute that a project without billing may make."
    yield setting(PACED, help_text, type="bool", default=True)
    help_text = "Older name: true is the same as turning the pace off."
    yield setting(BILLED, help_text, type="bool", default=False, sources=("file",))


@hookimpl
def mem_providers() -> Iterator[Provider]:
    yield Provider(
        name=NAME,
        summary="Google's Gemini, by API key",
        open=open_model,
        keys=(KEY,),
        origin=ORIGIN,
        address=address,
        lacks=lacks,
        model_key=MODEL,
        room=room,
        small=small,
    )

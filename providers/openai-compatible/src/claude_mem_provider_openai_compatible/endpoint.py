"""What the settings mean: an endpoint, or what is missing for one."""

from __future__ import annotations

from claude_mem_core.errors import Failure
from claude_mem_core.providing.chat import Endpoint, model_advice
from claude_mem_core.providing.origins import host_of, is_private, origin_of
from claude_mem_core.providing.replied import Advice
from claude_mem_core.types import Values
from claude_mem_provider_openai_compatible import BASE_URL, KEY, MODEL, NAME, PRESET
from claude_mem_provider_openai_compatible.presets import PRESETS, Preset

TOKEN_PLAN = "https://maas-token-api.cn-huabei-1.xf-yun.com/v2"


def preset(settings: Values) -> Preset:
    """The named service; an unknown name counts as `custom`."""
    return PRESETS.get(settings.get(PRESET) or "custom", PRESETS["custom"])


def base_url(settings: Values) -> str:
    """The user's own base URL, else the preset's; empty when there is none."""
    return settings.get(BASE_URL) or preset(settings).base_url


def model(settings: Values) -> str:
    """The user's own model, else the preset's; empty when there is none."""
    return settings.get(MODEL) or preset(settings).model


def needs_key(settings: Values) -> bool:
    """Whether a key is asked for: an own base URL decides by its place, else the preset."""
    own = settings.get(BASE_URL)
    return not is_private(host_of(own)) if own else preset(settings).keyed


def missing(settings: Values) -> str:
    """What is to be set before the first request, with the command; empty: nothing."""
    url = base_url(settings)
    if not url:
        return "it has no address: mem config set openai-compat-base-url URL"
    if not origin_of(url):
        return f"{url} is no address: mem config set openai-compat-base-url URL"
    if not model(settings):
        return "it has no model: mem config set openai-compat-model MODEL"
    if needs_key(settings) and not settings.get(KEY):
        return f"it has no key: mem auth set {NAME}"
    return ""


def endpoint(settings: Values) -> Endpoint:
    """The endpoint, with a plain body: strict servers refuse a field they don't know."""
    return Endpoint(
        provider=NAME,
        base_url=base_url(settings),
        model=model(settings),
        key=settings.get(KEY) or "",
        advice=_advice(settings),
    )


def _advice(settings: Values) -> Advice:
    """A service without the model, or another place, answers 404: both settings are named."""
    advice = model_advice(MODEL, model(settings), f"{BASE_URL} ({base_url(settings)})")
    if settings.get(PRESET) != "iflytek":
        return advice
    told = f"A Token Plan key needs: mem config set openai-compat-base-url {TOKEN_PLAN}"
    return {**advice, Failure.KEY_REFUSED: told}

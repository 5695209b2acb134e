"""The user's own Codex as a provider of models."""

from __future__ import annotations

from collections.abc import Iterator

from claude_mem_core import hookimpl
from claude_mem_core.types import Model, Provider, Room, Setting, Values

CLAUDE_MEM_CONTRACT = 1
NAME = "codex"
MODEL = "CLAUDE_MEM_CODEX_MODEL"
EFFORT = "CLAUDE_MEM_CODEX_REASONING_EFFORT"
PATH = "CLAUDE_MEM_CODEX_PATH"
HOME = "CLAUDE_MEM_CODEX_HOME"
AT_ONCE = "CLAUDE_MEM_CODEX_MAX_CONCURRENT_AGENTS"
USES = "CLAUDE_MEM_CODEX_OBSERVATION_BATCH_SIZE"
CHARS = "CLAUDE_MEM_CODEX_OBSERVATION_BATCH_MAX_CHARS"
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra")
FILE = ("file", "environment")


def open_model(settings: Values) -> Model:
    """Codex; it is started with each request."""
    from claude_mem_provider_codex.model import CodexModel

    return CodexModel(settings)


def lacks(settings: Values) -> str:
    """What is missing, with the command that mends it."""
    from claude_mem_provider_codex.login import missing

    return missing(settings)


def room(settings: Values) -> Room:
    """The user's own limits on a batch."""
    return Room(uses=int(settings.get(USES) or 0), chars=int(settings.get(CHARS) or 0))


@hookimpl
def mem_settings() -> Iterator[Setting]:
    def setting(key: str, help: str, **more: object) -> Setting:
        given = {"sources": FILE, "scope": "machine", "area": "provider", **more}
        return Setting(key=key, help=help, **given)  # type: ignore[arg-type]

    seen = (*FILE, "viewer")
    yield setting(MODEL, "Model of your Codex plan; empty: Codex's own choice.", sources=seen)
    help_text = "How much Codex reasons; empty: its own choice."
    yield setting(EFFORT, help_text, type="enum", choices=("", *EFFORTS), default="low")
    yield setting(PATH, "Codex's program, by name or path.", type="path", default="codex")
    help_text = "Folder of the Codex login that is used; empty: `~/.codex`."
    yield setting(HOME, help_text, type="path")
    help_text = "Requests to Codex at the same time."
    yield setting(AT_ONCE, help_text, type="int", default=2, low=1, high=8, sources=("file",))
    bounds = {"type": "int", "sources": ("file",)}
    yield setting(
        USES, "Most tool uses in one request to Codex.", default=8, low=1, high=32, **bounds
    )
    help_text = "Most characters of tool uses in one request to Codex."
    yield setting(CHARS, help_text, default=32_000, low=4_000, high=128_000, **bounds)


@hookimpl
def mem_providers() -> Iterator[Provider]:
    yield Provider(
        name=NAME,
        summary="Codex: your ChatGPT plan, through your own Codex program",
        open=open_model,
        lacks=lacks,
        model_key=MODEL,
        login="codex login",
        room=room,
    )

"""How things stand with models, for `mem status` and `mem doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from claude_mem_core.paths import Paths


def state(paths: Paths) -> dict[str, Any] | None:
    """The same without a worker, from what lies on disk; nobody is asked.

    Raises:
        MemError: settings or plugins can't be read.
    """
    import anyio

    from claude_mem_core.extensions import declared, registry_of
    from claude_mem_core.pipeline.models import Models
    from claude_mem_core.settings import SettingsSource

    _, registry = registry_of(paths)
    # Without the shell's environment, which the worker does not see either.
    models = Models(paths, SettingsSource(paths, declared(registry), environ={}), registry)

    async def look() -> dict[str, Any] | None:
        try:
            return await models.state()
        finally:
            await models.aclose()

    return anyio.run(look)


def line(found: dict[str, Any] | None) -> str:
    """One line for `mem status`."""
    if found is None or found["state"] == "builtin":
        return "models    none: rules make the memories"
    model = f" ({found['model']})" if found["model"] else ""
    who = f"{found['provider']}{model}"
    return f"models    {who}: {_standing(found)}; {_spent(found)}"


def _standing(found: dict[str, Any]) -> str:
    if found["state"] == "ok":
        return "ok"
    who = "rules" if found["serving"] == "builtin" else found["serving"]
    return f"{found['state']}, {who} meanwhile: {found['text']}"


def _spent(found: dict[str, Any]) -> str:
    today = found["today"]
    limit = next((b["limit"] for b in found["budget"] if b["setting"].endswith("TOKENS")), 0)
    most = f" of {limit:,}" if limit else ""
    return f"today {today['tokens']:,}{most} tokens in {today['calls']:,} calls"


def trouble(found: dict[str, Any] | None) -> Iterator[tuple[str, str]]:
    """What is wrong and the command that mends it, for `mem doctor`."""
    if found is None or found["state"] in {"builtin", "ok"}:
        return
    text = found["text"]
    if found["serving"] != found["provider"]:
        who = "rules make" if found["serving"] == "builtin" else f"{found['serving']} makes"
        text += f"; {who} the memories meanwhile"
    yield f"{found['provider']}: {text}", found["cure"]

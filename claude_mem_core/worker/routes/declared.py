"""Settings for a form: every declared record with its value, and a context made with a draft."""

from __future__ import annotations

import time
from typing import Any

from claude_mem_core.errors import InvalidInput, MemError
from claude_mem_core.plugins.calls import call_sync
from claude_mem_core.settings.listing import validate_update
from claude_mem_core.settings.model import Settings
from claude_mem_core.settings.values import allowed, as_text, masked_text, parse
from claude_mem_core.types import Answer, EventKind, Host, Setting
from claude_mem_core.worker.routes.context import build
from claude_mem_core.worker.spec import (
    OBJECT,
    Call,
    Endpoint,
    Right,
    host_name,
    record,
    string,
)


async def listing(call: Call) -> dict[str, Any]:
    """Every setting: its record, its value, where that comes from, why it can't be changed."""
    source = call.services.settings
    settings = source.current()
    machine = call.right is Right.FULL
    return {
        "settings": [row(s, settings, machine=machine) for s in source.declared],
        "warnings": list(settings.warnings),
        "broken": settings.broken,
    }


def row(setting: Setting, settings: Settings, *, machine: bool) -> dict[str, Any]:
    """One record as a form needs it; of a secret only whether it is set."""
    value, origin = settings[setting.key], settings.origin(setting.key)
    secret = setting.type == "secret"
    return {
        "key": setting.key, "type": setting.type, "area": setting.area, "help": setting.help,
        "value": ("set" if value else "") if secret else as_text(setting, value),
        "shown": masked_text(setting, value),
        "default": "" if secret else as_text(setting, setting.default),
        "origin": origin, "choices": list(setting.choices), "low": setting.low,
        "high": setting.high, "takes": allowed(setting), "restart": setting.restart,
        "locked": locked(setting, origin, machine=machine),
    }  # fmt: skip


def locked(setting: Setting, origin: str, *, machine: bool) -> str:
    """Why a page can't change a setting; empty when it can."""
    if origin == "environment":
        return f"Set by {setting.key} in the environment, so it can't be changed here."
    if "viewer" not in setting.sources or (setting.scope == "machine" and not machine):
        return f"Of this machine. Change it with: mem config set {setting.key} VALUE"
    return ""


async def preview(call: Call) -> dict[str, Any]:
    """What the next session of a project would get if the settings were as in the draft."""
    begun = time.perf_counter()
    draft = _typed(call, call.body.get("draft") or {})
    host = host_name(call.body["host"]) if call.body.get("host") else ""
    names = [call.body["project"]]
    made = await call.services.store.aread(lambda conn: build(conn, call, names, host, draft))
    return {
        "text": made.text,
        "ids": list(made.ids),
        "omitted": dict(made.omitted),
        "sent": as_sent(call, host, made.text),
        "tokens": (len(made.text.encode()) + 3) // 4,
        "took_ms": round((time.perf_counter() - begun) * 1000, 1),
    }


def as_sent(call: Call, host: str, text: str) -> str:
    """What the hook would print for that host, to the byte; empty for no host in particular."""
    try:
        found = call.services.adapters.get(host) if host else None
    except MemError:
        return ""
    if found is None or not text:
        return ""
    kind = found.record.injects_at[0] if found.record.injects_at else EventKind.SESSION_STARTED
    answer = Answer(kind=kind, host_event=_event_name(found.record, kind), context=text)
    outcome = call_sync(host, found.adapter.reply, answer)
    return outcome.value.stdout if outcome.error is None else ""


def _event_name(host: Host, kind: EventKind) -> str:
    """The host's own name of the event that carries the context."""
    part = "prompt" if kind is EventKind.PROMPT_SENT else "start"
    named = (name for name in host.hooks if part in name.lower())
    return next(named, "SessionStart")


def _typed(call: Call, draft: dict[str, Any]) -> dict[str, Any]:
    """The draft's values as the settings have them.

    Raises:
        InvalidInput: one of them is not allowed.
    """
    declared = {setting.key: setting for setting in call.services.settings.declared}
    faults = validate_update(draft, declared.values(), machine=call.right is Right.FULL)
    if faults:
        raise InvalidInput("; ".join(f"{key[:80]} {fault}" for key, fault in faults.items()))
    return {key: parse(declared[key], value).value for key, value in draft.items()}


ENDPOINTS = (
    Endpoint(
        "GET", "/api/settings/declared", listing, "Every setting with its record",
        answers={200: record({"settings": {"type": "array"}}, "settings")}, area="settings",
    ),
    Endpoint(
        "POST", "/api/context/preview", preview, "A context made with a draft of the settings",
        body=record(
            {
                "project": string(longest=4096, shortest=1),
                "host": {"type": ["string", "null"], "maxLength": 200},
                "draft": {"type": ["object", "null"]},
            },
            "project",
        ),
        answers={200: OBJECT}, area="context",
    ),
)  # fmt: skip

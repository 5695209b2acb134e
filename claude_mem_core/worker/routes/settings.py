"""The settings over the API: masked, checked, and for a page only some of them."""

from __future__ import annotations

from typing import Any

from claude_mem_core.settings import CORE
from claude_mem_core.settings.listing import masked, update_texts, validate_update
from claude_mem_core.worker.setting_schema import body_of
from claude_mem_core.worker.spec import OBJECT, Call, Endpoint, Refused, Reply, Right, record


async def read(call: Call) -> dict[str, Any]:
    """Every setting as text; of a secret at most its last four characters."""
    source = call.services.settings
    return dict(masked(source.current(), source.declared))


async def change(call: Call) -> object:
    """Change some settings, all of them or none.

    A page may change what belongs to the user; what belongs to the machine needs the
    install token.
    """
    source = call.services.settings
    broken = source.current().broken
    if broken:
        raise Refused(500, f"{broken}; the file is left as it is: mend it first")
    machine = call.right is Right.FULL
    faults = validate_update(call.body, source.declared, machine=machine)
    if faults:
        text = "; ".join(f"{key[:80]} {fault}" for key, fault in faults.items())
        forbidden = faults != validate_update(call.body, source.declared)
        return Reply({"error": text, "faults": faults}, 403 if forbidden else 400)
    source.update(update_texts(call.body, source.declared))
    return {"success": True}


ENDPOINTS = (
    Endpoint("GET", "/api/settings", read, "Settings", answers={200: OBJECT}, area="settings"),
    Endpoint(
        "POST", "/api/settings", change, "Change settings",
        body=body_of(CORE),
        answers={200: record({"success": {"type": "boolean"}}, "success"), 500: OBJECT},
        area="settings",
    ),
)

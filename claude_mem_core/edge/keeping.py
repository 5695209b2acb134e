"""What a running worker does for the hook: its rules kept current, its files too."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from claude_mem_core.edge import present
from claude_mem_core.edge.install import ensure_hook
from claude_mem_core.edge.policy import policy_of, publish
from claude_mem_core.edge.state import confirm_start
from claude_mem_core.errors import StoreError
from claude_mem_core.files import write_private
from claude_mem_core.paths import Paths

if TYPE_CHECKING:
    from claude_mem_core.plugins.registry import Registry

log = logging.getLogger(__name__)


def began(paths: Paths) -> str | None:
    """Once, when requests are answered; what went wrong, for the status, else None."""
    try:
        confirm_start(paths)
        if (paths.hook / present.STAMP).exists():  # an upgrade has brought other files
            ensure_hook(paths)
    except (StoreError, OSError) as error:
        return f"the hook's files can't be kept current: {error}"
    return None


def prepare(paths: Paths, registry: Registry, settings: Mapping[str, Any]) -> str | None:
    """Publish the rules where there are none yet; what went wrong, else None.

    Before there is a database: a hook that finds one without rules keeps no content.
    """
    return None if paths.edge.exists() else follow(paths, registry, settings, "")


def follow(
    paths: Paths, registry: Registry, settings: Mapping[str, Any], own_id: str
) -> str | None:
    """Every few seconds: publish the rules if they changed; what went wrong, else None."""
    try:
        if publish(paths, policy_of(registry, settings, own_id)):
            log.info("rules for the hook published")
        _leave_word(paths, bool(settings["CLAUDE_MEM_SEMANTIC_INJECT"]))
    except (StoreError, OSError) as error:
        return f"the hook does not know the present rules: {error}"
    return None


def _leave_word(paths: Paths, wished: bool) -> None:
    """A file whose being there tells the hook that prompts get an answer worth waiting for."""
    if paths.patient.exists() == wished:
        return
    if wished:
        write_private(paths.patient, b"")
    else:
        paths.patient.unlink(missing_ok=True)

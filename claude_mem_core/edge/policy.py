"""The rules that the worker publishes for the hook's cold path: `edge.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from claude_mem_core.files import read_private, write_private
from claude_mem_core.paths import Paths
from claude_mem_core.settings.pausing import SESSIONS, is_paused
from claude_mem_core.types import Redactor

if TYPE_CHECKING:
    from claude_mem_core.plugins.registry import Registry

VERSION = 1
LARGEST = 1024 * 1024
_WILD = "*?["


@attrs.frozen
class EdgeRedactor:
    """A redactor there is, and whether the hook has the same rules built in."""

    name: str
    at_edge: bool


@attrs.frozen(kw_only=True)
class EdgePolicy:
    """What the hook may leave on disk. What it can't judge by this loses its content.

    Attributes:
        own_id: id of our own context blocks.
        recording: false while nothing may be stored (a redactor or policy is broken).
        paused: the user has paused recording.
        incognito: sessions that are left alone, by the host's ids.
        excluded: globs of directories; `~` is written out.
        opt_in: only directories that `included` names are recorded.
        included: globs as in `excluded`; the hook understands those without a wildcard.
        autostart: whether the hook may start a worker.
        redact, disabled, generic, entropy: how the built-in redactor is set.
        patterns: there are patterns of the user's own; only the worker can run them.
        judges: policy plugins that only the worker can ask.
        redactors: every redactor that is installed.
        skip_tools: tools whose uses are not kept.
    """

    own_id: str = ""
    recording: bool = True
    paused: bool = False
    incognito: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    opt_in: bool = False
    included: tuple[str, ...] = ()
    autostart: bool = True
    redact: bool = True
    disabled: tuple[str, ...] = ()
    generic: bool = False
    entropy: bool = True
    patterns: bool = False
    judges: tuple[str, ...] = ()
    redactors: tuple[EdgeRedactor, ...] = ()
    skip_tools: tuple[str, ...] = ()


def policy_of(registry: Registry, settings: Mapping[str, Any], own_id: str = "") -> EdgePolicy:
    """The policy of these plugins and settings."""
    fault = registry.recording_fault()
    records = registry.records("mem_redactors", Redactor)
    return EdgePolicy(
        own_id=own_id,
        recording=fault is None,
        paused=is_paused(settings),
        incognito=tuple(settings[SESSIONS]),
        excluded=written_out(settings["CLAUDE_MEM_EXCLUDED_PROJECTS"]),
        opt_in=bool(settings["CLAUDE_MEM_OPT_IN"]),
        included=written_out(settings["CLAUDE_MEM_INCLUDED_PROJECTS"]),
        autostart=bool(settings["CLAUDE_MEM_WORKER_AUTOSTART"]),
        redact=bool(settings["CLAUDE_MEM_REDACT_ENABLED"]),
        disabled=tuple(settings["CLAUDE_MEM_REDACT_DISABLED_BUILTINS"]),
        generic=bool(settings["CLAUDE_MEM_REDACT_GENERIC_ENABLED"]),
        entropy=bool(settings["CLAUDE_MEM_REDACT_ENTROPY_ENABLED"]),
        patterns=bool(settings["CLAUDE_MEM_REDACT_CUSTOM_PATTERNS"]),
        judges=_judges(registry),
        redactors=tuple(EdgeRedactor(record.name, record.at_edge) for record in records),
        skip_tools=tuple(settings["CLAUDE_MEM_SKIP_TOOLS"]),
    )


def _judges(registry: Registry) -> tuple[str, ...]:
    """Plugins that decide per event what is recorded."""
    loaded = (
        plugin for plugin in registry.plugins.values() if "mem_should_record" in plugin.hooks
    )
    return tuple(sorted(plugin.name for plugin in loaded))


def written_out(globs: Iterable[str]) -> tuple[str, ...]:
    """Globs with `~` written out, each also with the links before its first wildcard resolved."""
    found: dict[str, None] = {}
    for glob in globs:
        text = os.path.expanduser(glob.strip())
        found.update(dict.fromkeys((text, _without_links(text)) if "/" in text else (text,)))
    return tuple(text for text in found if text)


def _without_links(glob: str) -> str:
    wild = min((glob.find(mark) for mark in _WILD if mark in glob), default=len(glob))
    fixed = glob[:wild].rpartition("/")[0] if wild < len(glob) else glob
    return os.path.realpath(fixed) + glob[len(fixed) :] if fixed else glob


def publish(paths: Paths, policy: EdgePolicy) -> bool:
    """Write `edge.json` if it says something else; whether it was written.

    Raises:
        StoreError: it can't be written.
    """
    text = json.dumps({"v": VERSION, **attrs.asdict(policy)}, indent=1).encode("ascii")
    if _present(paths) == text:
        return False
    write_private(paths.edge, text)
    return True


def _present(paths: Paths) -> bytes | None:
    from claude_mem_core.errors import StoreError

    try:
        return read_private(paths.edge, LARGEST)
    except (FileNotFoundError, StoreError):
        return None

"""The redactor of credentials: own patterns, then vendors', then what looks like a secret."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from claude_mem_core.clean import entropy, vendor
from claude_mem_core.clean.own_patterns import OwnPatterns, declared

log = logging.getLogger(__name__)

_MARK = re.compile(r"<redacted type='([\w.-]+)'/>")


class Secrets:
    """Text in, text out; `whole` says that parts may be judged as one joined text."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._disabled = frozenset(settings["CLAUDE_MEM_REDACT_DISABLED_BUILTINS"])
        self._generic = bool(settings["CLAUDE_MEM_REDACT_GENERIC_ENABLED"])
        self._entropy = (
            bool(settings["CLAUDE_MEM_REDACT_ENTROPY_ENABLED"])
            and entropy.NAME not in self._disabled
        )
        self._log = bool(settings["CLAUDE_MEM_REDACT_LOG_MATCHES"])
        self._own = _own_patterns(settings["CLAUDE_MEM_REDACT_CUSTOM_PATTERNS"])
        # A joined text would be counted, and told, once more.
        self.whole = self._own is None and not self._log

    def __call__(self, text: str) -> str:
        """`text` with a marker for each credential."""
        made = self._own.redact(vendor.shortened(text)) if self._own else text
        made = vendor.redact(made, self._disabled, generic=self._generic)
        if self._entropy:
            made = entropy.redact(made, vendor.marker, vendor.VENDOR, self._disabled)
        if made is not text and made != text:
            self._tell(text, made)
        return made

    def _tell(self, before: str, after: str) -> None:
        mark = vendor.marker("oversize")
        if mark in after and mark not in before:
            log.warning("a field of %s characters was cut to its ends", len(before))
        if self._log:
            log.info("redacted: %s", ", ".join(counts(before, after)) or "nothing")


def counts(before: str, after: str) -> list[str]:
    """`name,count` of the markers that are new in `after`; never what they stand for."""
    new = Counter(marks(after)) - Counter(marks(before))
    return [f"{name},{number}" for name, number in sorted(new.items())]


def marks(text: str) -> list[str]:
    """The names of the markers in a text."""
    return _MARK.findall(text)


def off(text: str) -> str:
    """The filter when redaction is switched off."""
    return text


off.whole = True  # type: ignore[attr-defined]


def open_secrets(settings: Mapping[str, Any]) -> Callable[[str], str]:
    """The filter of these settings; `off` when CLAUDE_MEM_REDACT_ENABLED is false."""
    return Secrets(settings) if settings["CLAUDE_MEM_REDACT_ENABLED"] else off


def _own_patterns(value: Any) -> OwnPatterns | None:
    """The runner of the user's own patterns; None when there are none to run."""
    good, wrong = declared(value)
    for fault in wrong:
        log.warning("%s", fault)
    _state.replace(OwnPatterns(good) if good else None, wrong)
    return _state.runner


class _State:
    """The runner of the newest settings; at most one child lives for them."""

    def __init__(self) -> None:
        self.runner: OwnPatterns | None = None
        self.wrong: list[str] = []

    def replace(self, runner: OwnPatterns | None, wrong: list[str]) -> None:
        """End the child of the former settings; who still uses them gets a new one."""
        if self.runner is not None:
            self.runner.close()
        self.runner, self.wrong = runner, wrong


_state = _State()


def faults() -> list[str]:
    """What is wrong with the user's own patterns, a sentence each, for the status."""
    runner = _state.runner
    return [*_state.wrong, *(runner.faults.values() if runner else ())]


def close() -> None:
    """End the child, when the worker goes."""
    _state.replace(None, [])

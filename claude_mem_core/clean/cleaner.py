"""The one way that text takes before it is kept: private regions out, then redactors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from claude_mem_core.clean import tags, values, vendor
from claude_mem_core.errors import MemError
from claude_mem_core.types import Event, Redactor, ToolUse

if TYPE_CHECKING:
    from claude_mem_core.plugins.registry import Registry

log = logging.getLogger(__name__)

MANY_TAGS = 100
_IDENTITY = (
    "session_id",
    "cwd",
    "prompt_id",
    "agent_id",
    "agent_type",
    "transcript",
    "reason",
    "host_event",
)
_SAID = (*_IDENTITY, "prompt", "answer", "error")
_DONE = ("name", "id", "input", "output", "error")


class CleaningFailed(MemError):
    """Text could not be cleaned; it must not be kept. The text holds no content."""


@attrs.frozen
class Filter:
    """A redactor in use. `whole`: what it finds in a part it finds in the joined text."""

    name: str
    run: Callable[[str], str]
    whole: bool = False


class Cleaner:
    """Cleans text, JSON values and events. `own_id` marks our own context blocks."""

    def __init__(self, filters: Iterable[Filter] = (), own_id: str = "") -> None:
        self._filters = tuple(filters)
        self._own_id = own_id
        self._whole = all(kept.whole for kept in self._filters)

    def text(self, text: str, where: str = "prompt") -> str:
        """`text` without what must not be kept; `where` is prompt, answer or tool.

        Raises:
            CleaningFailed: a redactor failed.
        """
        if "<" in text and text.count("<") > MANY_TAGS:
            _warn_of_many(text)
        return self._redacted(tags.strip(text, own_id=self._own_id, where=where))

    def _redacted(self, text: str) -> str:
        for kept in self._filters:
            try:
                text = _checked(kept.run(text))
            except Exception as error:  # noqa: BLE001 - whatever a redactor raises, we fail closed
                raise CleaningFailed(
                    f"redactor {kept.name} failed ({type(error).__name__}): content is dropped;"
                    f" see `mem plugins`, or `mem plugins block {kept.name}`"
                ) from None
        return text

    def value(self, value: Any, where: str = "tool") -> Any:
        """A JSON value with every string cleaned, names of members included.

        Raises:
            CleaningFailed: a redactor failed, or the value is nested too deeply.
        """
        try:
            return values.cleaned(value, lambda text: self.text(text, where), whole=self._whole)
        except RecursionError:
            raise CleaningFailed("a value is nested too deeply: content is dropped") from None

    def secrets(self, value: Any) -> Any:
        """A text or a JSON value that is kept already: redactors only, tags are gone.

        Raises:
            CleaningFailed: a redactor failed.
        """
        if isinstance(value, str):
            return self._redacted(value)
        return values.cleaned(value, self._redacted, whole=self._whole)

    def event(self, event: Event) -> Event:
        """The event with all that it says cleaned.

        Raises:
            CleaningFailed: nothing of the event's content may be kept.
        """
        if self._whole and self._is_clean(event):
            return event
        said: dict[str, Any] = {
            name: self._maybe(getattr(event, name), "tool") for name in _IDENTITY
        }
        return attrs.evolve(
            event,
            **said,
            prompt=self._maybe(event.prompt, "prompt"),
            answer=self._maybe(event.answer, "answer"),
            error=self._maybe(event.error, "tool"),
            tool=self._tool(event.tool) if event.tool else None,
            extra=self.value(dict(event.extra)) if event.extra else event.extra,
        )

    def _is_clean(self, event: Event) -> bool:
        """Whether one look at all of it together finds nothing, as in most events."""
        said = [getattr(event, name) for name in _SAID]
        tool = event.tool
        done = [getattr(tool, name) for name in _DONE] if tool else []
        try:
            return values.is_clean([said, done, dict(event.extra)], self.text)
        except RecursionError:
            return False  # the longer way says so

    def _maybe(self, text: str | None, where: str) -> str | None:
        return self.text(text, where) if text else text

    def _tool(self, tool: ToolUse) -> ToolUse:
        return attrs.evolve(
            tool,
            name=self.text(tool.name, "tool"),
            id=self.text(tool.id, "tool"),
            input=self.value(tool.input),
            output=self.value(tool.output),
            error=self._maybe(tool.error, "tool"),
        )


def _checked(text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError("a redactor returns text")
    return text


def _warn_of_many(text: str) -> None:
    found = tags.count(text)
    if found > MANY_TAGS:
        log.warning(
            "one field holds %s private tags (over %s); all are heeded", found, MANY_TAGS
        )


def make_cleaner(registry: Registry, settings: Mapping[str, Any], own_id: str) -> Cleaner:
    """The cleaner of these settings, with every redactor that plugins offer.

    Raises:
        CleaningFailed: a redactor can't be opened.
    """
    records = sorted(registry.records("mem_redactors", Redactor), key=lambda r: r.order)
    return Cleaner([_opened(record, settings) for record in records], own_id)


def _opened(record: Redactor, settings: Mapping[str, Any]) -> Filter:
    try:
        run = record.open(settings)
    except Exception as error:  # noqa: BLE001 - whatever a plugin raises, we fail closed
        raise CleaningFailed(
            f"redactor {record.name} can't be used ({type(error).__name__}): nothing is kept;"
            f" see `mem plugins`, or `mem plugins block {record.name}`"
        ) from None
    return Filter(record.name, run, bool(getattr(run, "whole", False)))


def builtin_cleaner(own_id: str = "") -> Cleaner:
    """Tags and vendor patterns alone, for text that no plugin is asked about."""
    return Cleaner([Filter("secrets", vendor.redact, whole=True)], own_id)

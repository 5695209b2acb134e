"""Schemas: how the lines of an unknown program's transcript are told as events.

A schema is a list of rules; each says which records it takes (`match`), what they mean
(`action`) and where in them the parts stand (`fields`). The form is that of claude-mem's
`transcript-watch.json`; `each` is ours, for records that hold several things in a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import attrs

from claude_mem_core.errors import InvalidInput
from claude_mem_core.types import Event, TranscriptFile
from claude_mem_core.types.retelling import Retelling, folder, ident

PLACE = re.compile(r"[0-9]{1,9}")  # in a list
TESTS = frozenset({"equals", "in", "contains", "exists"})
Record = Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Rule:
    """One rule of a schema."""

    action: str
    match: Mapping[str, Any] = attrs.field(factory=dict)
    fields: Mapping[str, Any] = attrs.field(factory=dict)
    each: str = ""


@attrs.frozen(kw_only=True)
class Schema:
    """The rules for one sort of transcript."""

    name: str
    rules: tuple[Rule, ...]


def parse(name: str, value: Any) -> Schema:
    """A schema out of a settings file.

    Raises:
        InvalidInput: with the place and what is wrong there.
    """
    given = value.get("events") if isinstance(value, Mapping) else None
    if not isinstance(given, list) or not given:
        _wrong(name, "`events` must be a list of rules")
    return Schema(name=name, rules=tuple(_rule(name, item) for item in given))


def _rule(name: str, value: Any) -> Rule:
    if not isinstance(value, Mapping) or value.get("action") not in ACTIONS:
        _wrong(name, f"each rule needs an `action`, one of {', '.join(ACTIONS)}")
    match, fields = value.get("match", {}), value.get("fields", {})
    if not isinstance(match, Mapping) or not isinstance(fields, Mapping):
        _wrong(name, "`match` and `fields` must be objects")
    if match and not TESTS & match.keys():
        _wrong(name, f"`match` needs one of {', '.join(sorted(TESTS))}")
    return Rule(
        action=str(value["action"]), match=match, fields=fields, each=str(value.get("each", ""))
    )


def _wrong(name: str, what: str) -> NoReturn:
    raise InvalidInput(f"schema {name!r}: {what}")


class SchemaReader:
    """Reads one transcript by a schema."""

    def __init__(self, schema: Schema, host: str, file: TranscriptFile) -> None:
        self._schema = schema
        self.told = Retelling(host=host, path=file.path)
        name = file.path.replace("\\", "/").rpartition("/")[2]
        self._named = ident(name.partition(".")[0])

    def read(self, record: Record) -> Sequence[Event]:
        """The events that are complete with this record."""
        found: list[Event] = []
        for rule in self._schema.rules:
            for item in items(rule, record):
                if fits(rule.match, item, record):
                    found += self._apply(rule, item, record)
        return found

    def rest(self) -> Sequence[Event]:
        """The end of the last turn."""
        return self.told.rest()

    def _apply(self, rule: Rule, item: Any, record: Record) -> list[Event]:
        given = {name: field(spec, item, record) for name, spec in rule.fields.items()}
        told = self.told
        told.time(given.get("timestamp", at(record, "timestamp")))
        told.session_id = ident(given.get("sessionId")) or told.session_id or self._named
        told.cwd = folder(given.get("cwd")) or told.cwd
        told.agent_id = ident(given.get("agentId")) or told.agent_id
        told.agent_type = ident(given.get("agentType")) or told.agent_type
        return ACTIONS[rule.action](told, given)


def items(rule: Rule, record: Record) -> Iterator[Any]:
    """What a rule looks at: the record, or each thing in a list of it."""
    if not rule.each:
        yield record
        return
    found = at(record, rule.each)
    yield from found if isinstance(found, list) else ()


def at(value: Any, path: str) -> Any:
    """What stands at a path such as `message.content.0.text`; None when nothing does."""
    for step in path.removeprefix("$.").split("."):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and PLACE.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def fits(match: Mapping[str, Any], item: Any, record: Record) -> bool:
    """Whether a rule is meant for this."""
    if not match:
        return True
    found = _at_either(str(match.get("path", "type")), item, record)
    if "exists" in match:
        return (found is not None) == bool(match["exists"])
    if "equals" in match:
        return bool(found == match["equals"])
    if "in" in match:
        return isinstance(match["in"], list) and found in match["in"]
    return isinstance(found, str) and str(match.get("contains")) in found


def field(spec: Any, item: Any, record: Record) -> Any:
    """One part: a path, a fixed value, or the first of several that is there."""
    if isinstance(spec, str):
        return _at_either(spec, item, record)
    if not isinstance(spec, Mapping):
        return None
    if "value" in spec:
        return spec["value"]
    if isinstance(spec.get("coalesce"), list):
        tried = (field(part, item, record) for part in spec["coalesce"])
        return next((value for value in tried if value not in (None, "")), None)
    found = _at_either(str(spec.get("path", "")), item, record)
    return spec.get("default") if found is None else found


def _at_either(path: str, item: Any, record: Record) -> Any:
    """In the thing itself; with `$.` before it in the whole record."""
    return at(record if path.startswith("$.") else item, path)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(filter(None, map(_text, value)))
    if isinstance(value, Mapping):
        return _text(value.get("text", ""))
    return value if isinstance(value, str) else ""


def _given(value: Any) -> Any:
    """A tool's input; some write the JSON of it as a text."""
    if not isinstance(value, str) or value[:1] not in {"{", "["}:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _context(told: Retelling, given: Mapping[str, Any]) -> list[Event]:
    return []


def _prompt(told: Retelling, given: Mapping[str, Any]) -> list[Event]:
    return told.prompt(_text(given.get("prompt")), ident(given.get("promptId")))


def _said(told: Retelling, given: Mapping[str, Any]) -> list[Event]:
    told.said(_text(given.get("message")))
    return []


def _called(told: Retelling, given: Mapping[str, Any]) -> list[Event]:
    number, name = ident(given.get("toolId")), ident(given.get("toolName"))
    if "toolResponse" in given:
        told.called(number, name, _given(given.get("toolInput")))
        return told.result(number, given["toolResponse"])
    told.called(number, name, _given(given.get("toolInput")))
    return []


def _result(told: Retelling, given: Mapping[str, Any]) -> list[Event]:
    failed = given.get("error")
    error = _text(failed) if isinstance(failed, str | list | Mapping) and failed else None
    return told.result(ident(given.get("toolId")), given.get("toolResponse"), error)


def _ended(told: Retelling, given: Mapping[str, Any]) -> list[Event]:
    return told.ended(_text(given.get("message")))


ACTIONS: Mapping[str, Callable[[Retelling, Mapping[str, Any]], list[Event]]] = {
    "session_context": _context,
    "session_init": _prompt,
    "user_message": _prompt,
    "assistant_message": _said,
    "tool_use": _called,
    "tool_result": _result,
    "session_end": _ended,
    "turn_end": _ended,
}

"""Reads a user's TOML file, and says all that is wrong with it at once."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn

from claude_mem_core.errors import InvalidInput
from claude_mem_core.taught.spec import (
    FIELDS,
    ContextSpec,
    EventSpec,
    HooksSpec,
    McpSpec,
    Spec,
)
from claude_mem_core.types import EventKind

NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,63}")
# What a program can tell; the rest is made by us.
KINDS = tuple(kind for kind in EventKind if kind not in {EventKind.NOTICE})
LARGEST = 64 * 1024


class BadHostFile(InvalidInput):
    """The file does not say how the program is to be heard; the text says where and why."""

    def __init__(self, file: str, faults: list[str]) -> None:
        lines = "\n".join(f"  {fault}" for fault in faults)
        super().__init__(
            f"{file} can't be used:\n{lines}\nMend it, then run `mem install --ide {file}`"
        )
        self.faults = faults


def read_spec(content: bytes, file: str) -> Spec:
    """The file's content, checked.

    Raises:
        BadHostFile: it is no TOML, or something in it is missing, unknown or odd.
    """
    values = _toml(content, file)
    try:
        spec = _converter().structure(values, Spec)
    except cattrs.BaseValidationError as error:
        raise BadHostFile(file, list(_faults(error))) from None
    faults = list(_checked(spec))
    if faults:
        raise BadHostFile(file, faults)
    return spec


def _toml(content: bytes, file: str) -> dict[str, Any]:
    if len(content) > LARGEST:
        raise BadHostFile(file, ["it is larger than 64 KB"])
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadHostFile(file, ["it is no UTF-8"]) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadHostFile(file, [f"it is no TOML: {error}"]) from None


# By form -----------------------------------------------------------------------


def _converter() -> cattrs.Converter:
    """Strict: no number is taken for a text, and no unknown key is passed over."""
    made = cattrs.Converter(forbid_extra_keys=True)
    made.register_structure_hook(str, lambda value, _: _typed(value, str, "a text"))
    made.register_structure_hook(bool, lambda value, _: _typed(value, bool, "true or false"))
    made.register_structure_hook(int, lambda value, _: _typed(value, int, "a whole number"))
    made.register_structure_hook(EventKind, lambda value, _: _kind(value))
    for form in (EventSpec, ContextSpec, HooksSpec, McpSpec, Spec):
        hook = make_dict_structure_fn(form, made, _cattrs_forbid_extra_keys=True)
        made.register_structure_hook(form, _table(hook))
    return made


def _table(hook: Any) -> Any:
    def structure(value: Any, form: Any) -> Any:
        return hook(_typed(value, dict, "a table"), form)

    return structure


def _typed(value: Any, kind: type, words: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"must be {words}, not {value!r:.60}")
    return value


def _kind(value: Any) -> EventKind:
    names = [kind.value for kind in KINDS]
    if value in names:
        return EventKind(value)
    near = get_close_matches(str(value), names, n=1)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{value!r:.60} is no kind of event ({', '.join(names)}){guess}")


def _faults(error: BaseException, path: str = "") -> Iterator[str]:
    """A line for each fault in a tree of cattrs' errors."""
    if isinstance(error, cattrs.ForbiddenExtraKeysError):
        known = [field.name for field in attrs.fields(error.cl)] if error.cl else []
        for key in sorted(error.extra_fields):
            yield f"{_at(path, key)}: unknown; known are {', '.join(known)}"
    elif isinstance(error, cattrs.BaseValidationError):
        for inner in error.exceptions:
            yield from _faults(inner, _at(path, _place(inner)))
    elif isinstance(error, KeyError):
        yield f"{_at(path, str(error.args[0]))}: missing"
    elif isinstance(error, AttributeError | TypeError):  # cattrs looked for its items
        yield f"{path}: must be a table"
    else:
        yield f"{path}: {error}"


def _place(error: BaseException) -> str:
    """Where inside of its parent a fault lies, by the note that cattrs leaves on it."""
    for note in getattr(error, "__notes__", ()):
        if isinstance(error, KeyError):
            return ""  # the key is in the error itself
        place = getattr(note, "name", None) or getattr(note, "index", None)
        if place is not None:
            return str(place)
    return ""


def _at(path: str, name: str) -> str:
    return f"{path}.{name}".strip(".")


# By meaning --------------------------------------------------------------------


def _checked(spec: Spec) -> Iterator[str]:
    """What is well formed and makes no sense."""
    if not NAME.fullmatch(spec.name):
        yield f"name: {spec.name!r:.60} must be small letters, digits and dashes"
    if not spec.events and spec.mcp is None:
        yield "events: there is none, and no [mcp]; a program needs one of them"
    for word, event in spec.events.items():
        if not WORD.fullmatch(word):
            yield f"events.{word}: an event's word has letters, digits and _ . : -"
        yield from _fields(f"events.{word}.fields", event.fields)
    yield from _fields("fields", spec.fields)
    yield from _hooks(spec)
    yield from _context(spec)
    for table, place in (("hooks", spec.hooks), ("mcp", spec.mcp)):
        if place is not None and not place.file.startswith(("~/", "/", "$")):
            yield f"{table}.file: {place.file!r:.60} must begin with `~/`, `/` or `$NAME/`"


def _fields(table: str, fields: Any) -> Iterator[str]:
    for name in fields:
        if name not in FIELDS:
            yield f"{table}.{name}: unknown; known are {', '.join(FIELDS)}"


def _hooks(spec: Spec) -> Iterator[str]:
    if spec.hooks is None:
        return
    if len(spec.events) > 1 and "{event}" not in spec.hooks.at:
        yield "hooks.at: needs {event}, for there is more than one event"
    if not _holds(spec.hooks.entry, "{command}"):
        yield "hooks.entry: holds no {command}"
    yield from _json("hooks.entry", spec.hooks.entry)


def _context(spec: Spec) -> Iterator[str]:
    form = spec.context
    if form.fixed and not form.json:
        yield "context.fixed: needs context.json, the place of the context in the JSON"
    if form.limit < 0:
        yield "context.limit: must be 0, for none, or more"
    yield from _json("context.fixed", form.fixed)


def _json(path: str, value: Any) -> Iterator[str]:
    """What TOML can say and JSON can't: times, and numbers that are none."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _json(_at(path, key), part)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _json(_at(path, str(number)), part)
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{path}: {value} can't stand in JSON"
    elif not isinstance(value, str | int | float):
        yield f"{path}: a date or a time can't stand in JSON; write it as a text"


def _holds(value: Any, words: str) -> bool:
    if isinstance(value, str):
        return words in value
    parts = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list) and any(_holds(part, words) for part in parts)

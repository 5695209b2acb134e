"""The documented export, and plain rows: checked, cleaned, staged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from claude_mem_core.errors import InvalidInput
from claude_mem_core.store import text
from claude_mem_core.store.imports import own as owning
from claude_mem_core.store.imports.records import FORMS, Form, Incoming, Kind, Origin
from claude_mem_core.store.imports.staging import Staged
from claude_mem_core.store.imports.values import Reading, Strict, as_json, parsed_json

if TYPE_CHECKING:
    from claude_mem_core.clean.cleaner import Cleaner

MOST_ROWS = 500_000
OWN = "pins, ratings and names"  # what is left out without a person's yes
LONGEST_NAME = 1_000  # characters of an id or a label
LONGEST_METADATA = 65_536  # bytes
# Hosts as older rows call them; a row that names none is Claude Code's.
HOSTS = {"": "claude-code", "claude": "claude-code"}
# Rows of these that say nothing are not taken.
SPEAKING = frozenset({Kind.SUMMARY, Kind.OBSERVATION, Kind.PROMPT})
JSON_TEXTS = frozenset({"tool_input", "tool_response"})
ARRAYS = (Kind.SESSION, Kind.SUMMARY, Kind.OBSERVATION, Kind.PROMPT)

CONTENT = ("content_session_id", "contentSessionId", "claude_session_id", "claudeSessionId",
           "session_id")  # fmt: skip
MEMORY = ("memory_session_id", "memorySessionId", "sdk_session_id")
TIMES = ("created_at_epoch", "started_at_epoch", "created_at", "started_at")


def read_json(value: Any, cleaner: Cleaner, *, own: bool = False) -> Staged:
    """Stage an export: an object of arrays, or a list of observations.

    `own`: also what people said of memories and projects; a person has agreed to it.

    Raises:
        InvalidInput: something in it is not as documented; the text names it.
        CleaningFailed: a redactor failed; nothing may be kept.
    """
    staged = Staged()
    try:
        reader = Reader(staged, Strict(), cleaner)
        for kind, rows in _arrays(value).items():
            reader.take(kind, rows)
        if own:
            staged.own = owning.read(value, cleaner)
        elif count := owning.count(value):
            staged.left_out[OWN] = count
    except BaseException:
        staged.close()
        raise
    return staged


def _arrays(value: Any) -> dict[Kind, list[Any]]:
    if isinstance(value, list):
        value = {Kind.OBSERVATION.value: value}
    if not isinstance(value, dict):
        raise InvalidInput("an import is an object with observations, or a list of them")
    found = {kind: value[kind.value] for kind in ARRAYS if value.get(kind.value) is not None}
    if not found:
        raise InvalidInput(f"nothing to import: none of {', '.join(ARRAYS)} is there")
    for kind, rows in found.items():
        if not isinstance(rows, list):
            raise InvalidInput(f"{kind} must be a list")
    if sum(map(len, found.values())) > MOST_ROWS:
        raise InvalidInput(f"more than {MOST_ROWS:,} rows; import them in parts")
    return found


class Reader:
    """Checks and cleans rows, and stages them; of some, cleaning leaves nothing."""

    def __init__(self, staged: Staged, reading: Reading, cleaner: Cleaner) -> None:
        self._staged = staged
        self._reading = reading
        self._cleaner = cleaner

    def take(self, kind: Kind, rows: Iterable[Any]) -> None:
        """Stage rows of one kind.

        Raises:
            InvalidInput: a row is not as documented, where that is asked for.
        """
        for number, row in enumerate(rows):
            name = f"{kind}[{number}]"
            if not isinstance(row, dict):
                raise InvalidInput(f"{name} must be an object")
            made = self._made(kind, row, name)
            if made is None:
                self._staged.pass_over(kind)
            else:
                self._staged.add(kind, made)

    def _made(self, kind: Kind, row: Mapping[str, Any], name: str) -> Incoming | None:
        """The row; None when cleaning left nothing of what it said."""
        form = FORMS[kind]
        texts = self._each(form.texts, row, name, self._reading.text)
        lists = self._each(form.lists, row, name, self._reading.list)
        metadata = self._reading.map(row.get("metadata"), f"{name}.metadata")
        origin = self._origin(row, name)
        if not self._is_whole(kind, texts, lists, origin, name):
            return None
        texts, lists, metadata = self._cleaned(form, texts, lists, metadata, name)
        if kind in SPEAKING and not any(_words(form, texts, lists)):
            return None
        return Incoming(
            origin=origin,
            project=self._name(row, ("project",), name),
            merged_into=self._name(row, ("merged_into_project",), name),
            at_ms=self._time(row, name),
            texts=texts,
            lists=lists,
            numbers=self._numbers(form, row, name),
            metadata=metadata,
        )

    def _is_whole(
        self, kind: Kind, texts: Mapping[str, str], lists: Mapping[str, Iterable[str]],
        origin: Origin, name: str,
    ) -> bool:  # fmt: skip
        """Whether a row has what its kind can't do without."""
        form = FORMS[kind]
        if kind in SPEAKING and not any(_words(form, texts, lists)):
            complaint = f"{name} says nothing: {', '.join(form.said)} are empty"
        elif kind is Kind.SESSION and not (origin.content_id or origin.memory_id):
            complaint = f"{name} has no id: {CONTENT[0]} is missing"
        else:
            return True
        raise_if_strict(self._reading, complaint)
        return False

    def _each(
        self, columns: Mapping[str, tuple[str, ...]], row: Mapping[str, Any], name: str,
        read: Callable[[Any, str], Any],
    ) -> dict[str, Any]:  # fmt: skip
        found = {to: read(first(row, names), f"{name}.{names[0]}") for to, names in columns.items()}
        return {to: value for to, value in found.items() if value}

    def _cleaned(
        self, form: Form, texts: Mapping[str, str], lists: Mapping[str, Any],
        metadata: Mapping[str, Any], name: str,
    ) -> tuple[dict[str, str], dict[str, tuple[str, ...]], Mapping[str, Any]]:  # fmt: skip
        """All of a row at once, which is quicker than one by one."""
        parsed = {k: parsed_json(v) if k in JSON_TEXTS else v for k, v in texts.items()}
        whole = {"texts": parsed, "lists": {k: list(v) for k, v in lists.items()}}
        clean = self._cleaner.value(whole, form.where)
        metadata = self._cleaner.value(dict(metadata), "tool") if metadata else {}
        if len(as_json(metadata)) > LONGEST_METADATA:
            raise_if_strict(self._reading, f"{name}.metadata is larger than 64 KB")
            metadata = {}
        return (
            {key: short(value) for key, value in clean["texts"].items()},
            {key: tuple(map(short, value)) for key, value in clean["lists"].items()},
            metadata,
        )

    def _origin(self, row: Mapping[str, Any], name: str) -> Origin:
        host = self._name(row, ("platform_source", "platformSource", "host"), name).lower()
        return Origin(
            host=HOSTS.get(host, host),
            content_id=self._name(row, CONTENT, name),
            memory_id=self._name(row, MEMORY, name),
            session=self._reading.number(row.get("session_db_id"), f"{name}.session_db_id") or 0,
            number=_number_of(row, "id", "document_id"),
            device=self._name(row, ("origin_device_id",), name),
            local=_number_of(row, "origin_local_id"),
        )

    def _name(self, row: Mapping[str, Any], names: tuple[str, ...], where: str) -> str:
        """An id or a label: cleaned like all text, and short."""
        name = f"{where}.{names[0]}"
        given = self._reading.text(first(row, names), name).strip()
        if len(given) > LONGEST_NAME:
            raise_if_strict(self._reading, f"{name} is longer than {LONGEST_NAME:,} characters")
        return self._cleaner.text(text.safe(given[:LONGEST_NAME]), "tool") if given else ""

    def _time(self, row: Mapping[str, Any], name: str) -> int:
        times = (self._reading.time(row[key], f"{name}.{key}") for key in TIMES if row.get(key))
        return next((at_ms for at_ms in times if at_ms), 0)

    def _numbers(self, form: Form, row: Mapping[str, Any], name: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for to, names in form.numbers.items():
            read = self._reading.time if to == "completed" else self._reading.number
            value = read(first(row, names), f"{name}.{names[0]}")
            if value is not None:
                found[to] = value
        return found


def first(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first value that a row has under one of these names."""
    return next((row[name] for name in names if row.get(name) is not None), None)


def short(value: Any) -> str:
    """A text that any column can hold, 64 KB at most; another value as JSON."""
    if isinstance(value, str):
        return text.cut(text.safe(value)).text
    return text.cut_json(value).text


def raise_if_strict(reading: Reading, complaint: str) -> None:
    if isinstance(reading, Strict):
        raise InvalidInput(complaint)


def _words(
    form: Form, texts: Mapping[str, str], lists: Mapping[str, Iterable[str]]
) -> Iterator[str]:
    yield from (texts.get(name, "").strip() for name in form.said)
    yield from (entry.strip() for entry in lists.get("facts", ()))


def _number_of(row: Mapping[str, Any], *names: str) -> str:
    number = first(row, names)
    return text.safe(str(number))[:100] if isinstance(number, int | str) else ""

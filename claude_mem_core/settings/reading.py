"""A settings file as people really have it: read what can be read, say what can't."""

from __future__ import annotations

import codecs
import json
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core.convert import check_shape
from claude_mem_core.errors import InvalidInput
from claude_mem_core.files import open_regular

MAX_BYTES = 1_000_000
# The lenient reader takes about 15 ms for each 1,000 characters.
LENIENT_CHARS = 65_536
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
LENIENT_NOTE = (
    "this is no plain JSON (a comment, a comma too many, other quotes); it was understood, "
    "but claude-mem itself may not read it"
)
WHERE = re.compile(r"<string>:(\d+) (.*) at column (\d+)", re.DOTALL)
MEMBER = re.compile(r'"([A-Za-z0-9_]{1,80})"\s*:\s*')
MEMBER_END = re.compile(r"\s*[,}\r\n]")
COMMENT = re.compile(r'("(?>[^"\\\n]+|\\.)*+")|//[^\n]*|/\*.*?\*/', re.DOTALL)


@attrs.frozen(kw_only=True)
class Reading:
    """What a settings file says.

    Attributes:
        values: as written; of a broken file, those that could be made out.
        problems: one sentence for each thing that is not as it should be.
        broken: why the file as a whole can't be read, with line and column; None when
            it can.
        text: its text, None when it is missing or broken.
        mark: its byte-order mark.
        encoding: how the rest is encoded.
    """

    values: dict[str, Any] = attrs.field(factory=dict)
    problems: tuple[str, ...] = ()
    broken: str | None = None
    text: str | None = None
    mark: bytes = b""
    encoding: str = "utf-8"


class Unreadable(Exception):
    """Why, and the text as far as there is one."""

    def __init__(self, why: str, text: str = "") -> None:
        super().__init__(why)
        self.text = text


def read(path: Path) -> Reading:
    """Read a settings file; whatever is wrong with it is told, never raised."""
    mark, encoding = b"", "utf-8"
    try:
        data = _bytes(path)
        if data is None:
            return Reading()
        mark, encoding = _encoding(data)
        text = _text(path, data[len(mark) :], encoding)
        values, problems = _values(path, text)
    except Unreadable as fault:
        return Reading(values=salvaged(fault.text), broken=str(fault))
    return Reading(
        values=values, problems=tuple(problems), text=text, mark=mark, encoding=encoding
    )


def _bytes(path: Path) -> bytes | None:
    """The file's bytes; an own link is followed, since people keep settings elsewhere."""
    if not path.is_symlink() and not path.exists():
        return None
    try:
        with open_regular(path, MAX_BYTES, follow=True) as file:
            return file.read(MAX_BYTES + 1)
    except InvalidInput as error:
        raise Unreadable(f"{error}; see: ls -ld {shlex.quote(str(path))}") from None


def _encoding(data: bytes) -> tuple[bytes, str]:
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return mark, encoding
    return b"", "utf-8"


def _text(path: Path, data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, "replace")
        why = f"{_place(path, before)}: this is not {encoding.upper()}"
        # What editors that don't write UTF-8 write is mostly this.
        raise Unreadable(why, data.decode("cp1252", "replace")) from None


def _place(path: Path, before: str) -> str:
    line = before.count("\n") + 1
    return f"{path}:{line}:{len(before) - before.rfind(chr(10))}"


def _values(path: Path, text: str) -> tuple[dict[str, Any], list[str]]:
    if not text.strip():
        return {}, [f"{path} is empty; defaults are used"]
    problems: list[str] = []
    value = _parsed(path, text, problems)
    if not isinstance(value, dict):
        raise Unreadable(f"{path}:1:1: this is no JSON object ({{...}})")
    return value, problems


def _parsed(path: Path, text: str, problems: list[str]) -> Any:
    try:
        check_shape(text)
    except InvalidInput as error:
        raise Unreadable(f"{path}: {error}") from None
    doubled: list[str] = []
    try:
        value = json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, doubled))
    except json.JSONDecodeError as error:
        value = _lenient(path, text, error, problems, doubled)
    problems += [f"{path} names {key} twice; the last one counts" for key in doubled]
    return value


def _object(pairs: Iterable[tuple[str, Any]], doubled: list[str]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made and key not in doubled:
            doubled.append(key)
        made[key] = value
    return made


def _lenient(
    path: Path,
    text: str,
    strict: json.JSONDecodeError,
    problems: list[str],
    doubled: list[str],
) -> Any:
    """Comments, trailing commas, single quotes: understood, and told once."""
    where = f"{path}:{strict.lineno}:{strict.colno}"
    if len(text) > LENIENT_CHARS:
        raise Unreadable(f"{where}: {strict.msg}", text)
    import json5

    try:
        value = json5.loads(text, object_pairs_hook=lambda pairs: _object(pairs, doubled))
    except (ValueError, RecursionError) as error:
        raise Unreadable(_reason(path, error, f"{where}: {strict.msg}"), text) from None
    problems.append(f"{where}: {LENIENT_NOTE}")
    return value


def _reason(path: Path, error: Exception, otherwise: str) -> str:
    found = WHERE.match(str(error))
    return f"{path}:{found[1]}:{found[3]}: {_visible(found[2])}" if found else otherwise


def _visible(text: str) -> str:
    words = text[0].lower() + text[1:]
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in words)


# What is left of a broken file --------------------------------------------------------


def salvaged(text: str) -> dict[str, Any]:
    """The members that stand whole in a broken text, whatever surrounds them.

    A value counts as whole when a comma, a brace or a line end follows it: a number that
    was cut in the middle must not be taken for another one.
    """
    try:
        check_shape(text)
    except InvalidInput:
        return {}
    bare = COMMENT.sub(lambda found: found[1] or " ", text)
    decoder = json.JSONDecoder()
    values: dict[str, Any] = {}
    for member in MEMBER.finditer(bare):
        try:
            value, end = decoder.raw_decode(bare, member.end())
        except (ValueError, RecursionError):
            continue
        if MEMBER_END.match(bare, end):
            values[member[1]] = value
    return values

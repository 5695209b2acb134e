"""Records of any kind by key: `123` or `#123` an observation, `S4` a summary, `P7` a prompt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import apsw

from claude_mem_core.errors import InvalidInput
from claude_mem_core.store import memories
from claude_mem_core.types import DocKind, Observation, Prompt, Summary

Record = Observation | Summary | Prompt
Key = tuple[DocKind, int]

LETTERS: Mapping[DocKind, str] = {
    DocKind.OBSERVATION: "",
    DocKind.SUMMARY: "S",
    DocKind.PROMPT: "P",
}
_KINDS = {letter: kind for kind, letter in LETTERS.items()}
_KEY = re.compile(r"#?\s*([SP]?)\s*([0-9]{1,18})", re.IGNORECASE)


def parse_key(text: str) -> Key:
    """The record that a key names.

    Raises:
        InvalidInput: it is no key.
    """
    match = _KEY.fullmatch(text.strip())
    if match is None:
        raise InvalidInput(f"{text[:40]!r} is no id; use 123, S4 (session) or P7 (prompt)")
    return _KINDS[match[1].upper()], int(match[2])


def key_of(record: Record) -> str:
    """`123`, `S4` or `P7`."""
    return f"{LETTERS[kind_of(record)]}{record.id}"


def kind_of(record: Record) -> DocKind:
    """The kind of a record."""
    if isinstance(record, Observation):
        return DocKind.OBSERVATION
    return DocKind.SUMMARY if isinstance(record, Summary) else DocKind.PROMPT


def load(conn: apsw.Connection, keys: Iterable[Key]) -> list[Record]:
    """The records of `keys`, in that order; missing ones are left out."""
    wanted = list(dict.fromkeys(keys))
    by_kind = {kind: [number for k, number in wanted if k is kind] for kind in DocKind}
    found: dict[Key, Record] = {}
    for kind, read in (
        (DocKind.OBSERVATION, memories.observations),
        (DocKind.SUMMARY, memories.summaries),
        (DocKind.PROMPT, memories.prompts),
    ):
        if by_kind[kind]:
            records: Iterable[Record] = read(conn, by_kind[kind])
            found.update(((kind, record.id), record) for record in records)
    return [found[key] for key in wanted if key in found]

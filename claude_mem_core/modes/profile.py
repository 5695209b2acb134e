"""A mode, and reading one from its JSON form with every fault named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

ID = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
TEXT_CHARS = 4_000
MOST = 40  # types or concepts


@attrs.frozen(kw_only=True)
class Type:
    """A kind of memory.

    Attributes:
        id: the word that is stored.
        label: the word for people.
        help: when it is the right one, for the model.
        emoji: its sign in lists.
    """

    id: str
    label: str = ""
    help: str = ""
    emoji: str = ""


@attrs.frozen(kw_only=True)
class Concept:
    """A word that memories are tagged with, and what it means."""

    id: str
    help: str = ""


@attrs.frozen(kw_only=True)
class Mode:
    """A profile of types, concepts, words and language.

    Attributes:
        neutral: the type for what has no type of the mode.
        language: the language that memories are written in, in English and in itself
            (`German (Deutsch)`); empty: that of the session.
        role: who the model is and what it looks at.
        record: what is worth a memory.
        skip: what is not.
        summary: what a summary is to hold, beside its six fields.
    """

    id: str
    name: str
    types: tuple[Type, ...]
    concepts: tuple[Concept, ...]
    neutral: str
    description: str = ""
    language: str = ""
    role: str = ""
    record: str = ""
    skip: str = ""
    summary: str = ""

    @property
    def type_ids(self) -> tuple[str, ...]:
        """The words of its types."""
        return tuple(each.id for each in self.types)

    @property
    def concept_ids(self) -> tuple[str, ...]:
        """The words of its concepts."""
        return tuple(each.id for each in self.concepts)


TOP = {
    "name", "description", "version", "language", "neutral", "observation_types",
    "observation_concepts", "prompts",
}  # fmt: skip
PROMPTS = ("role", "record", "skip", "summary")


def read(mode_id: str, raw: Mapping[str, Any]) -> tuple[Mode | None, list[str]]:
    """The mode that a whole JSON object describes; None with the faults, key by key."""
    faults = [f"{key}: unknown key" for key in sorted(set(raw) - TOP)]
    texts = {key: _text(raw, key, faults) for key in ("name", "description", "language")}
    types = [_type(item, faults) for item in _items(raw, "observation_types", faults)]
    concepts = [_concept(item, faults) for item in _items(raw, "observation_concepts", faults)]
    neutral = _text(raw, "neutral", faults) or (types[0].id if types else "")
    if types and neutral not in {each.id for each in types}:
        faults.append(f"neutral: {neutral!r} is none of the types")
    for what, ids in (("observation_types", types), ("observation_concepts", concepts)):
        faults += _doubles(what, [each.id for each in ids])
    prompts = _prompts(raw, faults)
    if not texts["name"]:
        faults.append("name: is missing")
    if faults:
        return None, faults
    return Mode(
        id=mode_id, types=tuple(types), concepts=tuple(concepts), neutral=neutral, **texts,
        **prompts,
    ), []  # fmt: skip


def _items(raw: Mapping[str, Any], key: str, faults: list[str]) -> list[Any]:
    items = raw.get(key)
    if not isinstance(items, list) or not 0 < len(items) <= MOST:
        faults.append(f"{key}: must be a list of 1 to {MOST}")
        return []
    good = [item for item in items if isinstance(item, Mapping) and _is_id(item.get("id"))]
    if len(good) < len(items):
        faults.append(f"{key}: each needs an id of small letters, digits, - and _")
    return good


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 40 and bool(ID.fullmatch(value))


def _type(item: Mapping[str, Any], faults: list[str]) -> Type:
    where = f"observation_types {item['id']}: "
    found = {key: _text(item, key, faults, where) for key in ("label", "description", "emoji")}
    return Type(
        id=item["id"], label=found["label"] or item["id"], help=found["description"],
        emoji=found["emoji"],
    )  # fmt: skip


def _concept(item: Mapping[str, Any], faults: list[str]) -> Concept:
    where = f"observation_concepts {item['id']}: "
    return Concept(id=item["id"], help=_text(item, "description", faults, where))


def _doubles(what: str, ids: list[str]) -> list[str]:
    return [
        f"{what}: {one!r} stands there twice" for one in sorted(set(ids)) if ids.count(one) > 1
    ]


def _prompts(raw: Mapping[str, Any], faults: list[str]) -> dict[str, str]:
    given = raw.get("prompts", {})
    if not isinstance(given, Mapping):
        faults.append("prompts: must be an object of texts")
        return {}
    faults += [f"prompts {key}: unknown key" for key in sorted(set(given) - set(PROMPTS))]
    return {key: _text(given, key, faults, "prompts ") for key in PROMPTS}


def _text(raw: Mapping[str, Any], key: str, faults: list[str], where: str = "") -> str:
    value = raw.get(key, "")
    if not isinstance(value, str) or len(value) > TEXT_CHARS:
        faults.append(f"{where}{key}: must be a text of at most {TEXT_CHARS:,} characters")
        return ""
    return " ".join(value.split())

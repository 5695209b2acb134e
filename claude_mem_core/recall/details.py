"""Records in full, in one batch, with the missing ones named."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import apsw
import attrs

from claude_mem_core.recall import dates
from claude_mem_core.recall.icons import PROMPT, SESSION, icon
from claude_mem_core.recall.records import LETTERS, Key, Record, key_of, load
from claude_mem_core.render import for_prompt
from claude_mem_core.types import Observation, Prompt, Summary, Trust

_FIELD_CHARS = 70_000


@attrs.frozen
class Details:
    """What was asked for and what of it is not there."""

    records: tuple[Record, ...]
    missing: tuple[str, ...] = ()


def details(
    conn: apsw.Connection, keys: Sequence[Key], project_ids: Sequence[int] | None = None,
    personal: Collection[int] = (),
) -> Details:  # fmt: skip
    """The records of `keys`; with `project_ids`, those of other projects count as missing.

    `personal`: ids of observations that are there in every project.
    """
    records = load(conn, keys)
    if project_ids is not None:
        records = [
            record
            for record in records
            if record.project_id in project_ids
            or (isinstance(record, Observation) and record.id in personal)
        ]
    there = {key_of(record) for record in records}
    asked = dict.fromkeys(f"{LETTERS[kind]}{number}" for kind, number in keys)
    return Details(tuple(records), tuple(key for key in asked if key not in there))


def missing_text(missing: Sequence[str]) -> str:
    """The documented sentence about ids that are not there."""
    return (
        f"Observation IDs not found: [{', '.join(missing)}]. They may belong to another"
        " project (give `project`), have been deleted, or be mistyped."
    )


def in_full(record: Record) -> str:
    """One record for reading, every line of it made harmless."""
    if isinstance(record, Observation):
        return "\n".join(_observation(record))
    if isinstance(record, Summary):
        return "\n".join(_summary(record))
    return "\n".join(_prompt(record))


def _head(record: Record, sign: str, title: str) -> list[str]:
    about = [f"Date: {dates.minute(record.created_ms)}"]
    if isinstance(record, Observation):
        about.append(f"Type: {for_prompt(record.type, 60)}")
    about.append(f"Project: {for_prompt(record.project, 80)}")
    if record.host:
        about.append(f"Host: {for_prompt(record.host, 60)}")
    if not isinstance(record, Prompt) and record.trust is Trust.FOREIGN:
        about.append("Source: from outside")
    return [f"## #{key_of(record)} {sign} {for_prompt(title, 300)}", " | ".join(about)]


def _observation(record: Observation) -> list[str]:
    lines = _head(record, icon(record.type), record.title or "(no title)")
    if record.superseded_by == 0:
        lines.append("Marked wrong by the user: it does not hold.")
    elif record.superseded_by:
        lines.append(f"Superseded by #{record.superseded_by}: it no longer holds.")
    if record.verify:
        lines.append(f"To be verified: {for_prompt(record.verify, 200)}.")
    lines += _text(record.subtitle) + _text(record.narrative)
    lines += _listed("Facts", record.facts)
    lines += _joined("Concepts", record.concepts)
    lines += _joined("Files read", record.files_read)
    lines += _joined("Files modified", record.files_modified)
    return lines


def _summary(record: Summary) -> list[str]:
    lines = _head(record, SESSION, record.request or "(no request)")
    for name, text in (
        ("Investigated", record.investigated),
        ("Learned", record.learned),
        ("Completed", record.completed),
        ("Next Steps", record.next_steps),
        ("Notes", record.notes),
    ):
        if text.strip():
            lines += ["", f"{name}: {for_prompt(text, _FIELD_CHARS)}"]
    lines += _joined("Files read", record.files_read)
    return lines + _joined("Files edited", record.files_edited)


def _prompt(record: Prompt) -> list[str]:
    lines = _head(record, PROMPT, f"Prompt {record.number}")
    return lines + _text(record.text)


def _text(text: str) -> list[str]:
    """Paragraphs, each as one line that can't begin like one of ours."""
    lines = [for_prompt(line, _FIELD_CHARS) for line in text.splitlines()]
    return ["", *(f"| {line}" for line in lines if line)] if text.strip() else []


def _listed(name: str, values: Sequence[str]) -> list[str]:
    if not values:
        return []
    return ["", f"{name}:", *(f"- {for_prompt(value, 4_000)}" for value in values)]


def _joined(name: str, values: Sequence[str]) -> list[str]:
    return (
        [f"{name}: {', '.join(for_prompt(value, 300) for value in values)}"] if values else []
    )

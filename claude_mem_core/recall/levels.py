"""A record at four levels of detail: its title, a few sentences, in full, with its sources."""

from __future__ import annotations

import re

import apsw

from claude_mem_core.recall import details, listing
from claude_mem_core.recall.records import Record, key_of, kind_of
from claude_mem_core.render import for_prompt
from claude_mem_core.store import fetch
from claude_mem_core.types import Observation, Prompt

SENTENCES = 3
BRIEF_CHARS = 480
_USES = """
  SELECT t.tool_name, t.tool_use_id, t.tool_input FROM evidence v
  JOIN tool_uses t ON t.event_id = v.event_id
  WHERE v.kind = ? AND v.memory_id = ? ORDER BY t.id LIMIT ?
"""
_MOST_USES = 20
_IDS_SHOWN = 8
_INPUT_CHARS = 300
_END = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+")


def in_brief(record: Record) -> str:
    """A line that names the record and its first sentences."""
    head = f"#{key_of(record)} {listing.sign(record)} {listing.title_of(record)}"
    said = " ".join(_END.split(for_prompt(_story(record)))[:SENTENCES])
    said = said if len(said) <= BRIEF_CHARS else said[: BRIEF_CHARS - 1].rstrip() + "\u2026"
    return f"{head}\n| {said}" if said else head


def _story(record: Record) -> str:
    if isinstance(record, Observation):
        return " ".join(filter(None, (record.subtitle, record.narrative))) or " ".join(
            record.facts
        )
    if isinstance(record, Prompt):
        return record.text
    return " ".join(filter(None, (record.completed, record.learned, record.next_steps)))


def with_sources(conn: apsw.Connection, record: Record, *, brief: bool) -> str:
    """The record in full, and the tool uses it was made from: their ids, or what they did."""
    text = details.in_full(record)
    if isinstance(record, Prompt):
        return text
    uses = fetch.rows(conn, _USES, kind_of(record).value, record.id, _MOST_USES)
    if not uses:
        return text
    if brief:
        ids = ", ".join(for_prompt(str(use[1]), 80) for use in uses[:_IDS_SHOWN])
        return f"{text}\nTool uses: {ids}"
    lines = [
        f"- {for_prompt(name, 80)} {for_prompt(id_, 80)}: {for_prompt(asked or '', _INPUT_CHARS)}"
        for name, id_, asked in uses
    ]
    return "\n".join([text, "", "Tool uses (get_tool_uses gives them whole):", *lines])

"""Rows on their way in: checked, cleaned, with the names that our tables use."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import attrs


class Kind(StrEnum):
    """What can be imported, in the order in which it is."""

    SESSION = "sessions"
    SUMMARY = "summaries"
    OBSERVATION = "observations"
    PROMPT = "prompts"
    TOOL = "tool_uses"


@attrs.frozen(kw_only=True)
class Origin:
    """Where a row comes from.

    Attributes:
        host: the host that it was recorded from.
        content_id, memory_id: the two names of its session; empty when it has none.
        session: number of its session's row there; 0 when it does not say.
        number: its own number there, as text.
        device, local: the device it came from there, if it had come from another one,
            and its number on that.
    """

    host: str = ""
    content_id: str = ""
    memory_id: str = ""
    session: int = 0
    number: str = ""
    device: str = ""
    local: str = ""


@attrs.frozen(kw_only=True)
class Incoming:
    """One row.

    Attributes:
        origin: where it comes from.
        project: its label there; empty when it has none.
        merged_into: label of the project that this one was merged into.
        at_ms: when it was made; 0 when that is not known.
        texts: text columns by name.
        lists: list columns by name.
        numbers: whole numbers by name.
        metadata: what it says of itself beside.
    """

    origin: Origin
    project: str = ""
    merged_into: str = ""
    at_ms: int = 0
    texts: Mapping[str, str] = attrs.field(factory=dict)
    lists: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    numbers: Mapping[str, int] = attrs.field(factory=dict)
    metadata: Mapping[str, Any] = attrs.field(factory=dict)

    def text(self, name: str) -> str:
        """A text column; empty when it is not given."""
        return self.texts.get(name, "")

    def list(self, name: str) -> tuple[str, ...]:
        """A list column; empty when it is not given."""
        return self.lists.get(name, ())

    def number(self, name: str) -> int | None:
        """A number; None when it is not given."""
        return self.numbers.get(name)


@attrs.frozen(kw_only=True)
class Form:
    """The columns of one kind, each with the names it has had.

    Attributes:
        said: text columns that say something; a row without any is not taken.
        words: text columns that only sort or name.
    """

    said: Mapping[str, tuple[str, ...]]
    words: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    lists: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    numbers: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    where: str = "answer"

    @property
    def texts(self) -> Mapping[str, tuple[str, ...]]:
        """All text columns."""
        return {**self.said, **self.words}


def same(*names: str) -> dict[str, tuple[str, ...]]:
    """Columns that were always called so."""
    return {name: (name,) for name in names}


MADE = {"generated_by_model": ("generated_by_model", "model")}
TOKENS = {"discovery_tokens": ("discovery_tokens", "tokens")}
AGENT = same("agent_id", "agent_type")

FORMS: Mapping[Kind, Form] = {
    Kind.SESSION: Form(
        said={"user_prompt": ("user_prompt",), "custom_title": ("custom_title", "title")},
        words=same("status"),
        numbers={
            **same("prompt_counter"),
            "completed": ("completed_at_epoch", "completed_at"),
        },
        where="prompt",
    ),
    Kind.SUMMARY: Form(
        said=same("request", "investigated", "learned", "completed", "next_steps", "notes"),
        words=MADE,
        lists=same("files_read", "files_edited"),
        numbers={**same("prompt_number"), **TOKENS},
    ),
    Kind.OBSERVATION: Form(
        said=same("title", "subtitle", "narrative", "text"),
        words={**same("type"), **AGENT, **MADE},
        lists=same("facts", "concepts", "files_read", "files_modified"),
        numbers={**same("prompt_number", "relevance_count", "occurrence_count"), **TOKENS},
    ),
    Kind.PROMPT: Form(
        said={"prompt_text": ("prompt_text", "prompt", "text")},
        numbers=same("prompt_number"),
        where="prompt",
    ),
    Kind.TOOL: Form(
        said=same("tool_input", "tool_response"),
        words={**same("tool_use_id", "tool_name", "cwd", "content_hash",
                      "or_generation_id", "or_session_id"), **AGENT},
        numbers=same("prompt_number", "observation_id"),
        where="tool",
    ),
}  # fmt: skip

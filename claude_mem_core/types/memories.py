"""Memories and what surrounds them: drafts, rows, queries, hits, blocks."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import attrs


class Trust(StrEnum):
    """How far a memory's text may go; the lowest of its evidence, for good.

    `user`: typed by the user. `work`: edits and commands of the session.
    `foreign`: web pages, MCP results, files outside the project, imports, sync.
    """

    FOREIGN = "foreign"
    WORK = "work"
    USER = "user"


class DocKind(StrEnum):
    """The three kinds of searchable records."""

    OBSERVATION = "observation"
    SUMMARY = "summary"
    PROMPT = "prompt"


@attrs.frozen(kw_only=True)
class Draft:
    """An observation as an observer made it, before it is kept.

    Attributes:
        type: a type of the active mode (bugfix, feature, refactor, change, discovery,
            decision, security_alert, security_note, sensitive).
        title: at most 12 words, specific, never a tool's name.
        events: ids of the journal events it was made from (its evidence).
        supersedes: ids of earlier observations that no longer hold.
        model: who made it ("builtin" or a model's id).
        tokens: model tokens that making it cost; for the built-in observer an
            estimate of what the work it stands for took to read (4 bytes each).
    """

    type: str
    title: str
    subtitle: str = ""
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    events: tuple[int, ...] = ()
    supersedes: tuple[int, ...] = ()
    prompt_number: int | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    model: str = "builtin"
    tokens: int = 0
    trust: Trust = Trust.WORK
    metadata: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class SummaryDraft:
    """A summary of one turn, before it is kept."""

    request: str = ""
    investigated: str = ""
    learned: str = ""
    completed: str = ""
    next_steps: str = ""
    notes: str = ""
    files_read: tuple[str, ...] = ()
    files_edited: tuple[str, ...] = ()
    prompt_number: int | None = None
    events: tuple[int, ...] = ()
    model: str = "builtin"
    tokens: int = 0
    trust: Trust = Trust.WORK


@attrs.frozen(kw_only=True)
class Skip:
    """An event that deserves no memory, and why; becomes its receipt."""

    event_id: int
    reason: str


@attrs.frozen(kw_only=True)
class Observed:
    """What an observer made of one batch."""

    observations: tuple[Draft, ...] = ()
    summary: SummaryDraft | None = None
    skipped: tuple[Skip, ...] = ()


@attrs.frozen(kw_only=True)
class Observation:
    """A stored observation. Times in milliseconds since the epoch.

    `verify`: what it speaks of has changed since, in words; empty when it has not.
    """

    id: int
    project: str
    type: str
    title: str
    created_ms: int
    project_id: int = 0
    session_db_id: int = 0
    subtitle: str = ""
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    prompt_number: int | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    model: str = ""
    tokens: int = 0
    trust: Trust = Trust.WORK
    superseded_by: int | None = None
    host: str = ""
    metadata: Mapping[str, Any] = attrs.field(factory=dict)
    verify: str = ""


@attrs.frozen(kw_only=True)
class Summary:
    """A stored summary of a turn."""

    id: int
    project: str
    created_ms: int
    project_id: int = 0
    session_db_id: int = 0
    request: str = ""
    investigated: str = ""
    learned: str = ""
    completed: str = ""
    next_steps: str = ""
    notes: str = ""
    files_read: tuple[str, ...] = ()
    files_edited: tuple[str, ...] = ()
    prompt_number: int | None = None
    model: str = ""
    tokens: int = 0
    trust: Trust = Trust.WORK
    host: str = ""


@attrs.frozen(kw_only=True)
class Prompt:
    """A stored user prompt."""

    id: int
    project: str
    text: str
    number: int
    created_ms: int
    project_id: int = 0
    session_db_id: int = 0
    host: str = ""


@attrs.frozen(kw_only=True)
class Query:
    """A search. Filters are joined by AND; empty means no filter.

    Attributes:
        text: the words as typed; no character is an operator.
        project: label or id of a project and its chain.
        projects: labels or ids of several; what lies in any of them fits.
        project_ids: the ids that these stand for, where the core has looked them
            up, as it does for every backend that it asks; none of them: nothing fits.
        kinds: which records to search.
        order: `relevance`, `date_desc` or `date_asc`.
        since_ms, until_ms: bounds on the creation time, inclusive.
        personal: whether what belongs to the person counts as part of `project`.
    """

    text: str = ""
    project: str | None = None
    projects: tuple[str, ...] = ()
    project_ids: tuple[int, ...] | None = None
    kinds: tuple[DocKind, ...] = tuple(DocKind)
    types: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    host: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    order: str = "relevance"
    limit: int = 20
    offset: int = 0
    match_all: bool = False
    personal: bool = False


@attrs.frozen(kw_only=True)
class Hit:
    """One result: which record, how good, and whether every word was in it."""

    kind: DocKind
    id: int
    score: float
    complete: bool = True


@attrs.frozen(kw_only=True)
class Found:
    """What a backend answers: hits best first, and how much of the store it covers.

    `more` is true when the page was filled and further records match.
    """

    hits: tuple[Hit, ...] = ()
    method: str = "keyword"
    coverage: float = 1.0
    more: bool = False


@attrs.frozen(kw_only=True)
class Block:
    """A piece of context that a plugin offers; the core fits it into the budget."""

    title: str
    text: str
    priority: int = 100

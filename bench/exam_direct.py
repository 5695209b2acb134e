"""The exam's sessions given to the built-in observer without hook, worker and store.

Quick, for work on the observer's rules; `exam.py` plays the whole chain.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from claude_mem_core.observer.builtin import observe
from claude_mem_core.types import (
    Batch,
    Event,
    EventKind,
    Observation,
    Observed,
    StoredEvent,
    SummaryDraft,
    ToolUse,
    Trust,
)

ROOT = "/home/dev/project"
KINDS = {
    "SessionStart": EventKind.SESSION_STARTED,
    "UserPromptSubmit": EventKind.PROMPT_SENT,
    "PostToolUse": EventKind.TOOL_USED,
    "PostToolUseFailure": EventKind.TOOL_FAILED,
    "Stop": EventKind.TURN_ENDED,
    "SubagentStart": EventKind.SUBAGENT_STARTED,
    "SubagentStop": EventKind.SUBAGENT_ENDED,
    "SessionEnd": EventKind.SESSION_ENDED,
}
SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def payloads(folder: Path, root: str = ROOT) -> Iterator[tuple[str, dict[str, Any]]]:
    """(event, payload) of a session, with a directory in place of the marks."""
    for line in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines():
        line = line.replace("{{CWD}}", root).replace("{{TRANSCRIPT}}", f"{root}/none.jsonl")
        item = json.loads(line)
        yield item["event"], item["payload"]


def event_of(name: str, payload: Mapping[str, Any]) -> Event | None:
    """A payload of Claude Code as an event; None for what is not recorded."""
    kind = KINDS.get(name)
    if kind is None:
        return None
    if kind is EventKind.PROMPT_SENT and payload["prompt"].startswith("<task-notification>"):
        kind = EventKind.NOTICE
    return Event(
        kind=kind, host="claude-code", session_id=payload["session_id"], cwd=payload["cwd"],
        prompt=payload.get("prompt"), prompt_id=payload.get("prompt_id"), tool=_tool(payload),
        answer=payload.get("last_assistant_message"), agent_id=payload.get("agent_id"),
        agent_type=payload.get("agent_type"), host_event=name,
    )  # fmt: skip


def _tool(payload: Mapping[str, Any]) -> ToolUse | None:
    if "tool_name" not in payload:
        return None
    return ToolUse(
        name=payload["tool_name"], id=payload.get("tool_use_id", ""),
        input=payload.get("tool_input"), output=payload.get("tool_response"),
        error=payload.get("error"), is_interrupt=bool(payload.get("is_interrupt")),
    )  # fmt: skip


def _trust(event: Event) -> Trust:
    if event.kind is EventKind.PROMPT_SENT:
        return Trust.USER
    foreign = event.tool is not None and event.tool.name.startswith(("mcp__", "Web"))
    return Trust.FOREIGN if foreign else Trust.WORK


def batches(folder: Path) -> Iterator[Batch]:
    """The turns of a session; one that goes on after its end comes again, longer."""
    kept: dict[int, list[StoredEvent]] = {}
    number = 0
    for at, (name, payload) in enumerate(payloads(folder), start=1):
        event = event_of(name, payload)
        if event is None:
            continue
        number += event.kind is EventKind.PROMPT_SENT
        stored = StoredEvent(id=at, event=event, prompt_number=number, trust=_trust(event))
        kept.setdefault(number, []).append(stored)
        if event.kind is EventKind.TURN_ENDED:
            yield Batch(
                session_db_id=1, project=folder.name, events=tuple(kept[number]), root=ROOT
            )


class Memory:
    """What a store would keep of one session."""

    def __init__(self) -> None:
        self.observations: list[Observation] = []
        self.summaries: list[SummaryDraft] = []

    def keep(self, observed: Observed, number: int) -> None:
        """Give drafts ids and mark what they replace."""
        for draft in observed.observations:
            fields = {f.name: getattr(draft, f.name) for f in attrs.fields(type(draft))}
            for name in ("events", "supersedes"):
                fields.pop(name)
            fields["prompt_number"] = number
            new = Observation(id=len(self.observations) + 1, project="", created_ms=0, **fields)
            for at, old in enumerate(self.observations):
                if old.id in draft.supersedes:
                    self.observations[at] = attrs.evolve(old, superseded_by=new.id)
            self.observations.append(new)
        if observed.summary is not None:
            self.summaries.append(observed.summary)

    def export(self) -> dict[str, list[dict[str, Any]]]:
        """In the form that the scorer reads."""
        return {
            "observations": [observation_json(o) for o in self.observations],
            "summaries": [{k: getattr(s, k) for k in SUMMARY} for s in self.summaries],
        }


def observation_json(observation: Observation) -> dict[str, Any]:
    """An observation as the scorer reads it."""
    names = [
        "type",
        "title",
        "subtitle",
        "facts",
        "narrative",
        "concepts",
        "files_read",
        "files_modified",
    ]
    return {
        **{n: _plain(getattr(observation, n)) for n in names},
        "superseded": observation.superseded_by is not None,
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def play(folder: Path) -> Memory:
    """Observe a session turn by turn."""
    memory = Memory()
    for batch in batches(folder):
        number = batch.events[-1].prompt_number
        live = [o for o in memory.observations if o.superseded_by is None]
        memory.keep(observe(attrs.evolve(batch, earlier=tuple(live))), number)
    return memory

"""Events and batches in a few words, for tests of the built-in observer."""

from __future__ import annotations

from typing import Any

import attrs

from claude_mem_core.observer.builtin import observe
from claude_mem_core.types import (
    Batch,
    Draft,
    Event,
    EventKind,
    Observation,
    Observed,
    StoredEvent,
    ToolUse,
    Trust,
)

ROOT = "/home/dev/shop"


@attrs.define
class Session:
    """Writes a session turn by turn; keeps what the observer makes of each."""

    root: str = ROOT
    number: int = 0
    count: int = 0
    events: list[StoredEvent] = attrs.field(factory=list)
    files: dict[str, str] = attrs.field(factory=dict)
    kept: list[Observation] = attrs.field(factory=list)

    def add(self, kind: EventKind, trust: Trust = Trust.WORK, **fields: Any) -> Session:
        self.count += 1
        event = Event(kind=kind, host="claude-code", session_id="s", cwd=self.root, **fields)
        self.events.append(
            StoredEvent(id=self.count, event=event, prompt_number=self.number, trust=trust)
        )
        return self

    def prompt(self, text: str) -> Session:
        self.number += 1
        self.events = []
        return self.add(EventKind.PROMPT_SENT, Trust.USER, prompt=text)

    def tool(
        self, name: str, given: Any, output: Any = None, error: str | None = None,
        trust: Trust = Trust.WORK, **fields: Any,
    ) -> Session:  # fmt: skip
        kind = EventKind.TOOL_USED if error is None else EventKind.TOOL_FAILED
        tool = ToolUse(name=name, input=given, output=output, error=error)
        return self.add(kind, trust, tool=tool, **fields)

    def run(self, command: str, out: str = "", **fields: Any) -> Session:
        return self.tool("Bash", {"command": command}, {"stdout": out, "stderr": ""}, **fields)

    def fail(self, command: str, error: str, code: int = 1) -> Session:
        return self.tool("Bash", {"command": command}, error=f"Exit code {code}\n{error}")

    def read(self, path: str, text: str, **fields: Any) -> Session:
        self.files[path] = text
        given = {"file_path": f"{self.root}/{path}"}
        return self.tool("Read", given, {"type": "text", "file": {"content": text}}, **fields)

    def edit(self, path: str, old: str, new: str) -> Session:
        before = self.files[path]
        assert old in before
        self.files[path] = before.replace(old, new, 1)
        given = {"file_path": f"{self.root}/{path}", "old_string": old, "new_string": new}
        return self.tool("Edit", given, {"originalFile": before})

    def write(self, path: str, text: str) -> Session:
        before = self.files.get(path)
        self.files[path] = text
        given = {"file_path": f"{self.root}/{path}", "content": text}
        kind = "create" if before is None else "update"
        return self.tool("Write", given, {"type": kind, "originalFile": before})

    def batch(self, answer: str = "", *, finished: bool = True) -> Batch:
        if answer:
            self.add(EventKind.TURN_ENDED, answer=answer)
        live = tuple(o for o in self.kept if o.superseded_by is None)
        return Batch(
            session_db_id=1, project="shop", events=tuple(self.events), earlier=live,
            finished=finished, root=self.root,
        )  # fmt: skip

    def answer(self, text: str) -> Observed:
        """End the turn; what the observer makes of it is kept for the next one."""
        made = observe(self.batch(text))
        for draft in made.observations:
            self._keep(draft)
        return made

    def _keep(self, draft: Draft) -> None:
        number = len(self.kept) + 1
        for at, old in enumerate(self.kept):
            if old.id in draft.supersedes:
                self.kept[at] = attrs.evolve(old, superseded_by=number)
        names = {f.name for f in attrs.fields(Observation)}
        fields = {
            f.name: getattr(draft, f.name) for f in attrs.fields(Draft) if f.name in names
        }
        self.kept.append(Observation(id=number, project="shop", created_ms=0, **fields))

    @property
    def live(self) -> list[Observation]:
        """What still holds."""
        return [o for o in self.kept if o.superseded_by is None]


def text_of(item: Any) -> str:
    """Everything that a draft or observation says."""
    return "\n".join([item.title, item.subtitle, *item.facts, item.narrative])


def modified(observations: list[Observation]) -> set[str]:
    """All files that the observations name as changed."""
    return {path for o in observations for path in o.files_modified}

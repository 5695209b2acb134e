"""One turn of a session, read once: prompt, steps, runs, files, answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import attrs

from claude_mem_core.observer import writes
from claude_mem_core.observer.commands import PASSIVE, Job, Sort, job
from claude_mem_core.observer.files import Attempt, File, Workspace
from claude_mem_core.observer.helpers import Helper, helpers
from claude_mem_core.observer.labels import label
from claude_mem_core.observer.outcomes import Outcome, outcome
from claude_mem_core.observer.paths import without_root
from claude_mem_core.observer.speech import is_protocol
from claude_mem_core.observer.steps import Act, Step, steps
from claude_mem_core.observer.text import clip, names
from claude_mem_core.types import Batch, EventKind, StoredEvent, Trust

FIGURES = re.compile(
    r"(?i)(?<![a-z])(?:bench\w*|load(?:test|[_-]test|\.\w+)|perf|profile|timing|hyperfine|wrk|k6|ab)(?![a-z])"
)
ALL_LINES = 8_000  # lines of output that are read in one turn
LEAST_LINES = 60
INTERRUPTED = re.compile(r"(?m)^Exit code 1(?:30|43)\b|^\s*\^C\s*$")
# A mistake in what was just written, of no interest once it works.
SLIP = re.compile(
    r"(?i)undefined\b|undeclared|is not (?:a function|defined)|not found in|unresolved|cannot find"
    r"|syntax ?error|parse error|unexpected (?:token|indent|end)|import ?error|modulenotfound"
    r"|name ?error|no such (?:module|method|name)|does not exist in|unused|expected (?:an?|one of|;|\))"
    r"|attribute ?error|no module named|indentation|missing (?:semicolon|import|return)"
)


@attrs.frozen
class Run:
    """A step that ran a command."""

    step: Step
    job: Job
    outcome: Outcome

    @property
    def index(self) -> int:
        """Place of its step in the turn."""
        return self.step.index

    @property
    def label(self) -> str:
        """The command for people; of a script typed in place, what it was for."""
        name, note = label(self.job), self.step.note
        return f"{name} ({clip(note, 50)})" if note and name.endswith(" script") else name

    @property
    def measures(self) -> bool:
        """Whether it is there to give figures, not to pass or fail."""
        return bool(
            FIGURES.search(self.job.main.words[-1] if self.job.main.words else "")
            or FIGURES.search(self.step.command)
        )

    @property
    def sort(self) -> Sort:
        """What the command is for."""
        return self.job.sort


@attrs.define
class Turn:
    """Everything an observer needs of a turn; made by `read`."""

    batch: Batch
    steps: list[Step]
    runs: list[Run]
    space: Workspace
    prompt: str
    prompt_id: int | None
    answers: list[tuple[int, str]]
    helpers: list[Helper]
    fault: str = ""

    @cached_property
    def answer(self) -> str:
        """The last final answer."""
        return self.answers[-1][1] if self.answers else ""

    @cached_property
    def changed(self) -> list[File]:
        """Files that differ at the end."""
        return self.space.changed()

    @cached_property
    def lasting(self) -> set[int]:
        """The steps whose changes are there at the end."""
        return {h.first for f in self.changed for h in f.hunks}

    @cached_property
    def attempts(self) -> list[Attempt]:
        """What was tried and taken back."""
        return self.space.attempts()

    @cached_property
    def failures(self) -> list[Run]:
        """Runs that failed, apart from slips, interruptions and looking around."""
        fresh = [f.path for f in self.space.files.values() if not f.existed]
        return [
            r for r in self.runs
            if not r.outcome.ok and r.sort not in PASSIVE and not r.step.interrupted
            and not _slip(r, fresh)
        ]  # fmt: skip

    @cached_property
    def keys(self) -> set[str]:
        """Names and values that the prompt and the answers speak of."""
        said = [self.prompt, *(text for _, text in self.answers)]
        return {n.casefold() for text in said for n in names(text)}

    def healed(self, run: Run) -> Run | None:
        """The next run of the same thing that went well."""
        later = (r for r in self.runs if r.index > run.index and akin(run, r) and r.outcome.ok)
        return next(later, None)

    def last_of(self, run: Run) -> Run:
        """The last of the runs that went well in a row, beginning with `run`."""
        last = run
        for later in (r for r in self.runs if r.index > run.index and akin(run, r)):
            if not later.outcome.ok:
                break
            last = later
        return last


def akin(one: Run, other: Run) -> bool:
    """Whether two runs try the same thing, maybe wider or with other options."""
    if one.sort is not other.sort or one.job.main.host != other.job.main.host:
        return False
    if one.job.kin == other.job.kin:
        return True
    return one.sort is Sort.TEST and one.job.main.program == other.job.main.program


def read(batch: Batch) -> Turn:
    """Read a batch; never raises for odd events."""
    batch = attrs.evolve(batch, root=_root(batch))
    done = steps(batch.events, batch.root)
    taken = [_asked(s) for s in done]
    ran = [s for s in taken if s.act is Act.RUN and s.command]
    most = max(LEAST_LINES, ALL_LINES // max(1, len(ran)))
    runs = [_run(s, most) for s in ran]
    prompts = _prompts(batch.events)
    known = {path for o in batch.earlier for path in o.files_modified}
    return Turn(
        batch=batch, steps=taken, runs=runs, space=_workspace(done, batch.root, known),
        prompt=without_root(prompts[-1][1], batch.root) if prompts else "",
        prompt_id=prompts[-1][0] if prompts else None,
        answers=_answers(batch), helpers=helpers(batch.events, taken),
        fault=next((e.event.error or "" for e in batch.events
                    if e.event.kind is EventKind.TURN_FAILED), ""),
    )  # fmt: skip


def _asked(step: Step) -> Step:
    """A command that showed what another machine says is a question, not a run."""
    if step.act is not Act.RUN or step.trust is not Trust.FOREIGN:
        return step
    site = re.search(r"https?://([^/:?#\s'\"]+)", step.command)
    server = site[1] if site else job(step.command).main.program
    return attrs.evolve(step, act=Act.ASK, query=step.command, server=server)


def _root(batch: Batch) -> str:
    """The project's root; where the work was done when that is no part of it."""
    cwd = next((e.event.cwd for e in batch.events if e.event.cwd), "")
    inside = batch.root and f"{cwd}/".startswith(batch.root.rstrip("/") + "/")
    return batch.root if inside or not cwd else cwd


def _run(step: Step, most: int) -> Run:
    work = job(step.command)
    result = outcome(step, work, most)
    broken = bool(INTERRUPTED.search(step.text[:400]) or INTERRUPTED.search(step.text[-400:]))
    return Run(attrs.evolve(step, interrupted=step.interrupted or broken), work, result)


def _prompts(events: Sequence[StoredEvent]) -> list[tuple[int, str]]:
    return [
        (e.id, e.event.prompt)
        for e in events
        if e.event.kind is EventKind.PROMPT_SENT
        and e.event.prompt
        and not e.event.in_subagent
        and not is_protocol(e.event.prompt)
    ]


def _answers(batch: Batch) -> list[tuple[int, str]]:
    ends = (EventKind.TURN_ENDED, EventKind.TURN_FAILED)
    return [
        (e.id, without_root(e.event.answer, batch.root))
        for e in batch.events
        if e.event.kind in ends and e.event.answer and not e.event.in_subagent
    ]


def _workspace(taken: Sequence[Step], root: str, known: set[str]) -> Workspace:
    space = Workspace(known)
    seen = known
    for step in taken:
        if step.failed and step.act is not Act.RUN:
            continue
        if step.act is Act.READ:
            space.seen.add(step.path)
        for edit in step.edits:
            space.edit(edit, step.index)
        if step.act is Act.RUN and step.command and not step.failed:
            work = job(step.command)
            writes.apply(space, work, step.index, root, step.folder)
            seen = _listed(space, work, step, seen)
    space.settle()
    return space


def _listed(space: Workspace, work: Job, step: Step, seen: set[str]) -> set[str]:
    """Take in files that git lists as changed and nobody was seen to change.

    What it listed before anything was done is not of this turn.
    """
    listed = writes.listed(work, step.text)
    if not space.acted:
        return seen | set(listed)
    for path in listed:
        if path not in space.files and path not in seen:
            space.file(path).written(None, step.index, "")
    return seen


def _slip(run: Run, fresh: Sequence[str]) -> bool:
    """A run that failed on a file written in this very turn, by a slip of the pen."""
    result = run.outcome
    text = " ".join((*result.errors, result.place))
    if not SLIP.search(text):
        return False
    place = result.place.rsplit(":", 1)[0]
    return any(path in text or (place and path.endswith(place)) for path in fresh)

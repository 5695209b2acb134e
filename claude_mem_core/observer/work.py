"""What is worth telling of a turn, found once and used by all its drafts."""

from __future__ import annotations

import attrs

from claude_mem_core.observer import corrections
from claude_mem_core.observer.chains import Chain, chains
from claude_mem_core.observer.changes import Change, describe
from claude_mem_core.observer.commands import PROOF, QUIET, Sort
from claude_mem_core.observer.corrections import Replaced
from claude_mem_core.observer.deadends import DeadEnd, dead_ends
from claude_mem_core.observer.evidence import Evidence, Finder
from claude_mem_core.observer.measures import Measure, measures
from claude_mem_core.observer.provenance import borrowed
from claude_mem_core.observer.speech import Speech, is_routine, of_turn, sentences
from claude_mem_core.observer.steps import Act
from claude_mem_core.observer.text import clip, names
from claude_mem_core.observer.turn import Run, Turn

WRITES = (
    "update ",
    "insert ",
    "delete ",
    "alter ",
    "create ",
    "drop ",
    "truncate ",
    "grant ",
    "merge ",
)
LOOKING = {Act.READ, Act.SEARCH, Act.ASK, Act.FETCH}
STRONG = 4.5  # score of evidence that is worth a memory without any change


@attrs.define
class Work:
    """A turn with everything found in it."""

    turn: Turn
    changes: list[Change]
    evidence: list[Evidence]
    foreign: list[Evidence]
    chains: list[Chain]
    ends: list[DeadEnd]
    measured: list[Measure]
    speech: Speech
    replaced: Replaced
    rules: list[str]
    borrowed: tuple[str, ...] = ()

    @property
    def worth_it(self) -> bool:
        """Whether the turn did or found something that is worth a memory."""
        if self.changes or self.ends or self.chains or self.measured or self.replaced.ids:
            return True
        if any(acts(r) for r in self.turn.runs):
            return True
        if self._explained:
            return True
        speaks = [s for s in sentences(self.turn.answer) if not is_routine(s)]
        about = {n.casefold() for s in speaks for n in names(s)}
        return len(self._strong) >= 2 and len(about) >= 2

    @property
    def _strong(self) -> set[int]:
        """Steps that told something of weight; a mere look around never does."""
        looks = {r.index for r in self.turn.runs if r.sort in QUIET}
        found = (e for e in (*self.evidence, *self.foreign) if e.score > STRONG)
        return {e.step.index for e in found if e.step.index not in looks}

    @property
    def _explained(self) -> bool:
        """Something was looked into, and the answer gives a reason with names in it."""
        said = [s for s in self.speech.learned if not is_routine(s)]
        looked = [
            s for s in self.turn.steps if s.act in LOOKING and not s.failed and not s.agent
        ]
        asked = [r for r in self.turn.runs if r.outcome.ok and r.sort not in QUIET]
        about = {n.casefold() for s in said for n in names(s)}
        return len(about) >= 2 and len(looked) + len(asked) >= 3

    @property
    def topics(self) -> set[str]:
        """Names of what was changed and found, in lower case."""
        changed = (
            n for c in self.changes for n in (*c.names, c.path, *names(" ".join(c.pieces)))
        )
        seen = (n for e in self.evidence for n in names(e.line))
        return {n.casefold() for n in (*changed, *seen)}

    @property
    def last_proof(self) -> str:
        """What the last check said that went well; empty when there was none."""
        proofs = [
            r for r in self.turn.runs if r.sort in PROOF and r.outcome.ok and not r.step.agent
        ]
        counted = [r.outcome.counts for r in proofs if r.outcome.counts]
        if counted:
            return counted[-1]
        return f"`{proofs[-1].label}` passed" if proofs else ""


def work(turn: Turn) -> Work:
    """Find what is worth telling."""
    changes = [describe(f) for f in turn.changed]
    alien = borrowed(turn)
    speech = of_turn([a for _, a in turn.answers])
    topics = [c.fact for c in changes] + [r.outcome.error for r in turn.failures]
    finder = Finder(turn, topics)
    evidence = finder.best(6)
    return Work(
        turn=turn, changes=changes, evidence=evidence, foreign=finder.best(5, foreign=True),
        chains=chains(turn, evidence), ends=dead_ends(turn), measured=measures(turn),
        speech=speech.without(alien), borrowed=alien, replaced=corrections.replaced(turn),
        rules=corrections.user_rules(turn),
    )  # fmt: skip


def acts(run: Run) -> bool:
    """A command that changes something outside the files: a deploy, a database."""
    if not run.outcome.ok or run.step.agent:
        return False
    text = run.step.command.casefold()
    return run.sort is Sort.DEPLOY or (
        run.sort is Sort.DATABASE and any(w in text for w in WRITES)
    )


def asked(turn: Turn) -> str:
    """What the user wanted, in one sentence."""
    said = [s for s in sentences(turn.prompt) if not is_routine(s)]
    return clip(said[0], 160) if said else ""

"""The observations of a turn: the work itself first, then what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from claude_mem_core.observer import corrections
from claude_mem_core.observer.beside import beside
from claude_mem_core.observer.commands import PROOF, Sort
from claude_mem_core.observer.facts import facts, fitting
from claude_mem_core.observer.kinds import concepts, kind
from claude_mem_core.observer.naming import work_subtitle, work_title
from claude_mem_core.observer.speech import admits
from claude_mem_core.observer.story import outcome_of, story
from claude_mem_core.observer.summary import read_files
from claude_mem_core.observer.text import clip
from claude_mem_core.observer.turn import Turn
from claude_mem_core.observer.work import Work, acts
from claude_mem_core.types import Draft, Trust

ORDER = [Trust.FOREIGN, Trust.WORK, Trust.USER]


def drafts(found: Work) -> tuple[Draft, ...]:
    """All drafts of a turn."""
    made = [_main(found)] if found.worth_it else []
    return tuple(_marked(found, d) for d in (*made, *beside(found)))


def _marked(found: Work, draft: Draft) -> Draft:
    """With what every draft carries: turn, evidence trust, whether it is preliminary."""
    batch = found.turn.batch
    trust = {e.id: e.trust for e in batch.events}
    trusts = [trust[i] for i in draft.events if i in trust] or [Trust.WORK]
    metadata = dict(draft.metadata) if batch.finished else {**draft.metadata, "partial": True}
    return attrs.evolve(
        draft, facts=fitting(draft.facts, draft), trust=min(trusts, key=ORDER.index), metadata=metadata,
        prompt_number=max((e.prompt_number for e in batch.events), default=0),
        tokens=_tokens(found.turn, draft.events),
    )  # fmt: skip


def _tokens(turn: Turn, events: Sequence[int]) -> int:
    """What the work took to read, at 4 characters a token."""
    wanted = set(events)
    size = sum(len(s.text) + len(s.command) for s in turn.steps if s.event_id in wanted)
    return (size + len(turn.prompt) + len(turn.answer)) // 4


def _main(found: Work) -> Draft:
    turn, old = found.turn, found.replaced
    type_ = _kind(found)
    name = work_title(found, type_)
    draft = Draft(
        type=type_, title=name, subtitle=work_subtitle(found, name),
        narrative=story(
            found.chains, found.evidence, found.changes, found.ends, found.measured,
            outcome_of(found.chains, found.last_proof),
        ),
        concepts=concepts(type_, gotcha=bool(found.ends or corrections.refuted(turn, old))),
        files_read=tuple(read_files(turn, 8)),
        files_modified=tuple(dict.fromkeys([*_net(turn), *old.files])),
        events=_events(found), supersedes=old.ids, metadata=_metadata(found),
    )  # fmt: skip
    return attrs.evolve(draft, facts=tuple(facts(found)))


def _kind(found: Work) -> str:
    """A turn that only puts right what an earlier one did is of that one's kind."""
    old = found.replaced.kind
    if old and found.changes and corrections.corrected(found.turn):
        return old
    return kind(found.turn, found.chains)


def _net(turn: Turn) -> list[str]:
    """Files that differ from what they were when the session began, as far as known."""
    bases = _bases(turn)
    return [
        f.path for f in turn.changed
        if not (f.now is not None and f.exists and bases.get(f.path) == corrections.print_of(f.now))
        and not (f.deleted and bases.get(f.path) == "new")
    ]  # fmt: skip


def _bases(turn: Turn) -> dict[str, str]:
    """What the files of this session were when it began."""
    known: dict[str, str] = {}
    for old in turn.batch.earlier:
        for path, mark in corrections.bases(old).items():
            known.setdefault(path, mark)
    return known


def _metadata(found: Work) -> dict[str, object]:
    """What a later turn needs to know: the files' start, and what was claimed."""
    turn = found.turn
    bases = _bases(turn)
    for file in turn.changed:
        if file.created:
            bases.setdefault(file.path, "new")
        elif file.before is not None:
            bases.setdefault(file.path, corrections.print_of(file.before))
    mine = {f.path for f in turn.changed} | set(found.replaced.files)
    base = {path: mark for path, mark in bases.items() if path in mine}
    claims = [clip(s, 240) for s in found.speech.learned if not admits(s)][:3]
    return {**({"base": base} if base else {}), **({"claims": claims} if claims else {})}


def _events(found: Work) -> tuple[int, ...]:
    """The evidence of the work: what was run, changed and said."""
    turn = found.turn
    used = {at for f in turn.changed for at in f.steps}
    used |= {e.step.index for e in found.evidence} | {i for e in found.ends for i in e.steps}
    used |= {r.index for c in found.chains for r in (c.failure, c.passed) if r is not None}
    used |= {r.index for r in turn.runs if r.sort in PROOF or r.sort is Sort.SAVE or acts(r)}
    used |= {r.index for m in found.measured for r in (m.first, m.last)}
    ids = [s.event_id for s in turn.steps if s.index in used and s.trust is not Trust.FOREIGN]
    ends = [turn.answers[-1][0]] if turn.answers else []
    return tuple(dict.fromkeys([*([turn.prompt_id] if turn.prompt_id else []), *ids, *ends]))

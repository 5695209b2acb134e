"""The observations of a turn: the work itself, and what stands beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

import attrs

from claude_mem_core.observer import corrections, phrases
from claude_mem_core.observer.chains import Chain, chains
from claude_mem_core.observer.changes import Change, describe
from claude_mem_core.observer.commands import PROOF, Sort
from claude_mem_core.observer.corrections import CLAIM, LEFT, Replaced
from claude_mem_core.observer.deadends import DeadEnd, dead_ends
from claude_mem_core.observer.evidence import Evidence, Finder
from claude_mem_core.observer.kinds import concepts, kind
from claude_mem_core.observer.measures import Measure, measures, wanted
from claude_mem_core.observer.report import report
from claude_mem_core.observer.speech import (
    Speech,
    admits,
    is_order,
    is_routine,
    of_turn,
    sentences,
)
from claude_mem_core.observer.story import outcome_of, story
from claude_mem_core.observer.summary import commits, read_files
from claude_mem_core.observer.text import clip, names, squash, unique
from claude_mem_core.observer.titles import LEAD, title, trimmed
from claude_mem_core.observer.turn import Helper, Run, Turn
from claude_mem_core.types import Draft, Trust

FACTS = 12
HELPERS = 3
WHOLE = 2_850  # characters of an observation with everything in it
WRITES = ("update ", "insert ", "delete ", "alter ", "create ", "drop ", "truncate ", "grant ", "merge ")
ORDER = [Trust.FOREIGN, Trust.WORK, Trust.USER]


@attrs.define
class Work:
    """What is told of a turn, found once and used by all its drafts."""

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


def work(turn: Turn) -> Work:
    """Find what is worth telling."""
    changes = [describe(f) for f in turn.changed]
    topics = [c.fact for c in changes] + [r.outcome.error for r in turn.failures]
    finder = Finder(turn, topics)
    evidence = finder.best(6)
    return Work(
        turn=turn, changes=changes, evidence=evidence, foreign=finder.best(5, foreign=True),
        chains=chains(turn, evidence), ends=dead_ends(turn), measured=measures(turn),
        speech=of_turn([a for _, a in turn.answers]), replaced=corrections.replaced(turn),
        rules=corrections.user_rules(turn),
    )  # fmt: skip


def drafts(found: Work) -> tuple[Draft, ...]:
    """All drafts of a turn, the work first."""
    made = [_main(found)]
    made += [_dead_end(found), _rule(found)]
    made += [*(_helper(found, h) for h in found.turn.helpers[:HELPERS]), _foreign(found)]
    return tuple(_marked(found, d) for d in made if d is not None)


def _marked(found: Work, draft: Draft) -> Draft:
    """With what every draft carries: turn, evidence trust, whether it is preliminary."""
    stored = {e.id: e for e in found.turn.batch.events}
    trusts = [stored[i].trust for i in draft.events if i in stored] or [Trust.WORK]
    metadata = dict(draft.metadata)
    if not found.turn.batch.finished:
        metadata["partial"] = True
    number = max((e.prompt_number for e in found.turn.batch.events), default=0)
    return attrs.evolve(
        draft, trust=min(trusts, key=ORDER.index), metadata=metadata, prompt_number=number,
        tokens=_tokens(found.turn, draft.events),
    )  # fmt: skip


def _tokens(turn: Turn, events: Sequence[int]) -> int:
    wanted = set(events)
    size = sum(len(s.text) + len(s.command) for s in turn.steps if s.event_id in wanted)
    return (size + len(turn.prompt) + len(turn.answer)) // 4


# The work --------------------------------------------------------------------


def _main(found: Work) -> Draft | None:
    if not _worth_it(found):
        return None
    turn, old = found.turn, found.replaced
    type_ = old.kind if old.kind and corrections.corrected(turn) and found.changes else kind(turn, found.chains)
    narrative = story(
        found.chains, found.evidence, found.changes, found.ends, found.measured,
        outcome_of(found.chains, _last_proof(turn)),
    )  # fmt: skip
    modified = tuple(dict.fromkeys([*_net(turn), *old.files]))
    name = _title(found, type_)
    draft = Draft(
        type=type_, title=name, subtitle=_subtitle(found, name), narrative=narrative,
        concepts=concepts(type_, gotcha=bool(found.ends or corrections.refuted(turn, old))),
        files_read=tuple(read_files(turn, 8)), files_modified=modified, events=_events(found),
        supersedes=old.ids, metadata=_metadata(found),
    )  # fmt: skip
    return attrs.evolve(draft, facts=_fitting(_facts(found), draft))


def _worth_it(found: Work) -> bool:
    """Whether the turn did or found something that is worth a memory."""
    turn = found.turn
    if found.changes or found.ends or found.chains or found.measured or found.replaced.ids:
        return True
    if any(_acts(r) for r in turn.runs):
        return True
    speaks = [s for s in sentences(turn.answer) if not is_routine(s)]
    strong = [e for e in (*found.evidence, *found.foreign) if e.score > 4.5]
    about = {n.casefold() for s in speaks for n in names(s)}
    return bool(speaks) and len(strong) >= 2 and len(about) >= 2


def _acts(run: Run) -> bool:
    """A command that changes something outside the files: a deploy, a database."""
    if not run.outcome.ok or run.step.agent:
        return False
    text = run.step.command.casefold()
    return run.sort is Sort.DEPLOY or (run.sort is Sort.DATABASE and any(w in text for w in WRITES))


def _net(turn: Turn) -> list[str]:
    """Files that differ at the end of the session as far as it is known."""
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
        for path, mark in (old.metadata.get("base") or {}).items():
            known.setdefault(path, mark)
    return known


def _metadata(found: Work) -> dict[str, object]:
    turn = found.turn
    bases = _bases(turn)
    for file in turn.changed:
        if file.created:
            bases.setdefault(file.path, "new")
        elif file.before is not None:
            bases.setdefault(file.path, corrections.print_of(file.before))
    mine = {f.path for f in turn.changed} | set(found.replaced.files)
    meta: dict[str, object] = {}
    if base := {p: m for p, m in bases.items() if p in mine}:
        meta["base"] = base
    if claims := [clip(s, 240) for s in found.speech.learned if not admits(s)][:3]:
        meta["claims"] = claims
    return meta


def _title(found: Work, type_: str) -> str:
    turn = found.turn
    topics = {n.casefold() for c in found.changes for n in (*c.names, c.path, *names(" ".join(c.pieces)))}
    topics |= {n.casefold() for e in found.evidence for n in names(e.line)}
    renamed = next((c for c in found.changes if c.renamed), None)
    candidates = [
        *([f"Renamed {renamed.renamed[0]} to {renamed.renamed[1]} in {renamed.path}"] if renamed and renamed.renamed else []),
        *_messages(turn), *(s for s in _spoken(turn) if not admits(s)),
    ]  # fmt: skip
    return title(candidates[:8], topics, turn.prompt, _PREFER.get(type_)) or _plain_title(found)


_PREFER = {
    "security_alert": phrases.SECURITY, "security_note": phrases.SECURITY, "decision": phrases.DECIDE,
    "discovery": phrases.CAUSE, "bugfix": phrases.CAUSE,
}  # fmt: skip


def _spoken(turn: Turn) -> list[str]:
    """The first sentences of the answers, the last answer first."""
    parts = [sentences(text)[:4] for _, text in reversed(turn.answers)]
    return [s for several in zip_longest(*parts, fillvalue="") for s in several if s] if len(parts) < 4 else parts[0]


def _messages(turn: Turn) -> list[str]:
    """Subjects of the commits made in the turn."""
    told = []
    for run in turn.runs:
        words = run.job.main.words
        if run.sort is Sort.SAVE and run.outcome.ok and words[1:2] == ("commit",):
            told += [words[i + 1].split("\n")[0] for i, w in enumerate(words[:-1]) if w.startswith("-") and w.endswith("m")]
    return told


def _plain_title(found: Work) -> str:
    """When nobody said it well: what was changed or what failed, else the request."""
    turn = found.turn
    asked = title(sentences(turn.prompt)[:3], set())
    if found.chains and not found.changes:
        return trimmed(found.chains[0].failure.outcome.error) or asked or "A command failed"
    if asked:
        return asked
    if found.changes:
        return trimmed(f"Changed {found.changes[0].path}: {found.changes[0].short}")
    return trimmed(turn.prompt) or "Work without words"


def _subtitle(found: Work, name: str) -> str:
    """The sentence that explains most: a cause, a choice, else what was asked."""
    said = [s for s in found.speech.learned if not admits(s)] or list(found.speech.done)
    said = [s for s in said if not is_routine(s) and (trimmed(s) != name or len(s) > len(name) + 15)]
    return clip(said[0], 230) if said else _asked(found.turn)


def _facts(found: Work) -> list[str]:
    turn = found.turn
    linked = " ".join(c.text for c in found.chains)
    loose = [e.text for e in _best(found.evidence, 4) if e.line not in linked]
    said = found.speech.learned if found.changes else (*found.speech.learned, *found.speech.done)
    claims = [f'{CLAIM}"{clip(s, 260)}"' for s in said if not _only_sorry(s) and not is_routine(s)]
    left = [f'{LEFT}"{clip(s, 220)}"' for s in found.speech.left]
    user = corrections.said(turn) if corrections.corrected(turn) else []
    return [
        *corrections.refuted(turn, found.replaced), *user[:1],
        *(c.text for c in found.chains[:3]), *_change_facts(found.changes, linked),
        *(m.text for m in found.measured[:2]), *wanted(turn), *(e.text for e in found.ends[:2]),
        *claims[: 2 if found.changes else 4], *left[:2], *_results(turn, " ".join([linked, *loose])), *loose, *commits(turn),
        *found.replaced.facts,
    ]  # fmt: skip


def _best(evidence: Sequence[Evidence], most: int) -> list[Evidence]:
    chosen = sorted(evidence, key=lambda e: -e.score)[:most]
    return [e for e in evidence if e in chosen]


def _only_sorry(sentence: str) -> bool:
    return admits(sentence) and not names(sentence)


def _change_facts(changes: Sequence[Change], linked: str) -> list[str]:
    """One fact a file; none for a file whose changes stand with the failure they mended."""
    changes = [c for c in changes if c.remarks or not c.pieces or any(p[:150] not in linked for p in c.bare)]
    if len(changes) <= 7:
        return [clip(c.fact, 640) for c in changes]
    rest = ", ".join(f"{c.path} ({c.verb})" for c in changes[6:])
    return [*(clip(c.fact, 420) for c in changes[:6]), clip(f"Also changed: {rest}", 500)]


def _last_proof(turn: Turn) -> str:
    proofs = [r for r in turn.runs if r.sort in PROOF and r.outcome.ok and not r.step.agent]
    counted = [r.outcome.counts for r in proofs if r.outcome.counts]
    return counted[-1] if counted else f"`{proofs[-1].label}` passed" if proofs else ""


def _results(turn: Turn, known: str) -> list[str]:
    """What the last check said, and what acting commands gave."""
    told = [f"Last check: {_last_proof(turn)}"] if _last_proof(turn) else []
    for run in turn.runs:
        if run.outcome.ok and run.outcome.lines and not run.step.agent and (_acts(run) or run.sort is Sort.SCRIPT):
            lines = [line for line in report(run)[-2:] if line not in known and not line.endswith(":")]
            told += [f"`{clip(run.label, 60)}`: {clip('; '.join(lines), 180)}"] if lines else []
    return unique(told)[:6]


def _fitting(facts: Iterable[str], draft: Draft) -> tuple[str, ...]:
    """As many facts as an observation has room for, the first ones first."""
    files = sum(map(len, (*draft.files_read, *draft.files_modified)))
    room = WHOLE - len(draft.title) - len(draft.subtitle) - len(draft.narrative) - files
    kept: list[str] = []
    for fact in unique(squash(f) for f in facts):
        if len(kept) < FACTS and len(fact) <= room:
            kept.append(fact)
            room -= len(fact) + 1
    return tuple(kept)


def _events(found: Work) -> tuple[int, ...]:
    """The evidence of the work: what was run, changed and said."""
    turn = found.turn
    used = {at for f in turn.changed for at in f.steps}
    used |= {e.step.index for e in found.evidence} | {i for e in found.ends for i in e.steps}
    for chain in found.chains:
        used |= {chain.failure.index} | ({chain.passed.index} if chain.passed else set())
    used |= {r.index for r in turn.runs if r.sort in PROOF or r.sort is Sort.SAVE or _acts(r)}
    used |= {r.index for m in found.measured for r in (m.first, m.last)}
    ids = [s.event_id for s in turn.steps if s.index in used and s.trust is not Trust.FOREIGN]
    ends = [turn.answers[-1][0]] if turn.answers else []
    return tuple(dict.fromkeys([*([turn.prompt_id] if turn.prompt_id else []), *ids, *ends]))


# What stands beside it ---------------------------------------------------------


def _dead_end(found: Work) -> Draft | None:
    """What was tried in vain, when a run showed that it was in vain."""
    steps = {s.index: s.event_id for s in found.turn.steps}
    judged = [e for e in found.ends if e.effect]
    if not judged:
        return None
    paths = tuple(dict.fromkeys(p for e in judged for p in e.paths))
    return Draft(
        type="discovery", title=trimmed(judged[0].title), subtitle=_asked(found.turn),
        facts=tuple(clip(e.text, 700) for e in judged[:3]), concepts=("gotcha",), files_read=paths,
        narrative=f"Tried on the way and taken back, what was tried is not in the code: {', '.join(paths)}.",
        events=tuple(dict.fromkeys(steps[i] for e in judged for i in e.steps if i in steps)),
    )  # fmt: skip


def _asked(turn: Turn) -> str:
    """What the user wanted, in one sentence."""
    said = [s for s in sentences(turn.prompt) if not is_routine(s)]
    return clip(said[0], 160) if said else ""


def _rule(found: Work) -> Draft | None:
    turn = found.turn
    if not found.rules or turn.prompt_id is None:
        return None
    facts = [f'The user laid down: "{clip(r, 300)}"' for r in found.rules]
    whole = clip(turn.prompt, 500)
    return Draft(
        type="decision", title=trimmed(f"User's rule: {LEAD.sub('', found.rules[0])}"), facts=tuple(facts),
        narrative=f'In the user\'s own words: "{whole}"', concepts=("pattern", "why-it-exists"),
        events=(turn.prompt_id,), metadata={"rule": True},
    )  # fmt: skip


def _helper(found: Work, helper: Helper) -> Draft | None:
    told = [s for s in sentences(helper.answer) if not is_routine(s)]
    if not told or len(helper.answer) < 60:
        return None
    name = title(told[:3], {n.casefold() for n in names(helper.answer)})
    asked = clip(helper.asked, 160)
    return Draft(
        type="discovery", title=name or trimmed(helper.asked) or "What a sub-agent found",
        subtitle=f"A sub-agent was asked: {asked}" if asked else "Found by a sub-agent",
        facts=tuple(f"The sub-agent reported: {clip(s, 300)}" for s in told[:8] if not is_order(s)),
        narrative=clip(f"Report of a sub-agent: {helper.answer}", 900), concepts=("how-it-works",),
        events=(helper.event_id,), agent_type=helper.kind or None,
    )  # fmt: skip


def _foreign(found: Work) -> Draft | None:
    """What came from outside the project, kept apart so that its trust is its own."""
    lines = [e for e in found.foreign if e.score > 4.5]
    if not lines:
        return None
    return Draft(
        type="discovery", title=trimmed(f"{lines[0].source} reported: {lines[0].line}"),
        subtitle=_asked(found.turn), facts=tuple(e.text for e in lines), concepts=("how-it-works",),
        narrative="Found outside the project; as reported there, not checked.",
        events=tuple(dict.fromkeys(e.step.event_id for e in lines)),
    )  # fmt: skip

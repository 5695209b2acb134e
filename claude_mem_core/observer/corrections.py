"""What the user put right, and which earlier observations no longer hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import attrs

from claude_mem_core.observer.speech import admits, is_correction, refutes, rules, sentences
from claude_mem_core.observer.text import clip, unique
from claude_mem_core.observer.turn import Turn
from claude_mem_core.types import Observation

CLAIM = "Stated in the answer: "
LEFT = "Left open in the answer: "
CARRIED = 6
MODEL = "builtin"


@attrs.frozen
class Replaced:
    """Earlier observations that a new one replaces, and what of them still holds."""

    ids: tuple[int, ...] = ()
    facts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    kind: str = ""


def user_rules(turn: Turn) -> list[str]:
    """The rules that the prompt lays down, in the user's words."""
    known = bool(turn.batch.earlier) and is_correction(turn.prompt)
    return rules(turn.prompt, corrects=known)[:4]


def corrected(turn: Turn) -> bool:
    """Whether the prompt puts right what an earlier turn did or said."""
    earlier = any(o.prompt_number != _number(turn) for o in turn.batch.earlier)
    return earlier and is_correction(turn.prompt)


def replaced(turn: Turn) -> Replaced:
    """What the turn's observation replaces."""
    again = [o for o in _own(turn) if o.prompt_number == _number(turn)]
    wrong = [o for o in _previous(turn) if _no_longer_holds(turn, o)]
    undone = [
        o for o in _own(turn) if o not in again and o not in wrong and _files_undone(turn, o)
    ]
    gone = [*wrong, *undone]
    touched = set(turn.space.files)
    facts = [f for o in gone for f in o.facts if _still_true(f, touched)]
    files = [p for o in gone for p in o.files_modified if _still_changed(turn, p, o)]
    return Replaced(
        ids=tuple(o.id for o in (*again, *gone)), facts=tuple(unique(facts)[:CARRIED]),
        files=tuple(dict.fromkeys(files)), claims=tuple(_claims(gone)),
        kind=next((o.type for o in gone if o.type not in ("discovery", "decision")), ""),
    )  # fmt: skip


def _number(turn: Turn) -> int:
    return max((e.prompt_number for e in turn.batch.events), default=0)


def _own(turn: Turn) -> list[Observation]:
    return [o for o in turn.batch.earlier if o.model == MODEL and o.superseded_by is None]


def _previous(turn: Turn) -> list[Observation]:
    """The observations of the turn before this one, but for what the user laid down."""
    numbers = [o.prompt_number or 0 for o in _own(turn) if o.prompt_number != _number(turn)]
    last = max(numbers, default=0)
    return [o for o in _own(turn) if o.prompt_number == last and not o.metadata.get("rule")]


def _no_longer_holds(turn: Turn, old: Observation) -> bool:
    """Whether the user or the answer took back what it says."""
    redone = bool(set(old.files_modified) & set(turn.space.files))
    claimed = bool(old.metadata.get("claims") or not old.files_modified)
    if claimed and any(admits(s) for s in sentences(turn.answer)):
        return True
    took_back = claimed and bool(refutes(turn.answer))
    return (corrected(turn) and redone) or (took_back and (corrected(turn) or redone))


def _files_undone(turn: Turn, old: Observation) -> bool:
    """Whether a file it changed has gone back to what it was before."""
    return any(_is_back(turn, path, old) for path in old.files_modified)


def _is_back(turn: Turn, path: str, old: Observation) -> bool:
    file = turn.space.files.get(path)
    start = bases(old).get(path)
    if file is not None and file.now is not None and start == print_of(file.now):
        return True
    return path in turn.space.undone and (file is None or not file.changed)


def _still_changed(turn: Turn, path: str, old: Observation) -> bool:
    file = turn.space.files.get(path)
    if file is not None and file.deleted:
        return False
    return not _is_back(turn, path, old)


def _still_true(fact: str, touched: set[str]) -> bool:
    """A fact of evidence about files that this turn left alone."""
    return not fact.startswith((CLAIM, LEFT, "Refuted", "Corrected")) and not any(
        p in fact for p in touched
    )


def _claims(gone: Sequence[Observation]) -> list[str]:
    found = [c for o in gone for c in o.metadata.get("claims") or () if isinstance(c, str)]
    return [clip(str(c), 160) for c in found][:2]


def bases(old: Observation) -> dict[str, str]:
    """Prints of the files an observation changed, as they were when the session began."""
    base = old.metadata.get("base")
    return {str(k): str(v) for k, v in base.items()} if isinstance(base, Mapping) else {}


def print_of(text: str) -> str:
    """A short print of a file's text, to know it again."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def refuted(turn: Turn, old: Replaced) -> list[str]:
    """Facts that say what was believed before and is not so."""
    if not old.claims or not refutes(turn.answer):
        return []
    seen = next(
        (
            r
            for r in turn.runs
            if r.outcome.ok and r.outcome.lines and not _changed_before(turn, r.index)
        ),
        None,
    )
    shown = (
        f"; `{seen.label}` then still gave {clip(seen.outcome.lines[-1], 90)}" if seen else ""
    )
    return [
        f'Refuted: the earlier claim "{claim}" was wrong{shown}' for claim in old.claims[:1]
    ]


def _changed_before(turn: Turn, index: int) -> bool:
    return any(at < index for f in turn.changed for at in f.steps)


def said(turn: Turn) -> list[str]:
    """The user's correction as facts, in the user's words."""
    words = [s for s in sentences(turn.prompt) if len(s) > 3]
    return [f'Corrected by the user: "{clip(" ".join(words), 260)}"'] if words else []

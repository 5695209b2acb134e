"""Title and subtitle of the work of a turn."""

from __future__ import annotations

from itertools import zip_longest

from claude_mem_core.observer import phrases
from claude_mem_core.observer.commands import Sort
from claude_mem_core.observer.speech import admits, is_routine, sentences
from claude_mem_core.observer.text import clip
from claude_mem_core.observer.titles import title, trimmed
from claude_mem_core.observer.turn import Turn
from claude_mem_core.observer.work import Work, asked

PREFER = {
    "security_alert": phrases.SECURITY,
    "security_note": phrases.SECURITY,
    "decision": phrases.DECIDE,
    "discovery": phrases.CAUSE,
    "bugfix": phrases.CAUSE,
}


def work_title(found: Work, kind: str) -> str:
    """What the turn came to, in the best words that were said or typed."""
    spoken = [s for s in _spoken(found.turn) if s not in found.borrowed]
    candidates = [*_renamed(found), *_messages(found.turn), *spoken][:8]
    best = title(candidates, found.topics, found.turn.prompt, PREFER.get(kind))
    return best or _plain(found)


def _renamed(found: Work) -> list[str]:
    pairs = [(c.path, *c.renamed) for c in found.changes if c.renamed]
    return [f"Renamed {old} to {new} in {path}" for path, old, new in pairs[:1]]


def _messages(turn: Turn) -> list[str]:
    """Subjects of the commits made in the turn."""
    told = []
    for run in turn.runs:
        words = run.job.main.words
        if run.sort is Sort.SAVE and run.outcome.ok and words[1:2] == ("commit",):
            flags = [
                i for i, w in enumerate(words[:-1]) if w.startswith("-") and w.endswith("m")
            ]
            told += [words[i + 1].split("\n")[0] for i in flags]
    return told


def _spoken(turn: Turn) -> list[str]:
    """The first sentences of the answers, the last answer first."""
    parts = [sentences(text)[:4] for _, text in reversed(turn.answers)][:3]
    said = [s for several in zip_longest(*parts, fillvalue="") for s in several if s]
    return [s for s in said if not admits(s)]


def _plain(found: Work) -> str:
    """When nobody said it well: what failed, what was asked, else what was changed."""
    wish = title(sentences(found.turn.prompt)[:3], set())
    if found.chains and not found.changes:
        return trimmed(found.chains[0].failure.outcome.error) or wish or "A command failed"
    if wish:
        return wish
    if found.changes:
        return trimmed(f"Changed {found.changes[0].path}: {found.changes[0].short}")
    return trimmed(found.turn.prompt) or "Work without words"


def work_subtitle(found: Work, name: str) -> str:
    """The sentence that explains most: a cause, a choice, else what was asked."""
    said = [s for s in found.speech.learned if not admits(s)] or list(found.speech.done)
    said = [s for s in said if not is_routine(s)]
    said = [s for s in said if trimmed(s) != name or len(s) > len(name) + 15]
    return clip(said[0], 230) if said else asked(found.turn)

"""Type and concepts of an observation, from the words and the deeds of a turn."""

from __future__ import annotations

import re

from claude_mem_core.observer import phrases
from claude_mem_core.observer.chains import Chain
from claude_mem_core.observer.files import File
from claude_mem_core.observer.newtext import PROSE, TESTS
from claude_mem_core.observer.speech import sentences
from claude_mem_core.observer.turn import Turn

CONFIG = re.compile(
    r"\.(?:ya?ml|toml|ini|cfg|conf|json|env|properties|lock|tf|tfvars|xml)$|(?:^|/)(?:Dockerfile|Makefile|Caddyfile)",
    re.IGNORECASE,
)
RECORD = re.compile(r"(?:^|/)(?:adrs?|decisions?|rfcs?)/", re.IGNORECASE)


def kind(turn: Turn, chains: list[Chain]) -> str:
    """The type of what was done in the turn."""
    said = f"{turn.prompt}\n{turn.answer}"
    if phrases.SECURITY.search(turn.answer) and _is_finding(turn):
        return "security_alert"
    if _decides(turn):
        return "decision"
    if not turn.changed:
        return "discovery"
    if phrases.SECURITY.search(turn.prompt) and not phrases.BROKEN.search(turn.answer):
        return "security_note"
    return _of_work(turn, chains, said)


def _is_finding(turn: Turn) -> bool:
    """A hole that was found or mended, not a word in passing."""
    return bool(
        phrases.SECURITY.search(turn.prompt)
        or len(phrases.SECURITY.findall(turn.answer)) > 1
        or any(phrases.SECURITY.search(s) for s in turn.answer.split("\n")[:2])
    )


def _decides(turn: Turn) -> bool:
    recorded = any(RECORD.search(f.path) for f in turn.changed)
    return (
        recorded
        or bool(phrases.VERDICT.search(turn.answer))
        or bool(phrases.CHOICE.search(turn.prompt) and phrases.DECIDE.search(turn.answer))
    )


def _of_work(turn: Turn, chains: list[Chain], said: str) -> str:
    """The type with the most signs for it; a mended failure is the strongest."""
    prompt = turn.prompt
    first = re.split(r"[.!?。]\s*", prompt.strip(), maxsplit=1)[0]
    fresh = [f for f in turn.changed if f.created and _is_source(f)]
    quiet = all(CONFIG.search(f.path) or PROSE.search(f.path) for f in turn.changed)
    started_red = bool(chains) and chains[0].failure.index < _first_change(turn)
    signs = {
        "bugfix": 2 * bool(phrases.BROKEN.search(first)) + bool(phrases.BROKEN.search(prompt))
        + bool(phrases.BROKEN.search(turn.answer)) + 2 * started_red,
        "feature": 2 * bool(phrases.FEATURE.search(prompt)) + 2 * bool(fresh) - quiet
        + 2 * any(phrases.FEATURE.match(s) for s in sentences(prompt)),
        "refactor": 3 * bool(phrases.REFACTOR.search(prompt)),
        "change": 2 * bool(phrases.CHANGE.search(first)) + bool(phrases.CHANGE.search(prompt)) + 2 * quiet,
    }  # fmt: skip
    best = max(signs, key=lambda name: signs[name])
    return best if signs[best] > 0 else "change"


def _is_source(file: File) -> bool:
    return not (TESTS.search(file.path) or PROSE.search(file.path) or CONFIG.search(file.path))


def _first_change(turn: Turn) -> int:
    return min((f.steps[0] for f in turn.changed if f.steps), default=0)


CONCEPTS = {
    "bugfix": ("problem-solution", "what-changed"),
    "feature": ("what-changed", "how-it-works"),
    "refactor": ("what-changed", "pattern"),
    "change": ("what-changed",),
    "discovery": ("how-it-works",),
    "decision": ("trade-off", "why-it-exists"),
    "security_alert": ("gotcha", "problem-solution"),
    "security_note": ("gotcha",),
}


def concepts(kind: str, *, gotcha: bool) -> tuple[str, ...]:
    """The concepts of a type, with `gotcha` where something went wrong on the way."""
    found = CONCEPTS.get(kind, ("what-changed",))
    return tuple(dict.fromkeys((*found, "gotcha"))) if gotcha else found

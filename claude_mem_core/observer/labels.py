"""Commands as people would name them: without glue, options of looks, program texts."""

from __future__ import annotations

import re

from claude_mem_core.observer.commands import INTERPRETERS, PASSIVE, Job, Sort, url_of
from claude_mem_core.observer.shell import Command
from claude_mem_core.observer.text import clip, squash


def label(job: Job, limit: int = 64) -> str:
    """The main command for people: on which machine, without the glue around it."""
    text = clip(_named(job), limit)
    return f"{text} on {job.main.host}" if job.main.host else text


def _named(job: Job) -> str:
    words = job.main.words
    if job.sort is Sort.HTTP:
        return f"{job.main.program} {url_of(job.main)}"
    if INTERPRETERS.match(job.main.program):
        words = _script_words(job.main)
    if job.sort is Sort.HISTORY and "--" in words:
        words = (*words[:2], *words[words.index("--") + 1 :])
    if job.sort in PASSIVE or job.sort is Sort.DATABASE:
        words = (words[0], *[w for w in words[1:] if not re.fullmatch(r"-\w", w)])
    return " ".join(_shown(w) for w in words)


def _script_words(command: Command) -> tuple[str, ...]:
    """An interpreter's command without the program text it was given."""
    words = command.words
    if words[1:2] == ("-m",):
        return words[2:]
    inline = next((i for i, w in enumerate(words) if w in ("-c", "-e", "-")), None)
    if inline is None and not command.body:
        return words
    head = words[: inline or 1]
    return head if len(head) > 1 else (command.program, "script")


def _shown(word: str) -> str:
    word = squash(word)
    return f"'{word}'" if " " in word else word

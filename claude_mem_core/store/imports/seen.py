"""Which rows are here already: read once for each session, then kept up by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw

from claude_mem_core.store import fetch, text
from claude_mem_core.store.imports.records import Kind

SAID = ("request", "investigated", "learned", "completed", "next_steps", "notes")
OBSERVATIONS = """
  SELECT id, coalesce(title, ''), created_at_epoch, type, coalesce(narrative, text, ''), facts
  FROM observations WHERE session_db_id = ?
"""
SUMMARIES = f"""
  SELECT id, prompt_number, created_at_epoch, {", ".join(SAID)}
  FROM session_summaries WHERE session_db_id = ?
"""
PROMPTS = "SELECT id, prompt_number, prompt_text FROM user_prompts WHERE session_db_id = ?"

Key = tuple[Any, ...]
Keys = dict[Key, int]


class Seen:
    """Rows by what makes them the same: a name and a time, else their words.

    Two rows of one source that agree in name and time but not in their words are two.
    A later import of the same finds both.
    """

    def __init__(self, conn: apsw.Connection) -> None:
        self._conn = conn
        self._keys: dict[tuple[Kind, int], Keys] = {}
        self._fresh: set[tuple[Kind, int]] = set()

    def find(self, kind: Kind, session: int, name: Any, at_ms: int, words: str) -> int:
        """The row that is here for it; 0 for none. Without a time the words decide."""
        keys = self._of(kind, session)
        if not at_ms:
            return keys.get((name, words), 0)
        same, other = keys.get((name, words, at_ms), 0), keys.get((name, at_ms), 0)
        return same or (0 if (kind, other) in self._fresh else other)

    def add(
        self, kind: Kind, session: int, number: int, name: Any, at_ms: int, words: str
    ) -> None:
        """A row was inserted."""
        _note(self._of(kind, session), number, name, at_ms, words)
        self._fresh.add((kind, number))

    def prompt(self, session: int, number: int | None, words: str) -> int | None:
        """The number that a prompt shall have; None when it is here already."""
        keys = self._of(Kind.PROMPT, session)
        here = keys.get((words,) if number is None else (number,), 0)
        if here and ((Kind.PROMPT, here) not in self._fresh or (words,) in keys):
            return None
        if number is not None and not here:
            return number
        return 1 + max((n for (n,) in keys if isinstance(n, int)), default=0)

    def add_prompt(self, session: int, row: int, number: int, words: str) -> None:
        """A prompt was inserted."""
        keys = self._of(Kind.PROMPT, session)
        keys[number,] = keys[words,] = row
        self._fresh.add((Kind.PROMPT, row))

    def _of(self, kind: Kind, session: int) -> Keys:
        if (kind, session) not in self._keys:
            reading: dict[Kind, Callable[[int], Keys]] = {
                Kind.OBSERVATION: self._observations,
                Kind.SUMMARY: self._summaries,
                Kind.PROMPT: self._prompts,
            }
            self._keys[kind, session] = reading[kind](session)
        return self._keys[kind, session]

    def _observations(self, session: int) -> Keys:
        found: Keys = {}
        for number, title, at_ms, kind, said, facts in self._rows(OBSERVATIONS, session):
            words = observation_words(kind, title, said, text.loads_list(facts))
            _note(found, number, title, at_ms, words)
        return found

    def _summaries(self, session: int) -> Keys:
        found: Keys = {}
        for number, prompt, at_ms, *said in self._rows(SUMMARIES, session):
            _note(found, number, prompt, at_ms, text.hashed(part or "" for part in said))
        return found

    def _prompts(self, session: int) -> Keys:
        found: Keys = {}
        for row, number, words in self._rows(PROMPTS, session):
            found[number,] = found[words,] = row
        return found

    def _rows(self, sql: str, session: int) -> list[fetch.Row]:
        return fetch.rows(self._conn, sql, session)


def observation_words(kind: str, title: str, said: str, facts: tuple[str, ...]) -> str:
    """What an observation says, in one hash."""
    return text.hashed((kind, title, said, *facts))


def _note(keys: Keys, number: int, name: Any, at_ms: int, words: str) -> None:
    for key in ((name, at_ms), (name, words), (name, words, at_ms)):
        keys.setdefault(key, number)

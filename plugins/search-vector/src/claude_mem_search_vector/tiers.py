"""The embedders that are used: one at once, and a better one that catches up."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import attrs

from claude_mem_core.errors import MemError
from claude_mem_core.types import Embedder, Embedding, Values
from claude_mem_search_vector.apart import Apart

ASK_S = 0.4  # that a search waits for a busy embedder


@attrs.define
class Tier:
    """One embedder, opened when it is first wanted."""

    record: Embedder
    values: Values
    _opened: Embedding | Apart | None = None
    _lock: threading.Lock = attrs.field(factory=threading.Lock)
    _asking: ThreadPoolExecutor = attrs.field(factory=lambda: ThreadPoolExecutor(1))

    @property
    def model(self) -> str:
        """What its vectors are kept under."""
        opened = self.opened()
        return f"{self.record.name}/{getattr(opened, 'model', '')}/{opened.dimensions}"

    def opened(self) -> Embedding | Apart:
        """The embedder; the first time this takes as long as loading it."""
        with self._lock:
            if self._opened is None:
                apart = self.record.apart
                made = (
                    Apart(self.record, self.values) if apart else self.record.open(self.values)
                )
                if isinstance(made, Apart):
                    made.start()
                self._opened = made
            return self._opened

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text."""
        return self.opened().embed(texts)

    def ask(self, text: str) -> Sequence[float] | None:
        """The vector of a query, if it can be had at once."""
        opened = self._opened
        if isinstance(opened, Apart):
            return _asked(opened, text)
        if self.record.quick:
            return self.embed([text])[0]
        return None if opened is None else self._hurried(opened, text)

    def close(self) -> None:
        """End the process behind it, if there is one."""
        self._asking.shutdown(wait=False, cancel_futures=True)
        if isinstance(self._opened, Apart):
            self._opened.close()

    def _hurried(self, opened: Embedding, text: str) -> Sequence[float] | None:
        """Its answer, unless it takes too long."""
        waiting = self._asking.submit(opened.embed, [text])
        try:
            return waiting.result(ASK_S)[0]
        except (MemError, TimeoutError):
            waiting.cancel()
            return None

    def rest(self) -> None:
        """Give back what is not used, as far as the embedder can."""
        rest = getattr(self._opened, "rest", None)
        if rest is not None:
            rest()


def _asked(apart: Apart, text: str) -> Sequence[float] | None:
    if not apart.ready:
        threading.Thread(target=_woken, args=(apart,), daemon=True).start()
        return None
    try:
        return apart.embed([text], ASK_S)[0]
    except MemError:
        return None


def _woken(apart: Apart) -> None:
    try:
        apart.start()
    except MemError:
        return  # the next piece of work that can wait says why


def chosen(embedders: Sequence[Embedder], values: Values) -> tuple[Tier | None, Tier | None]:
    """The quick embedder and the better one, as far as there are such.

    Raises:
        MemError: the setting names one that is not installed.
    """
    wanted = str(values.get("CLAUDE_MEM_EMBEDDER") or "auto")
    by_name = {record.name: record for record in embedders}
    if wanted not in {"auto", "quick", *by_name}:
        known = ", ".join(sorted(by_name)) or "none"
        raise MemError(
            f"CLAUDE_MEM_EMBEDDER names {wanted!r}, which is not installed (there: {known});"
            " run `mem config set CLAUDE_MEM_EMBEDDER auto`"
        )
    quick = next((one for one in embedders if one.quick and one.automatic), None)
    better = by_name.get(wanted)
    if wanted == "auto":
        better = next((one for one in embedders if one.automatic and not one.quick), None)
    if better is not None and better.quick:
        quick, better = better, None
    return _tier(quick, values), _tier(better, values)


def _tier(record: Embedder | None, values: Values) -> Tier | None:
    return None if record is None else Tier(record, values)

"""How much a model is asked at once, and how it is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Protocol

import attrs

from claude_mem_core.modelled.conversation import GENERATION_CHARS
from claude_mem_core.modelled.parts import PART_CHARS, USUAL, Size
from claude_mem_core.types import Message, Reply, Room


class Ask(Protocol):
    """Asks a model; `tier` says what the work is worth: `simple`, `summary` or as usual."""

    def __call__(
        self, system: str, messages: Sequence[Message], tier: str = "", /
    ) -> Awaitable[Reply]: ...


@attrs.frozen(kw_only=True)
class Limits:
    """How much goes out at once.

    Attributes:
        generation: characters of a conversation.
        size: of one request in it.
        condense_s: seconds for a model to shorten a long field; 0: it is cut instead.
    """

    generation: int = GENERATION_CHARS
    size: Size = USUAL
    condense_s: float = 0.0

    @classmethod
    def of(
        cls, room: Room, most_chars: int, *, bare: bool = False, condense_s: float = 0.0
    ) -> Limits:
        """What fits a model: half its window, at four characters a token, in all."""
        generation = max(4_000, min(most_chars, room.window * 2))
        part = min(room.chars or PART_CHARS, generation // 2)
        size = Size(
            part=part, field=min(USUAL.field, part // 3), uses=room.uses or USUAL.uses,
            bare=bare,
        )  # fmt: skip
        return cls(generation=generation, size=size, condense_s=condense_s)

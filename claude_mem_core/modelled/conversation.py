"""What was said with the model about a session, for as long as it pays to repeat it.

Every request repeats what came before in it. A generation therefore ends when the past
would cost more than it is worth; the next one is briefed from the session's memories.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

import attrs

from claude_mem_core.types import Message, Observation

SESSIONS = 64  # conversations that are remembered
GENERATION_CHARS = 48_000
# The past may be twice as long as a large part, as long as a small one, and this in any case.
LARGE, PAST_CHARS = 8_000, 3_000
SAID_CHARS = 6_000  # of an answer that is repeated


@attrs.define
class Conversation:
    """One generation: the messages so far, and which memories it knows."""

    messages: list[Message] = attrs.field(factory=list)
    told: set[int] = attrs.field(factory=set)

    @property
    def chars(self) -> int:
        """Length of all messages."""
        return sum(len(message.text) for message in self.messages)

    def has_room(self, new: int, most: int) -> bool:
        """Whether `new` characters may follow what is there."""
        past = self.chars
        worth = max(PAST_CHARS, 2 * new if new >= LARGE else new)
        return past + new <= most and past <= worth

    def untold(self, earlier: Iterable[Observation]) -> list[Observation]:
        """Memories that it has not heard of."""
        return [one for one in earlier if one.id not in self.told]

    def went_on(self, asked: str, answered: str, earlier: Sequence[Observation]) -> None:
        """Take in an exchange that went well."""
        self.messages.append(Message(role="user", text=asked))
        self.messages.append(Message(role="assistant", text=answered[:SAID_CHARS]))
        self.told.update(one.id for one in earlier)


class Conversations:
    """The generation of each session; the longest unused are forgotten."""

    def __init__(self) -> None:
        self._by_session: OrderedDict[int, Conversation] = OrderedDict()

    def of(self, session: int, new: int, most: int) -> Conversation:
        """The session's generation, a new one where the present has no room for more."""
        found = self._by_session.get(session)
        if found is None or not found.has_room(new, most):
            found = self._by_session[session] = Conversation()
        self._by_session.move_to_end(session)
        while len(self._by_session) > SESSIONS:
            self._by_session.popitem(last=False)
        return found

    def copy(self, session: int) -> Conversation | None:
        """The session's generation as it is now, to go back to."""
        found = self._by_session.get(session)
        return found and Conversation(list(found.messages), set(found.told))

    def back(self, session: int, to: Conversation | None) -> None:
        """Forget what was said since `copy`: a turn that broke off is asked again."""
        self.end(session)
        if to is not None:
            self._by_session[session] = to

    def end(self, session: int) -> None:
        """The next request of the session begins a new generation."""
        self._by_session.pop(session, None)

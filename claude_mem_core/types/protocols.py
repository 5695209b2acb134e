"""How an offer behaves once the core picks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import attrs

from claude_mem_core.types.events import Answer, Delivery, Event, Output
from claude_mem_core.types.memories import DocKind, Found, Observation, Observed, Query, Trust

if TYPE_CHECKING:
    from claude_mem_core.types.records import Embedder


@attrs.frozen(kw_only=True)
class StoredEvent:
    """An event of the journal as an observer sees it: cleaned, with its id.

    Attributes:
        id: row of the journal; drafts name these as evidence.
        prompt_number: the turn it belongs to, 0 before the first prompt.
        trust: trust class of its text.
    """

    id: int
    event: Event
    prompt_number: int = 0
    trust: Trust = Trust.WORK


@attrs.frozen(kw_only=True)
class Batch:
    """The events of one turn, in order, and what is known before it.

    Attributes:
        session_db_id: row of the session.
        project: its label.
        events: the turn's events, oldest first; the last is the turn's end when
            `finished` is true.
        earlier: observations already kept for this session, oldest first.
        finished: whether the turn is over; only then a summary is due.
        root: directory of the project; paths are given relative to it where inside.
        project_id: row of the project, for the account of costs; 0 when unknown.
    """

    session_db_id: int
    project: str
    events: Sequence[StoredEvent]
    earlier: Sequence[Observation] = ()
    finished: bool = True
    root: str = ""
    project_id: int = 0


class Observer(Protocol):
    """Turns a batch of events into drafts of memories."""

    async def observe(self, batch: Batch) -> Observed: ...
    async def aclose(self) -> None: ...


@attrs.frozen(kw_only=True)
class Usage:
    """What a model call cost, by the provider's own count.

    Attributes:
        input_tokens: all tokens sent, those from the provider's cache included.
        output_tokens: all tokens received, those of its reasoning included.
        cached_tokens: those of the input that came from its cache.
        cost_usd: its price, where the provider names one; else 0.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float = 0.0


@attrs.frozen(kw_only=True)
class Window:
    """One limit of a subscription, as the service reports it.

    Attributes:
        name: `five_hour`, `seven_day`, `seven_day_opus`, `seven_day_sonnet` or `overage`.
        used: the part of it that is used up, 0 to 1.
        resets_at_ms: when it begins anew; 0 when unknown.
        rejected: the service refuses already.
    """

    name: str
    used: float = 0.0
    resets_at_ms: int = 0
    rejected: bool = False


@attrs.frozen(kw_only=True)
class Message:
    """One turn of a conversation with a model; role is `user` or `assistant`."""

    role: str
    text: str


@attrs.frozen(kw_only=True)
class Reply:
    """What a model answered.

    Attributes:
        stop: the provider's own word for why it ended.
        model: the model that answered, as the provider names it.
        provider: filled by the core.
        windows: how far the limits of a subscription are used up, where it says so.
    """

    text: str
    usage: Usage = attrs.field(factory=Usage)
    stop: str = ""
    model: str = ""
    provider: str = ""
    windows: tuple[Window, ...] = ()


class Model(Protocol):
    """A provider, opened: sends one conversation, returns one reply."""

    async def reply(
        self, system: str, messages: Sequence[Message], *, max_tokens: int
    ) -> Reply: ...
    async def aclose(self) -> None: ...


class SearchIndex(Protocol):
    """A search backend, opened. It follows the change log by itself through `feed`."""

    def search(self, query: Query) -> Found: ...
    def feed(self, limit: int) -> int:
        """Take up to `limit` changes; return how many were taken (0: up to date)."""
        ...


@runtime_checkable
class ScoresRecords(Protocol):
    """What a search backend may also do: say how well given records fit a query."""

    def scores(
        self, query: Query, records: Sequence[tuple[DocKind, int]]
    ) -> Mapping[tuple[DocKind, int], float]:
        """Scores on the scale of the backend's hits; unknown records are left out."""
        ...


@runtime_checkable
class TellsCoverage(Protocol):
    """What a search backend may also do: say what it covers without being asked a query."""

    def coverage(self) -> float:
        """Share of the store that is in the index, 0 to 1; cheap."""
        ...


@runtime_checkable
class WorksWhenIdle(Protocol):
    """What a search backend may also do: work that can wait, while nothing else does."""

    def idle(self) -> int:
        """Do under half a second of it; return how much was done (0: nothing is left)."""
        ...


@runtime_checkable
class Closes(Protocol):
    """What a search backend may also do: give back what it holds when the worker ends."""

    def close(self) -> None: ...


@runtime_checkable
class UsesEmbedders(Protocol):
    """What a search backend may also do: turn text into vectors with what is installed."""

    def use(self, embedders: Sequence[Embedder]) -> None:
        """Told once, after opening: all embedders that plugins offer."""
        ...


class Embedding(Protocol):
    """Turns text into vectors.

    One that can give other vectors in another version, or by its settings, has an
    attribute `model`: its id, the same as long as vectors can be compared.
    """

    @property
    def dimensions(self) -> int: ...
    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...


class HostAdapter(Protocol):
    """Reads one host's hook input and words its hook output. Pure: no disk, no clock."""

    def parse(self, delivery: Delivery) -> Sequence[Event]:
        """Events in `delivery`, usually one, none when there is nothing to keep.

        Raises:
            InvalidInput: the payload is not what this host sends; the text is one of
                `empty`, `not-json`, `not-an-object`, `truncated`, `missing-field: x`.
        """
        ...

    def reply(self, answer: Answer) -> Output:
        """Word `answer` for the host; an empty answer gives a valid no-op."""
        ...


@runtime_checkable
class ReadsTranscript(Protocol):
    """What an adapter may also do: find a turn's answer in the host's transcript."""

    def final_answer(self, lines: Sequence[bytes]) -> str | None:
        """The last turn's answer in the last lines of a transcript, oldest first.

        The first line may be cut off, the last half-written. None when the turn has no
        answer yet; never an older turn's.
        """
        ...


@runtime_checkable
class ReadsPrompts(Protocol):
    """What an adapter may also do: find a prompt that no hook of the host tells.

    Its PROMPT_SENT events say `hookform.UNTOLD`, as often as they like: each gets the
    words and the id, so that a prompt counts once, or is left out while there are none.
    """

    def last_prompt(self, lines: Sequence[bytes]) -> tuple[str, str] | None:
        """Id and words of the newest prompt in the last lines of a transcript."""
        ...


@attrs.frozen(kw_only=True)
class AdvisorCall:
    """One question of the agent to a stronger model, as its transcript has it."""

    id: str
    advice: str
    model: str = ""


@runtime_checkable
class ReadsAdvice(Protocol):
    """What an adapter may also do: find advisor calls in the host's transcript."""

    def advisor_calls(self, lines: Sequence[bytes]) -> Sequence[AdvisorCall]:
        """The advisor calls in the last lines of a transcript, oldest first."""
        ...


class Delivering(Protocol):
    """A sink, opened."""

    async def send(self, observation: Observation) -> None: ...
    async def aclose(self) -> None: ...


class ToolCall(Protocol):
    """An MCP tool's work."""

    async def __call__(self, arguments: Mapping[str, Any]) -> str: ...

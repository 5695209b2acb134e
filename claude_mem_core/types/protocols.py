"""How an offer behaves once the core picks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import attrs

from claude_mem_core.types.events import Answer, Delivery, Event, Output
from claude_mem_core.types.memories import Found, Observation, Observed, Query, Trust


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


class Embedding(Protocol):
    """Turns text into vectors."""

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


@attrs.frozen(kw_only=True)
class HostSetup:
    """Where and how to install into a host.

    Attributes:
        home: the user's home directory.
        env: the environment (for CLAUDE_CONFIG_DIR and its like).
        data_dir: our data directory; the hook files lie in `<data_dir>/hook`.
        argv: how a hook is started, without host and event:
            `[python, "-I", "-S", "-E", "-c", BOOT, "<data_dir>/hook/launch.py"]`.
        scope: `user`, `project` or `local`.
        project: the project's directory for the two other scopes.
        mcp: how our MCP server is started, without the host's name:
            `[python, "-I", "-S", "-E", "-c", BOOT, "<data_dir>/hook/bridge.py"]`; empty when
            it is not to be named in the host's configuration.
        options: what the user asked for beside it, by the name of its `mem` option.
    """

    home: str
    data_dir: str
    argv: Sequence[str]
    env: Mapping[str, str] = attrs.field(factory=dict)
    scope: str = "user"
    project: str = ""
    mcp: Sequence[str] = ()
    options: frozenset[str] = frozenset()


@attrs.frozen(kw_only=True)
class FileChange:
    """One file that an installer wants to be different.

    Attributes:
        path: absolute path.
        before: its bytes now; None when it does not exist.
        after: its bytes then; None to delete it.
        inside: directory that the path may not leave by a link (project scope).
        mode: permission of a new file.
    """

    path: str
    before: bytes | None
    after: bytes | None
    inside: str | None = None
    mode: int = 0o600


@attrs.frozen(kw_only=True)
class HostStatus:
    """What an installer finds: is the host there, are we in it, what is wrong."""

    detected: bool
    installed: bool
    version: str = ""
    config: str = ""
    problems: tuple[str, ...] = ()


class HostInstaller(Protocol):
    """Plans changes of a host's files; the core shows, backs up and applies them."""

    def status(self, setup: HostSetup) -> HostStatus: ...
    def install(self, setup: HostSetup) -> Sequence[FileChange]: ...
    def uninstall(self, setup: HostSetup) -> Sequence[FileChange]: ...


@attrs.frozen(kw_only=True)
class McpStatus:
    """Whether our MCP server stands in a host's configuration, and where that is."""

    registered: bool
    config: str = ""
    problems: tuple[str, ...] = ()


@runtime_checkable
class RegistersMcp(Protocol):
    """What an installer may also do: name our MCP server in the host's configuration.

    `mem install` adds these changes to those of `install`, `mem uninstall` to those of
    `uninstall`. An installer whose hooks stand in the same file writes and takes out
    both in `install` and `uninstall`; of a file that these change, the changes planned
    here are left out. `editing.JsonServers` is all of this for `{"mcpServers": {...}}`.
    """

    def mcp_status(self, setup: HostSetup) -> McpStatus: ...
    def mcp_install(self, setup: HostSetup) -> Sequence[FileChange]:
        """The configuration with our server, started by `[*setup.mcp, <host's name>]`."""
        ...

    def mcp_uninstall(self, setup: HostSetup) -> Sequence[FileChange]: ...


@attrs.frozen
class SkillFolder:
    """Where a host looks for skills: `<path>/<name>/SKILL.md`.

    `inside` is the folder that the path may not leave by a link (project scope).
    """

    path: str
    inside: str | None = None


@runtime_checkable
class HasSkills(Protocol):
    """What an installer may also know: where the host looks for skills.

    The core writes its own skill files there with `mem install` and takes them out
    again with `mem uninstall`.
    """

    def skill_folder(self, setup: HostSetup) -> SkillFolder | None:
        """None where the scope has none."""
        ...


class Delivering(Protocol):
    """A sink, opened."""

    async def send(self, observation: Observation) -> None: ...
    async def aclose(self) -> None: ...


class ToolCall(Protocol):
    """An MCP tool's work."""

    async def __call__(self, arguments: Mapping[str, Any]) -> str: ...

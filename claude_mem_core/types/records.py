"""What a plugin offers: records, cheap to make, chosen by name.

Records may grow fields with defaults and never lose one. `CONTRACT` counts the
changes that would break a plugin.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from claude_mem_core.types.events import EventKind
from claude_mem_core.types.installing import HostInstaller
from claude_mem_core.types.protocols import (
    Delivering,
    Embedding,
    HostAdapter,
    Model,
    Observer,
    SearchIndex,
    ToolCall,
)
from claude_mem_core.types.transcripts import Transcripts, Watching

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

CONTRACT = 1

Values = Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Record:
    """Base of what a `mem_...s` hook yields. `name` is how settings select it."""

    name: str = attrs.field(validator=attrs.validators.matches_re(r"[a-z][a-z0-9-]*"))
    summary: str = ""


@attrs.frozen(kw_only=True)
class Setting:
    """One setting: declared once, by the core or a plugin.

    Attributes:
        key: name in the settings file and the environment (`CLAUDE_MEM_...`).
        type: `bool`, `int`, `number`, `string`, `enum`, `csv`, `json`, `path`,
            `secret` or `regex`.
        default: its typed default.
        choices: allowed words of an enum.
        low, high: bounds of a number; outside, `clamp` decides between the nearest
            bound and the default with a warning.
        scope: `user`, or `machine`: never from a hook's environment or a repository.
        sources: where it may be written: `file`, `environment`, `viewer`.
        restart: whether a change needs a restart of the worker.
        area: group in the documentation.
        help: one sentence for people.
    """

    key: str
    type: str = "string"
    default: Any = ""
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    clamp: bool = False
    scope: str = "user"
    sources: tuple[str, ...] = ("file", "environment")
    restart: bool = False
    area: str = "core"
    help: str = ""


@attrs.frozen(kw_only=True)
class ObserverRecord(Record):
    """Turns events into memories. `open` gets the settings by key."""

    open: Callable[[Values], Observer]


@attrs.frozen(kw_only=True)
class Room:
    """How much a model takes at once; 0: as the core thinks right.

    Attributes:
        window: tokens of its context window.
        uses: tool uses in one request.
        chars: characters of them.
    """

    window: int = 0
    uses: int = 0
    chars: int = 0


@attrs.frozen(kw_only=True)
class Provider(Record):
    """A model service.

    `open` gets the settings by key, with the one key that was chosen as the value of each
    name in `keys`; no other credential is in them. It is called once for each key.

    Attributes:
        keys: names of the settings that hold its credential; the first is the one that
            `mem auth set` writes.
        origin: where requests go unless `address` says otherwise.
        address: the base URL that these settings mean.
        lacks: what is missing before it can work, in words for a person with the
            command to run; empty when it is complete. Without it, its keys are needed.
        pool: whether several keys may be used in turn.
        model_key: the setting that names its model, for advice and for other models.
        login: the command that logs in, for a provider that works without a key of ours.
        offers: names of models that a person may be shown to choose from.
        room: how much the model that these settings mean takes at once.
        small: the cheaper model that simple work goes to with these settings; empty: none.
        in_file: names that may stand in `.env` for a setting that was left empty.
    """

    open: Callable[[Values], Model]
    keys: tuple[str, ...] = ()
    origin: str = ""
    address: Callable[[Values], str] | None = None
    lacks: Callable[[Values], str] | None = None
    pool: bool = True
    model_key: str = ""
    login: str = ""
    offers: tuple[str, ...] = ()
    room: Callable[[Values], Room] | None = None
    small: Callable[[Values], str] | None = None
    in_file: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class SearchBackend(Record):
    """A search index.

    Attributes:
        open: gets the store's reader and writer as `store`, and the settings.
        order: lower is asked first.
        exact: it finds records by the words that they hold. Exact backends answer every
            query; the others are asked where words alone may not be enough.
    """

    open: Callable[[Any, Values], SearchIndex]
    order: int = 100
    exact: bool = False


@attrs.frozen(kw_only=True)
class Embedder(Record):
    """A way to turn text into vectors.

    Attributes:
        quick: 1,000 short texts take well under a second, in any process: it embeds
            records as they come and stands in for a slower one.
        apart: it needs much memory and runs in a process of its own, on demand.
        automatic: it is used when it is installed; else only when a setting names it,
            as is right for all that sends text elsewhere.
    """

    open: Callable[[Values], Embedding]
    quick: bool = False
    apart: bool = False
    automatic: bool = True


@attrs.frozen(kw_only=True)
class Redactor(Record):
    """A text filter before anything is stored or sent; must be linear in time.

    Attributes:
        open: gets the settings, returns the filter: text in, text out.
        at_edge: true when the hook client has the same rules built in, so that it
            may keep content while the worker is down.
        order: lower runs first.
    """

    open: Callable[[Values], Callable[[str], str]]
    at_edge: bool = False
    order: int = 100


@attrs.frozen(kw_only=True)
class Host(Record):
    """A coding agent.

    Attributes:
        open: the adapter (parse, reply).
        installer: the installer; None for hosts that are taught by hand.
        title: the program's name as people write it.
        injects_at: kinds of event whose reply can carry context to the agent.
        context_chars: the host cuts or hides context longer than this; 0 for no limit.
        transcript_roots: folders (with `~` and `$VAR`) below which its transcripts lie.
        hooks: the host's event names that the installer registers.
        leaves_early: it may exit before its last hooks have run; what they would have
            reported is looked up in its transcript.
        transcripts: the forms in which it writes down what happened, below those folders.
        notes: patterns, below the transcript roots, of the notes that it keeps by itself.
        aliases: other names that `mem install --ide` takes for it.
    """

    open: Callable[[], HostAdapter]
    installer: Callable[[], HostInstaller] | None = None
    title: str = ""
    injects_at: tuple[EventKind, ...] = (EventKind.SESSION_STARTED,)
    context_chars: int = 0
    transcript_roots: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    transcripts: tuple[Transcripts, ...] = ()
    aliases: tuple[str, ...] = ()
    leaves_early: bool = False
    notes: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Watcher(Record):
    """Something in the worker that sees events which no hook reports.

    `open` gets the settings; None means that there is nothing to watch.
    """

    open: Callable[[Values], Watching | None]


@attrs.frozen(kw_only=True)
class Sink(Record):
    """A place that hears of each stored observation, each send within `timeout` s.

    `open` gets the settings, again when they change; None means that it is switched off.
    """

    open: Callable[[Values], Delivering | None]
    timeout: float = 5.0


@attrs.frozen(kw_only=True)
class RouteSet(Record):
    """Pages and endpoints under `/x/<name>` (or `mount`, for our own viewer)."""

    routes: Callable[[Any], Sequence[BaseRoute]]
    mount: str = ""


@attrs.frozen(kw_only=True)
class Command(Record):
    """A `mem` subcommand; `run` returns the exit code."""

    run: Callable[[Namespace], int]
    arguments: Callable[[ArgumentParser], None] | None = None


@attrs.frozen(kw_only=True)
class Tool(Record):
    """An MCP tool; `schema` is the JSON Schema of its arguments."""

    call: ToolCall
    schema: Mapping[str, Any] = attrs.field(factory=dict)
    read_only: bool = True

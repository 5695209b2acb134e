"""The hooks that plugins may fill.

Three kinds, told apart by their names:

* a plural noun (`mem_providers`) asks what the plugin offers and gets records;
* a past participle (`mem_session_started`) tells it what happened, the answer is ignored;
* a question (`mem_should_record`) takes the first answer that is not None.

Hooks are plain functions and must return at once: no network, no disk, no SDK import.
Slow work belongs behind the `open` of a record. A plugin may leave out any argument.
Every hook says what the core does when a plugin's answer is an exception.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pluggy import HookimplMarker, HookspecMarker

if TYPE_CHECKING:
    from claude_mem_core.types import (
        Block,
        Command,
        Embedder,
        Event,
        Host,
        Observation,
        ObserverRecord,
        Provider,
        Query,
        Redactor,
        RouteSet,
        SearchBackend,
        Setting,
        Sink,
        Summary,
        Tool,
        Values,
        Watcher,
    )

NAME = "claude_mem"

hookspec = HookspecMarker(NAME)
hookimpl = HookimplMarker(NAME)


# What a plugin offers --------------------------------------------------------


@hookspec
def mem_settings() -> Iterable[Setting]:
    """Settings of the plugin, shown and checked like the core's own.

    On error: the plugin's settings are unknown; their keys in the file stay untouched.
    """
    return ()


@hookspec
def mem_hosts(data_dir: str) -> Iterable[Host]:
    """Coding agents that the plugin can install into and read from.

    `data_dir` is the data directory, for hosts that are described there.

    On error: the host is unknown; its deliveries wait in the spool and `mem status`
    names the plugin.
    """
    return ()


@hookspec
def mem_observers() -> Iterable[ObserverRecord]:
    """Ways to turn a batch of events into drafts of memories.

    On error: the built-in observer takes the work.
    """
    return ()


@hookspec
def mem_providers() -> Iterable[Provider]:
    """Model services: a conversation in, a reply with its usage out.

    On error: choosing one of them is UnknownName; the built-in observer takes the work.
    """
    return ()


@hookspec
def mem_search_backends() -> Iterable[SearchBackend]:
    """Indexes that answer a query with scored records.

    On error: that backend is left out and the answer says which methods ran.
    """
    return ()


@hookspec
def mem_embedders() -> Iterable[Embedder]:
    """Ways to turn text into vectors. Settings choose one by name.

    On error: vector search is off and keyword search goes on.
    """
    return ()


@hookspec
def mem_redactors() -> Iterable[Redactor]:
    """Text filters that run, by `order`, before anything is stored or sent.

    On error: recording stops, for all plugins, until it is mended or blocked.
    """
    return ()


@hookspec
def mem_sinks() -> Iterable[Sink]:
    """Places that hear of each stored observation (chat, feed, webhook).

    On error: logged and counted; storing is never held up.
    """
    return ()


@hookspec
def mem_watchers() -> Iterable[Watcher]:
    """Parts of the worker that see events which no hook reports (transcripts, feeds).

    On error: logged; that watcher ends, the others and all hooks go on.
    """
    return ()


@hookspec
def mem_routes() -> Iterable[RouteSet]:
    """Extra pages and JSON endpoints of the local worker, under their own mount.

    On error: that mount answers 503 and the rest works.
    """
    return ()


@hookspec
def mem_commands() -> Iterable[Command]:
    """Extra `mem` subcommands. A built-in of the same name wins.

    On error: the command is missing and `mem plugins` says why.
    """
    return ()


@hookspec
def mem_tools() -> Iterable[Tool]:
    """Extra tools of the MCP server.

    On error: the tool is not listed; the server starts all the same.
    """
    return ()


@hookspec
def mem_context_blocks(project: str, query: Query) -> Iterable[Block]:
    """Blocks for the text that is put before a session; the core fits them to budget.

    On error: the plugin's blocks are missing from the context.
    """
    return ()


# What happened ---------------------------------------------------------------


@hookspec
def mem_started(settings: Values) -> None:
    """The worker is up, before its first request.

    On error: logged.
    """


@hookspec
def mem_stopped() -> None:
    """The worker is going down; the store is still open.

    On error: logged.
    """


@hookspec
def mem_session_started(event: Event, project: str) -> None:
    """A session was seen for the first time.

    On error: logged.
    """


@hookspec
def mem_observation_stored(observation: Observation) -> None:
    """An observation is on disk. For slow reactions yield a Sink instead.

    On error: logged.
    """


@hookspec
def mem_session_ended(event: Event, summary: Summary | None) -> None:
    """The host closed the session; `summary` is its last one, if any.

    On error: logged.
    """


# What should happen ----------------------------------------------------------


@hookspec(firstresult=True)
def mem_should_record(event: Event, project: str) -> bool | str | None:
    """Whether to keep this event; None leaves it to the next plugin.

    False, or a reason as text, skips the event with a receipt.
    On error: recording stops, for all plugins, until it is mended or blocked.
    """

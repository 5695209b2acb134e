"""`mem import transcripts`: history from before the install, as hosts wrote it down."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.errors import InvalidInput, MemError, UsageError

if TYPE_CHECKING:
    from claude_mem_core.paths import Paths
    from claude_mem_core.pipeline.history import Taken, Wanted
    from claude_mem_core.types import Host

OPTIONS = ("host", "project", "since", "until", "subagents", "dry_run", "model", "price")
CHARS = 4  # of English text and code in one token, roughly
GIVEN = 2_500  # tokens of instructions and of what is known already, with each turn
ANSWER = 500  # tokens of an answer, roughly


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `mem import transcripts` takes beside the rest."""
    group = parser.add_argument_group("with transcripts")
    group.add_argument("--host", action="append", metavar="NAME", help="only of this host; may be repeated")
    group.add_argument("--project", help="only of this project: a label, or a directory")
    group.add_argument("--since", metavar="DATE", help="only from this day on")
    group.add_argument("--until", metavar="DATE", help="only before this day")
    group.add_argument("--subagents", action="store_true", help="what sub-agents did as well")
    group.add_argument("--dry-run", action="store_true", help="only count; say what a model would cost")
    group.add_argument(
        "--model", action="store_true", help="give it to the model as well; rules work without"
    )
    group.add_argument(
        "--price", metavar="IN:OUT", help="USD for a million tokens in and out, for --dry-run"
    )  # fmt: skip


def run(args: argparse.Namespace, paths: Paths) -> int:
    """0 done (or nothing was there); 1 some transcripts could not be read."""
    import anyio

    price = priced(args.price) if args.price else None
    taken = anyio.run(_imported, paths, args)
    if args.json:
        emit_json(answer(taken, price, dry=args.dry_run))
    else:
        for line in lines(taken, price, dry=args.dry_run):
            emit(line)
    return 1 if taken.unreadable else 0


def priced(text: str) -> tuple[float, float]:
    """The price of a million tokens in and out.

    Raises:
        UsageError: it is not written so.
    """
    try:
        first, second = (float(part) for part in text.split(":"))
    except ValueError:
        first = second = -1.0
    if not (0 <= first < math.inf and 0 <= second < math.inf):
        raise UsageError("--price is written IN:OUT, as in --price 0.25:2")
    return first, second


def _wanted(args: argparse.Namespace) -> Wanted:
    from claude_mem_core.pipeline.history import Wanted
    from claude_mem_core.recall import dates

    project = args.project or ""
    if os.sep in project or project.startswith("."):
        project = os.path.abspath(project)
    return Wanted(
        since=dates.parse(args.since) if args.since else 0,
        until=dates.parse(args.until) if args.until else 1 << 62,
        project=project, inner=args.subagents, dry=args.dry_run, model=args.model,
    )  # fmt: skip


async def _imported(paths: Paths, args: argparse.Namespace) -> Taken:
    """Take all of it in, beside a worker that runs, or without one."""
    import anyio

    from claude_mem_core.extensions import registry_of
    from claude_mem_core.files import secure_dir
    from claude_mem_core.pipeline.bus import Bus
    from claude_mem_core.pipeline.history import History
    from claude_mem_core.pipeline.moves import Moves
    from claude_mem_core.pipeline.record import Cleaners, Recorder
    from claude_mem_core.store import Store, meta
    from claude_mem_core.types import Host, ObserverRecord

    wanted = _wanted(args)
    secure_dir(paths.data)
    settings, registry = registry_of(paths)
    fault = registry.recording_fault()
    if fault is not None:
        raise MemError(f"nothing is imported while recording is stopped: {fault}")
    if wanted.model and not _has_model(settings.current()):
        raise UsageError("no model is chosen: `mem config set provider NAME`, or leave --model out")
    hosts = _chosen(list(registry.records("mem_hosts", Host)), args.host)
    store = Store.open(paths.database)
    try:
        async with anyio.create_task_group() as tasks:
            cleaners = Cleaners(registry, store.read(meta.fence_id))
            recorder = Recorder(
                settings=settings, registry=registry, store=store, bus=Bus(), cleaner=cleaners,
                moves=Moves(store, tasks.start_soon),
            )  # fmt: skip
            builtin = next(
                r for r in registry.records("mem_observers", ObserverRecord) if r.name == "builtin"
            )
            history = History(
                store=store, recorder=recorder, settings=settings, cleaners=cleaners,
                observer=builtin.open(settings.current()), work=paths.data, wanted=wanted,
            )  # fmt: skip
            await _all(history, hosts, inner=wanted.inner)
        if not wanted.dry:
            await _indexed(store, registry, settings)
        return history.taken
    finally:
        store.close()


async def _all(history: Any, hosts: Sequence[Host], *, inner: bool) -> None:
    from claude_mem_core.transcripts import find_all

    for host in hosts:
        for found in find_all(host, {}, inner=inner):
            await history.take(host, found)


async def _indexed(store: Any, registry: Any, settings: Any) -> None:
    """Let the search backends follow."""
    from claude_mem_core.pipeline.index import Indexer

    indexer = Indexer(store, registry, settings)
    indexer.open()
    await indexer.catch_up()


def _has_model(settings: Any) -> bool:
    from claude_mem_core.providing.choice import BUILTIN, CHOICE, OFF, chosen

    return chosen(settings, CHOICE) not in {BUILTIN, OFF}


def _chosen(hosts: Sequence[Host], names: Sequence[str] | None) -> list[Host]:
    """The hosts that keep transcripts, or those of them that were named.

    Raises:
        InvalidInput: one of the names is none of theirs.
    """
    able = {host.name: host for host in hosts if host.transcripts}
    for name in names or ():
        if name not in able:
            known = ", ".join(sorted(able)) or "none; `mem plugins` shows what is installed"
            raise InvalidInput(f"there are no transcripts of {name!r}; known are {known}")
    return [host for name, host in able.items() if not names or name in names]


# What is said ------------------------------------------------------------------------


def cost(taken: Taken, price: tuple[float, float] | None) -> dict[str, Any]:
    """What a model would be sent and would answer, roughly."""
    sent, answered = taken.chars // CHARS + taken.turns * GIVEN, taken.turns * ANSWER
    found: dict[str, Any] = {"requests": taken.turns, "tokens_in": sent, "tokens_out": answered}
    if price is not None:
        found["usd"] = round((sent * price[0] + answered * price[1]) / 1e6, 2)
    return found


def answer(taken: Taken, price: tuple[float, float] | None, *, dry: bool) -> dict[str, Any]:
    """All counts, for machines."""
    return {
        "dry_run": dry, "transcripts": taken.transcripts, "sessions": len(taken.sessions),
        "recorded_by_hooks": len(taken.hooked), "events": dict(taken.new),
        "known": taken.known, "skipped": dict(taken.skipped), "turns": taken.turns,
        "observations": taken.observations, "unreadable": taken.unreadable,
        "for_model": taken.for_model, "model": cost(taken, price),
    }  # fmt: skip


def lines(taken: Taken, price: tuple[float, float] | None, *, dry: bool) -> Iterator[str]:
    """The counts, for people."""
    new = sum(taken.new.values())
    yield f"Transcripts: {taken.transcripts}, sessions: {len(taken.sessions)}"
    yield f"  new: {new} events, {taken.turns} prompts among them; known: {taken.known}"
    for reason, count in sorted(taken.skipped.items()):
        yield f"  left out ({reason}): {count}"
    if taken.hooked:
        yield f"  recorded by hooks already: {len(taken.hooked)} sessions"
    for path in taken.unreadable:
        yield f"  not readable: {path}"
    if dry:
        yield from _price_lines(cost(taken, price))
        return
    yield f"Observations: {taken.observations}"
    if taken.for_model:
        yield f"{taken.for_model} turns wait for the model; `mem queue` shows how it goes on"


def _price_lines(found: dict[str, Any]) -> Iterator[str]:
    yield "Nothing was written. Without --model it costs nothing; with it, roughly:"
    said = f"  {found['requests']} requests, {found['tokens_in']:,} tokens in,"
    said += f" {found['tokens_out']:,} tokens out"
    yield said + (f", {found['usd']:.2f} USD" if "usd" in found else " (--price IN:OUT for USD)")

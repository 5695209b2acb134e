"""`mem queue`: the work that waits, what failed, and how to go on with it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from claude_mem_core.cli.emit import complain, emit, emit_json
from claude_mem_core.errors import NotFound, UsageError, WorkerError
from claude_mem_core.paths import Paths, data_dir

if TYPE_CHECKING:
    import apsw

    from claude_mem_core.store.queue import QueueStatus, SessionStatus

HELP = "show the work that waits; retry what failed"

T = TypeVar("T")
MOST_SESSIONS = 100
RECENT_MS = 1_800_000


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON value")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    parser.set_defaults(action="status")
    _action(actions, "status", "how much waits, is in work, has failed")
    show = _action(actions, "show", "the items, or everything about one")
    show.add_argument("id", nargs="?", type=int, help="number of an item")
    show.add_argument("--failed", action="store_true", help="only dead letters")
    show.add_argument("--limit", type=int, default=50, help="items to show (50)")
    retry = _action(actions, "retry", "queue dead letters again: all, or those named")
    retry.add_argument("ids", nargs="*", type=int, metavar="ID")
    drop = _action(actions, "discard", "give up dead letters for good; their content goes")
    drop.add_argument("ids", nargs="*", type=int, metavar="ID")
    drop.add_argument("--all", action="store_true", help="all of them")
    recover = _action(actions, "recover", "take up waiting work now, unfinished turns too")
    recover.add_argument("--yes", action="store_true", help="do not ask")
    recover.add_argument("--limit", type=int, default=10, help="sessions to start (10, most 100)")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 when something asked for is not there, 3 when the worker is needed."""
    actions: dict[str, Callable[[Paths, argparse.Namespace], int]] = {
        "status": _status, "show": _show, "retry": _retry, "discard": _discard,
        "recover": _recover,
    }  # fmt: skip
    return actions[args.action](Paths(data_dir()), args)


def _action(actions: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=text, description=text)
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print a JSON value"
    )
    return parser


# What there is --------------------------------------------------------------------


def _status(paths: Paths, args: argparse.Namespace) -> int:
    running, status, recent = _worker_runs(paths), _queue(paths), _recent(paths)
    if args.json:
        import attrs

        emit_json({"worker": running, "recently_processed": recent, **attrs.asdict(status)})
        return 0
    for line in _status_lines(running, status, recent):
        emit(line)
    return 0


def _status_lines(running: bool, status: QueueStatus, recent: int) -> Iterator[str]:
    yield "Worker is healthy" if running else (
        "Worker is not running; what waits is kept and goes on at its next start (`mem start`)"
    )
    stuck = f" ({status.stuck} stuck)" if status.stuck else ""
    yield "\nQueue summary:"
    yield f"  Pending: {status.pending} messages"
    yield f"  Processing: {status.processing} messages{stuck}"
    yield f"  Failed: {status.failed} messages"
    yield f"  Recently processed: {recent} messages in the last 30 minutes"
    waiting = [s for s in status.sessions if s.pending or s.processing]
    yield f"\nSessions with pending work: {len(waiting)}"
    yield from map(_session_line, waiting)
    if status.failed:
        yield "\n`mem queue show --failed` says why they failed, `mem queue retry` tries again"


def _session_line(session: SessionStatus) -> str:
    from claude_mem_core.cli.worker_text import ago

    parts = []
    if session.pending:
        parts.append(f"{session.pending} pending")
    if session.processing:
        stuck = " - STUCK" if session.stuck else ""
        parts.append(f"{session.processing} processing (since {ago(session.since_ms)}{stuck})")
    return f"  Session {session.session_db_id}: {', '.join(parts)}"


def _show(paths: Paths, args: argparse.Namespace) -> int:
    items = _items(paths, args)
    if args.id is not None and not items:
        raise NotFound(f"no item {args.id} in the queue; `mem queue show` lists them")
    if args.json:
        emit_json(items if args.id is None else items[0])
    elif args.id is not None:
        for name, value in items[0].items():
            emit(f"{name:<28} {'-' if value is None else value}")
    else:
        for item in items:
            emit(_item_line(item))
        if not items:
            emit("nothing waits" if not args.failed else "no dead letters")
    return 0


def _items(paths: Paths, args: argparse.Namespace) -> list[dict[str, Any]]:
    from claude_mem_core.store import queue

    def read(conn: apsw.Connection) -> list[dict[str, Any]]:
        if args.id is not None:
            return queue.items(conn, 1, number=args.id)
        return queue.items(conn, max(args.limit, 0), "failed" if args.failed else None)

    return _looked(paths, read, [])


def _item_line(item: dict[str, Any]) -> str:
    from claude_mem_core.cli.worker_text import ago

    what = item["tool_name"] or item["message_type"]
    error = f": {item['error'].splitlines()[0]}" if item["error"] else ""
    tries = f", {item['retry_count']} failures" if item["retry_count"] else ""
    return (
        f"{item['id']:>8}  {item['status']:<10} session {item['session_db_id']}"
        f" prompt {item['prompt_number']}  {what}, {ago(item['created_at_epoch'])}{tries}{error}"
    )


# What to do ------------------------------------------------------------------------


def _retry(paths: Paths, args: argparse.Namespace) -> int:
    from claude_mem_core.cli.client import WorkerClient
    from claude_mem_core.store import queue

    ids = args.ids or None
    if _worker_runs(paths):
        body = {"ids": ids} if ids else {}
        count = int(WorkerClient(paths).post("/api/pending-queue/retry", body)["retried"])
    else:
        count = _written(paths, lambda conn: queue.retry(conn, ids), 0)
    return _told(args, "retried", count, ids)


def _discard(paths: Paths, args: argparse.Namespace) -> int:
    import time

    from claude_mem_core.store import queue

    if bool(args.ids) == args.all:
        raise UsageError("name the items to give up (`mem queue show --failed`), or --all")
    ids, now = args.ids or None, time.time_ns() // 1_000_000
    count = _written(paths, lambda conn: queue.discard(conn, ids, now), 0)
    return _told(args, "discarded", count, ids)


def _told(args: argparse.Namespace, what: str, count: int, ids: Sequence[int] | None) -> int:
    """1 when a named item was no dead letter."""
    if args.json:
        emit_json({what: count})
    else:
        emit(f"{count} dead letters {what}")
    missing = len(set(ids or ())) - count
    if missing > 0:
        complain(f"mem: {missing} of the items named are no dead letters")
    return 1 if missing > 0 else 0


def _recover(paths: Paths, args: argparse.Namespace) -> int:
    from claude_mem_core.cli.client import WorkerClient

    if not 1 <= args.limit <= MOST_SESSIONS:
        raise UsageError(f"--limit takes 1 to {MOST_SESSIONS}, not {args.limit}")
    if not _worker_runs(paths):
        raise WorkerError("the worker is not running; `mem start` takes up what waits by itself")
    status = _queue(paths)
    if not args.json:
        for line in _status_lines(True, status, _recent(paths)):
            emit(line)
    if not (status.pending or status.processing):
        emit_json({"sessionsStarted": 0}) if args.json else emit("\nnothing to recover")
        return 0
    if not args.yes and not _agreed():
        return 1
    done = WorkerClient(paths).post("/api/pending-queue/process", {"sessionLimit": args.limit})
    if args.json:
        emit_json(done)
    else:
        emit(
            f"started {done['sessionsStarted']} of {done['totalPendingSessions']} sessions,"
            f" {done['sessionsSkipped']} are being worked on already"
        )
    return 0


def _agreed() -> bool:
    """Ask; without a terminal nobody can answer."""
    if not sys.stdin.isatty():
        raise UsageError("add --yes to recover without being asked")
    emit("\nTake up these queues now? (y/n)")
    return sys.stdin.readline().strip().casefold() in {"y", "yes"}


# Where it comes from -----------------------------------------------------------------


def _worker_runs(paths: Paths) -> bool:
    from claude_mem_core.cli.client import WorkerClient

    return WorkerClient(paths).running()


def _queue(paths: Paths) -> QueueStatus:
    from claude_mem_core.store import queue

    return _looked(paths, queue.status, queue.QueueStatus())


def _recent(paths: Paths) -> int:
    import time

    from claude_mem_core.store import queue

    since = time.time_ns() // 1_000_000 - RECENT_MS
    return _looked(paths, lambda conn: queue.processed_since(conn, since), 0)


def _looked(paths: Paths, fn: Callable[[apsw.Connection], T], nothing: T) -> T:
    """Read the database; before the first event there is none."""
    from claude_mem_core.store.look import look

    try:
        return look(paths.database, fn)
    except NotFound:
        return nothing


def _written(paths: Paths, fn: Callable[[apsw.Connection], T], nothing: T) -> T:
    """Write beside the worker, or without it; SQLite keeps the two apart."""
    from claude_mem_core.store import Store

    if not paths.database.exists():
        return nothing
    store = Store.open(paths.database)
    try:
        return store.write(fn).result()
    finally:
        store.close()

"""`mem db`: look after the database file."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.errors import NotFound, UsageError
from claude_mem_core.paths import Paths, data_dir

if TYPE_CHECKING:
    from claude_mem_core.cli.upkeep import Mended
    from claude_mem_core.store.check import Finding
    from claude_mem_core.store.expire import Age, Expired
    from claude_mem_core.store.salvage.repair import Repaired

HELP = "check, repair and tidy the database"

DAY_MS = 86_400_000
NAMES = {
    "sdk_sessions": "sessions", "events": "events", "observations": "observations",
    "session_summaries": "summaries", "user_prompts": "prompts", "tool_uses": "tool uses",
    "pending_messages": "waiting work items", "projects": "projects",
}  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _action(actions, "check", "is everything in it sound? Exit 1 when it is not")
    fix = _action(actions, "repair", "save what can be read of a damaged file; it is kept")
    fix.add_argument("--force", action="store_true", help="also when it seems sound")
    _action(actions, "vacuum", "give the room of deleted rows back to the disk")
    _action(actions, "rebuild-index", "make the word index anew")
    copy = _action(actions, "snapshot", "keep a consistent copy in snapshots/")
    copy.add_argument("--keep", type=int, default=5, help="how many stay (5)")
    _action(actions, "inspect", "sizes, rows, snapshots, damaged files that were kept")
    old = _action(actions, "delete-older", "delete what is older than some days; pinned stays")
    old.add_argument("days", type=int, metavar="DAYS")
    old.add_argument("--project", help="label or id of a project")
    old.add_argument("--dry-run", action="store_true", help="only say how much that is")
    old.add_argument("--yes", action="store_true", help="do not ask")


def run(args: argparse.Namespace) -> int:
    """0 done or sound, 1 faults were found, 3 the file or the worker can't be used."""
    actions: dict[str, Callable[[Paths, argparse.Namespace], int]] = {
        "check": _check, "repair": _repair, "vacuum": _vacuum, "rebuild-index": _rebuild,
        "snapshot": _snapshot, "inspect": _inspect, "delete-older": _delete_older,
    }  # fmt: skip
    return actions[args.action](Paths(data_dir()), args)


def _action(actions: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=text, description=text)
    parser.add_argument("--json", action="store_true", help="print a JSON object")
    return parser


# Looking -------------------------------------------------------------------------------


def _check(paths: Paths, args: argparse.Namespace) -> int:
    from claude_mem_core.cli.upkeep import findings

    found = findings(paths.database)
    sound = all(one.ok for one in found)
    if args.json:
        checks = {one.name: list(one.faults) for one in found}
        emit_json({"ok": sound, "path": str(paths.database), "checks": checks})
    else:
        for line in _check_lines(found):
            emit(line)
        emit(f"{paths.database} is sound" if sound else "`mem db repair` mends it")
    return 0 if sound else 1


def _check_lines(found: list[Finding]) -> Iterator[str]:
    for one in found:
        if one.ok:
            yield f"{one.name:<11}ok"
        yield from (f"{one.name:<11}{text}" for text in one.faults)


def _inspect(paths: Paths, args: argparse.Namespace) -> int:
    from claude_mem_core.store.inventory import beside, inventory
    from claude_mem_core.store.look import look

    found = {**beside(paths.database), **look(paths.database, inventory)}
    if args.json:
        emit_json(found)
    else:
        for line in _inspect_lines(found):
            emit(line)
    return 0


def _inspect_lines(found: dict[str, Any]) -> Iterator[str]:
    from claude_mem_core.cli.worker_text import ago, size

    yield f"file       {found['path']}, {size(found['size'])} (+{size(found['wal'])} in its log)"
    free = size(found["free_pages"] * found["page_size"])
    yield f"layout     version {found['version']}, {found['journal_mode']}, {free} free inside"
    if found["oldest_ms"] is not None:
        yield f"memories   oldest {ago(found['oldest_ms'])}, newest {ago(found['newest_ms'])}"
    yield f"index      {size(found['index_bytes'])}"
    for name, table in found["tables"].items():
        if table["rows"]:
            yield f"  {name:<22}{table['rows']:>9} rows {size(table['bytes']):>10}"
    for kind in ("snapshots", "kept"):
        for file in found[kind]:
            yield f"{kind:<11}{file['path']}, {size(file['size'])}"


# Mending -------------------------------------------------------------------------------


def _repair(paths: Paths, args: argparse.Namespace) -> int:
    import os

    from claude_mem_core.cli import upkeep

    if not os.path.lexists(paths.database):
        raise NotFound(f"no database at {paths.database}: nothing to repair")
    with upkeep.worker_kept_out(paths):
        done = upkeep.repair(paths, force=args.force)
    if args.json:
        emit_json(_repair_json(done))
    else:
        for line in _repair_lines(paths, done):
            emit(line)
    return 1 if done.repaired and done.repaired.off else 0


def _repair_lines(paths: Paths, done: Mended) -> Iterator[str]:
    if done.repaired is not None:
        yield from _salvage_lines(done.repaired)
    elif done.reindexed is not None:
        yield f"only the search index was damaged; it is made anew over {done.reindexed} records"
    elif done.remade:
        yield f"made again: {'; '.join(text.removesuffix(' is gone') for text in done.faults)}"
    else:
        yield f"{paths.database} is sound; nothing to repair"


def _salvage_lines(done: Repaired) -> Iterator[str]:
    if done.snapshot is not None:
        yield f"nothing could be read; in its place is now the snapshot {done.snapshot}"
    saved = [f"{t.saved} {NAMES[t.table]}" for t in done.tables if t.table in NAMES and t.saved]
    yield f"saved      {', '.join(saved) or 'nothing'}"
    yield f"lost       {_lost(done)}"
    for table in done.tables:
        if table.remade and table.table in NAMES:
            yield f"made again {table.remade} {NAMES[table.table]}, from what their rows say"
    yield f"kept       the damaged file, as it was: {done.kept}"
    yield from (f"! {text}" for text in done.off)


def _lost(done: Repaired) -> str:
    known = [t for t in done.tables if t.table in NAMES and t.lost]
    if known:
        each = (f"{'at most ' * t.at_most}{t.lost} {NAMES[t.table]}" for t in known)
        return ", ".join(each)
    if done.snapshot is not None or not done.saved:
        return "all that the damaged file held; how much that was can't be read"
    return "0 rows"


def _repair_json(done: Mended) -> dict[str, Any]:
    answer: dict[str, Any] = {"faults": list(done.faults), "reindexed": done.reindexed}
    if done.repaired is None:
        return {**answer, "repaired": False}
    found = done.repaired
    tables = {t.table: {"saved": t.saved, "lost": t.lost, "at_most": t.at_most, "remade": t.remade} for t in found.tables}
    return {
        **answer, "repaired": True, "kept": str(found.kept), "tables": tables,
        "saved": found.saved, "lost": found.lost, "damaged_pages": found.pages,
        "snapshot": str(found.snapshot) if found.snapshot else None, "off": list(found.off),
    }  # fmt: skip


def _rebuild(paths: Paths, args: argparse.Namespace) -> int:
    from claude_mem_core.cli.upkeep import rebuild_index

    _there(paths)
    count = rebuild_index(paths)
    emit_json({"records": count}) if args.json else emit(f"{count} records are indexed")
    return 0


# Tidying -------------------------------------------------------------------------------


def _vacuum(paths: Paths, args: argparse.Namespace) -> int:
    import os

    # SQLite makes its copy there; a temporary directory may be too small, or not private.
    os.environ["SQLITE_TMPDIR"] = str(paths.data)
    from claude_mem_core.cli.worker_text import size
    from claude_mem_core.store.vacuum import vacuum

    before, after = vacuum(paths.database)
    if args.json:
        emit_json({"before": before, "after": after})
    else:
        emit(f"{size(before)} before, {size(after)} now")
    return 0


def _snapshot(paths: Paths, args: argparse.Namespace) -> int:
    from claude_mem_core.cli.worker_text import size
    from claude_mem_core.store.snapshot import take

    if args.keep < 1:
        raise UsageError(f"--keep takes 1 or more, not {args.keep}")
    path = take(paths.database, args.keep)
    count = path.stat().st_size
    if args.json:
        emit_json({"path": str(path), "size": count})
    else:
        emit(f"{path}, {size(count)}")
    return 0


def _delete_older(paths: Paths, args: argparse.Namespace) -> int:
    from claude_mem_core.cli.upkeep import delete_older
    from claude_mem_core.store import expire
    from claude_mem_core.store.look import look

    age = _age(paths, args)
    found = look(paths.database, lambda conn: expire.count(conn, age))
    if args.dry_run or not found:
        return _told(args, "would be deleted", found)
    if not args.yes and not _agreed(args, found):
        return 1
    return _told(args, "deleted", delete_older(paths, age))


def _age(paths: Paths, args: argparse.Namespace) -> Age:
    from claude_mem_core.store import projects
    from claude_mem_core.store.expire import Age
    from claude_mem_core.store.look import look

    if args.days < 1:
        raise UsageError(f"DAYS must be 1 or more, not {args.days}")
    before = time.time_ns() // 1_000_000 - args.days * DAY_MS
    if args.project is None:
        return Age(before)
    number = look(paths.database, lambda conn: projects.number_of(conn, args.project))
    if number is None:
        raise NotFound(f"no project named {args.project!r}; `mem projects` lists them")
    return Age(before, (number,))


def _agreed(args: argparse.Namespace, found: Expired) -> bool:
    """Ask; without a terminal nobody can answer."""
    if args.json or not sys.stdin.isatty():
        raise UsageError("add --yes to delete without being asked, or --dry-run to look first")
    emit(f"{_counted(found)} are older than {args.days} days. Delete them for good? (y/n)")
    return sys.stdin.readline().strip().casefold() in {"y", "yes"}


def _told(args: argparse.Namespace, what: str, found: Expired) -> int:
    if args.json:
        import attrs

        emit_json({"dry_run": args.dry_run, **attrs.asdict(found)})
    else:
        emit(f"{_counted(found)} {what}")
        if found and not args.dry_run:
            emit("snapshots may still hold them (`mem db inspect`); `mem db vacuum` frees the room")
    return 0


def _counted(found: Expired) -> str:
    return f"{found.sessions} sessions, {found.memories} memories, {found.events} events"


def _there(paths: Paths) -> None:
    if not paths.database.exists():
        raise NotFound(f"no database at {paths.database}: nothing was recorded yet")

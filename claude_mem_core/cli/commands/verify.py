"""`mem verify`: is every accepted event accounted for?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.paths import Paths, data_dir

if TYPE_CHECKING:
    from claude_mem_core.store.verify import Accounting

HELP = "prove that every accepted event was stored, skipped or kept as a dead letter"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 when the sum is right, 1 when it is off."""
    paths = Paths(data_dir())
    account, spooled = accounting(paths), waiting_outside(paths)
    if args.json:
        emit_json(as_json(account, spooled))
    else:
        for line in lines(account, spooled):
            emit(line)
    return 1 if account.off else 0


def accounting(paths: Paths) -> Accounting:
    """The accounting of the database; an empty one when there is none yet."""
    from claude_mem_core.errors import NotFound
    from claude_mem_core.store.look import look
    from claude_mem_core.store.verify import Accounting, verify

    try:
        return look(paths.database, verify)
    except NotFound:
        return Accounting(accepted=0, stored=0, recorded=0, pending=0, skipped={}, dead={})


def waiting_outside(paths: Paths) -> int:
    """Events that hooks left on disk; they are accepted when the worker takes them in."""
    return sum(1 for _ in paths.spool.glob("*.ev"))


def as_json(account: Accounting, spooled: int) -> dict[str, Any]:
    """The accounting for machines; `ok` is false when the sum is off."""
    return {
        "ok": not account.off,
        "accepted": account.accepted,
        "stored": account.stored,
        "recorded": account.recorded,
        "skipped": account.skipped,
        "dead": account.dead,
        "pending": account.pending,
        "spooled": spooled,
        "off": list(account.off),
    }


def lines(account: Accounting, spooled: int) -> Iterator[str]:
    """The accounting for people."""
    yield f"accepted  {account.accepted}"
    yield f"stored    {account.stored}"
    yield f"recorded  {account.recorded} (kept; nothing in them to remember)"
    yield f"skipped   {_by_reason(account.skipped)}"
    yield f"dead      {_by_reason(account.dead)}"
    if account.dead:
        yield "          `mem queue show` names them, `mem queue retry` tries them again"
    yield f"pending   {account.pending}"
    if spooled:
        yield f"spooled   {spooled} (wait on disk for the worker; not accepted yet)"
    yield from (f"! {fault}" for fault in account.off)
    yield "the sum is off: please report this" if account.off else "every event is accounted for"


def _by_reason(counts: dict[str, int]) -> str:
    each = ", ".join(f"{n} {reason}" for reason, n in sorted(counts.items()))
    return f"{sum(counts.values())} ({each})" if each else "0"

"""`mem auth`: keep, list, try and remove the keys of model services."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.errors import UsageError

if TYPE_CHECKING:
    from claude_mem_core.cli.keyring import Desk

HELP = "keep, list, try and remove keys of model services"


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    keep = _action(actions, "set", "keep a key; it is asked for, or read from standard input")
    keep.add_argument("provider", metavar="PROVIDER")
    keep.add_argument(
        "--store",
        choices=("keyring", "file"),
        default="",
        help="where: the system's keyring, or `.env` in the data directory",
    )
    keep.add_argument("--name", default="", help="setting to keep it as, if not the first")
    keep.add_argument("--pool", action="store_true", help="several keys, to be used in turn")
    _action(actions, "list", "which services have a key, and where it lies")
    test = _action(actions, "test", "ask a service for one word")
    test.add_argument("provider", metavar="PROVIDER")
    drop = _action(actions, "remove", "forget the keys of a service")
    drop.add_argument("provider", metavar="PROVIDER")


def _action(actions: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=text, description=text)
    parser.add_argument("--json", action="store_true", help="print a JSON value")
    return parser


def run(args: argparse.Namespace) -> int:
    """0 done; 1 when a test failed or nothing was there to remove."""
    from claude_mem_core.cli.keyring import Desk
    from claude_mem_core.paths import Paths, data_dir

    actions: dict[str, Callable[[Desk, argparse.Namespace], int]] = {
        "set": _set, "list": _list, "test": _test, "remove": _remove,
    }  # fmt: skip
    return actions[args.action](Desk.open(Paths(data_dir())), args)


def _set(desk: Desk, args: argparse.Namespace) -> int:
    record = desk.record(args.provider)
    name = desk.key_name(record, args.name, pool=args.pool)
    where = desk.place(args.provider, args.store)
    kept = desk.keep(record, name, _typed(args), where)
    if args.json:
        emit_json(kept)
        return 0
    emit(f"{name} is kept in {kept['where']}")
    if kept["then"]:
        emit(kept["then"])
    return 0


def _typed(args: argparse.Namespace) -> str:
    """The key, from a terminal without showing it, or from standard input."""
    import getpass
    import sys

    what = "keys, separated by commas" if args.pool else "key"
    if sys.stdin.isatty():
        text = getpass.getpass(f"{args.provider} {what}: ")
    else:
        text = sys.stdin.read(100_000)
    words = text.replace(",", " ").split()
    if not words:
        raise UsageError("no key was given; nothing was changed")
    if len(words) > 1 and not args.pool:
        raise UsageError("this is more than one word; several keys need --pool")
    return ",".join(words)


def _list(desk: Desk, args: argparse.Namespace) -> int:
    rows = desk.rows()
    if args.json:
        emit_json({"store": desk.store_name(), "providers": rows})
        return 0
    emit(f"new keys are kept in {desk.store_name()}")
    for row in rows:
        mark = "*" if row["chosen"] else " "
        emit(f"{mark} {row['name']:<18} {_told(row)}")
    if not rows:
        emit('no provider is installed; for example: pip install "claude-mem-core[gemini]"')
    return 0


def _told(row: dict[str, Any]) -> str:
    keys = f"{row['keys']} keys" if row["keys"] > 1 else "key"
    place = f"{keys} in {row['where']}" if row["keys"] else "no key"
    return f"{place}; lacks: {row['lacks']}" if row["lacks"] else f"{place}; ready"


def _test(desk: Desk, args: argparse.Namespace) -> int:
    desk.record(args.provider)
    found = desk.test(args.provider)
    if args.json:
        emit_json(found)
    elif found["ok"]:
        usage = found["usage"]
        tokens = usage["input_tokens"] + usage["output_tokens"]
        model = f" ({found['model']})" if found["model"] else ""
        emit(f"{args.provider}{model} answered in {found['ms']} ms, for {tokens} tokens")
    else:
        emit(f"{args.provider}: {found['text']}")
        emit(f"-> {found['cure']}")
    return 0 if found["ok"] else 1


def _remove(desk: Desk, args: argparse.Namespace) -> int:
    found = desk.remove(desk.record(args.provider))
    if args.json:
        emit_json(found)
    else:
        emit(
            f"removed: {', '.join(found['removed'])}"
            if found["removed"]
            else "there was no key"
        )
        if found["left"]:
            emit(found["left"])
    return 0 if found["removed"] else 1

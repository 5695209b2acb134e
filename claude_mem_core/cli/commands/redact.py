"""`mem redact`: try the redactor on text, and on what is stored already."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from claude_mem_core.cli.emit import complain, emit, emit_json

HELP = "what is taken out of text before it is kept, and out of what is stored already"
LARGEST = 64 * 1024 * 1024
PATIENCE_S = 1900.0
SHOWN = 20


def arguments(parser: ArgumentParser) -> None:
    """`test [PATTERN]`, `list`, `scan` and `sweep`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    test = actions.add_parser("test", help="clean the text on standard input and print it")
    test.add_argument("pattern", nargs="?", help="an own pattern to try first")
    test.add_argument("--json", action="store_true", help="print JSON")
    listing = actions.add_parser("list", help="name the built-in patterns and your own")
    listing.add_argument("--json", action="store_true", help="print JSON")
    scan = actions.add_parser("scan", help="count the secrets in what is stored already")
    scan.add_argument("--json", action="store_true", help="print JSON")
    sweep = actions.add_parser("sweep", help="take them out, of snapshots too; no undo")
    sweep.add_argument("--yes", action="store_true", help="do not ask")
    sweep.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """1 when the own pattern can't be used, a scan has found something, or a copy was left."""
    if args.action == "list":
        return _list(args.json)
    if args.action == "test":
        return _test(args.pattern, args.json)
    return _scan(args) if args.action == "scan" else _sweep(args)


def _scan(args: Namespace) -> int:
    from claude_mem_core.cli.recalled import client

    found = client().get("/api/redact/scan", timeout=PATIENCE_S)
    if args.json:
        emit_json(found)
    else:
        for line in _report(found):
            emit(line)
        if found["rows"] or found["files"]:
            emit("`mem redact sweep` takes them out")
    return 1 if found["rows"] or found["files"] or found["unread"] else 0


def _sweep(args: Namespace) -> int:
    from claude_mem_core.cli.recalled import client
    from claude_mem_core.errors import UsageError

    if not args.yes:
        if args.json or not sys.stdin.isatty():
            raise UsageError("add --yes to sweep without being asked, or look first: mem redact scan")
        emit("What looks like a secret is replaced for good, in snapshots too. Go on? (y/n)")
        if sys.stdin.readline().strip().casefold() not in {"y", "yes"}:
            return 1
    found = client().post("/api/redact/sweep", timeout=PATIENCE_S)
    if args.json:
        emit_json(found)
    else:
        for line in _report(found):
            emit(line)
    return 1 if found["unread"] else 0


def _report(found: dict[str, Any]) -> Iterator[str]:
    """How often which pattern, and where; never what was found."""
    did = "replaced" if found["swept"] else "found"
    for name, number in sorted(found["patterns"].items()):
        yield f"{name:<18} {number} {did}"
    if not found["rows"]:
        yield "no secrets in the tables"
    for table, number in sorted(found["rows"].items()):
        yield f"  in {number} {table.replace('_', ' ')}"
    if found["where"]:
        more = "" if len(found["where"]) <= SHOWN else ", ..."
        yield f"  {', '.join(found['where'][:SHOWN])}{more}"
    for name in found["files"]:
        yield f"  {name}: {'rewritten' if found['swept'] else 'holds some'}"
    for name in found["unread"]:
        yield f"! {name} could not be worked over; delete it, or look into it"


def _test(pattern: str | None, as_json: bool) -> int:
    from claude_mem_core.clean import tags
    from claude_mem_core.redactor.secrets import close, counts, faults, open_secrets

    text = sys.stdin.buffer.read(LARGEST).decode("utf-8", "replace")
    settings = dict(_settings())
    if pattern is not None:
        own = [{"name": "pattern", "regex": pattern}]
        settings["CLAUDE_MEM_REDACT_CUSTOM_PATTERNS"] = own
    try:
        cleaned = open_secrets(settings)(tags.strip(text))
        wrong = faults()
    finally:
        close()
    if as_json:
        emit_json({"text": cleaned, "matches": counts(text, cleaned), "faults": wrong})
    else:
        emit(cleaned.rstrip("\n"))
    for fault in wrong:
        complain(fault)
    return 1 if wrong else 0


def _settings() -> dict[str, object]:
    from claude_mem_core.paths import Paths, data_dir
    from claude_mem_core.settings import SettingsSource

    return dict(SettingsSource(Paths(data_dir())).current())


def _list(as_json: bool) -> int:
    from claude_mem_core.clean import entropy, vendor
    from claude_mem_core.clean.own_patterns import declared

    settings = _settings()
    own, wrong = declared(settings["CLAUDE_MEM_REDACT_CUSTOM_PATTERNS"])
    disabled = tuple(map(str, settings["CLAUDE_MEM_REDACT_DISABLED_BUILTINS"]))  # type: ignore[call-overload]
    generic = bool(settings["CLAUDE_MEM_REDACT_GENERIC_ENABLED"])
    rows = [{"name": p.name, "kind": "own", "on": True} for p in own]
    for kind, table, on in (
        ("vendor", vendor.VENDOR, True),
        ("generic", vendor.GENERIC, generic),
    ):
        rows += [
            {"name": name, "kind": kind, "on": on and name not in disabled}
            for name, _, _ in table
        ]
    random = bool(settings["CLAUDE_MEM_REDACT_ENTROPY_ENABLED"]) and entropy.NAME not in disabled
    rows.append({"name": entropy.NAME, "kind": "entropy", "on": random})
    if as_json:
        emit_json({"enabled": bool(settings["CLAUDE_MEM_REDACT_ENABLED"]), "patterns": rows})
    else:
        for row in rows:
            emit(f"{row['name']:<18} {row['kind']:<8} {'on' if row['on'] else 'off'}")
    for fault in wrong:
        complain(fault)
    return 0

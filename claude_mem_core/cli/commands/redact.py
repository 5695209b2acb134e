"""`mem redact`: try the redactor on text."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from claude_mem_core.cli.emit import complain, emit, emit_json

HELP = "try what is taken out of text before it is kept: `mem redact test < file`"
LARGEST = 64 * 1024 * 1024


def arguments(parser: ArgumentParser) -> None:
    """`test [PATTERN]` and `list`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    test = actions.add_parser("test", help="clean the text on standard input and print it")
    test.add_argument("pattern", nargs="?", help="an own pattern to try first")
    test.add_argument("--json", action="store_true", help="print JSON")
    listing = actions.add_parser("list", help="name the built-in patterns and your own")
    listing.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """1 when the own pattern can't be used."""
    return _list(args.json) if args.action == "list" else _test(args.pattern, args.json)


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
    from claude_mem_core.clean import vendor
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
    if as_json:
        emit_json({"enabled": bool(settings["CLAUDE_MEM_REDACT_ENABLED"]), "patterns": rows})
    else:
        for row in rows:
            emit(f"{row['name']:<18} {row['kind']:<8} {'on' if row['on'] else 'off'}")
    for fault in wrong:
        complain(fault)
    return 0

"""`mem config`: what is set, where it comes from, and how to change it."""

from __future__ import annotations

import argparse
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from claude_mem_core.cli.emit import complain, emit, emit_json
from claude_mem_core.errors import SettingsError, UsageError
from claude_mem_core.extensions import registry_of
from claude_mem_core.paths import Paths, data_dir
from claude_mem_core.settings import Settings, SettingsSource, writing
from claude_mem_core.settings.collecting import refusal
from claude_mem_core.settings.declared import nearest
from claude_mem_core.settings.values import allowed, as_text, masked_text
from claude_mem_core.types import Setting

HELP = "show, explain and change settings"
STDIN_CHARS = 1_000_000


def arguments(parser: ArgumentParser) -> None:
    """The actions of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    listing = _action(actions, "list", "every setting with its value and origin (the default)")
    listing.add_argument("--changed", action="store_true", help="only those not at default")
    _action(actions, "get", "the value of one setting").add_argument("key")
    change = _action(actions, "set", "write one setting into the settings file")
    change.add_argument("key", help="with or without CLAUDE_MEM_, in any case")
    change.add_argument("value", help="the value, or - to read it from standard input")
    _action(actions, "explain", "what a setting means and why it has its value").add_argument(
        "key"
    )
    _action(actions, "mend", "write a broken file anew from what is whole in it")
    _action(actions, "path", "where the settings file is")


def _action(actions: Any, name: str, text: str) -> ArgumentParser:
    parser: ArgumentParser = actions.add_parser(name, help=text, description=text)
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print JSON"
    )
    return parser


def run(args: Namespace) -> int:
    """Do one action; 1 when the settings file has a problem, 2 for an unknown key."""
    paths = Paths(data_dir())
    if args.action == "path":
        return show_path(paths, args)
    if args.action == "mend":
        return mend(paths, args)
    source, _ = registry_of(paths, providers=True)
    actions = {"get": get, "set": change, "explain": explain}
    return actions.get(args.action, show_all)(source, args)


def _known(source: SettingsSource, name: str) -> Setting:
    try:
        return source.known(name)
    except SettingsError as error:
        raise UsageError(str(error)) from None


# Showing ----------------------------------------------------------------------------


def show_path(paths: Paths, args: Namespace) -> int:
    """Print where the file is; it need not be there."""
    if args.json:
        emit_json({"path": str(paths.settings), "exists": paths.settings.exists()})
    else:
        emit(str(paths.settings))
    return 0


def mend(paths: Paths, args: Namespace) -> int:
    """Put a broken file aside and write what is whole in it."""
    kept = writing.mend(paths)
    if args.json:
        emit_json({"mended": kept is not None, "aside": str(kept.aside) if kept else None})
    elif kept is None:
        emit(f"{paths.settings} can be read, nothing was done")
    else:
        emit(f"{len(kept.values)} settings were whole and are kept: {', '.join(kept.values)}")
        emit(f"the broken file is {kept.aside}; set what is missing with `mem config set`")
    return 0


def show_all(source: SettingsSource, args: Namespace) -> int:
    """Print every setting, and what is wrong with the file."""
    settings = source.current()
    shown = [
        s for s in source.declared if not getattr(args, "changed", False) or _set(settings, s)
    ]
    if args.json:
        emit_json(
            {
                "path": str(source.paths.settings),
                "settings": [_row(setting, settings) for setting in shown],
                "unknown": list(settings.unknown),
                "warnings": list(settings.warnings),
                "broken": settings.broken,
            }
        )
    else:
        _print_all(source, settings, shown)
    return 1 if settings.warnings else 0


def _set(settings: Settings, setting: Setting) -> bool:
    return settings.origin(setting.key) != "default"


def _row(setting: Setting, settings: Settings) -> dict[str, Any]:
    return {
        "key": setting.key,
        "value": _value(setting, settings),
        "origin": settings.origin(setting.key),
        "default": as_text(setting, setting.default),
        "type": setting.type,
        "allowed": allowed(setting),
        "area": setting.area,
        "scope": setting.scope,
        "sources": list(setting.sources),
        "restart": setting.restart,
        "help": setting.help,
    }


def _value(setting: Setting, settings: Settings) -> Any:
    value = settings[setting.key]
    if setting.type in {"bool", "int", "number", "csv", "json"}:
        return list(value) if isinstance(value, tuple) else value
    return masked_text(setting, value)


def _print_all(source: SettingsSource, settings: Settings, shown: list[Setting]) -> None:
    area = ""
    areas = list(dict.fromkeys(setting.area for setting in shown))
    for setting in sorted(shown, key=lambda setting: areas.index(setting.area)):
        if setting.area != area:
            emit(("" if not area else "\n") + f"[{setting.area}]")
            area = setting.area
        origin = settings.origin(setting.key)
        value = masked_text(setting, settings[setting.key])
        emit(f"{setting.key} = {value}   ({origin})")
    for key in settings.unknown:
        close = nearest(key, source.declared)
        hint = f"; did you mean {close[0]}?" if close else ""
        emit(f"\n{key} is in the file, is not known here, and is kept{hint}")
    _complain(settings)


def _complain(settings: Settings) -> None:
    for warning in settings.warnings:
        complain(f"mem: {warning}")


def get(source: SettingsSource, args: Namespace) -> int:
    """Print one value, of a secret only its end."""
    setting = _known(source, args.key)
    settings = source.current()
    if args.json:
        emit_json(_row(setting, settings))
    else:
        emit(masked_text(setting, settings[setting.key]))
        _complain(settings)
    return 0


def explain(source: SettingsSource, args: Namespace) -> int:
    """Print what a setting means, and each place that had a say in its value."""
    setting = _known(source, args.key)
    found = source.explain(setting.key)
    if args.json:
        places = [{"where": where, "value": value} for where, value in found.candidates]
        row = _row(setting, source.current())
        emit_json({**row, "candidates": places, "notes": list(found.notes)})
        return 0
    emit(f"{setting.key} = {found.value}   ({found.origin})")
    emit(f"  {setting.help}")
    emit(f"  takes: {allowed(setting)}")
    for number, (where, value) in enumerate(found.candidates):
        emit(f"  {'  ' if number else '> '}{where}: {value or '(empty)'}")
    if setting.scope == "machine":
        emit("  A setting of this machine: no repository and no host can change it.")
    if setting.restart:
        emit("  A running worker takes it up with: mem restart")
    for note in found.notes:
        complain(f"mem: {note}")
    return 0


# Changing ---------------------------------------------------------------------------


def change(source: SettingsSource, args: Namespace) -> int:
    """Write one value into the file, everything else in it as it was."""
    setting = _known(source, args.key)
    text = _given(setting, args.value)
    fault = refusal(setting, text)
    if fault:
        raise UsageError(f"{setting.key} {fault}")
    before = source.current()[setting.key]
    source.set(setting.key, text)
    _report(source, setting, before, args)
    return 0


def _given(setting: Setting, value: str) -> str:
    if value == "-":
        text = sys.stdin.read(STDIN_CHARS)
        return text.rstrip("\r\n")
    if setting.type == "secret" and value:
        raise UsageError(
            f"{setting.key} is a secret, and command lines are seen by others and kept in "
            f"histories; give it on standard input: mem config set {setting.key} - < FILE"
        )
    return value


def _report(source: SettingsSource, setting: Setting, before: Any, args: Namespace) -> None:
    settings = source.current()
    origin = settings.origin(setting.key)
    if args.json:
        row = _row(setting, settings)
        emit_json({**row, "before": masked_text(setting, before)})
        return
    emit(f"{setting.key} = {masked_text(setting, settings[setting.key])}")
    if origin == "environment":
        emit(f"The environment names {setting.key} too, and that wins where it is set.")
    if setting.restart:
        emit("A running worker takes it up with: mem restart")

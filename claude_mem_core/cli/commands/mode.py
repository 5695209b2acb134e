"""`mem mode`: which kinds of memories are made, in which words and language."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from claude_mem_core.modes import Mode, Modes

HELP = "list, choose, make and check modes: types, concepts and language of memories"
KEY = "CLAUDE_MEM_MODE"


def arguments(parser: ArgumentParser) -> None:
    """The actions of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    _action(actions, "list", "every mode, with the one in force marked (the default)")
    use = _action(actions, "use", "make memories in this mode from now on")
    use.add_argument("mode")
    create = _action(actions, "create", "make a mode of your own, which `use` then chooses")
    create.add_argument("mode", help="its id; `code--NAME` changes some of mode `code`")
    create.add_argument("--file", help="its JSON, or - for standard input; else you are asked")
    create.add_argument("--force", action="store_true", help="replace one that is there")
    check = _action(actions, "check", "say what is wrong with a mode, or with all of your own")
    check.add_argument("mode", nargs="?", help="an id, or a file")


def _action(actions: Any, name: str, text: str) -> ArgumentParser:
    parser: ArgumentParser = actions.add_parser(name, help=text, description=text)
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print JSON"
    )
    return parser


def run(args: Namespace) -> int:
    """0 done; 1 a mode is wrong; 2 there is no such mode."""
    actions = {"use": use, "create": create, "check": check}
    return actions.get(args.action, show)(args)


def _modes() -> tuple[Path, Modes]:
    """The folder of the user's own modes, and all modes."""
    import os

    from claude_mem_core.modes import Modes
    from claude_mem_core.paths import Paths, data_dir

    own = Paths(data_dir()).data / "modes"
    override = os.environ.get("CLAUDE_MEM_MODES_DIR")
    return own, Modes(own, Path(override) if override else None)


def show(args: Namespace) -> int:
    """Print every mode; those that can't be used with the reason."""
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.errors import MemError

    _, modes = _modes()
    chosen, rows = _chosen(), []
    for mode_id in modes.ids():
        try:
            rows.append(_row(modes.mode(mode_id), chosen))
        except MemError as error:
            rows.append({"id": mode_id, "name": "", "in_force": False, "error": str(error)})
    if args.json:
        emit_json({"chosen": chosen, "modes": rows})
        return 0
    for row in rows:
        mark = "*" if row["in_force"] else " "
        emit(f"{mark} {row['id']:<24} {row['error'] or row['name']}")
    emit("`mem mode use MODE` chooses one; a `code--NAME` changes some of `code`")
    return 0


def _row(mode: Mode, chosen: str) -> dict[str, Any]:
    return {
        "id": mode.id, "name": mode.name, "description": mode.description,
        "language": mode.language, "types": list(mode.type_ids),
        "concepts": list(mode.concept_ids), "in_force": mode.id == chosen, "error": "",
    }  # fmt: skip


def _chosen() -> str:
    from claude_mem_core.paths import Paths, data_dir
    from claude_mem_core.settings import SettingsSource

    return str(SettingsSource(Paths(data_dir())).current()[KEY])


def use(args: Namespace) -> int:
    """Check a mode and write it into the settings; the worker follows by itself."""
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.paths import Paths, data_dir
    from claude_mem_core.settings import SettingsSource

    _, modes = _modes()
    mode = modes.mode(args.mode)
    SettingsSource(Paths(data_dir())).set(KEY, mode.id)
    if args.json:
        emit_json(_row(mode, mode.id))
    else:
        emit(f"memories are made in mode {mode.id} ({mode.name}) from the next turn on")
    return 0


def create(args: Namespace) -> int:
    """Make a mode of the user's own, checked before it is kept."""
    import json

    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.errors import UsageError
    from claude_mem_core.files import secure_dir, write_private
    from claude_mem_core.modes.loading import checked, is_id

    own, modes = _modes()
    if not is_id(args.mode):
        raise UsageError("an id has small letters, digits, - and _; parent and name by --")
    if args.mode in modes.bundled_ids():
        raise UsageError(f"{args.mode} is a mode of ours; call yours {args.mode}--NAME")
    target = own / f"{args.mode}.json"
    if target.exists() and not args.force:
        raise UsageError(f"{target} is there already; --force replaces it")
    raw = _given(args.file) if args.file else _asked(args.mode)
    mode = checked(raw, args.mode, modes)
    secure_dir(own.parent)
    secure_dir(own)
    write_private(target, json.dumps(raw, ensure_ascii=False, indent=1).encode() + b"\n")
    if args.json:
        emit_json({**_row(mode, _chosen()), "path": str(target)})
    else:
        emit(f"kept as {target}; choose it with: mem mode use {mode.id}")
    return 0


def _given(name: str) -> dict[str, Any]:
    """The JSON object in a file or on standard input."""
    import sys

    from claude_mem_core.errors import UsageError
    from claude_mem_core.modes.loading import parsed

    try:
        data = sys.stdin.buffer.read(1_000_000) if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name} can't be read: {error.strerror}") from None
    return parsed(data, name)


def _asked(mode_id: str) -> dict[str, Any]:
    """Ask a person for the parts of a mode; empty answers leave a part to its parent."""
    import sys

    from claude_mem_core.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError("give the mode's JSON with --file; questions need a terminal")
    raw: dict[str, Any] = {"name": input("Name of the mode: ").strip() or mode_id}
    raw["description"] = input("What is it for? ").strip()
    language = input("Language of the memories (empty: that of the session): ").strip()
    raw |= {"language": language} if language else {}
    types = _listed("Type of memory, as `id: when it is right` (empty line ends): ")
    raw |= {"observation_types": types} if types else {}
    concepts = _listed("Concept, as `id: meaning` (empty line ends): ")
    raw |= {"observation_concepts": concepts} if concepts else {}
    names = {"role": "Who watches what? ", "record": "What is worth a memory? ",
             "skip": "What is not? "}  # fmt: skip
    prompts = {name: text for name, ask in names.items() if (text := input(ask).strip())}
    return {**raw, "prompts": prompts} if prompts else raw


def _listed(ask: str) -> list[dict[str, str]]:
    found = []
    while line := input(ask).strip():
        name, _, text = line.partition(":")
        found.append({"id": name.strip(), "description": text.strip()})
    return found


def check(args: Namespace) -> int:
    """Print what is wrong with one mode, or with all modes and names of the user."""
    from claude_mem_core.cli.emit import emit, emit_json
    from claude_mem_core.errors import MemError, NotFound
    from claude_mem_core.modes.loading import checked

    _, modes = _modes()
    faults: dict[str, str] = {}
    path = Path(args.mode) if args.mode else None
    names = [args.mode] if args.mode else modes.ids()
    for name in names:
        try:
            if path is not None and path.is_file():
                checked(_given(name), path.stem, modes)
            else:
                modes.mode(name)
        except NotFound:
            raise
        except MemError as error:
            faults[name] = str(error)
    for name in [] if args.mode else modes.shadowed():
        faults[name] = f"a mode of ours has this id and wins; call yours {name}--NAME"
    if args.json:
        emit_json({"checked": names, "faults": faults})
    for name, fault in ({} if args.json else faults).items():
        emit(f"{name}: {fault}")
    if not faults and not args.json:
        emit(f"{len(names)} modes are right" if len(names) > 1 else f"{names[0]} is right")
    return 1 if faults else 0

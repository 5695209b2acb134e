"""`mem import`: take in memories from a claude-mem database, a file, or transcripts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.errors import InvalidInput, UsageError
from claude_mem_core.paths import Paths, data_dir

if TYPE_CHECKING:
    from claude_mem_core.clean.cleaner import Cleaner
    from claude_mem_core.store.imports import Counts, Staged

HELP = "import memories: `claude-mem [DATABASE]`, `transcripts`, or a FILE of JSON"

CLAUDE_MEM, TRANSCRIPTS = "claude-mem", "transcripts"
LARGEST = 64 << 20  # bytes of a file of JSON
WHY = {"pins, ratings and names": "if they are yours: add `--own`, at a terminal",
       "rows of folders where memory is off": "`mem on DIR` switches it on"}  # fmt: skip
SQLITE = b"SQLite format 3\0"
NAMES = {
    "sessions": "Sessions", "summaries": "Summaries", "observations": "Observations",
    "prompts": "Prompts", "tool_uses": "Tool uses",
}  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    from claude_mem_core.cli import history

    parser.add_argument(
        "source", metavar="FILE", help="an export (JSON), `claude-mem` or `transcripts`"
    )
    parser.add_argument(
        "path", metavar="DATABASE", nargs="?",
        help="with claude-mem: its database (claude-mem.db in the data directory)",
    )  # fmt: skip
    parser.add_argument("--passphrase-file", metavar="FILE", help="of a sealed export")
    parser.add_argument(
        "--edited", action="store_true", help="take an export that was changed since"
    )
    parser.add_argument(
        "--own", action="store_true",
        help="also its pins, ratings, personal list and project names (asks, at a terminal)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print a JSON object")
    history.arguments(parser)


def run(args: argparse.Namespace) -> int:
    """0 imported (or nothing new), 1 a transcript is not readable or nobody agreed, 2 a file is not as it must be."""
    from claude_mem_core.cli.importing import taken_in

    paths = Paths(data_dir())
    if args.source == TRANSCRIPTS and args.path is None:
        from claude_mem_core.cli import history

        _no_own(args)
        return history.run(args, paths)
    _only_with_transcripts(args)
    if args.source == CLAUDE_MEM:
        _no_own(args)
        path = Path(args.path) if args.path else paths.data / "claude-mem.db"
        heading: dict[str, Any] = {}
        counts: Counts | None = taken_in(
            paths, lambda cleaner: _database(paths, path, cleaner), CLAUDE_MEM
        )
    else:
        path = Path(args.source)
        heading, counts = _from_file(paths, args)
    if counts is None:
        return 1
    if args.json:
        emit_json({**counts.answer(), "source": str(path)})
    else:
        for line in _lines(path, heading, counts):
            emit(line)
    return 0


def _only_with_transcripts(args: argparse.Namespace) -> None:
    """A dry run that is none would be worse than no dry run."""
    from claude_mem_core.cli.history import OPTIONS

    for name in OPTIONS:
        if getattr(args, name):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} goes with `mem import transcripts`")


def _no_own(args: argparse.Namespace) -> None:
    if args.own:
        raise UsageError("--own goes with a FILE of `mem export`")


def _database(paths: Paths, path: Path, cleaner: Cleaner) -> Staged:
    from claude_mem_core.store import imports

    if not path.exists():
        raise InvalidInput(
            f"Database not found at {path}; name the file: `mem import claude-mem PATH`"
        )
    return imports.read_claude_mem(path, paths.data, cleaner)


def _from_file(paths: Paths, args: argparse.Namespace) -> tuple[dict[str, Any], Counts | None]:
    """The head of the file, and what came in; None when nobody agreed."""
    from claude_mem_core.cli.importing import taken_in
    from claude_mem_core.cli.owning import agreed
    from claude_mem_core.store import imports

    if args.path is not None:
        raise UsageError("one FILE at a time; a database: `mem import claude-mem DATABASE`")
    value = _loaded(Path(args.source), args.passphrase_file)
    heading = value if isinstance(value, dict) else {}
    if not args.edited:
        _verified(Path(args.source), heading)
    if args.own and not agreed(heading):
        return heading, None
    return heading, taken_in(
        paths, lambda cleaner: imports.read_json(value, cleaner, own=args.own)
    )


def _verified(path: Path, heading: dict[str, Any]) -> None:
    from claude_mem_core.store import export

    try:
        export.verify(heading)
    except InvalidInput as error:
        raise InvalidInput(f"{path} is not imported: {error}") from None


def _unsealed(raw: bytes, passphrase_file: str | None) -> bytes:
    """What a sealed export holds; anything else as it is."""
    from io import BytesIO

    from claude_mem_core.cli.passphrase import passphrase
    from claude_mem_core.sealed import is_sealed, unseal

    if not is_sealed(raw):
        return raw
    plain = BytesIO()
    unseal(BytesIO(raw), plain, passphrase(passphrase_file, new=False))
    return plain.getvalue()


def _loaded(path: Path, passphrase_file: str | None = None) -> Any:
    """The JSON of a file, or the objects of its lines.

    Raises:
        InvalidInput: it can't be read, or is something else.
    """
    from claude_mem_core.convert import json_loads_bounded
    from claude_mem_core.files import open_regular

    if not path.exists():
        raise InvalidInput(f"Input file not found: {path}")
    with open_regular(path, LARGEST, follow=True) as file:
        raw = _unsealed(file.read(), passphrase_file)
    if raw.startswith(SQLITE):
        raise InvalidInput(f"{path} is a database: `mem import claude-mem {path}`")
    if not raw.strip():
        raise InvalidInput(f"{path} is empty")
    try:
        if path.suffix == ".jsonl":
            lines = (line for line in raw.splitlines() if line.strip())
            return [json_loads_bounded(line, LARGEST) for line in lines]
        return json_loads_bounded(raw, LARGEST)
    except InvalidInput as error:
        raise InvalidInput(f"{path} can't be imported: {error}") from None


def _lines(path: Path, heading: dict[str, Any], counts: Counts) -> Iterator[str]:
    yield f"Import file: {path}"
    for key, name in (("exportedAt", "Exported"), ("query", "Query")):
        if isinstance(heading.get(key), str):
            yield f"{name}: {heading[key][:200]}"
    for kind, count in counts.by_kind.items():
        if count.imported or count.skipped or kind.value != "tool_uses":
            yield f"  {NAMES[kind.value] + ':':<14}{count.imported} imported, {count.skipped} skipped"
    if any(counts.own.values()):
        said = ", ".join(f"{n} {name}" for name, n in counts.own.items() if n)
        yield f"  {'Your own:':<14}{said}"
    for name, rows in counts.left_out.items():
        yield f"  left out: {rows} {name} ({WHY.get(name, 'nothing to remember in them')})"


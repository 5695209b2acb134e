"""`mem export`: write memories to a file that `mem import` takes anywhere."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.errors import UsageError
from claude_mem_core.paths import Paths, data_dir

if TYPE_CHECKING:
    import apsw

    from claude_mem_core.store.export import Wanted
    from claude_mem_core.types import Query

HELP = "write memories to a file; `mem import` takes it in anywhere"

LARGE = 64 << 20
KINDS = {"observation": "observations", "summary": "summaries", "prompt": "prompts"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "query", metavar="QUERY",
        help='words to find, "" for everything; type:WORD chooses a type',
    )  # fmt: skip
    parser.add_argument("file", metavar="FILE", help="where to; - for standard output")
    parser.add_argument("--project", help="label or id of a project")
    parser.add_argument("--since", metavar="DATE", help="YYYY-MM-DD or an ISO time")
    parser.add_argument("--until", metavar="DATE", help="the last day or time")
    parser.add_argument("--encrypt", action="store_true", help="only a passphrase opens it")
    parser.add_argument("--passphrase-file", metavar="FILE", help="do not ask for it")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 written, also when nothing was found; 2 the file or a filter can't be used."""
    if args.file == "-" and (args.encrypt or args.json):
        raise UsageError("standard output takes the plain export alone")
    counts = _to_output(args) if args.file == "-" else _to_file(args)
    if args.json:
        emit_json({"file": args.file, "encrypted": args.encrypt, **counts})
    elif args.file != "-":
        _tell(args, counts)
    return 0


def _to_output(args: argparse.Namespace) -> dict[str, int]:
    import sys

    return _written(args, sys.stdout.buffer)


def _to_file(args: argparse.Namespace) -> dict[str, int]:
    import io

    from claude_mem_core.cli.outfile import new_file
    from claude_mem_core.cli.passphrase import passphrase
    from claude_mem_core.sealed import seal

    word = passphrase(args.passphrase_file, new=True) if args.encrypt else ""
    with new_file(Path(args.file), force=args.force) as file:
        if not word:
            return _written(args, file)
        # In memory: what is to be sealed shall not lie on a disk before.
        plain = io.BytesIO()
        counts = _written(args, plain)
        plain.seek(0)
        seal(plain, file, word)
    return counts


def _written(args: argparse.Namespace, file: Any) -> dict[str, int]:
    from claude_mem_core.pipeline.clock import now_ms
    from claude_mem_core.store import export
    from claude_mem_core.store.look import look

    def write(conn: apsw.Connection) -> dict[str, int]:
        return export.write(conn, _wanted(conn, args), args.query, now_ms(), file)

    return look(Paths(data_dir()).database, write)


def _wanted(conn: apsw.Connection, args: argparse.Namespace) -> Wanted:
    """What the arguments choose.

    Raises:
        UsageError: no such project, or no date.
    """
    from claude_mem_core.recall.dates import parse
    from claude_mem_core.store import projects
    from claude_mem_core.store.export import Wanted
    from claude_mem_core.types import Query

    words = args.query.split()
    types = [word[5:] for word in words if word.startswith("type:") and len(word) > 5]
    text = " ".join(word for word in words if not word.startswith("type:"))
    numbers = projects.find(conn, args.project) if args.project else []
    if args.project and not numbers:
        raise UsageError(projects.unknown_text(conn, args.project))
    ids = _found(conn, Query(text=text, project=args.project)) if text else None
    return Wanted(
        projects=numbers, types=types, ids=ids,
        since_ms=parse(args.since) if args.since else None,
        until_ms=parse(args.until, end=True) if args.until else None,
    )  # fmt: skip


def _found(conn: apsw.Connection, query: Query) -> dict[str, list[int]]:
    """Every record that holds all the words."""
    from claude_mem_core.recall.every import every

    return {KINDS[kind.value]: ids for kind, ids in every(conn, query).items()}


def _tell(args: argparse.Namespace, counts: dict[str, int]) -> None:
    for line in _lines(counts):
        emit(line)
    size = Path(args.file).stat().st_size
    emit(f"Written: {args.file}")
    if not args.encrypt:
        emit("It holds what was remembered in plain text: read it before you pass it on.")
    if size > LARGE:
        emit(
            "It is larger than `mem import` takes in one go (64 MB): export by --project or"
            " --since, or take everything along with `mem backup`."
        )


def _lines(counts: dict[str, int]) -> Iterable[str]:
    for kind, count in counts.items():
        yield f"  {kind.capitalize() + ':':<14}{count}"

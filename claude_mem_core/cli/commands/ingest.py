"""`mem ingest`: take in the notes that a host keeps by itself."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.errors import UsageError
from claude_mem_core.paths import Paths, data_dir

if TYPE_CHECKING:
    from claude_mem_core.transcripts.notes import Ingested

HELP = "take in the notes that a host keeps by itself; no model is asked"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", metavar="DIR", help="this folder of notes")
    parser.add_argument("--all", action="store_true", help="the notes of every project")
    parser.add_argument("--dry-run", action="store_true", help="only look and count")
    parser.add_argument(
        "--require-cwd", action="store_true", help="leave out notes whose directory is not known"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 a note could not be read, 2 the folder is not where notes are kept."""
    from claude_mem_core.cli.notes import ingested

    if args.source and args.all:
        raise UsageError("--source is one folder, --all is every one: choose")
    done = ingested(
        Paths(data_dir()), source=args.source or "", every=args.all, here=os.getcwd(),
        require_cwd=args.require_cwd, dry=args.dry_run,
    )  # fmt: skip
    if args.json:
        emit_json({**attrs.asdict(done), "dry_run": args.dry_run})
    else:
        for line in _lines(done, dry=args.dry_run):
            emit(line)
    return 1 if done.failed else 0


def _lines(done: Ingested, *, dry: bool) -> Iterator[str]:
    for path, reason in done.skipped:
        yield f"skipped: {path}: {reason}"
    for path, reason in done.failed:
        yield f"failed: {path}: {reason}"
    counts = f"{len(done.skipped)} skipped, {len(done.failed)} failed"
    of = f"of {done.files} files across {done.folders} dirs"
    if dry:
        yield f"MEMORY INGEST (dry run): {done.found} to store, {counts}, {of}"
    else:
        yield f"MEMORY INGEST: {done.stored} stored, {done.known} already-imported, {counts}, {of}"

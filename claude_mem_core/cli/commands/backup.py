"""`mem backup`: everything that is remembered, in one file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import IO, TYPE_CHECKING

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.paths import Paths, data_dir

if TYPE_CHECKING:
    from claude_mem_core.store.backup import Backup

HELP = "write everything that is remembered into one file; `mem restore` puts it back"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="where to")
    parser.add_argument("--encrypt", action="store_true", help="only a passphrase opens it")
    parser.add_argument("--passphrase-file", metavar="FILE", help="do not ask for it")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 written, 2 the file can't be used, 3 the database can't be read."""
    from claude_mem_core.cli.outfile import new_file
    from claude_mem_core.cli.passphrase import passphrase

    word = passphrase(args.passphrase_file, new=True) if args.encrypt else ""
    with new_file(Path(args.file), force=args.force) as file:
        made = _sealed(file, word) if word else _made(file)
    if args.json:
        emit_json({"file": args.file, "encrypted": bool(word), "rows": dict(made.rows)})
        return 0
    rows = ", ".join(f"{count:,} {table}" for table, count in made.rows.items())
    emit(f"Written: {args.file} ({Path(args.file).stat().st_size:,} bytes): {rows}")
    emit(f"Keys are not in it. To put it back: mem restore {args.file}")
    return 0


def _made(file: IO[bytes]) -> Backup:
    from claude_mem_core.cli.shared_settings import without_secrets
    from claude_mem_core.pipeline.clock import now_ms
    from claude_mem_core.store import backup

    paths = Paths(data_dir())
    return backup.make(paths.database, without_secrets(paths), now_ms(), file)


def _sealed(file: IO[bytes], word: str) -> Backup:
    """The plain backup lies in our own private folder meanwhile, beside the database."""
    from claude_mem_core.files.workfolder import work_folder
    from claude_mem_core.sealed import seal

    with (
        work_folder(data_dir(), ".backup-") as folder,
        (folder / "plain").open("w+b") as plain,
    ):
        made = _made(plain)
        plain.seek(0)
        seal(plain, file, word)
        return made

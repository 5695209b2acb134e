"""`mem restore`: put back what `mem backup` has written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from claude_mem_core.cli.emit import emit, emit_json
from claude_mem_core.errors import InvalidInput, UsageError
from claude_mem_core.paths import Paths, data_dir

if TYPE_CHECKING:
    from claude_mem_core.store.backup import Backup

HELP = "put a backup in the place of what is remembered now; that is kept beside it"

LARGEST = 1 << 40
SQLITE = b"SQLite format 3\0"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="what `mem backup` has written, or a file of snapshots/")
    parser.add_argument("--passphrase-file", metavar="FILE", help="do not ask for it")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="only say what it holds")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """0 done, 1 not wished, 2 it is no backup or damaged, 3 it can't be written."""
    from claude_mem_core.store.backup import look_into

    path = Path(args.file)
    if not path.exists():
        raise InvalidInput(f"there is no file {path}")
    try:
        with _plain(path, args.passphrase_file) as file:
            held = look_into(file)
            if args.dry_run or not _wished(args, held):
                return 0 if args.dry_run and _shown(args, held) else 1
            return _restored(args, file)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


@contextmanager
def _plain(path: Path, passphrase_file: str | None) -> Iterator[IO[bytes]]:
    """The backup, opened if it is sealed."""
    from claude_mem_core.files import open_regular, secure_dir
    from claude_mem_core.files.workfolder import work_folder
    from claude_mem_core.sealed import MAGIC, is_sealed, unseal

    with open_regular(path, LARGEST, follow=True) as file:
        head = file.read(max(len(MAGIC), len(SQLITE)))
        sealed = is_sealed(head[: len(MAGIC)])
        file.seek(0)
        if head.startswith(SQLITE):
            with _wrapped(path) as plain:
                yield plain
            return
        if not sealed:
            yield file
            return
        from claude_mem_core.cli.passphrase import passphrase

        word = passphrase(passphrase_file, new=False)
        secure_dir(data_dir())
        with (
            work_folder(data_dir(), ".restore-") as folder,
            (folder / "plain").open("w+b") as plain,
        ):
            unseal(file, plain, word)
            plain.seek(0)
            yield plain


@contextmanager
def _wrapped(path: Path) -> Iterator[IO[bytes]]:
    """A copy of the database itself, as `snapshots/` holds them, in the form of a backup."""
    from claude_mem_core.files import secure_dir
    from claude_mem_core.files.workfolder import work_folder
    from claude_mem_core.store.backup import wrap

    secure_dir(data_dir())
    with (
        work_folder(data_dir(), ".restore-") as folder,
        (folder / "plain").open("w+b") as plain,
    ):
        wrap(path, int(path.stat().st_mtime * 1000), plain)
        plain.seek(0)
        yield plain


def _shown(args: argparse.Namespace, held: Backup) -> bool:
    from claude_mem_core.store.text import iso

    if args.json:
        emit_json({"file": args.file, "madeAt": iso(held.made_ms), "rows": dict(held.rows)})
        return True
    emit(f"{args.file} was made at {iso(held.made_ms)} and holds:")
    for table, count in held.rows.items():
        emit(f"  {table + ':':<20}{count:,}")
    return True


def _wished(args: argparse.Namespace, held: Backup) -> bool:
    if args.yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("nobody can be asked: add --yes to restore, --dry-run to look")
    _shown(args, held)
    return input("Put this in the place of what is remembered now? [y/N] ").lower() == "y"


def _restored(args: argparse.Namespace, file: IO[bytes]) -> int:
    from claude_mem_core.cli.shared_settings import put_back
    from claude_mem_core.cli.upkeep import worker_kept_out
    from claude_mem_core.files import secure_dir
    from claude_mem_core.store.backup import restore

    paths = Paths(data_dir())
    secure_dir(paths.data)
    with worker_kept_out(paths):
        made, kept = restore(file, paths.database)
        settings = put_back(paths, made.settings)
    if args.json:
        emit_json({"kept": str(kept) if kept else None, "settings": settings,
                   "rows": dict(made.rows)})  # fmt: skip
        return 0
    emit(
        f"Restored: {made.rows['observations']:,} observations, {made.rows['events']:,} events"
    )
    if kept:
        emit(f"What was there before is kept: {kept}")
    if settings:
        emit(f"Settings put back: {paths.settings}")
    elif made.settings is not None and paths.settings.exists():
        emit("Your present settings stay as they are.")
    return 0

"""What `mem doctor` looks at, a row for each finding, with the cure for every red one."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from claude_mem_core import __version__
from claude_mem_core.cli import hostcheck
from claude_mem_core.cli.finding import FAIL, OK, WARN, Check, Look, Row
from claude_mem_core.cli.worker_text import ago, size
from claude_mem_core.errors import MemError, StoreError
from claude_mem_core.files import read_private
from claude_mem_core.paths import Paths

LARGEST = 1 << 20
WRITABLE = "make it writable, or choose another place with CLAUDE_MEM_DATA_DIR"


def rows(look: Look) -> Iterator[Row]:
    """All findings. A check that fails itself is a finding too."""
    for check in CHECKS:
        try:
            yield from check(look)
        except MemError as error:
            yield Row(_topic(check), FAIL, str(error), cure_in(str(error)))
        except OSError as error:
            yield Row(_topic(check), FAIL, error.strerror or type(error).__name__, "mem logs")


def _topic(check: Check) -> str:
    return check.__name__.strip("_").replace("_", " ")


def cure_in(text: str) -> str:
    """The command that a text of ours names; else the one that shows more."""
    found = re.search(r"`(mem [^`]+)`", text)
    return found[1] if found else "mem logs"


def _program(look: Look) -> Iterator[Row]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Row("program", OK, f"claude-mem {__version__}, Python {version}, {sys.prefix}")
    yield from _on_path()
    yield from _foreign_startup_files()


def _on_path() -> Iterator[Row]:
    """Which `mem` a shell would start."""
    ours = Path(sys.executable).parent / "mem"
    found = shutil.which("mem")
    if found is None:
        cure = f"add {ours.parent} to PATH" if ours.exists() else "pip install claude-mem-core"
        yield Row("mem command", WARN, "mem is not on PATH", cure)
    elif ours.exists() and not os.path.samefile(os.path.realpath(found), ours):
        text = f"another mem comes first on PATH: {found}"
        yield Row("mem command", WARN, text, f"put {ours.parent} before {Path(found).parent}")
    else:
        yield Row("mem command", OK, found)


def _foreign_startup_files() -> Iterator[Row]:
    """`.pth` files run code at every start of the worker."""
    import sysconfig

    folder = Path(sysconfig.get_paths()["purelib"])
    known = ("_editable_impl_", "__editable__", "distutils-precedence", "_virtualenv")
    running = [
        path.name
        for path in sorted(folder.glob("*.pth"))
        if not path.name.startswith(known) and _runs_code(path)
    ]
    if running:
        text = f"run code at each start of Python: {', '.join(running)}"
        yield Row("environment", WARN, text, f"look at them in {folder}")


def _runs_code(path: Path) -> bool:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    return any(line.startswith(("import ", "import\t")) for line in lines)


def _data_directory(look: Look) -> Iterator[Row]:
    from claude_mem_core.files import secure_dir

    if not look.paths.data.exists() and not look.paths.data.is_symlink():
        yield Row("data directory", WARN, f"{look.paths.data} is not there yet", "mem install")
        return
    secure_dir(look.paths.data)
    if not os.access(look.paths.data, os.W_OK):
        yield Row("data directory", FAIL, f"{look.paths.data} can't be written", WRITABLE)
    free = shutil.disk_usage(look.paths.data).free
    low = free < 200_000_000
    cure = "make room on the disk" if low else ""
    yield Row("data directory", WARN if low else OK, f"{look.paths.data}, {size(free)} free", cure)
    loose = [p.name for p in look.paths.data.iterdir() if _is_loose(p)]
    if loose:
        yield Row("modes", FAIL, f"others can read {', '.join(sorted(loose)[:5])}", "mem repair")


def _is_loose(path: Path) -> bool:
    state = path.lstat()
    return not path.is_symlink() and bool(state.st_mode & 0o077)


def _settings(look: Look) -> Iterator[Row]:
    from claude_mem_core.settings import SettingsSource

    found = SettingsSource(look.paths).current()
    if found.broken:
        yield Row("settings", FAIL, found.broken, "mem config mend")
    for warning in found.warnings:
        if not (found.broken and warning.startswith(found.broken)):
            yield Row("settings", WARN, warning, "mem config list")
    if not found.broken and not found.warnings:
        yield Row("settings", OK, str(look.paths.settings))


def _worker(look: Look) -> Iterator[Row]:
    found = look.state
    if found["running"]:
        yield from _running(found)
    else:
        yield from _down(look.paths, found)
    yield from _left_on_disk(look.paths, found)


def _running(found: dict[str, Any]) -> Iterator[Row]:
    same = found["version"] == __version__
    text = f"pid {found['pid']}, version {found['version']}"
    yield Row("worker", OK if same else FAIL, text, "" if same else "mem restart")
    if not found["recording"]:
        text = found["notes"].get("recording", "stopped")
        yield Row("recording", FAIL, text, "mem plugins")
    for topic, text in found["notes"].items():
        if topic != "recording":
            yield Row(topic, WARN, text, CURES.get(topic, "mem logs"))
    for name, text in found["indexes"]["faults"].items():
        yield Row(f"search {name}", FAIL, text, "mem db rebuild-index")
    failed = (found["queue"] or {}).get("failed")
    if failed:
        yield Row("queue", FAIL, f"{failed} pieces of work failed three times", "mem queue retry")


CURES = {"hook": "mem repair", "store": "mem db check", "rules": "mem repair", "spool": "mem logs", "port": "", "disk": "make room"}


def _down(paths: Paths, found: dict[str, Any]) -> Iterator[Row]:
    from claude_mem_core.worker import identity, reclaim

    failure = found["last_failure"]
    if found["lock_held"]:
        process = reclaim.holding(paths) or identity.read(paths.lock)
        pid = f" (pid {process.pid})" if process else ""
        text = f"it runs{pid} but gives no answer: {found['trouble'] or 'it is starting'}"
        yield Row("worker", FAIL, text, "mem restart")
    elif failure:
        text = f"the last start failed {ago(failure['at_ms'])}: {failure['text']}"
        named = cure_in(failure["text"])
        yield Row("worker", FAIL, text, "mem start" if named == "mem logs" else named)
    else:
        yield Row("worker", WARN, "not running", "mem start")


def _left_on_disk(paths: Paths, found: dict[str, Any]) -> Iterator[Row]:
    spool = found["spool"]
    if spool["rejected"]:
        text = f"{spool['rejected']} files in it were no records of ours"
        yield Row("spool", WARN, text, "ls -l " + shlex.quote(f"{paths.spool}/rejected"))
    if spool["waiting"] and not found["running"]:
        yield Row("spool", WARN, f"{spool['waiting']} events wait for the worker", "mem start")
    if found["lost"]:
        text = f"hooks could not write {found['lost']} events to disk"
        yield Row("lost", WARN, text, "make room, mend the rights of the data directory")


def _database(look: Look) -> Iterator[Row]:
    from claude_mem_core.cli.commands.verify import accounting

    if not look.paths.database.exists():
        yield Row("database", OK, "none yet")
        return
    account = accounting(look.paths)
    state, cure = (FAIL, "mem db repair --force") if account.off else (OK, "")
    text = f"{account.accepted} events, {size(look.paths.database.stat().st_size)}"
    yield Row("database", state, "; ".join((text, *account.off)), cure)


def _hook(look: Look) -> Iterator[Row]:
    from claude_mem_core import edge

    if not look.paths.hook.exists():
        yield Row("hook", WARN, "not installed into any host yet", "mem install")
        return
    faults = edge.hook_faults(look.paths)
    for fault in faults:
        yield Row("hook", FAIL, fault.partition(":")[0], "mem repair")
    if not faults:
        yield Row("hook", OK, str(look.paths.hook))


def _rules(look: Look) -> Iterator[Row]:
    """Without them a hook that finds no worker keeps no content."""
    if not look.paths.database.exists():
        return
    try:
        known = json.loads(read_private(look.paths.edge, LARGEST))
    except (OSError, ValueError, StoreError):
        known = None
    if not isinstance(known, dict):
        text = f"{look.paths.edge} can't be read: hooks keep no content while the worker is down"
        yield Row("rules", FAIL, text, "mem repair")


def _plugins(look: Look) -> Iterator[Row]:
    registry = look.registry
    if os.environ.get("CLAUDE_MEM_NO_PLUGINS") == "1":
        yield Row("plugins", OK, "left out, as --no-plugins says")
        return
    faulty = [p for p in registry.plugins.values() if p.error]
    for plugin in faulty:
        cure = f"mem plugins block {plugin.package}"
        yield Row(f"plugin {plugin.name}", FAIL, f"{plugin.state}: {plugin.error}", cure)
    if not faulty:
        yield Row("plugins", OK, f"{len(registry.plugins)} loaded")


def _models(look: Look) -> Iterator[Row]:
    """The chosen provider: complete, held, over its budget."""
    from claude_mem_core.cli import model_text
    running = look.state
    found = running["models"] if running["running"] else model_text.state(look.paths)
    troubles = list(model_text.trouble(found))
    for text, cure in troubles:
        yield Row("models", WARN, text, cure)
    if not troubles:
        yield Row("models", OK, model_text.line(found).removeprefix("models").strip())


CHECKS: tuple[Check, ...] = (
    _program, _data_directory, _settings, _worker, _database, _hook, _rules, hostcheck.sent, _plugins,
    _models, hostcheck.loss, hostcheck.hosts,
)  # fmt: skip

"""Another program of the user's as a model service: run alone, in a folder of its own.

It gets a bare environment (no key of the shell, no address that a repository set), what it
is told on stdin and never in its arguments, a deadline, and is ended with all its
children. The folder lies in our data directory, so that it is nobody's project.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE

import anyio
import attrs
from anyio.abc import ByteReceiveStream, Process

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.files import secure_dir, write_private
from claude_mem_core.paths import data_dir
from claude_mem_core.providing.outgoing import CA_FILE, PROXY
from claude_mem_core.types import Values

ANSWER_BYTES = 16_000_000
LAST_WORDS = 4_000
# What a program needs to find itself, its user and its files; never a key or an address.
PASSED = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT",
    "TEMP", "TMP", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
    "PROGRAMDATA", "PROGRAMFILES",
)  # fmt: skip
# Should a hook of ours run there all the same, it does nothing.
SILENT = {
    "CLAUDE_MEM_DISABLE_TOOL_HOOKS": "1",
    "CLAUDE_MEM_DISABLE_OBSERVATION": "1",
    "CLAUDE_MEM_DISABLE_FILE_CONTEXT": "1",
    "CLAUDE_MEM_DISABLE_SUMMARY": "1",
}


@attrs.frozen(kw_only=True)
class Ran:
    """What a program said and how it ended; a negative code is the signal that ended it."""

    out: bytes
    err: str
    code: int


def found(program: str) -> str:
    """The path of a program, by name or path; empty when it is not there."""
    return shutil.which(os.path.expanduser(program)) or ""


def own_folder(settings: Values, name: str) -> Path:
    """A folder of ours, 0700, that a program may run in: `<data>/observer/<name>`.

    A marker in it switches memory off, so that hooks of ours in that program keep nothing.
    """
    root = settings.get("CLAUDE_MEM_DATA_DIR")
    data = Path(root) if root else data_dir()
    for folder in (data, data / "observer", data / "observer" / name):
        secure_dir(folder)
    marker = data / "observer" / ".claude-mem.json"
    if not marker.exists():
        write_private(marker, b'{"enabled": false}\n')
    return data / "observer" / name


def bare_environment(settings: Values, **more: str) -> dict[str, str]:
    """The environment for a program, with the user's own proxy and certificates."""
    kept = {name: os.environ[name] for name in PASSED if name in os.environ}
    proxy, file = settings.get(PROXY), settings.get(CA_FILE)
    if proxy:
        kept |= dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY"), str(proxy))
        kept["NO_PROXY"] = "127.0.0.1,localhost,::1"
    if file:
        kept |= dict.fromkeys(("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"), str(file))
    return {**kept, **SILENT, **more}


async def started(
    argv: Sequence[str], env: Mapping[str, str], folder: Path, *, last_words: bool = True
) -> Process:
    """The running program, in a process group of its own.

    Args:
        last_words: whether the caller listens to stderr; else it goes nowhere.

    Raises:
        ProviderError: it can't be started.
    """
    try:
        return await anyio.open_process(
            list(argv),
            cwd=folder,
            env=dict(env),
            stderr=PIPE if last_words else DEVNULL,
            start_new_session=os.name != "nt",
        )
    except OSError as error:
        text = f"{argv[0]} can't be started: {error.strerror or error}"
        raise ProviderError(Failure.OUTAGE, text) from None


async def ended(process: Process) -> None:
    """End a program with all its children, whatever it is doing."""
    with anyio.CancelScope(shield=True):
        _kill(process)
        with anyio.move_on_after(10):
            await process.wait()
            await process.aclose()


async def run(argv: Sequence[str], told: str, env: Mapping[str, str], folder: Path) -> Ran:
    """Run a program to its end; the caller sets the deadline.

    Args:
        told: what it gets on stdin.

    Raises:
        ProviderError: it can't be started, or says too much.
    """
    process = await started(argv, env, folder)
    said: dict[str, bytes] = {}
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_tell, process, told)
            tasks.start_soon(_hear, process.stdout, "out", said, ANSWER_BYTES)
            tasks.start_soon(_hear, process.stderr, "err", said, LAST_WORDS)
        code = await process.wait()
    finally:
        await ended(process)
    if len(said["out"]) > ANSWER_BYTES:
        text = f"{argv[0]} says more than {ANSWER_BYTES:,} bytes"
        raise ProviderError(Failure.UNUSABLE, text)
    err = said["err"].decode("utf-8", "replace").strip()
    return Ran(out=said["out"], err=err, code=code)


async def _tell(process: Process, told: str) -> None:
    assert process.stdin is not None
    # A program that ends early does not listen; its words say why.
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        await process.stdin.send(told.encode("utf-8", "replace"))
    await process.stdin.aclose()


async def _hear(
    stream: ByteReceiveStream | None, name: str, said: dict[str, bytes], most: int
) -> None:
    """Everything a stream says; past `most`, it is read on and only the size is noted."""
    assert stream is not None
    kept = bytearray()
    async for part in stream:
        if len(kept) <= most:
            kept += part
    said[name] = bytes(kept)


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError, PermissionError, OSError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)

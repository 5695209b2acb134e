"""The one place that runs git, and only for what can't be read from `.git` directly.

A repository's config can name programs that git runs. So: plumbing that never compares
the work tree, a fresh environment, no network protocol, no pager, no hooks, a short time,
and the whole process group is ended after it. Identity (`projects`) does not need git.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import suppress
from functools import cache

TIME_S = 2.0
OUTPUT_BYTES = 1_000_000
DAY_S = 86_400
FOLDERS = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/bin")

FLAGS = (
    "--no-pager",
    "--no-optional-locks",
    "--no-replace-objects",
    "-c", "core.fsmonitor=false",
    "-c", f"core.hooksPath={os.devnull}",
    "-c", "core.alternateRefsCommand=",
    "-c", "safe.bareRepository=explicit",
    "-c", "log.showSignature=false",
    "-c", "log.mailmap=false",
)  # fmt: skip

ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def first_commit(root: str) -> str | None:
    """Id of the oldest first commit of the checkout at `root`.

    It tells a repository that was moved from another one of the same name. None when git
    is missing, refuses, takes longer than two seconds, or there is no commit yet.
    """
    ids = _run(root, "log", "--max-parents=0", "--format=%H", "HEAD", "--")
    words = (ids or b"").split()
    return words[-1].decode("ascii", "replace") if words else None


def file_at(root: str, path: str, at_ms: int) -> bytes | None:
    """A file of the checkout at `root` as it was at a time.

    That is how the first commit of the day after took it in, for work is committed after
    it is done; else how it was committed before. None when git can't tell.
    """
    name = f":(top,literal){path.replace(os.sep, '/')}"
    since, until = at_ms // 1000, at_ms // 1000 + DAY_S
    log = ("log", "--no-renames", "--format=%H")
    later = _run(root, *log, "--reverse", f"--since={since}", f"--until={until}", "HEAD", "--", name)
    first = (later or b"").split()[:1]
    before = first or (_run(root, *log, "-1", f"--until={since}", "HEAD", "--", name) or b"").split()
    if not before:
        return None
    commit = before[0].decode("ascii", "replace")
    return _run(root, "cat-file", "blob", f"{commit}:./{path.replace(os.sep, '/')}")


@cache
def program() -> str | None:
    """The absolute path of git: from the system's folders, never from a relative one."""
    named = os.environ.get("PATH", "").split(os.pathsep)
    for folder in (*FOLDERS, *filter(os.path.isabs, named)):
        path = os.path.join(folder, "git.exe" if os.name == "nt" else "git")
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None


def _run(root: str, command: str, *args: str) -> bytes | None:
    git = program()
    if git is None or not os.path.isabs(root) or "\0" in root:
        return None
    argv = [git, "-C", root, *FLAGS, command, *args]
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.path.dirname(git),
            env=_environment(git, root),
            start_new_session=True,
        )
    except OSError:
        return None
    return _output(process)


def _environment(git: str, root: str) -> dict[str, str]:
    path = os.pathsep.join(dict.fromkeys([os.path.dirname(git), "/usr/bin", "/bin"]))
    # Only `root` itself may be the repository: a hidden one above must not answer.
    return {**ENVIRONMENT, "PATH": path, "GIT_CEILING_DIRECTORIES": os.path.dirname(root)}


def _output(process: subprocess.Popen[bytes]) -> bytes | None:
    timer = threading.Timer(TIME_S, _end, [process])
    timer.start()
    with process:
        assert process.stdout is not None
        data = process.stdout.read(OUTPUT_BYTES + 1)
        if len(data) > OUTPUT_BYTES:
            _end(process)
        _await_end(process)
        timer.cancel()
        # What git may have started ends with it, while its number is still its own.
        _end(process)
        code = process.wait()
    return data if code == 0 and len(data) <= OUTPUT_BYTES else None


def _await_end(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:
        process.wait()


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()

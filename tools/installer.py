"""A quick way to fill an environment that tests made: uv, led to where pip looks.

pip takes ten seconds of a processor for what uv does in one, and the tests fill many
environments. `.venv` itself is filled by plain pip (`tools/dev.py`).
"""

from __future__ import annotations

import ast
import functools
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What pip is configured with, and how uv calls it. Of what is given twice the last counts.
NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "constraint": "UV_CONSTRAINT",
    "cert": "SSL_CERT_FILE",
}
COMMAS = {"UV_FIND_LINKS"}  # the others are separated by blanks


def install(python: Path | str, *wanted: str | Path, env: Mapping[str, str]) -> None:
    """Install into the environment of `python`.

    Raises:
        AssertionError: neither uv nor pip could; the text is what pip said.
    """
    quick = [uv(), "pip", "install", "--quiet", "--python", python, *wanted]
    if not _run(quick, {**env, **environment()}).returncode:
        return
    # The name of an index or a proxy that only pip understands shall not end the tests.
    slow = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile"]
    done = _run([*slow, *wanted], env)
    assert done.returncode == 0, f"{wanted}\n{done.stdout}\n{done.stderr}"


def uv() -> Path:
    """The program, beside the interpreter that runs this."""
    return Path(sys.executable).parent / "uv"


def _run(
    command: list[str | Path], env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command], env=dict(env), capture_output=True, text=True,
        check=False, timeout=500,
    )  # fmt: skip


@functools.cache
def environment() -> dict[str, str]:
    """pip's configuration in uv's words."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    found = translated(listed.stdout, os.environ.get("PIP_CERT", ""))
    cache = os.environ.get("UV_CACHE_DIR", str(ROOT / ".cache" / "uv"))
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_CACHE_DIR": cache, **found}


def translated(listed: str, cert: str = "") -> dict[str, str]:
    """What `pip config list` printed, as variables for uv."""
    found = {"SSL_CERT_FILE": cert} if cert else {}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        name = NAMES.get(key.rpartition(".")[2])
        if name:
            words = str(ast.literal_eval(value)).split()
            found[name] = ("," if name in COMMAS else " ").join(words)
    return found

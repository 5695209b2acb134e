"""The worker's end of an embedder in another process: started when needed, ended when idle."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Sequence
from typing import Any

from claude_mem_core.errors import MemError
from claude_mem_core.types import Embedder, Values

UNUSED_S = 600.0


class Apart:
    """An embedding whose work another process does."""

    def __init__(self, record: Embedder, values: Values) -> None:
        self._name = record.name
        self._where = (record.open.__module__, record.open.__qualname__)
        self._settings = json.dumps(dict(values), default=str)
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._used = 0.0
        self.model = ""
        self.dimensions = 0

    @property
    def ready(self) -> bool:
        """Whether it runs and has told what it is."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it if it does not run; takes as long as loading the model.

        Raises:
            MemError: it ended before it was ready.
        """
        with self._lock:
            self._started()

    def embed(self, texts: Sequence[str], wait_s: float = -1) -> list[Sequence[float]]:
        """One vector for each text.

        Raises:
            MemError: it ended, could not do it, or was busy for `wait_s`.
        """
        if not self._lock.acquire(timeout=wait_s):
            raise MemError(f"the embedder {self._name} is busy")
        try:
            answer = self._asked(self._started(), json.dumps(list(texts)))
        finally:
            self._lock.release()
        if "error" in answer:
            raise MemError(f"the embedder {self._name} failed: {answer['error']}")
        return [_read(vector) for vector in answer["vectors"]]

    def rest(self) -> None:
        """End it when nobody has asked for long."""
        if self.ready and time.monotonic() - self._used > UNUSED_S:
            self.close()

    def close(self) -> None:
        """End it."""
        with self._lock:
            self._end()

    def _started(self) -> subprocess.Popen[str]:
        self._used = time.monotonic()
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "claude_mem_search_vector.child", *self._where],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )  # fmt: skip
        hello = self._asked(self._process, self._settings)
        self.model, self.dimensions = hello["model"], hello["dimensions"]
        return self._process

    def _asked(self, process: subprocess.Popen[str], line: str) -> Any:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        except (OSError, ValueError) as error:
            self._end()
            raise MemError(
                f"the embedder {self._name} ended; `mem plugins` says whether it is whole"
            ) from error

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def _read(text: str) -> Sequence[float]:
    vector = array("f")
    vector.frombytes(base64.b64decode(text))
    return vector

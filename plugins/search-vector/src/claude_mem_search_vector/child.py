"""An embedder in a process of its own: for models that would make the worker heavy.

    python -m claude_mem_search_vector.child MODULE FUNCTION

Reads the settings and then texts, a JSON line each, and writes vectors the same way. It
ends when its input ends, so it never outlives the worker.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import sys
from array import array
from collections.abc import Sequence
from typing import IO, Any

from claude_mem_core.types import Embedding

NICE = 5


def main() -> None:
    out = _own_output()
    module, function = sys.argv[1:3]
    settings = json.loads(sys.stdin.readline())
    embedding: Embedding = getattr(importlib.import_module(module), function)(settings)
    model = getattr(embedding, "model", "")
    _say(out, {"model": model, "dimensions": embedding.dimensions})
    for line in sys.stdin:
        _say(out, _answer(embedding, json.loads(line)))


def _answer(embedding: Embedding, texts: Sequence[str]) -> dict[str, Any]:
    try:
        return {"vectors": [_written(vector) for vector in embedding.embed(texts)]}
    except Exception as error:  # noqa: BLE001  it is told, and the next text is tried
        return {"error": f"{type(error).__name__}: {error}"}


def _written(vector: Sequence[float]) -> str:
    return base64.b64encode(array("f", vector).tobytes()).decode("ascii")


def _own_output() -> IO[str]:
    """Where answers go; what libraries print goes nowhere."""
    kept = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    if hasattr(os, "nice"):
        os.nice(NICE)
    return kept


def _say(out: IO[str], answer: dict[str, Any]) -> None:
    out.write(json.dumps(answer) + "\n")
    out.flush()


if __name__ == "__main__":
    main()

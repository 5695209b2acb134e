"""Make `table.bin` and `words.txt` anew from an ONNX file of all-MiniLM-L6-v2.

    python make_table.py model.onnx tokenizer.json src/claude_mem_embedder_static

Needs numpy and onnxruntime, and some minutes. Not part of the package.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

DIMENSIONS = 256
FIRST, CLS, SEP = 999, 101, 102  # rows before the first are not words


def main() -> None:
    import numpy as np

    model, tokenizer, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    vocabulary = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
    alone = _alone(model, max(vocabulary.values()) + 1)
    centred = alone - alone.mean(0)
    directions = np.linalg.svd(centred[::3], full_matrices=False)[2][:DIMENSIONS]
    rank = np.maximum(np.arange(len(alone), dtype=np.float64) - 996, 1)
    rare = 1e-3 / (1e-3 + 1 / (rank * np.log(len(alone))))
    table = (centred @ directions.T) * rare[:, None]
    top = np.percentile(np.abs(table[FIRST:]), 99.9)
    small = np.clip(np.round(table / top * 127), -127, 127).astype(np.int16) + 128
    kept = [
        (piece, row)
        for piece, row in sorted(vocabulary.items(), key=lambda pair: pair[1])
        if row >= FIRST and piece.removeprefix("##").isalnum()
    ]
    (out / "table.bin").write_bytes(small[[row for _, row in kept]].astype(np.uint8).tobytes())
    words = "\n".join(piece for piece, _ in kept) + "\n"
    (out / "words.txt").write_text(words, encoding="utf-8")


def _alone(model: str, count: int) -> Any:
    """What the model makes of each piece by itself."""
    import numpy as np
    import onnxruntime  # type: ignore[import-untyped]  # it has no types

    session = onnxruntime.InferenceSession(model)
    names = {one.name for one in session.get_inputs()}
    found = []
    for start in range(0, count, 512):
        rows = np.arange(start, min(count, start + 512))
        ids = np.stack([np.full_like(rows, CLS), rows, np.full_like(rows, SEP)], 1)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        if "token_type_ids" in names:
            given["token_type_ids"] = np.zeros_like(ids)
        found.append(session.run(None, given)[0].mean(1))
    return np.concatenate(found)


if __name__ == "__main__":
    main()

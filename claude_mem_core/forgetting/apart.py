"""The process in which the database is tidied and the files are looked through."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import anyio

from claude_mem_core.errors import StoreError
from claude_mem_core.paths import Paths

PROOF = "claude_mem_core.forgetting.proof"
PROOF_S = 1800.0


async def tidied(paths: Paths, texts: Sequence[str]) -> dict[str, Any]:
    """Write the database anew without gaps, then look for `texts` in every file.

    Raises:
        StoreError: it could not be done; the text says why.
    """
    asked = {"data": str(paths.data), "vacuum": True, "texts": list(texts)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-m", PROOF, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, cwd="/",
    )  # fmt: skip
    try:
        with anyio.fail_after(PROOF_S):
            said, _ = await process.communicate(json.dumps(asked).encode())
    except BaseException as error:
        if process.returncode is None:
            process.kill()
            await process.wait()
        if isinstance(error, TimeoutError):
            raise StoreError("the database could not be tidied in time; run this again") from None
        raise
    if process.returncode:
        raise StoreError("what was deleted is gone, but the files could not be looked through; run `mem forget` again")
    answer: dict[str, Any] = json.loads(said)
    if "error" in answer:
        raise StoreError(str(answer["error"]))
    return answer

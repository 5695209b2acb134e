"""Reading a request's body, with a limit. Light: loaded at every start."""

from __future__ import annotations

from typing import Any

from claude_mem_core.worker.refusal import Refused
from claude_mem_core.worker.replies import Receive


class Gone(Exception):
    """The client went away before its request was complete."""


async def read_body(receive: Receive, most: int) -> bytes:
    """The whole body, at most `most` bytes.

    Raises:
        Refused: 413, it is longer.
        Gone: the client hung up.
    """
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        return bytes(_whole(message["body"], most))
    parts = bytearray()
    while message["type"] == "http.request":
        parts += message.get("body", b"")
        _whole(parts, most)
        if not message.get("more_body"):
            return bytes(parts)
        message = await receive()
    raise Gone


def _whole(data: Any, most: int) -> Any:
    if len(data) > most:
        raise Refused(413, f"the body is larger than {most:,} bytes")
    return data

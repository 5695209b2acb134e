"""What the two ends say to each other: JSON, each message with its length before it."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import attrs

from claude_mem_core.convert import safe_text
from claude_mem_core.errors import Failure, InvalidInput, ProviderError
from claude_mem_core.types import Message, Reply, Usage, Window

LENGTH = struct.Struct(">I")
MOST = 32_000_000  # bytes of one message
PING = 0  # the number of no request: whoever gets it says it back

Said = dict[str, Any]


@attrs.frozen(kw_only=True)
class Asked:
    """One conversation for a provider.

    Attributes:
        provider: its name.
        max_tokens: of the reply.
        seconds: after which the process gives up by itself.
        session: row of the session that it is for; for the account of what it cost.
        values: settings for this request alone, by key: the one credential that was
            chosen for it, another model. Only the provider's own keys count.
    """

    provider: str
    system: str
    messages: tuple[Message, ...]
    max_tokens: int
    seconds: float
    session: int = 0
    values: Mapping[str, str] = attrs.field(factory=dict, repr=False)


def framed(said: Said) -> bytes:
    """A message as bytes.

    Raises:
        InvalidInput: it is too long to be sent.
    """
    body = json.dumps(said, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    if len(body) > MOST:
        raise InvalidInput(f"a message of {len(body):,} bytes is too long")
    return LENGTH.pack(len(body)) + body


def length(head: bytes) -> int:
    """How long the message after this head is.

    Raises:
        InvalidInput: longer than any of ours.
    """
    (size,) = LENGTH.unpack(head)
    if size > MOST:
        raise InvalidInput(f"a message of {size:,} bytes is too long")
    return int(size)


def asked_out(asked: Asked) -> Said:
    """A request as JSON."""
    return {
        "provider": asked.provider,
        "system": asked.system,
        "messages": [[message.role, message.text] for message in asked.messages],
        "max_tokens": asked.max_tokens,
        "seconds": asked.seconds,
        "session": asked.session,
        "values": dict(asked.values),
    }


def asked_in(said: Said) -> Asked:
    """A request from JSON."""
    messages = tuple(Message(role=role, text=text) for role, text in said["messages"])
    return Asked(
        provider=said["provider"],
        system=said["system"],
        messages=messages,
        max_tokens=said["max_tokens"],
        seconds=said["seconds"],
        session=said.get("session", 0),
        values=said.get("values", {}),
    )


def reply_out(reply: Reply) -> Said:
    """A reply as JSON."""
    return {"reply": attrs.asdict(reply)}


def error_out(error: ProviderError) -> Said:
    """A failure as JSON."""
    return {
        "failure": error.failure.value,
        "text": str(error),
        "retry_after_s": error.retry_after_s,
        "provider": error.provider,
        "action": error.action,
        "url": error.url,
    }


def reply_in(said: Said) -> Reply:
    """A reply from JSON.

    Raises:
        ProviderError: it tells of a failure.
    """
    if "reply" not in said:
        raise ProviderError(
            Failure(said["failure"]),
            said["text"],
            retry_after_s=said["retry_after_s"],
            provider=said["provider"],
            action=said.get("action", ""),
            url=said.get("url", ""),
        )
    fields = dict(said["reply"])
    fields["text"] = safe_text(fields["text"])  # it goes into the store and into requests
    windows = tuple(Window(**window) for window in fields.pop("windows", ()))
    return Reply(**{**fields, "usage": Usage(**fields["usage"]), "windows": windows})

"""Files that only a passphrase opens.

The key comes from the passphrase by scrypt (RFC 7914), the content is cut into pieces and
each is sealed by AES-256-GCM with its number and whether it is the last one, so that
nothing can be changed, cut off, moved or added unseen.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Iterator
from typing import IO, Any

from claude_mem_core.errors import InvalidInput, MemError

MAGIC = b"claude-mem sealed 1\n"
PIECE = 1 << 20  # bytes of content in one piece
TAG = 16
LONGEST_HEAD = 1_000
COST, BLOCKS = 1 << 16, 8  # 64 MB and a fraction of a second for each guess
MOST_COST = 1 << 20
WRONG = "the passphrase is wrong, or the file was changed or cut"


def seal(source: IO[bytes], target: IO[bytes], passphrase: str) -> None:
    """Write what `source` holds to `target`, sealed.

    Raises:
        MemError: the library for it is missing.
    """
    salt = secrets.token_bytes(16)
    fields = {"cost": COST, "blocks": BLOCKS, "salt": base64.b64encode(salt).decode()}
    head = MAGIC + json.dumps(fields).encode() + b"\n"
    cipher = _cipher(passphrase, salt, COST, BLOCKS)
    target.write(head)
    for number, piece, last in _pieces(source, PIECE):
        target.write(cipher.encrypt(_nonce(number, last), piece, head))


def unseal(source: IO[bytes], target: IO[bytes], passphrase: str) -> None:
    """Write to `target` what was sealed; what it holds is of no use when this raises.

    Raises:
        InvalidInput: no sealed file, a wrong passphrase, or a changed file.
        MemError: the library for it is missing.
    """
    from cryptography.exceptions import InvalidTag

    head = _head(source)
    cipher = _cipher(passphrase, *_parameters(head))
    try:
        for number, piece, last in _pieces(source, PIECE + TAG):
            target.write(cipher.decrypt(_nonce(number, last), piece, head))
    except InvalidTag:
        raise InvalidInput(WRONG) from None


def is_sealed(start: bytes) -> bool:
    """Whether a file that begins so is a sealed one."""
    return start.startswith(MAGIC)


def _head(source: IO[bytes]) -> bytes:
    magic = source.read(len(MAGIC))
    rest = source.readline(LONGEST_HEAD)
    if magic != MAGIC or not rest.endswith(b"\n"):
        raise InvalidInput("this is no sealed file of `mem export` or `mem backup`")
    return magic + rest


def _parameters(head: bytes) -> tuple[bytes, int, int]:
    try:
        fields = json.loads(head[len(MAGIC) :])
        salt = base64.b64decode(fields["salt"], validate=True)
        cost, blocks = int(fields["cost"]), int(fields["blocks"])
    except (ValueError, KeyError, TypeError):
        raise InvalidInput(WRONG) from None
    if not (2 <= cost <= MOST_COST and cost & (cost - 1) == 0 and 1 <= blocks <= 16):
        raise InvalidInput(WRONG)
    return salt, cost, blocks


def _cipher(passphrase: str, salt: bytes, cost: int, blocks: int) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        raise MemError(
            'sealing files needs one more package: pip install "claude-mem-core[encrypt]"'
        ) from error
    key = hashlib.scrypt(
        passphrase.encode(), salt=salt, n=cost, r=blocks, p=1, dklen=32,
        maxmem=256 * cost * blocks,
    )  # fmt: skip
    return AESGCM(key)


def _nonce(number: int, last: bool) -> bytes:
    return number.to_bytes(11) + bytes([last])


def _pieces(source: IO[bytes], size: int) -> Iterator[tuple[int, bytes, bool]]:
    """The content in pieces of `size`, each with its number and whether it is the last."""
    number, piece = 0, _filled(source, size)
    while True:
        following = _filled(source, size) if len(piece) == size else b""
        yield number, piece, not following
        if not following:
            return
        number, piece = number + 1, following


def _filled(source: IO[bytes], size: int) -> bytes:
    """As many bytes as asked for, fewer only at the end."""
    parts = bytearray()
    while len(parts) < size and (part := source.read(size - len(parts))):
        parts += part
    return bytes(parts)

"""What a caller may do, and how he is told that he may not. Light: loaded at every start."""

from __future__ import annotations

from enum import IntEnum


class Right(IntEnum):
    """What a caller has proved; a higher one includes the lower ones.

    NONE: nothing. SESSION: a page opened by `mem open`. FULL: the install token, or the
    socket, where the system itself tells us who is at the other end.
    """

    NONE = 0
    SESSION = 1
    FULL = 2


class Refused(Exception):
    """The request can't be answered; the text goes to the client."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text

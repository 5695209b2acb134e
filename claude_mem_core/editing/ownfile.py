"""A file of ours in a host's folder, told from others' by a mark in it."""

from __future__ import annotations

import attrs

from claude_mem_core.editing.files import read_config
from claude_mem_core.errors import HostConfigError
from claude_mem_core.types import FileChange


@attrs.frozen
class OwnFile:
    """The file.

    Attributes:
        path: absolute.
        mark: bytes that every version of it holds, and no file of others.
    """

    path: str
    mark: bytes

    def content(self) -> bytes | None:
        """What is there; None when nothing is.

        Raises:
            HostConfigError: it is somebody else's file, or can't be read.
        """
        found = read_config(self.path)
        if found is not None and self.mark not in found:
            raise HostConfigError(
                f"{self.path} is there and is not ours; it was left as it is. Move it away,"
                " then run the command again"
            )
        return found

    def write(self, content: bytes) -> list[FileChange]:
        """The change to this content.

        Raises:
            HostConfigError: it is somebody else's file, or can't be read.
        """
        before = self.content()
        if before == content:
            return []
        return [FileChange(path=self.path, before=before, after=content)]

    def remove(self) -> list[FileChange]:
        """The change to no file; none when it is not there or not ours."""
        before = read_config(self.path)
        if before is None or self.mark not in before:
            return []
        return [FileChange(path=self.path, before=before, after=None)]

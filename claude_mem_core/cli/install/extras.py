"""What `mem install` brings beside the hooks: our MCP server, and skills."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from claude_mem_core.editing import read_config
from claude_mem_core.types import (
    FileChange,
    HasSkills,
    HostInstaller,
    HostSetup,
    RegistersMcp,
    SkillFolder,
)

SKILLS = Path(__file__).parents[2] / "skills"
NO_SKILLS = "no-skills"
MARK = re.compile(rb"\n<!-- written by claude-mem-core, ([0-9a-f]{16}) -->\n\Z")


def changes(
    installer: HostInstaller, setup: HostSetup, *, remove: bool
) -> Iterator[FileChange]:
    """What is to be changed beside the installer's own plan.

    Raises:
        HostConfigError: a file of the host's can't be edited; it is left as it is.
    """
    if isinstance(installer, RegistersMcp):
        if remove:
            yield from installer.mcp_uninstall(setup)
        elif setup.mcp:
            yield from installer.mcp_install(setup)
    yield from skill_changes(installer, setup, remove=remove)


def skill_changes(
    installer: HostInstaller, setup: HostSetup, *, remove: bool
) -> Iterator[FileChange]:
    """Our skills as the host is to have them; one that somebody else wrote stays."""
    folder = installer.skill_folder(setup) if isinstance(installer, HasSkills) else None
    if folder is None or (NO_SKILLS in setup.options and not remove):
        return
    for name, text in skills():
        change = _change(folder, name, None if remove else text)
        if change is not None:
            yield change


def skills() -> Sequence[tuple[str, bytes]]:
    """Name and text of each skill, marked so that we know it again."""
    files = sorted(SKILLS.glob("*/SKILL.md"))
    return [(file.parent.name, marked(file.read_bytes())) for file in files]


def marked(text: bytes) -> bytes:
    """The text with our mark at its end."""
    text = text.rstrip(b"\n")
    return text + b"\n\n<!-- written by claude-mem-core, %s -->\n" % _digest(text)


def is_untouched(text: bytes) -> bool:
    """Whether a skill file is one of ours, of any version, that nobody has changed."""
    found = MARK.search(text)
    return found is not None and found[1] == _digest(text[: found.start()].rstrip(b"\n"))


def _digest(text: bytes) -> bytes:
    return sha256(text).hexdigest()[:16].encode()


def _change(folder: SkillFolder, name: str, wanted: bytes | None) -> FileChange | None:
    path = os.path.join(folder.path, name, "SKILL.md")
    before = read_config(path, folder.inside)
    if before == wanted or (before is not None and not is_untouched(before)):
        return None
    mode = 0o600 if folder.inside is None else 0o644
    return FileChange(path=path, before=before, after=wanted, inside=folder.inside, mode=mode)

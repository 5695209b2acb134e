"""The address of a repository's origin, as a name: host/owner/repository, no credentials."""

from __future__ import annotations

import re

URL = re.compile(
    r"(?:https?|ssh|git)://(?:[^@/\s]*@)?([^:/\s]+)(?::\d+)?/+(\S+)", re.IGNORECASE
)
SCP = re.compile(r"(?:[^@/\s:]+@)?([^:/\\\s@]{2,}):(?!//)(\S+)")
PART = re.compile(r"[A-Za-z0-9._~+-]{1,100}")


def remote_name(url: str | None) -> str | None:
    """`github.com/org/repo` for an address on the network; None for a local or odd one."""
    if not url or len(url) > 2_000:
        return None
    found = URL.fullmatch(url) or SCP.fullmatch(url)
    if not found:
        return None
    path = found[2].strip("/").removesuffix(".git").strip("/")
    parts = path.split("/")
    if len(parts) < 2 or not all(PART.fullmatch(part) and part != ".." for part in parts):
        return None
    return f"{found[1].lower()}/{path}"


def slug(remote: str) -> str:
    """`org/repo` of such a name."""
    return "/".join(remote.split("/")[-2:])

"""The worktrees of a repository, read from its `.git` without running git."""

from __future__ import annotations

import os
from itertools import islice

from claude_mem_core.projects.checkouts import find_checkout, small_line

MOST = 256
BRANCH = "ref: refs/heads/"


def worktrees(common: str) -> dict[str, str]:
    """The directories of a repository's worktrees, with the branch each has checked out.

    Only those that name the repository as it names them; the branch is empty when none is.
    """
    folder = os.path.join(common, "worktrees")
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in islice(entries, MOST))
    except OSError:
        return {}
    found = {}
    for name in names:
        pointer = small_line(os.path.join(folder, name, "gitdir"))
        root = os.path.dirname(pointer)
        checkout = find_checkout(root, ()) if os.path.isabs(root) else None
        if checkout and checkout.kind == "worktree" and checkout.common == common:
            head = small_line(os.path.join(folder, name, "HEAD"))
            found[checkout.root] = head.removeprefix(BRANCH) if head.startswith(BRANCH) else ""
    return found

"""Which project a working directory belongs to."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import attrs

from claude_mem_core.projects.checkouts import Checkout, config_value, find_checkout
from claude_mem_core.projects.globs import matches_any
from claude_mem_core.projects.markers import marked_root, narrowed
from claude_mem_core.projects.remotes import remote_name, slug
from claude_mem_core.projects.spelling import (
    Spelled,
    composed,
    general_dirs,
    is_no_project,
    label_of,
    spelled,
)

MODULES = f"{os.sep}modules{os.sep}"


@attrs.frozen(kw_only=True)
class Place:
    """A project as a place.

    Attributes:
        key: what tells it from all others: a kind and a digest, never a path.
        label: the name people see; not unique, the store adds `~2` to a second one.
        kind: `git`, `folder`, `environment`, `named` or `general`.
        root: directory of the checkout or folder; empty when it is not on this machine.
        parent_key: key of the project whose memory is read along; it may not exist yet.
        remote: host/owner/repository of its origin, without credentials.
        worktree_label: this checkout's own label in a project of several.
        alias: the name that the project's own files suggest.
        marked: outside git, the directory above that a marker file names as the
            project's root; it counts only once the user has confirmed it.
        repository: the git directory that goes where the project goes; empty outside git.
    """

    key: str
    label: str
    kind: str
    root: str = ""
    parent_key: str | None = None
    remote: str | None = None
    worktree_label: str | None = None
    alias: str | None = None
    marked: str | None = None
    repository: str = ""


GENERAL = Place(key="general", label="general", kind="general")


def place_of(
    cwd: str, settings: Mapping[str, Any], home: str, *, confirmed: Collection[str] = ()
) -> Place:
    """The project of a working directory as a host reported it; never raises for it.

    Args:
        cwd: may be relative, missing, deleted, of another system, or nonsense.
        settings: for the user's named environments, the source of names, and the
            confirmed folders.
        home: the user's home directory; the process's own when empty.
        confirmed: roots of marked folders that the user has confirmed, beside those that
            the settings name.
    """
    home = home or os.path.expanduser("~")
    where = spelled(cwd, home)
    path = _real(where)
    group = environment_of(path, settings, home)
    if group is not None:
        return group
    stop = general_dirs(home)
    if not path or path in stop or where.path in stop:
        return GENERAL
    checkout = find_checkout(path, stop) if where.local else None
    if checkout is not None:
        return _git(checkout, settings, stop)
    if is_no_project(path, home):
        return GENERAL
    confirmed = {*confirmed, *_strings(settings.get("CLAUDE_MEM_PROJECT_FOLDERS"))}
    return _outside_git(path, stop, confirmed) if where.local else _folder(path, "", cwd)


def _real(where: Spelled) -> str:
    if not where.local or not where.path:
        return where.path
    try:
        return os.path.realpath(where.path)
    except (OSError, ValueError):
        return where.path


def _key(kind: str, *parts: str) -> str:
    text = "\0".join(parts).encode("utf-8", "surrogateescape")
    return f"{kind}-{hashlib.sha256(text).hexdigest()[:24]}"


# Named environments ---------------------------------------------------------------


def environment_of(path: str, settings: Mapping[str, Any], home: str) -> Place | None:
    """The user's own grouping of folders; it wins over everything else."""
    for name, patterns in _environments(settings.get("CLAUDE_MEM_PROJECT_ENVIRONMENTS")):
        if matches_any(path, patterns, home):
            return Place(
                key=_key("env", name), label=label_of(name), kind="environment", root=""
            )
    return None


def _environments(value: Any) -> Iterable[tuple[str, list[str]]]:
    for entry in value if isinstance(value, list) else ():
        if not isinstance(entry, dict):
            continue
        name, patterns = entry.get("name"), entry.get("patterns")
        if isinstance(name, str) and name.strip() and isinstance(patterns, list):
            yield name.strip(), [text for text in patterns if isinstance(text, str)]


def _strings(value: Any) -> Iterable[str]:
    return (text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


# Git --------------------------------------------------------------------------------


def _git(checkout: Checkout, settings: Mapping[str, Any], stop: Collection[str]) -> Place:
    place = (
        _submodule(checkout, settings, stop)
        or _worktree_of_submodule(checkout, settings, stop)
        or _repository(checkout)
    )
    place = attrs.evolve(place, alias=narrowed(checkout.root).alias)
    if settings.get("CLAUDE_MEM_PROJECT_NAME_SOURCE") == "git-remote" and place.remote:
        return attrs.evolve(
            place,
            key=_key("remote", place.remote),
            label=slug(place.remote),
            worktree_label=None,
            parent_key=place.key,
            repository="",
        )
    return place


def _repository(checkout: Checkout) -> Place:
    if checkout.kind == "unproven":
        return Place(
            key=_key("git", composed(checkout.root)),
            label=label_of(os.path.basename(checkout.root)),
            kind="git",
            root=checkout.root,
        )
    name = _repository_name(checkout.common)
    return Place(
        key=_key("git", composed(checkout.common)),
        label=name,
        kind="git",
        root=checkout.root,
        remote=remote_name(config_value(checkout.common, "remote", "origin", "url")),
        worktree_label=_worktree_label(checkout, name),
        repository=checkout.common,
    )


def _repository_name(common: str) -> str:
    """`/src/app/.git`, `/src/app/.bare` and `/src/app.git` are all `app`."""
    name = os.path.basename(common)
    if name.startswith("."):
        name = os.path.basename(os.path.dirname(common))
    return label_of(name.removesuffix(".git") or name)


def _worktree_label(checkout: Checkout, name: str) -> str | None:
    own = label_of(os.path.basename(checkout.root))
    if checkout.kind != "worktree" or own == name:
        return None
    return f"{name}/{own}"


def _submodule(
    checkout: Checkout, settings: Mapping[str, Any], stop: Collection[str]
) -> Place | None:
    """A submodule belongs to the repository whose `modules` folder holds its git directory."""
    if checkout.kind != "submodule":
        return None
    around = find_checkout(os.path.dirname(checkout.root), stop)
    if around is None or not checkout.gitdir.startswith(around.gitdir + MODULES):
        return None
    above = _submodule(around, settings, stop) or _repository(around)
    path = os.path.relpath(checkout.root, around.root)
    label = "/".join(label_of(part) for part in path.split(os.sep))
    return Place(
        key=_key("sub", above.key, composed(path)),
        label=f"{above.label}/{label}",
        kind="git",
        root=checkout.root,
        parent_key=above.key,
        remote=remote_name(config_value(checkout.gitdir, "remote", "origin", "url")),
        repository=checkout.gitdir,
    )


def _worktree_of_submodule(
    checkout: Checkout, settings: Mapping[str, Any], stop: Collection[str]
) -> Place | None:
    """The submodule's own place, as long as its checkout and git directory agree."""
    named = checkout.kind == "worktree" and MODULES in checkout.common
    back = config_value(checkout.common, "core", None, "worktree") if named else None
    at = os.path.realpath(os.path.join(checkout.common, back)) if back else ""
    module = find_checkout(at, stop) if at else None
    if module is None or module.gitdir != checkout.common:
        return None
    place = _submodule(module, settings, stop)
    label = label_of(os.path.basename(checkout.root))
    return place and attrs.evolve(
        place, root=checkout.root, worktree_label=f"{place.label}/{label}"
    )


# Outside git ------------------------------------------------------------------------


def _outside_git(path: str, stop: Collection[str], confirmed: Collection[str]) -> Place:
    root = marked_root(path, stop)
    if root is None:
        return _folder(path, path, path)
    alias = narrowed(root).alias
    if root not in confirmed:
        return attrs.evolve(_folder(path, path, path), alias=alias, marked=root)
    return Place(
        key=_key("named", composed(root)),
        label=alias or label_of(os.path.basename(root)),
        kind="named",
        root=root,
        parent_key=_key("dir", composed(path)),
        alias=alias,
        marked=root,
    )


def _folder(path: str, root: str, name: str) -> Place:
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    key = _key("dir", composed(path) if root else path)
    return Place(key=key, label=label_of(last), kind="folder", root=root)


# Exclusion --------------------------------------------------------------------------


def excluded(place: Place, cwd: str, settings: Mapping[str, Any], home: str = "") -> bool:
    """Whether nothing is recorded here: by the user's globs, or by the project's own wish.

    The globs are held against the directory as reported, its real path, the project's
    root and all above them; a bare name also against the project's label.
    """
    home = home or os.path.expanduser("~")
    if not narrowed(place.root).enabled or (
        place.marked and not narrowed(place.marked).enabled
    ):
        return True
    patterns = settings.get("CLAUDE_MEM_EXCLUDED_PROJECTS") or ()
    wished = settings.get("CLAUDE_MEM_INCLUDED_PROJECTS") or ()
    if settings.get("CLAUDE_MEM_OPT_IN") and not _listed(place, cwd, wished, home):
        return True
    return bool(patterns) and _listed(place, cwd, patterns, home)


def _listed(place: Place, cwd: str, patterns: Collection[str], home: str) -> bool:
    where = spelled(cwd, home)
    paths = {where.path, _real(where), place.root}
    return place.label in patterns or any(matches_any(path, patterns, home) for path in paths)

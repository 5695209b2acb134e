"""Which installed plugins may load: blocked names, and in strict mode the pinned ones.

What `mem plugins block` and `mem plugins allow` say is kept in a file of its own and
not in the settings, which may belong to another product and may be damaged: a damaged
policy loads no third-party plugin at all.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from claude_mem_core.plugins.entry import Package

if TYPE_CHECKING:
    from importlib.metadata import Distribution


@attrs.frozen
class Pin:
    """A distribution as it was when the user allowed it."""

    version: str
    record: str


@attrs.frozen
class Policy:
    """The user's word on plugins. `broken` says why the file can't be used."""

    blocked: frozenset[str] = frozenset()
    allowed: Mapping[str, Pin] = attrs.field(factory=dict)
    broken: str = ""


def read_policy(path: Path) -> Policy:
    """The policy in `path`; an absent file is an empty policy."""
    try:
        data = json.loads(path.read_bytes())
        return _policy(data)
    except FileNotFoundError:
        return Policy()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        fault = f"{type(error).__name__} in {path}"
        return Policy(broken=f"{fault}; mend the file, or remove it to start afresh")


def _policy(data: Any) -> Policy:
    blocked = data.get("blocked", [])
    if not all(isinstance(name, str) for name in blocked):
        raise TypeError("blocked")
    pins = {
        name: Pin(str(pin["version"]), str(pin["record"]))
        for name, pin in data.get("allowed", {}).items()
    }
    return Policy(frozenset(blocked), pins)


def policy_bytes(policy: Policy) -> bytes:
    """The file's content for a policy."""
    pins = {name: attrs.asdict(pin) for name, pin in sorted(policy.allowed.items())}
    value = {"blocked": sorted(policy.blocked), "allowed": pins}
    return (json.dumps(value, indent=2) + "\n").encode()


def refusals(
    policy: Policy, packages: Iterable[Package], strict: bool = False
) -> dict[str, str]:
    """Packages that may not load, and why. Blocked ones are not among them."""
    if policy.broken:
        return {package.name: policy.broken for package in packages}
    if not strict:
        return {}
    reasons = {package.name: _strict_fault(policy, package) for package in packages}
    return {name: reason for name, reason in reasons.items() if reason}


def _strict_fault(policy: Policy, package: Package) -> str:
    allow = f"`mem plugins allow {package.name}`"
    pin = policy.allowed.get(package.name)
    if pin is None:
        return f"strict mode: not allowed yet; {allow} or `mem plugins block {package.name}`"
    if pin.version != package.version:
        change = f"allowed was {pin.version}, installed is {package.version}"
        return f"strict mode: {change}; {allow}"
    changed = changed_file(package)
    if pin.record != package.record or changed:
        what = changed or "its RECORD"
        return f"strict mode: {what} changed since it was allowed; {allow}"
    return ""


def changed_file(package: Package) -> str:
    """The first file of a package that differs from its RECORD; empty when none does."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution(package.name)
        rows = csv.reader((found.read_text("RECORD") or "").splitlines())
        return next((row[0] for row in rows if not _as_recorded(found, row)), "")
    except (OSError, ValueError, IndexError, PackageNotFoundError) as error:
        return f"{type(error).__name__} ({error})"


def _as_recorded(found: Distribution, row: list[str]) -> bool:
    """Whether the file of a row of RECORD has the digest that stands there."""
    name, noted = row[0], row[1]
    if not noted:
        return True  # RECORD itself and byte code, which is made after unpacking
    kind, _, digest = noted.partition("=")
    made = hashlib.new(kind, Path(str(found.locate_file(name))).read_bytes()).digest()
    return base64.urlsafe_b64encode(made).rstrip(b"=").decode() == digest

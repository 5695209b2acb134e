"""Credentials by name: the keyring when there is one, else a private file."""

from __future__ import annotations

import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import keyring  # noqa: TID253 - it is what is tested
import keyring.errors  # noqa: TID253
import pytest

from claude_mem_core import secrets
from claude_mem_core.errors import InvalidInput, StoreError
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths

KEY = "sk-planted-0123456789"


class Ring:
    """A system keyring that lives in memory."""

    priority = 5.0

    def __init__(self, locked: bool = False) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = locked

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, value: str) -> None:
        if self.locked:
            raise keyring.errors.KeyringLocked("no")
        self.kept[service, name] = value

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(secure_dir(tmp_path / "data"))


@pytest.fixture(params=["none", "too weak", "locked"])
def no_ring(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    ring: Any = {
        "none": SimpleNamespace(priority=0),
        "too weak": SimpleNamespace(priority=0.5),
        "locked": Ring(locked=True),
    }[request.param]
    monkeypatch.setattr(keyring, "get_keyring", lambda: ring)


def test_without_a_keyring_a_private_file_keeps_it(paths: Paths, no_ring: None) -> None:
    assert secrets.read(paths, "A_KEY") is None
    assert secrets.write(paths, "A_KEY", KEY) == "file"
    assert secrets.read(paths, "A_KEY") == KEY
    assert stat.S_IMODE((paths.data / ".env").stat().st_mode) == 0o600
    assert secrets.delete(paths, "A_KEY") is True
    assert secrets.delete(paths, "A_KEY") is False
    assert KEY not in (paths.data / ".env").read_text()


def test_a_keyring_is_preferred_and_the_file_forgets(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    (paths.data / ".env").touch(0o600)
    (paths.data / ".env").write_text("A_KEY=old\nOTHER=1\n")
    ring = Ring()
    monkeypatch.setattr(keyring, "get_keyring", lambda: ring)
    assert secrets.read(paths, "A_KEY") == "old"
    assert secrets.write(paths, "A_KEY", KEY) == "keyring"
    assert (secrets.read(paths, "A_KEY"), secrets.read(paths, "OTHER")) == (KEY, "1")
    assert (paths.data / ".env").read_text() == "OTHER=1\n"
    assert secrets.delete(paths, "A_KEY") is True
    assert ring.kept == {}


def test_a_plain_text_keyring_is_not_used(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    alt = type("PlaintextKeyring", (Ring,), {"__module__": "keyrings.alt.file"})()
    monkeypatch.setattr(keyring, "get_keyring", lambda: alt)
    assert secrets.write(paths, "A_KEY", KEY) == "file"
    assert alt.kept == {}


def test_other_lines_of_the_file_stay(paths: Paths, no_ring: None) -> None:
    file = paths.data / ".env"
    file.touch(0o600)
    file.write_bytes(b"# mine\nexport A_KEY='one two'\nB=2\n\xff\nA_KEY=three\n")
    assert secrets.read(paths, "A_KEY") == "three"
    secrets.write(paths, "A_KEY", 'with "quotes" and $x')
    assert file.read_bytes() == b'# mine\nB=2\n\xff\nA_KEY="with "quotes" and $x"\n'
    assert secrets.read(paths, "A_KEY") == 'with "quotes" and $x'


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("A KEY", KEY),
        ("", KEY),
        ("A", ""),
        ("A", KEY + "\nB=1"),
        ("A", "x" * 20_000),
        ("A=", KEY),
    ],
)
def test_what_can_not_be_kept_is_refused_without_showing_it(
    paths: Paths, no_ring: None, name: str, value: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        secrets.write(paths, name, value)
    assert KEY not in str(refused.value)
    assert not (paths.data / ".env").exists()


def test_a_planted_file_is_not_read(paths: Paths, no_ring: None, tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("A_KEY=x\n")
    (paths.data / ".env").symlink_to(tmp_path / "theirs")
    with pytest.raises(StoreError, match=r"\.env"):
        secrets.read(paths, "A_KEY")

"""Our server in Codex CLI's config, whatever else stands there."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from claude_mem_host_codex.installer import CodexInstaller

from claude_mem_core.cli.install.apply import apply
from claude_mem_core.errors import HostConfigError
from claude_mem_core.paths import Paths
from claude_mem_core.testing.dirty import TOML_CONTENTS
from claude_mem_core.types import HostSetup

OTHERS = b'# mine\n[mcp_servers.docs]\ncommand = "docs" # why\n\n[tui]\nx = 1\n'
TRUST = (
    b'\n[hooks.state]\n\n[hooks.state."/x/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
)


@pytest.fixture
def setup(tmp_path: Path) -> HostSetup:
    data = tmp_path / ".claude-mem"
    data.mkdir()
    argv = ["/usr/bin/python3", str(data / "hook" / "bridge.py")]
    return HostSetup(home=str(tmp_path), data_dir=str(data), argv=argv, mcp=argv)


def config(setup: HostSetup) -> Path:
    return Path(setup.home, ".codex", "config.toml")


def lay(setup: HostSetup, content: bytes | None) -> None:
    config(setup).parent.mkdir()
    if content is not None:
        config(setup).write_bytes(content)


def do(setup: HostSetup, *, remove: bool = False) -> None:
    installer = CodexInstaller()
    work = installer.mcp_uninstall if remove else installer.mcp_install
    for change in work(setup):
        apply(change, Paths(Path(setup.data_dir)))


@pytest.mark.parametrize("content", [None, b"", OTHERS, *TOML_CONTENTS])
def test_in_and_out_to_the_byte(setup: HostSetup, content: bytes | None) -> None:
    lay(setup, content)
    do(setup)
    assert CodexInstaller().mcp_status(setup).registered
    server = tomllib.loads(config(setup).read_text("utf-8-sig"))["mcp_servers"]["claude-mem"]
    assert [server["command"], *server["args"]] == [*setup.mcp, "codex"]
    again = config(setup).read_bytes()
    do(setup)
    assert config(setup).read_bytes() == again
    do(setup, remove=True)
    assert (config(setup).read_bytes() if config(setup).exists() else None) == content


def test_what_codex_wrote_after_us_stays(setup: HostSetup) -> None:
    lay(setup, OTHERS)
    do(setup)
    config(setup).write_bytes(config(setup).read_bytes() + TRUST)
    do(setup, remove=True)
    left = config(setup).read_bytes()
    assert left.startswith(OTHERS)
    assert tomllib.loads(left.decode()) == tomllib.loads((OTHERS + TRUST).decode())


def test_an_older_one_of_ours_is_renewed_in_its_place(setup: HostSetup) -> None:
    lay(setup, OTHERS)
    do(setup)
    fresh = config(setup).read_bytes()
    config(setup).write_bytes(fresh.replace(b"/usr/bin/python3", b"/old/python") + TRUST)
    do(setup)
    assert config(setup).read_bytes() == fresh + TRUST


def test_a_strangers_server_of_our_name_stays(setup: HostSetup) -> None:
    lay(setup, b'[mcp_servers.claude-mem]\ncommand = "x"\n')
    do(setup)
    names = tomllib.loads(config(setup).read_text())["mcp_servers"]
    assert names["claude-mem"] == {"command": "x"}
    assert "claude-mem-core" in names


@pytest.mark.parametrize("content", [b"x =", b"mcp_servers = {}\n", b"\xff"])
def test_what_can_not_be_edited_is_left_alone(setup: HostSetup, content: bytes) -> None:
    lay(setup, content)
    with pytest.raises(HostConfigError, match=r"config\.toml"):
        do(setup)
    assert config(setup).read_bytes() == content

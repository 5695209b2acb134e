"""Our scripts inside of hosts are checked against the types that the hosts publish."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from claude_mem_core.types import HostSetup
from tests.install_home import target
from tools import hosts

pytestmark = [pytest.mark.real_host, pytest.mark.slow, pytest.mark.timeout(600)]

OPTIONS = (
    "--noEmit", "--allowJs", "--checkJs", "--strict", "--target", "es2023", "--module", "nodenext",
    "--moduleResolution", "nodenext", "--types", "node", "--skipLibCheck",
)  # fmt: skip
# A call in each script that its types must refuse, so that the check is known to look.
WRONG = {
    "opencode": ("async (input, output)", "async (input, output, nonsense)"),
    "openclaw": ('api.on("gateway_stop"', 'api.on("no_such_event"'),
    "pi": ('"session_compact",', '"no_such_event",'),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the hosts' types are found."""
    made = tmp_path_factory.mktemp("types")
    compiler = hosts.ensure("typescript").parent.parent
    modules = made / "node_modules"
    (modules / "@oh-my-pi").mkdir(parents=True)
    for name in ("@types", "@opencode-ai", "undici-types"):
        (modules / name).symlink_to(compiler / name)
    claw, pi = (hosts.ensure(name).parent.parent for name in ("openclaw", "pi"))
    (modules / "openclaw").symlink_to(claw / "openclaw")
    name = "@oh-my-pi/pi-coding-agent"
    (modules / name).symlink_to(pi / name)
    return made


def text_of(host: str) -> str:
    """The script that `mem install` writes."""
    setup = HostSetup(home="/h", data_dir="/h/.claude-mem", argv=["/usr/bin/python3", "/x"])
    changes = target(host).installer.install(setup)
    (text,) = [c.after for c in changes if c.path.endswith(".js")]
    assert text is not None
    return text.decode()


def complaints(folder: Path, host: str, text: str) -> str:
    (folder / f"{host}.mjs").write_text(text)
    path = f"{hosts.node_bin()}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(hosts.ensure("typescript")), *OPTIONS, f"{host}.mjs"],
        cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.parametrize("host", WRONG)
def test_the_script_has_the_types_of_its_host(folder: Path, host: str) -> None:
    assert complaints(folder, host, text_of(host)) == ""


@pytest.mark.parametrize("host", WRONG)
def test_the_check_sees_a_mistake(folder: Path, host: str) -> None:
    right, wrong = WRONG[host]
    text = text_of(host)
    assert right in text
    assert "error TS" in complaints(folder, host, text.replace(right, wrong))

"""The documentation builds strictly, and what is made from the code is up to date."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import reference

ROOT = Path(__file__).parent.parent
KINDS = "feature|fix|change|removal|security"


def test_pages_from_the_code_are_up_to_date() -> None:
    assert reference.stale() == [], "run `make reference`"


@pytest.mark.slow
def test_the_site_builds_strictly(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="installed with the dependency group `docs`")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "-d",
        str(tmp_path / "site"),
    ]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr
    home = (tmp_path / "site" / "index.html").read_text()
    assert not re.search(r"""(src|href)=["']?https?://(?!squidfunk)""", home), "fetches nothing"


@pytest.mark.parametrize("file", sorted((ROOT / "changes").glob("*")), ids=lambda p: p.name)
def test_a_change_is_named_and_worded_well(file: Path) -> None:
    if file.name == "README.md":
        return
    assert re.fullmatch(rf"\d+(-[a-z0-9-]+)?\.({KINDS})\.md", file.name)
    text = file.read_text().strip()
    assert text.endswith((".", "`", ")"))
    assert "claude_mem_core" not in text, "for users: no names of modules"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_links_of_the_pages_outside_the_site_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)", (ROOT / name).read_text()):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_the_licence_is_there_in_full() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text

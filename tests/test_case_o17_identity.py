"""Case O17: one project, many working directories (the part that place_of answers)."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from claude_mem_core.projects import Place, place_of

CASE = Path(__file__).parent / "cases" / "O17-project-identity-layouts"
GROUPS = json.loads((CASE / "expect.json").read_text())["groups"]

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None, reason="the layout is built by git"
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("o17")


@pytest.fixture(scope="module")
def places(base: Path) -> dict[str, Place]:
    command = ["sh", str(CASE / "setup.sh"), str(base / "layout")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return {name: place_of(cwd, {}, str(base / "home")) for name, cwd in rows}


def test_each_group_has_one_key_and_no_other_group_has_it(places: dict[str, Place]) -> None:
    keys = [{places[name].key for name in group} for group in GROUPS]
    assert sum(len(group) for group in GROUPS) == len(places)
    assert [len(group) for group in keys] == [1] * len(GROUPS)
    assert len(set.union(*keys)) == len(GROUPS)


def test_labels_are_the_documented_names(places: dict[str, Place]) -> None:
    label = {name: (place.label, place.worktree_label) for name, place in places.items()}
    assert label["sub"] == ("plain", None)
    assert label["worktree"] == label["worktree-sub"] == ("plain", "plain/plain-wt")
    assert label["submodule"] == ("plain/vendor/lib", None)
    assert label["twin-a"] == label["twin-b"] == ("service", None)
    assert label["nogit"] == ("nogit", None)


def test_a_submodule_reads_its_superproject_along(places: dict[str, Place]) -> None:
    assert places["submodule"].parent_key == places["plain"].key


def test_paths_count_from_the_checkout_that_one_works_in(places: dict[str, Place]) -> None:
    assert Path(places["worktree-sub"].root).name == "plain-wt"
    assert places["linked"].root == places["plain"].root


def test_a_removed_worktree_leaves_the_main_checkout_its_key(
    places: dict[str, Place], tmp_path: Path
) -> None:
    command = ["sh", str(CASE / "setup.sh"), str(tmp_path / "again")]
    subprocess.run(command, capture_output=True, check=True, timeout=60)
    main = tmp_path / "again" / "plain"
    before = place_of(str(main), {}, "")
    remove = ["git", "-C", str(main), "worktree", "remove", "--force", str(main) + "-wt"]
    subprocess.run(remove, check=True, timeout=60)
    assert place_of(str(main), {}, "") == before
    assert place_of(str(main) + "-wt", {}, "").key != before.key

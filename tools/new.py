"""Make a new plugin package that passes its contract tests as created.

python tools/new.py host my-agent          hosts/my-agent
python tools/new.py provider my-models     providers/my-models
python tools/new.py plugin my-idea         plugins/my-idea
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "contrib" / "template"
FOLDERS = {"host": "hosts", "provider": "providers", "plugin": "plugins"}
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class CantMake(Exception):
    """The package can't be made; the text says why."""


def words(name: str) -> dict[str, str]:
    """What stands for each mark of a template."""
    title = " ".join(part.capitalize() for part in name.split("-"))
    return {
        "{{name}}": name,
        "{{module}}": name.replace("-", "_"),
        "{{title}}": title,
        "{{class}}": title.replace(" ", ""),
        "{{KEY}}": name.replace("-", "_").upper(),
    }


def filled(text: str, marks: dict[str, str]) -> str:
    """The text with every mark replaced."""
    for mark, word in marks.items():
        text = text.replace(mark, word)
    return text


def create(kind: str, name: str, root: Path = ROOT) -> Path:
    """Write the package below `root` and return its folder.

    Raises:
        CantMake: the name is no good or is taken.
    """
    if not NAME.fullmatch(name):
        raise CantMake(f"{name!r} is no name: lower case letters, digits and single dashes")
    target = root / FOLDERS[kind] / name
    if target.exists():
        raise CantMake(f"{target} is there already")
    marks, template = words(name), TEMPLATES / kind
    for source in sorted(template.rglob("*")):
        if source.is_file() and "__pycache__" not in source.parts:
            file = target / filled(str(source.relative_to(template)), marks)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(filled(source.read_text(encoding="utf-8"), marks), encoding="utf-8")
    return target


def main() -> int:
    """Make it, install it, and say what comes next."""
    parser = argparse.ArgumentParser(description="Make a new plugin package.")
    parser.add_argument("kind", choices=sorted(FOLDERS))
    parser.add_argument("name")
    args = parser.parse_args()
    try:
        target = create(args.kind, args.name)
    except CantMake as error:
        sys.exit(f"tools/new.py: {error}")
    where = target.relative_to(ROOT)
    print(f"made {where}", flush=True)
    code = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "dev.py")], check=False
    ).returncode
    print(f"test it with: .venv/bin/python -m pytest {where}")
    print("name it in the extras of pyproject.toml when it is ready for others")
    return code


if __name__ == "__main__":
    sys.exit(main())

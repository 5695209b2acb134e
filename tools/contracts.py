"""Check the import contracts: those in pyproject.toml, and those of the plugin packages.

    python tools/contracts.py            run lint-imports on all of them
    python tools/contracts.py --show     print the generated configuration

The core's layers stand in `pyproject.toml`. What concerns the plugin packages is
generated from the folders, so that a new package needs no list anywhere.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CORE = "claude_mem_core"
# What a plugin may import of the core, beside `claude_mem_core` itself.
PUBLIC = {"types", "errors", "editing", "testing", "files", "providing", "transcripts"}
# Of `providing`, only these.
PUBLIC_PARTS = {"classify", "outgoing", "origins", "replied", "chat", "gateway", "programs"}
# Model services: the core names none; each lives in its provider package.
VENDORS = ["anthropic", "openai", "google", "mistralai", "cohere", "groq", "ollama", "boto3"]


def modules(root: Path = ROOT) -> list[str]:
    """Import names of the plugin packages, from their folders."""
    found = (
        path.parent.name
        for folder in ("hosts", "providers", "plugins")
        for path in (root / folder).glob("*/src/*/__init__.py")
    )
    return sorted(found)


def private(root: Path = ROOT) -> list[str]:
    """Modules of the core that plugins may not import."""
    inside = (root / CORE).iterdir()
    names = {path.stem for path in inside if _is_module(path)}
    parts = {path.stem for path in (root / CORE / "providing").glob("*.py")}
    inner = {f"providing.{name}" for name in parts - PUBLIC_PARTS - {"__init__"}}
    return sorted(f"{CORE}.{name}" for name in (names - PUBLIC - {"__init__"}) | inner)


def _is_module(path: Path) -> bool:
    return path.suffix == ".py" or (path / "__init__.py").exists()


def generated(root: Path = ROOT) -> list[dict[str, Any]]:
    """Contracts about the plugin packages."""
    plugins = modules(root)
    forbidden = {"type": "forbidden", "allow_indirect_imports": True}
    contracts: list[dict[str, Any]] = [
        {
            **forbidden,
            "name": "the core names no plugin and no vendor",
            "source_modules": [CORE],
            "forbidden_modules": [*plugins, *VENDORS],
        }
    ]
    if plugins:
        contracts.append(
            {
                **forbidden,
                "name": "plugins use the public face of the core only",
                "source_modules": plugins,
                "forbidden_modules": private(root),
            }
        )
    if len(plugins) > 1:
        name = "plugins do not know each other"
        contracts.append({"type": "independence", "name": name, "modules": plugins})
    return contracts


def configuration(root: Path = ROOT) -> str:
    """pyproject's contracts and the generated ones, as TOML."""
    table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    linter = table["tool"]["importlinter"]
    plain = {key: value for key, value in linter.items() if key != "contracts"}
    plain["root_packages"] = [*linter["root_packages"], *modules(root)]
    lines = ["[tool.importlinter]", *_lines(plain)]
    for contract in [*linter["contracts"], *generated(root)]:
        lines += ["", "[[tool.importlinter.contracts]]", *_lines(contract)]
    return "\n".join(lines) + "\n"


def _lines(table: dict[str, Any]) -> list[str]:
    """Texts, booleans and lists of texts are written alike in JSON and TOML."""
    return [f"{key} = {json.dumps(value)}" for key, value in table.items()]


def main() -> int:
    """Write the configuration and run the linter on it."""
    text = configuration()
    if "--show" in sys.argv[1:]:
        print(text, end="")
        return 0
    file = ROOT / ".cache" / "importlinter.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    sources = [str(path.parent.parent) for path in ROOT.glob("*/*/src/*/__init__.py")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sources])}
    command = [str(Path(sys.executable).parent / "lint-imports"), str(file)]
    cache = ["--cache-dir", str(ROOT / ".cache" / "import-linter")]
    return subprocess.run([*command, *cache], cwd=ROOT, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

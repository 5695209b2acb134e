"""Rules about the repository that no linter has."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median

import pytest

from claude_mem_core.plugins.loading import HOOKS

ROOT = Path(__file__).parent.parent
CORE = ROOT / "claude_mem_core"
KINDS = {"hosts": "host", "providers": "provider", "plugins": "plugin"}
PACKAGES = sorted(p.parent for f in KINDS for p in (ROOT / f).glob("*/pyproject.toml"))
MODULES = sorted([*CORE.rglob("*.py"), *(m for p in PACKAGES for m in p.glob("src/**/*.py"))])
TOOLS = sorted([*(ROOT / "tools").rglob("*.py"), *(ROOT / "bench").rglob("*.py")])
LONGEST = 300
# What is copied beside the installed hook, where nothing of ours can be imported.
ALONE = [
    *(CORE / "hook").rglob("*.py"),
    CORE / "clean" / "tags.py",
    CORE / "clean" / "vendor.py",
]

Function = ast.FunctionDef | ast.AsyncFunctionDef


def where(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def lines(node: Function | ast.ClassDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def functions(path: Path) -> Iterator[Function]:
    return (n for n in ast.walk(tree_of(path)) if isinstance(n, Function))


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call with the dotted name of what is called."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def imported(path: Path) -> set[str]:
    """Top-level names of all modules imported at run time, wherever in the file."""
    found: set[str] = set()
    tree = tree_of(path)
    for_types = [n for n in ast.walk(tree) if isinstance(n, ast.If) and _for_types(n)]
    skipped = {id(inner) for node in for_types for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0] if not node.level else ".")
    return found


def _for_types(node: ast.If) -> bool:
    return "TYPE_CHECKING" in ast.unparse(node.test)


# Size and words --------------------------------------------------------------


def test_modules_are_short() -> None:
    sizes = {m: m.read_text(encoding="utf-8").count("\n") for m in (*MODULES, *TOOLS)}
    assert {where(m): size for m, size in sizes.items() if size > LONGEST} == {}


def test_functions_are_short() -> None:
    sizes = [lines(function) for module in MODULES for function in functions(module)]
    assert median(sizes) < 10
    # A handful may be longer, a table of declarations for instance.
    assert sum(size > 40 for size in sizes) <= len(sizes) / 100


def test_modules_say_what_they_are() -> None:
    bare = [where(m) for m in (*MODULES, *TOOLS) if not ast.get_docstring(tree_of(m))]
    assert [name for name in bare if (ROOT / name).stat().st_size] == []


def test_long_public_things_say_what_they_are() -> None:
    bare = {where(m): names for m in (*MODULES, *TOOLS) if (names := list(_unsaid(m)))}
    assert bare == {}


def _unsaid(module: Path) -> Iterator[str]:
    # What `run` and `arguments` of a command are is said once, in cli/main.py; what the
    # `main` of a script does, in its module.
    commands = module.parent == CORE / "cli" / "commands"
    for node in tree_of(module).body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        private = node.name.startswith("_") or node.name == "main"
        private |= commands and node.name in {"run", "arguments"}
        said = ast.get_docstring(node) or node.decorator_list
        if not private and not said and lines(node) > 12:
            yield node.name


# Packages --------------------------------------------------------------------


def named(package: Path, module: str) -> Iterator[tuple[str, str]]:
    """Entry points that may stand first: the kind, and the name without it."""
    yield f"{KINDS[package.parent.name]}.{package.name}", module
    kind, _, name = package.name.partition("-")
    if KINDS[package.parent.name] == "plugin" and name:
        yield f"{kind}.{name}", module


@pytest.mark.parametrize("package", PACKAGES, ids=where)
def test_a_package_has_one_shape(package: Path) -> None:
    kind = KINDS[package.parent.name]
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    full = package.name if kind == "plugin" else f"{kind}-{package.name}"
    module = f"claude_mem_{full}".replace("-", "_")
    assert project["name"] == f"claude-mem-{full}"
    entries = project["entry-points"]["claude_mem"]
    first, *more = entries.items()
    assert first in named(package, module)
    assert all(value.partition(".")[0] == module for _, value in more)
    assert project["requires-python"] == ">=3.11"
    assert project["license"] == "Apache-2.0"
    assert "claude-mem-core" in project["dependencies"]
    for file in (f"src/{module}/__init__.py", "README.md", "tests/test_contract.py"):
        assert (package / file).is_file(), file


@pytest.mark.parametrize("package", PACKAGES, ids=where)
def test_what_is_imported_to_register_is_small(package: Path) -> None:
    """`__init__` holds hooks and records; the work is imported by `open`."""
    (init,) = package.glob("src/*/__init__.py")
    top = {n.module or "" for n in tree_of(init).body if isinstance(n, ast.ImportFrom)}
    ours = {name for name in top if name.startswith(init.parent.name)}
    assert ours == set()
    assert init.read_text().count("\n") <= 100


# What may be imported where --------------------------------------------------


def test_the_hook_needs_the_standard_library_only() -> None:
    known = {path.stem for path in ALONE} | set(sys.stdlib_module_names)
    strangers = {where(m): found for m in ALONE if (found := imported(m) - known)}
    assert strangers == {}


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


LATE = {"structlog", "rich", "watchfiles", "psutil", "tomlkit", "keyring", "sqlite_vec"}
VENDORS = {"anthropic", "openai", "google", "httpx2", "numpy", "pytest"}


def test_the_worker_imports_what_it_needs() -> None:
    assert not modules_after("import claude_mem_core.worker.main") & (LATE | VENDORS)


def test_the_command_line_starts_light() -> None:
    version = "import sys; sys.argv[1:] = ['--version']\nimport claude_mem_core.cli.main as m"
    heavy = {
        "attr",
        "attrs",
        "pluggy",
        "anyio",
        "apsw",
        "starlette",
        "cattrs",
        "importlib_metadata",
    }
    assert not modules_after(f"{version}\nm.main(['--version'])") & (heavy | LATE | VENDORS)


# What is done in one place ---------------------------------------------------

SPAWNING = {"subprocess", "asyncio", "anyio", "os", "posix", "pty"}


def test_git_is_run_in_one_module() -> None:
    """A repository's configuration makes git run programs; one wrapper prevents it."""
    wrapper = {m for m in MODULES if m == CORE / "git.py" or m.is_relative_to(CORE / "git")}
    assert wrapper
    assert [where(m) for m in MODULES if m not in wrapper and _runs_git(m)] == []


def _runs_git(module: Path) -> bool:
    for name, call in calls(module):
        if name.partition(".")[0] in SPAWNING:
            texts = [n.value for n in ast.walk(call) if isinstance(n, ast.Constant)]
            if any(isinstance(text, str) and text.split(" ")[0] == "git" for text in texts):
                return True
    return False


PRINTERS = {
    CORE / "cli" / "emit.py",
    CORE / "cli" / "main.py",
    CORE / "cli" / "commands" / "hook.py",  # what the host reads, byte for byte
    CORE / "cli" / "install" / "run.py",  # a question without a line's end
    CORE / "clean" / "pattern_child.py",  # a pipe to its parent
    CORE / "worker" / "main.py",  # before there is a log
}


def test_the_terminal_is_reached_through_emit() -> None:
    """Stored text must not drive a terminal."""
    writes = {"print", "sys.stdout.write", "sys.stderr.write", "sys.stdout.buffer.write"}
    others = (m for m in MODULES if m not in PRINTERS and not m.is_relative_to(CORE / "hook"))
    assert [where(m) for m in others if {name for name, _ in calls(m)} & writes] == []


NEVER = {
    "eval",
    "exec",
    "os.system",
    "os.popen",
    "pickle.loads",
    "pickle.load",
    "marshal.loads",
}


def test_nothing_runs_text_as_code() -> None:
    others = (m for m in MODULES if not m.is_relative_to(CORE / "hook"))
    assert [where(m) for m in others if {name for name, _ in calls(m)} & NEVER] == []


def test_nothing_is_run_by_a_shell() -> None:
    shells = {where(m): c.lineno for m in MODULES for _, c in calls(m) if _by_a_shell(c)}
    assert shells == {}


def _by_a_shell(call: ast.Call) -> bool:
    return any(keyword.arg == "shell" for keyword in call.keywords)


@pytest.mark.parametrize("hook", sorted(HOOKS))
def test_every_hook_is_called_somewhere(hook: str) -> None:
    """A hook that the core never asks is a promise not kept. `later` are promised anew."""
    later = {"mem_providers", "mem_embedders"}
    asked = [m for m in CORE.rglob("*.py") if f'"{hook}"' in m.read_text(encoding="utf-8")]
    outside = [m for m in asked if not m.is_relative_to(CORE / "plugins")]
    outside = [m for m in outside if not m.is_relative_to(CORE / "testing")]
    assert outside or hook in later

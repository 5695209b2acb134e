"""Lays the hook client into the data directory, ready for a bare interpreter."""

from __future__ import annotations

import ast
import importlib.util
import marshal
import os
import secrets
import sys
from _imp import source_hash
from collections.abc import Collection, Mapping
from pathlib import Path
from types import CodeType

from claude_mem_core.edge import present
from claude_mem_core.errors import StoreError, UsageError
from claude_mem_core.files import read_private, secure_dir, write_private
from claude_mem_core.paths import Paths, home_dir

LARGEST = 1024 * 1024
LOST = b"0" * 20
WIRE_HERE = "the code of wire.py"

# What a worker gets of the environment it is installed from. A repository can set
# anything else in the environment of its agent; none of that may steer the worker.
_KEPT = (
    "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP",
)  # fmt: skip


def hook_argv(paths: Paths, python: str | None = None) -> list[str]:
    """How a hook is started, without host and event. Touches nothing."""
    return [python or sys.executable, *present.argv(str(paths.data))[1:]]


def bridge_argv(paths: Paths) -> list[str]:
    """How the MCP server is started, without the name of the client. Touches nothing."""
    return present.bridge_argv(str(paths.data))


def install_hook(
    paths: Paths,
    python: str | None = None,
    environ: Mapping[str, str] | None = None,
    keep: Collection[str] = (),
) -> list[str]:
    """Write the hook's files, their cached code and the worker's command line.

    Args:
        python: the interpreter of the hooks; this one when None.
        environ: what the worker's environment is recorded from; the process's own when
            None. An empty one keeps what is recorded, else takes the system's defaults.
        keep: further names to record: where hosts have their folders.

    Returns what `hook_argv` does.

    Raises:
        StoreError: the data directory is not ours alone, or can't be written.
    """
    secure_dir(paths.data)
    secure_dir(paths.hook)
    key = _key(paths) or secrets.randbits(63)
    for name, data in laid_out(key).items():
        _write(paths.hook / name, data)
    _record_worker(paths, os.environ if environ is None else environ, keep)
    if not (paths.data / "lost.count").exists():
        write_private(paths.data / "lost.count", LOST)
    _write(paths.hook / present.STAMP, f"{present.stamp()}\n{key}\n".encode())
    return hook_argv(paths, python)


def ensure_hook(paths: Paths) -> list[str]:
    """Install the hook unless these very files are there; for `mem hook` and the worker.

    Raises:
        StoreError: as `install_hook`.
    """
    if present.is_current(str(paths.data)):
        return hook_argv(paths)
    return install_hook(paths, environ={})


def source(name: str) -> bytes:
    """The source of one of the hook's files."""
    return Path(present.source_path(name)).read_bytes()


def _key(paths: Paths) -> int:
    """The key of this installation's digests; 0 when there is none."""
    key = (_read(paths.hook / present.STAMP) or b"").partition(b"\n")[2].strip()
    return int(key) if key.isdigit() else 0


def laid_out(key: int) -> dict[str, bytes]:
    """Every file of an installed hook, by name."""
    files = {f"{name}.py": source(name) for name in present.FILES}
    codes = {name: cached(name) for name in present.FILES if name != "client"}
    known = {name: digest(key, data) for name, data in codes.items()}
    constants = {
        "VERSION": sys.hexversion,
        "SUFFIX": suffix(),
        "KEY": key,
        "DIGESTS": known,
        "EXTENSIONS": extensions(),
        "WIRE": WIRE_HERE,
    }
    codes["client"] = cached("client", constants)
    files |= {f"{name}{suffix()}": data for name, data in codes.items()}
    return files | {"launch.py": launcher(key, codes["client"])}


def extensions() -> dict[str, str]:
    """Where the extension modules of the hot path lie; those built in are not here."""
    specs = {name: importlib.util.find_spec(name) for name in ("_socket", "select")}
    return {
        name: spec.origin
        for name, spec in specs.items()
        if spec is not None and spec.origin and os.path.isabs(spec.origin)
    }


def digest(key: int, data: bytes) -> bytes:
    """SipHash of `data`; built into every Python, which the hook's speed needs."""
    return source_hash(key, data)


def suffix() -> str:
    """How cached code for this interpreter is called."""
    return f".{sys.implementation.cache_tag}.pyc"


def cached(name: str, constants: Mapping[str, object] | None = None) -> bytes:
    """The compiled code of a file, in the form that Python itself keeps it."""
    text = source(name)
    tree = _filled(slim(text), constants or {})
    code = bare(compile(tree, f"{name}.py", "exec", dont_inherit=True, optimize=2))
    if name == "client":
        code = _with_wire(code)
    head = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little")
    # Later versions of the format depend on what else the process has loaded.
    return head + importlib.util.source_hash(text) + marshal.dumps(code, 2)


def _with_wire(code: CodeType) -> CodeType:
    """The client's code with that of `wire` among its constants: one file less to read."""
    wire = bare(compile(slim(source("wire")), "wire.py", "exec", dont_inherit=True, optimize=2))
    parts = (wire if part == WIRE_HERE else part for part in code.co_consts)
    return code.replace(co_consts=tuple(parts))


def bare(code: CodeType) -> CodeType:
    """The code without its table of lines, a third of its size."""
    parts = (bare(part) if isinstance(part, CodeType) else part for part in code.co_consts)
    return code.replace(co_linetable=b"", co_consts=tuple(parts))


def slim(text: bytes) -> ast.Module:
    """The code without annotations and what stands under TYPE_CHECKING.

    Each costs the hook time: annotations are built at every start, `__future__` is a
    module to be found and read.
    """
    tree = ast.parse(text)
    _Slim().visit(tree)
    return ast.fix_missing_locations(tree)


class _Slim(ast.NodeTransformer):
    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if node.module == "__future__" else node

    def visit_If(self, node: ast.If) -> ast.AST | None:
        checking = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return None if checking else self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        plain = ast.Assign(targets=[node.target], value=node.value)
        return ast.copy_location(plain, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node


def launcher(key: int, client: bytes) -> bytes:
    """launch.py for this cached client; short, because it is compiled at each start."""
    values = {
        "VERSION": sys.hexversion,
        "CACHED": f"client{suffix()}",
        "KEY": key,
        "DIGEST": digest(key, client),
    }
    tree = _filled(slim(source("launch")), values)
    tree.body = tree.body[1:]  # the docstring
    return ast.unparse(tree).encode()


def _filled(tree: ast.Module, values: Mapping[str, object]) -> ast.Module:
    """The module with these of its constants set."""
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if (
            isinstance(node, ast.Assign)
            and isinstance(target, ast.Name)
            and target.id in values
        ):
            node.value = ast.parse(repr(values[target.id]), mode="eval").body
    return ast.fix_missing_locations(tree)


def _record_worker(
    paths: Paths, environ: Mapping[str, str], keep: Collection[str] = ()
) -> None:
    """Write `worker.argv`: a count, the words, then NAME=VALUE, parted by NUL."""
    argv = [sys.executable, "-I", "-m", "claude_mem_core.worker.main"]
    argv += ["--data-dir", str(paths.data)]
    pairs = _recorded(paths) if not environ else []
    if not pairs:
        env = recorded_environment(environ)
        env |= {name: environ[name] for name in keep if os.path.isabs(environ.get(name, ""))}
        pairs = [os.fsencode(f"{name}={value}") for name, value in sorted(env.items())]
    words = [str(len(argv)).encode(), *map(os.fsencode, argv), *pairs]
    _write(paths.worker_argv, b"\0".join(words))


def _recorded(paths: Paths) -> list[bytes]:
    """The environment that is recorded already."""
    count, *words = (_read(paths.worker_argv) or b"0").split(b"\0")
    return words[int(count) :] if count.isdigit() else []


def recorded_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that the worker may start with; defaults where empty."""
    kept = {name: environ[name] for name in _KEPT if environ.get(name)}
    kept |= {name: value for name, value in environ.items() if name.startswith("XDG_")}
    kept.setdefault("LANG", "C.UTF-8")
    kept["HOME"] = _home(environ)
    kept["PATH"] = _safe_path(environ.get("PATH", ""))
    return {name: value for name, value in kept.items() if "\0" not in value}


def _home(environ: Mapping[str, str]) -> str:
    try:
        return str(home_dir(environ))
    except UsageError:  # a user of a container, say; nothing of ours is there
        return os.sep


def _safe_path(given: str) -> str:
    """Absolute directories only: a relative one would be the repository's."""
    parts = [part for part in given.split(os.pathsep) if os.path.isabs(part)]
    return os.pathsep.join(parts) or os.defpath.removeprefix(f".{os.pathsep}")


def _read(path: Path) -> bytes | None:
    try:
        return read_private(path, LARGEST)
    except (FileNotFoundError, StoreError):
        return None


def _write(path: Path, data: bytes) -> None:
    """Write unless the file says that already: each write costs the disk."""
    if _read(path) != data:
        write_private(path, data)


def hook_faults(paths: Paths) -> list[str]:
    """What is wrong with the installed hook, a sentence each; none when all is well."""
    if not (paths.hook / "launch.py").exists():
        return ["the hook is not installed: run `mem install`"]
    wanted = laid_out(_key(paths))
    odd = [name for name, data in wanted.items() if _read(paths.hook / name) != data]
    if not odd:
        return []
    names = ", ".join(sorted(odd))
    return [f"files of the hook are not what was installed ({names}): run `mem install`"]

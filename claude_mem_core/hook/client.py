"""The hot path of the hook: stdin to the worker, the worker's answer to the host.

It knows no host and parses nothing. Only built-in modules and `_socket` and `select`
are imported, because each import costs more than the whole exchange. Whatever goes
wrong, the host gets exit code 0 and nothing that it could not read. `wire` speaks to
the worker; what is rare lies in other files: `slow`, `cold` and what these load.
"""

from __future__ import annotations

import sys
from _imp import create_dynamic, exec_dynamic, source_hash
from marshal import loads
from time import time_ns

if sys.platform == "win32":
    import nt as _os
else:
    import posix as _os

TYPE_CHECKING = False  # the name is what type checkers look for; `typing` costs 5 ms
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable
    from types import CodeType, ModuleType
    from typing import Any

    Load = Callable[[str], ModuleType]
    Reply = tuple[bytes, bytes, int]  # stdout, stderr, exit code

# Filled in by the installer: how the cached code of the other files is called, and its
# digests; the code of `wire`; where the two extension modules lie, because looking for
# them costs as much as loading them.
VERSION = 0
SUFFIX = ""
KEY = 0
DIGESTS: dict[str, bytes] = {}
WIRE: CodeType | str = ""
EXTENSIONS: dict[str, str] = {}

QUICK_S = 0.25
PATIENT_S = 3.0
# Events that may put something before the agent; for others there is `--wait SECONDS`.
PATIENT = ("SessionStart", "BeforeAgent", "PreToolUse", "BeforeTool")
# With memories for each prompt (opt-in), a prompt waits for those as well.
PROMPTS = ("UserPromptSubmit",)
# Of these, the ones that don't wait for a worker that is only starting.
WARM_ONLY = ("PreToolUse", "BeforeTool")

BEFORE_TOOL = ("PreToolUse", "BeforeTool")
AFTER_TOOL = ("PostToolUse", "PostToolUseFailure", "AfterTool")
SWITCHES = (
    ("CLAUDE_MEM_DISABLE_TOOL_HOOKS", BEFORE_TOOL + AFTER_TOOL),
    ("CLAUDE_MEM_DISABLE_OBSERVATION", AFTER_TOOL),
    ("CLAUDE_MEM_DISABLE_FILE_CONTEXT", BEFORE_TOOL),
    ("CLAUDE_MEM_DISABLE_SUMMARY", ()),
)
# All that is passed on of the host's environment.
PASSED = (
    *(name for name, _ in SWITCHES),
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_PLUGIN_ROOT",
    "GEMINI_PROJECT_DIR",
    "QODER_PROJECT_DIR",
    "PLUGIN_ROOT",
)

# What a host has to hear before it uses a tool, whatever is wrong with us (`--allow`).
ALLOWED = b'{"decision": "allow"}'

EMPTY_S = 5.0  # a stdin that says nothing
QUIET_S = 0.05  # a stdin that has said something and does not end
LIMIT = 8 * 1024 * 1024
MUTE_S = 60


class Call:
    """One call of the hook."""

    def __init__(self, data: str, args: list[str]) -> None:
        words, options = arguments(args)
        self.host = words[0] if words else ""
        self.event = words[1] if len(words) > 1 else ""
        self.data = options.get("--data-dir", data)
        now = time_ns()
        self.key = f"{now:020d}-{_os.getpid()}"
        self.at_ms = now // 1_000_000
        self.env = environment()
        if "--here" in options:  # of a host whose payload does not say where it works
            self.env["CLAUDE_PROJECT_DIR"] = here()
        self.wait = patience(self.event, options.get("--wait", ""))
        self.waits_for_start = self.wait > QUICK_S and self.event not in WARM_ONLY
        if self.event in PROMPTS and self.wait == QUICK_S and is_patient(self.data):
            self.wait = PATIENT_S
        self.body = b""
        self.size = 0
        self.cwd = ""
        self.link: socket | None = None  # a connection that has said nothing yet
        self.greeted = 0.0
        self.reached = False  # a process of ours has taken a connection
        self.told = b""  # what to print though the worker could not store the event


def arguments(args: list[str]) -> tuple[list[str], dict[str, str]]:
    """HOST and EVENT, and the options `--data-dir D`, `--wait SECONDS`, `--here`, `--allow`."""
    words: list[str] = []
    options: dict[str, str] = {}
    rest = iter(args)
    for word in rest:
        if word in ("--data-dir", "--wait"):
            options[word] = next(rest, "")
        elif word in ("--here", "--allow"):
            options[word] = word
        else:
            words.append(word)
    return words, options


def patience(event: str, wished: str) -> float:
    """How many seconds the host may be kept waiting for an answer."""
    try:
        return (
            min(float(wished), 30.0) if wished else PATIENT_S if event in PATIENT else QUICK_S
        )
    except ValueError:
        return QUICK_S


def environment() -> dict[str, bytes]:
    """The values that are passed on."""
    given = _os.environ
    if sys.platform == "win32":
        return {n: given[n].encode("utf-8", "replace")[:2000] for n in PASSED if given.get(n)}
    pairs = [(name, given.get(name.encode(), b"")) for name in PASSED]
    return {name: value[:2000] for name, value in pairs if value}


def here() -> bytes:
    """The directory that the host started us in."""
    try:
        return _os.getcwdb()[:2000]
    except OSError:
        return b""


def switched_off(call: Call) -> bool:
    """Whether the host's environment says that this event is not wanted."""
    wished = [events for name, events in SWITCHES if call.env.get(name) in (b"1", b"true")]
    return any([call.event in events for events in wished])  # noqa: C419 - a list is cheaper


def find_extensions() -> None:
    """Load them from where they were; an `import` finds them, or looks for itself."""
    for name, origin in EXTENSIONS.items():
        try:
            spec: Any = type(sys.implementation)
            module = create_dynamic(spec(name=name, origin=origin))
            exec_dynamic(module)
            sys.modules[name] = module
        except (OSError, ImportError):
            continue


def open_gaps() -> None:
    """Give closed standard streams a place, so that no socket gets their number."""
    for number in (0, 1, 2):
        try:
            _os.fstat(number)
        except OSError:
            _os.open("NUL" if sys.platform == "win32" else "/dev/null", _os.O_RDWR)


def read_input(load: Load) -> tuple[bytes, int]:
    """Stdin, and its size; over 8 MB only its ends."""
    if sys.platform == "win32":
        return load("windows").read_input()  # type: ignore[no-any-return]
    from select import select

    blocks: list[bytes] = []
    size = 0
    while select([0], [], [], QUIET_S if blocks else EMPTY_S)[0]:
        block = _os.read(0, 65536)
        if not block:
            return b"".join(blocks), size
        blocks.append(block)
        size += len(block)
        if size > LIMIT:
            return load("slow").too_large(blocks, size)  # type: ignore[no-any-return]
    return load("slow").quiet(blocks) if blocks else (b"", 0)


def is_mute(data: str) -> bool:
    """Whether the worker took a connection and said nothing a short while ago."""
    try:
        return -1 < time_ns() / 1e9 - _os.stat(data + "/mute").st_mtime < MUTE_S
    except OSError:
        return False


def is_patient(data: str) -> bool:
    """Whether the worker has left word that it answers prompts with memories."""
    try:
        _os.stat(data + "/patient")
    except OSError:
        return False
    return True


def write(number: int, data: bytes) -> None:
    """Write all of it; a host that does not listen is no fault."""
    try:
        while data:
            data = data[_os.write(number, data) :]
    except OSError:
        pass


def attend(data: str, args: list[str], load: Load) -> Reply:
    """Do the hook's work; what it returns is for the host."""
    open_gaps()
    find_extensions()
    call = Call(data, args)
    wire = load("windows" if sys.platform == "win32" else "wire")
    off = switched_off(call)
    if not off:
        wire.greet(call)
    try:
        call.body, call.size = read_input(load)
    except OSError:  # a stdin that can't be read is an empty one
        call.body, call.size = b"", 0
    return (b"", b"", 0) if off else send(call, wire, load)


def send(call: Call, wire: ModuleType, load: Load) -> Reply:
    """The worker's answer; without a worker, what the cold path makes of it."""
    seconds = QUICK_S if call.wait > QUICK_S and is_mute(call.data) else call.wait
    try:
        return wire.exchange(call, seconds)  # type: ignore[no-any-return]
    except (OSError, ValueError) as fault:
        cold = "windows" if sys.platform == "win32" else "cold"
        return load(cold).take(call, fault, wire.exchange, load)  # type: ignore[no-any-return]


def loader(folder: str) -> Load:
    """Loads files of the hook as modules; `import` would cost more."""

    def code(name: str) -> CodeType:
        if name == "wire" and not isinstance(WIRE, str):
            return WIRE
        try:
            if sys.hexversion == VERSION:
                with open(folder + name + SUFFIX, "rb") as file:
                    data = file.read()
                if source_hash(KEY, data) == DIGESTS[name]:
                    return loads(memoryview(data)[16:])  # type: ignore[no-any-return]
        except (OSError, ValueError, EOFError, TypeError, KeyError):
            pass
        with open(folder + name + ".py", "rb") as file:
            return compile(file.read(), folder + name + ".py", "exec")

    def load(name: str) -> ModuleType:
        if name not in loaded:
            loaded[name] = type(sys)(name)
            exec(code(name), loaded[name].__dict__)  # noqa: S102 - our own file
        return loaded[name]

    loaded: dict[str, ModuleType] = {}
    return load


def run(folder: str, args: list[str]) -> None:
    """Never raises, never returns: the interpreter's own end would cost 2 ms."""
    out, code = b"", 0
    try:
        out, err, code = attend(folder[:-5], args, loader(folder))
    except BaseException as fault:
        err = complaint(fault)
    try:
        write(1, out or (ALLOWED if "--allow" in args else b""))
        write(2, err)
    finally:
        _os._exit(code)


def complaint(fault: BaseException) -> bytes:
    """One line on why the hook itself can't run; never anything of the event."""
    if isinstance(fault, KeyboardInterrupt):
        return b""
    reason = fault.strerror if isinstance(fault, OSError) else ""
    text = f"claude-mem: {reason or type(fault).__name__}, continuing without memory\n"
    return text.encode("utf-8", "replace")


if __name__ == "__main__":
    run(sys.argv[0][:-9], sys.argv[1:])

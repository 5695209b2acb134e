"""What a shell line is for: a test, a build, a look around, a change of the history."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

import attrs

from claude_mem_core.observer.programs import (
    BUILDS,
    CHECKS,
    DATABASES,
    DEPLOYS,
    FILES,
    GIT_HISTORY,
    GIT_SAVE,
    GIT_UNDO,
    HELPERS,
    HTTP,
    INSTALLERS,
    LOOKS,
    RUNNERS,
    SEARCHES,
    SHOWS,
    TESTS,
)
from claude_mem_core.observer.shell import Command, parse
from claude_mem_core.observer.text import squash


class Sort(IntEnum):
    """The sorts of commands, least telling first: a line is of its most telling sort."""

    HELPER = 0
    LOOK = 1
    SHOW = 2
    SEARCH = 3
    HISTORY = 4
    FILES = 5
    STAGE = 6
    INSTALL = 7
    SCRIPT = 8
    HTTP = 9
    DATABASE = 10
    DEPLOY = 11
    BUILD = 12
    CHECK = 13
    TEST = 14
    UNDO = 15
    SAVE = 16


QUIET = {Sort.HELPER, Sort.LOOK, Sort.STAGE}  # never worth a memory by themselves
PASSIVE = QUIET | {Sort.SHOW, Sort.SEARCH, Sort.HISTORY}  # they change nothing
PROOF = {Sort.BUILD, Sort.CHECK, Sort.TEST}  # they pass or fail

INTERPRETERS = re.compile(
    r"^(?:python[\d.]*|node|ruby|perl|php|deno|bun|tsx|ts-node|bash|sh|zsh|Rscript|julia|lua|pwsh|elixir|java|dart)$"
)

# Verbs of the runners (npm run X, cargo X, gradlew X, make X ...).
VERBS: tuple[tuple[Sort, re.Pattern[str]], ...] = (
    (Sort.CHECK, re.compile(r"(?:^|[:_-])(?:lint\w*|check|vet|clippy|fmt|format\w*|type-?check\w*|tsc|analy[sz]e|audit|validate|detekt|ktlint\w*|verify-types|stan|cs)(?:$|[:_-])|^types?$", re.IGNORECASE)),
    (Sort.TEST, re.compile(r"(?:^|[:_.-])(?:tests?|spec|e2e|bench\w*|integration\w*|unit\w*|verify|coverage|nextest|ctest|\w*[Tt]est)(?:$|[:_.-])|^t$")),
    (Sort.DEPLOY, re.compile(r"(?:^|[:_.-])(?:deploy\w*|release|publish|rollout)(?:$|[:_.-])", re.IGNORECASE)),
    (Sort.BUILD, re.compile(r"(?:^|[:_.-])(?:build\w*|compile\w*|assemble\w*|bundle\w*|package|dist|all|bootJar|codegen|generate)(?:$|[:_.-])", re.IGNORECASE)),
    (Sort.INSTALL, re.compile(r"^(?:i|ci|install|add|remove|uninstall|update|upgrade|up|get|require|restore|sync|bundle|mod)$")),
    (Sort.LOOK, re.compile(r"^(?:ls|list|outdated|why|view|info|tree|show|version|help|env|doctor|fund|root|bin|tasks|projects)$")),
)  # fmt: skip
OUTER = re.compile(r"(?:deploy|rollout|release|provision)", re.IGNORECASE)
TESTISH = re.compile(r"(?:^|[/_.-])(?:tests?|spec|check|e2e)(?:[/_.-]|$)", re.IGNORECASE)


@attrs.frozen
class Job:
    """A shell line as the observer sees it.

    Attributes:
        line: as typed.
        commands: its simple commands.
        main: the most telling one.
        sort: what that one is for.
        kin: equal for runs of one thing, whatever their options.
    """

    line: str
    commands: tuple[Command, ...]
    main: Command
    sort: Sort
    kin: str


@lru_cache(maxsize=512)
def job(line: str) -> Job:
    """Read a shell line. Pure; the last 512 answers are remembered."""
    commands = tuple(c for c in parse(line) if c.words)
    if not commands:
        return Job(line, (), Command(("",)), Sort.HELPER, squash(line)[:80])
    sorts = [sort_of(c) for c in commands]
    best = max(sorts)
    main = commands[sorts.index(best)]
    return Job(line, commands, main, best, kin_of(main, best))


def sort_of(command: Command) -> Sort:
    """What a simple command is for."""
    program, args = command.program, command.args
    if program == "git":
        return _git(command)
    if program in HELPERS:
        return Sort.FILES if command.writes else Sort.HELPER
    if program in ("sed", "awk", "perl") and not _in_place(command):
        return Sort.FILES if command.writes else Sort.SHOW
    for names, sort in _PROGRAMS:
        if program in names:
            return Sort.FILES if command.writes and sort < Sort.FILES else sort
    if program in INSTALLERS:
        return _installer(args)
    return _runner(command)


_PROGRAMS: tuple[tuple[frozenset[str], Sort], ...] = (
    (LOOKS, Sort.LOOK), (SHOWS, Sort.SHOW), (SEARCHES, Sort.SEARCH), (FILES, Sort.FILES),
    (HTTP, Sort.HTTP), (DATABASES, Sort.DATABASE), (TESTS, Sort.TEST), (CHECKS, Sort.CHECK),
)  # fmt: skip


def _in_place(command: Command) -> bool:
    return any(re.match(r"-(?:i|pi|[a-z]*i$|-in-place)", w) for w in command.words[1:4])


def _git(command: Command) -> Sort:
    args = [w for w in command.words[1:] if not w.startswith("-")]
    verb = args[0] if args else "status"
    if verb == "stash" and args[1:2] in (["list"], ["show"]):
        return Sort.LOOK
    if verb == "checkout" and any(w in ("-b", "-B") for w in command.words):
        return Sort.STAGE
    for verbs, sort in (
        (GIT_UNDO, Sort.UNDO),
        (GIT_SAVE, Sort.SAVE),
        (GIT_HISTORY, Sort.HISTORY),
    ):
        if verb in verbs:
            return sort
    return (
        Sort.FILES
        if verb in ("mv", "rm", "apply")
        else (Sort.STAGE if verb in ("add", "switch", "init") else Sort.LOOK)
    )


def _installer(args: tuple[str, ...]) -> Sort:
    verbs = {"list", "show", "freeze", "info", "search", "outdated", "--version"}
    return Sort.LOOK if args and args[0] in verbs else Sort.INSTALL


def _runner(command: Command) -> Sort:
    program = command.program
    if program in RUNNERS:
        return _verb(command)
    if program in BUILDS:
        return Sort.BUILD
    if program in DEPLOYS:
        return _deploy(command)
    if INTERPRETERS.match(program):
        return _interpreted(command)
    if program in ("docker", "podman"):
        return _container(command)
    return _script(command.words[0])


def _verb(command: Command) -> Sort:
    words = [w.lstrip(":") for w in command.args if w not in ("run", "exec", "x", "workspace")]
    for word in words[:4]:
        for sort, pattern in VERBS:
            if pattern.search(word.rsplit(":", 1)[-1]) or pattern.search(word):
                return sort
    return Sort.BUILD if command.program in BUILDS and not words else Sort.SCRIPT


def _deploy(command: Command) -> Sort:
    looks = {
        "get",
        "describe",
        "logs",
        "top",
        "status",
        "plan",
        "show",
        "list",
        "validate",
        "explain",
        "ps",
    }
    return (
        Sort.LOOK
        if set(command.args[:2]) & (looks - {"plan", "validate"})
        else (Sort.CHECK if set(command.args[:1]) & {"plan", "validate"} else Sort.DEPLOY)
    )


def _interpreted(command: Command) -> Sort:
    words = command.words[1:]
    if "-m" in words[:2]:
        module = words[words.index("-m") + 1 :][:1]
        return (
            max(sort_of(Command(tuple(words[words.index("-m") + 1 :]))), Sort.SCRIPT)
            if module
            else Sort.SCRIPT
        )
    if command.args and not {"-c", "-e"} & set(words):
        return max(_script(command.args[0]), _managed(command.args))
    return Sort.SCRIPT


def _managed(args: tuple[str, ...]) -> Sort:
    """`manage.py test`, `artisan migrate`: the verb of a project's own runner."""
    if len(args) > 1 and re.search(r"(?:manage\.py|artisan|console|rails)$", args[0]):
        return Sort.TEST if args[1] in ("test", "spec") else Sort.SCRIPT
    return Sort.SCRIPT


def _container(command: Command) -> Sort:
    args = command.args
    verb = args[1] if args[:1] == ("compose",) and len(args) > 1 else (args[0] if args else "")
    if verb in ("up", "down", "restart", "stop", "start", "run", "push", "rm", "deploy"):
        return Sort.DEPLOY
    return (
        Sort.BUILD
        if verb == "build"
        else Sort.SHOW
        if verb in ("logs", "inspect")
        else Sort.LOOK
    )


def _script(path: str) -> Sort:
    base = path.rsplit("/", 1)[-1]
    if OUTER.search(base):
        return Sort.DEPLOY
    return Sort.TEST if TESTISH.search(base.rsplit(".", 1)[0]) else Sort.SCRIPT


def kin_of(command: Command, sort: Sort) -> str:
    """What two runs have in common when the same thing is tried again."""
    words = [command.program, *command.args]
    if INTERPRETERS.match(command.program) and "-m" in command.words[1:2]:
        words = [w for w in command.words[2:] if not w.startswith("-")]
    if sort in PROOF:
        return " ".join([words[0], *[w for w in words[1:] if _is_verb(w)][:3]])
    if sort is Sort.HTTP:
        return url_of(command)
    if sort is Sort.DATABASE:
        return " ".join(
            [
                words[0],
                *re.findall(
                    r"(?i)\b(?:from|into|update|table)\s+([\w.\"]+)",
                    squash(" ".join(command.words)),
                ),
            ][:4]
        )
    return squash(" ".join(words[:3]))[:200]


def url_of(command: Command) -> str:
    """The address that a web command asks; its last argument when none looks like one."""
    urls = [
        w
        for w in command.args
        if re.match(r"https?://|localhost\b|[\w-]+(?:\.[\w-]+)*:\d+(?:/|$)", w)
    ]
    return urls[0] if urls else command.words[-1]


def _is_verb(word: str) -> bool:
    """Names of tasks, not paths, filters or packages: those may change between runs."""
    return bool(re.fullmatch(r":?[A-Za-z][\w:-]*", word)) and word not in ("run", "exec")

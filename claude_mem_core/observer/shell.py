"""Shell lines taken apart: simple commands, their words, what they write to.

A reading good enough to tell a test run from a listing; never executed, never exact.
"""

from __future__ import annotations

import re

import attrs

HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_]\w*)\1")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
LONGEST = 20_000
DEPTH = 3

# Words that only carry another command; the value says how many arguments they take.
CARRIERS = {
    "sudo": 0, "time": 0, "nohup": 0, "exec": 0, "command": 0, "env": 0, "npx": 0, "bunx": 0,
    "pnpx": 0, "timeout": 1, "nice": 0, "xvfb-run": 0, "do": 0, "then": 0, "else": 0, "!": 0,
    "if": 0, "while": 0, "watch": 0, "stdbuf": 0, "winpty": 0, "time.exe": 0,
}  # fmt: skip
PAIRS = {
    ("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run"),
    ("rye", "run"), ("bundle", "exec"), ("npm", "exec"), ("pnpm", "exec"), ("yarn", "exec"),
    ("pnpm", "dlx"), ("yarn", "dlx"), ("dotnet", "tool"), ("direnv", "exec"), ("mise", "exec"),
}  # fmt: skip
KEYWORDS = {"done", "fi", "esac", "}", "{", "(", ")"}
CONTAINERS = {"docker", "podman", "kubectl", "docker-compose"}
WITH_VALUE = {
    "-u",
    "--user",
    "-w",
    "--workdir",
    "-e",
    "--env",
    "-i",
    "-p",
    "-l",
    "-o",
    "-n",
    "-c",
}


@attrs.frozen
class Command:
    """One simple command.

    Attributes:
        words: program and arguments, quotes removed.
        writes: files that its redirections write.
        host: the machine or container it runs on, when not here.
        body: the text of its here-document.
    """

    words: tuple[str, ...]
    writes: tuple[str, ...] = ()
    host: str = ""
    body: str = ""

    @property
    def program(self) -> str:
        """Base name of the program."""
        return self.words[0].rsplit("/", 1)[-1] if self.words else ""

    @property
    def args(self) -> tuple[str, ...]:
        """Arguments that are no options."""
        return tuple(w for w in self.words[1:] if not w.startswith(("-", "+")))


def parse(line: str, depth: int = 0) -> list[Command]:
    """The simple commands of a shell line, in order."""
    text, bodies = _without_heredocs(line[:LONGEST])
    commands = []
    for words in _split(text):
        for command in _unwrap(words, depth):
            body = bodies.pop(0) if bodies and "<<" in words else ""
            commands.append(attrs.evolve(command, body=body) if body else command)
    return commands


def _without_heredocs(line: str) -> tuple[str, list[str]]:
    """The line with the bodies of its here-documents taken out, and the bodies."""
    bodies: list[str] = []
    at = 0
    while match := HEREDOC.search(line, at):
        end_of_line = line.find("\n", match.end())
        if end_of_line < 0:
            break
        close = re.compile(rf"^\s*{match.group(2)}\s*$", re.MULTILINE).search(line, end_of_line)
        stop = close.start() if close else len(line)
        bodies.append(line[end_of_line + 1 : stop])
        head = line[: match.start()] + " << " + line[match.end() : end_of_line]
        at = len(head)
        line = head + line[close.end() if close else stop :]
    return line, bodies


def _split(text: str) -> list[list[str]]:
    """Words of each simple command; operators of redirection stay as words."""
    groups: list[list[str]] = [[]]
    for token in _tokens(text):
        if token in (";", "&&", "||", "|", "\n", "&", "|&"):
            groups.append([])
        else:
            groups[-1].append(token)
    return [g for g in groups if g]


TOKEN = re.compile(
    r"""(?P<op>&&|\|\||\|&|[;|\n]|&(?!>)|\d?>{1,2}&\d|&>{1,2}|\d?>{1,2}\|?|<<<?|<)
      | (?P<space>[ \t\r]+) | (?P<comment>(?<![^\s;])\#[^\n]*)
      | (?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|\$\([^()]*(?:\([^()]*\)[^()]*)*\)|`[^`]*`
            |[^\s;|&<>'"\\`$]+|\$|.)+?(?=[\s;|&<>]|$)|.)""",
    re.VERBOSE | re.DOTALL,
)


def _tokens(text: str) -> list[str]:
    found = []
    for match in TOKEN.finditer(text):
        if match.lastgroup == "op":
            found.append(match.group())
        elif match.lastgroup == "word":
            found.append(unquote(match.group()))
    return found


def unquote(word: str) -> str:
    """A word without its shell quotes."""
    if "'" not in word and '"' not in word:
        return word.replace("\\\n", "")
    parts = re.split(r"('[^']*'|\"(?:\\.|[^\"\\])*\")", word, maxsplit=40)
    return "".join(_bare(p) for p in parts)


def _bare(part: str) -> str:
    if len(part) > 1 and part[0] == part[-1] and part[0] in "'\"":
        return part[1:-1]
    return part


def _unwrap(words: list[str], depth: int) -> list[Command]:
    """Take off carriers, assignments and shells; what remains is the command."""
    words, writes = _redirections(words)
    words = _carried(words)
    if not words or words[0] in KEYWORDS or words[0] in ("for", "case", "select", "until"):
        return []
    inner = _inner(words) if depth < DEPTH else None
    if inner is None:
        return [Command(tuple(words), tuple(writes))]
    host, line = inner
    return [
        attrs.evolve(c, host=host or c.host, writes=c.writes or tuple(writes))
        for c in parse(line, depth + 1)
    ]


def _redirections(words: list[str]) -> tuple[list[str], list[str]]:
    kept: list[str] = []
    writes: list[str] = []
    skip = False
    for at, word in enumerate(words):
        if skip:
            skip = False
        elif re.fullmatch(r"\d?>{1,2}\|?|&>{1,2}", word):
            skip = True
            if at + 1 < len(words):
                writes.append(words[at + 1])
        elif word in ("<", "<<<"):
            skip = True
        elif not re.fullmatch(r"\d?>{1,2}&\d|<<", word):
            kept.append(word)
    return kept, [w for w in writes if not w.startswith(("/dev/", "&"))]


def _carried(words: list[str]) -> list[str]:
    while words:
        first = words[0].rsplit("/", 1)[-1]
        if ASSIGNMENT.match(words[0]):
            words = words[1:]
        elif tuple(words[:2]) in PAIRS:
            words = _after_options(words[2:], 0)
        elif first in CARRIERS:
            words = _after_options(words[1:], CARRIERS[first])
        else:
            return words
    return words


def _after_options(words: list[str], arguments: int) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in WITH_VALUE and len(words) > 2 else words[1:]
    return words[arguments:]


def _inner(words: list[str]) -> tuple[str, str] | None:
    """Host and line of a command that runs another line: ssh, docker exec, sh -c."""
    program = words[0].rsplit("/", 1)[-1]
    rest = words[1:]
    if program == "ssh":
        rest = _after_options(rest, 0)
        return (rest[0], " ".join(rest[1:])) if len(rest) > 1 else None
    if program in ("docker", "podman") and rest[:1] == ["compose"]:
        program, rest = "docker-compose", _after_options(rest[1:], 0)
    if program in CONTAINERS and rest[:1] == ["exec"]:
        rest = [w for w in _after_options(rest[1:], 0) if w != "--"]
        return (rest[0], _requoted(rest[1:])) if len(rest) > 1 else None
    if program in ("bash", "sh", "zsh", "dash") and "-c" in _letters(rest):
        at = next(i for i, w in enumerate(rest) if w.startswith("-") and "c" in w)
        return ("", rest[at + 1]) if len(rest) > at + 1 else None
    return None


def _letters(words: list[str]) -> set[str]:
    return {f"-{c}" for w in words[:2] if re.fullmatch(r"-[a-z]+", w) for c in w[1:]}


def _requoted(words: list[str]) -> str:
    return " ".join(f"'{w}'" if re.search(r"\s", w) and "'" not in w else w for w in words)

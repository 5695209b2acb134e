"""An agent program that is asked once: a prompt on stdin, its answer on stdout."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing import programs
from claude_mem_core.providing.classify import from_prose, unusable
from claude_mem_core.providing.replied import as_one
from claude_mem_core.types import Message, Values
from claude_mem_provider_host import COMMAND, NAME

# How programs are asked once, with as little beside the answer as they allow.
AGENTS = {
    "claude": (
        "claude", "--print", "--output-format", "text", "--tools", "",
        "--strict-mcp-config", "--setting-sources", "", "--no-session-persistence",
        "--settings", '{"disableAllHooks": true, "permissions": {"deny": ["Read"]}}',
    ),
    "codex": (
        "codex", "exec", "--skip-git-repo-check", "--sandbox", "read-only", "--ephemeral", "-",
    ),
    "gemini": ("gemini", "--output-format", "text"),
    "qwen": ("qwen", "--output-format", "text"),
}  # fmt: skip
MORE = {"CLAUDE_CODE_DISABLE_ATTACHMENTS": "1"}  # `@path` in a prompt is text, no file


def argv(command: str) -> list[str]:
    """The program and its arguments, by a known name or as the user wrote them.

    Raises:
        ProviderError: the quotes in it have no end.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ProviderError(Failure.BAD_REQUEST, f"{COMMAND}: {error}", provider=NAME) from None
    return list(AGENTS.get(command.strip(), words))


def missing(settings: Values) -> str:
    """What is to be set before the first request, with the command; empty: nothing."""
    command = str(settings.get(COMMAND) or "")
    if not command:
        return ""
    try:
        program = (argv(command) or [""])[0]
    except ProviderError as error:
        return f"{error}: mem config set host-observer-command COMMAND"
    if programs.found(program):
        return ""
    return (
        f"{program or 'the program'} is not there: mem config set host-observer-command COMMAND"
    )


async def ask(command: str, system: str, messages: Sequence[Message], settings: Values) -> str:
    """What the program answers; the caller sets the deadline.

    Raises:
        ProviderError: it can't be run, failed, or says that it refuses.
    """
    folder = programs.own_folder(settings, NAME)
    env = programs.bare_environment(settings, **MORE)
    prompt = "\n\n".join(part for part in (system, as_one(messages)) if part)
    ran = await programs.run(argv(command), prompt, env, folder)
    said = ran.out.decode("utf-8", "replace").strip()
    refusal = from_prose(said, NAME) or (from_prose(ran.err, NAME) if ran.code else None)
    if refusal is not None:
        raise refusal
    if ran.code == 0 and said:
        return said
    raise unusable(f"the agent ended with {ran.code}: {(ran.err or said)[-300:]}", NAME)

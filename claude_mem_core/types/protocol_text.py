"""Prompts that a host writes itself: they come like a user's, but nobody typed them.

The words are those of Claude Code and of the hosts that grew out of it or beside it.

A background task's end arrives as a prompt that starts with `<task-notification>`; slash
commands and shell escapes leave blocks of their own. A prompt in which a person quotes
such a block beside words of his own is a person's prompt.
"""

from __future__ import annotations

TASK = "task-notification"
TAGS = (
    TASK,
    "agent-notification",
    "bash-input",
    "bash-stderr",
    "bash-stdout",
    "command-args",
    "command-message",
    "command-name",
    "local-command-caveat",
    "local-command-stderr",
    "local-command-stdout",
    "system-reminder",
    "teammate-message",
    "user-prompt-submit-hook",
)


def kind_of(prompt: str) -> str | None:
    """Why the prompt is none: `task_notification`, `internal_protocol`; else None."""
    at, first = _words_from(prompt, 0), ""
    while at < len(prompt):
        tag = _opening(prompt, at)
        end = prompt.find(f"</{tag}>", at) if tag else -1
        if end < 0:
            return None
        first = first or tag
        if first == TASK:  # the host adds a line that says where the full output lies
            return "task_notification"
        at = _words_from(prompt, end + len(tag) + 3)
    return "internal_protocol" if first else None


def _opening(text: str, at: int) -> str:
    """The tag that opens at `at`, when it is one of the host's."""
    for tag in TAGS:
        if text.startswith(f"<{tag}", at) and text.startswith((">", " "), at + len(tag) + 1):
            return tag
    return ""


def _words_from(text: str, at: int) -> int:
    """The first place from `at` on that is no white space."""
    while at < len(text) and text[at].isspace():
        at += 1
    return at

"""The login that Codex keeps in a file, and a home for Codex that holds nothing but it.

Only a login with ChatGPT counts: one with an API key would be paid by the token, unasked.
The file is linked to, not copied: Codex renews its tokens in it, and a copy would log
the user out of the other one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing.programs import found
from claude_mem_core.types import Values
from claude_mem_provider_codex import HOME, NAME, PATH

AUTH = "auth.json"
FILE_BYTES = 1_000_000
LOG_IN = "log in with ChatGPT: codex -c cli_auth_credentials_store=file login"
# Whatever Codex could do beside answering is switched off; unknown names do no harm.
OFF = (
    "apps", "auth_elicitation", "browser_use", "browser_use_external", "code_mode_host",
    "computer_use", "goals", "guardian_approval", "hooks", "image_generation",
    "in_app_browser", "memories", "mentions_v2", "plugin_sharing", "plugins",
    "remote_plugin", "shell_snapshot", "shell_tool", "skill_mcp_dependency_install",
    "skill_search", "sleep_tool", "tool_call_mcp_elicitation", "tool_suggest",
    "unified_exec", "view_image", "workspace_dependencies",
)  # fmt: skip
CONFIG = f"""\
approval_policy = "never"
sandbox_mode = "read-only"
web_search = "disabled"
cli_auth_credentials_store = "file"
check_for_update_on_startup = false
project_doc_max_bytes = 0

[analytics]
enabled = false

[history]
persistence = "none"

[features]
{"".join(f"{name} = false" + chr(10) for name in OFF)}"""


def program(settings: Values) -> str:
    """The path of Codex; empty when it is not there."""
    return found(str(settings.get(PATH) or "codex"))


def auth_file(settings: Values) -> Path:
    """Where Codex keeps its login."""
    home = settings.get(HOME)
    return (Path(home) if home else Path.home() / ".codex") / AUTH


def missing(settings: Values) -> str:
    """What is to be done before the first request, with the command; empty: nothing."""
    if not program(settings):
        return "Codex is not there: mem config set codex-path PATH"
    return refusal(auth_file(settings))


def refusal(file: Path) -> str:
    """Why a login does not do; empty when it does."""
    try:
        with file.open("rb") as opened:
            login: Any = json.loads(opened.read(FILE_BYTES))
    except FileNotFoundError:
        return f"Codex has no login in {file}; {LOG_IN}"
    except (OSError, ValueError, RecursionError):
        return f"the login in {file} can't be read; {LOG_IN}"
    tokens = login.get("tokens") if isinstance(login, dict) else None
    if not isinstance(tokens, dict) or not tokens.get("access_token"):
        return f"the login in {file} is none with ChatGPT; {LOG_IN}"
    if login.get("auth_mode") not in (None, "chatgpt") or login.get("OPENAI_API_KEY"):
        return f"the login in {file} is by API key, which is not used here; {LOG_IN}"
    return ""


@contextmanager
def home(folder: Path, file: Path) -> Iterator[Path]:
    """A home for one run of Codex, gone afterwards with whatever Codex left in it.

    Raises:
        ProviderError: there is no login that does, or no link can be made.
    """
    reason = refusal(file)
    if reason:
        raise ProviderError(Failure.KEY_REFUSED, reason, provider=NAME)
    made = Path(mkdtemp(dir=folder, prefix="home-"))
    try:
        (made / "config.toml").write_text(CONFIG, encoding="utf-8")
        (made / AUTH).symlink_to(file.absolute())
        yield made
    except OSError as error:
        text = f"{made}: {error.strerror or error}"
        raise ProviderError(Failure.OUTAGE, text, provider=NAME) from None
    finally:
        shutil.rmtree(made, ignore_errors=True)

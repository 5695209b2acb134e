"""What is wrong with a provider in one line for people, and the command that mends it."""

from __future__ import annotations

from urllib.parse import urlsplit

from claude_mem_core.errors import Failure
from claude_mem_core.providing.candidates import Candidate
from claude_mem_core.providing.holds import UNTIL_CHANGED, Hold
from claude_mem_core.providing.origins import GATEWAY_HOST, host_of

PATIENCE_MS = 15 * 60_000  # a shorter hold is nobody's business
PREFIX = "CLAUDE_MEM_"

SAYS = {
    Failure.RATE_LIMIT: "{} takes no more requests just now",
    Failure.QUOTA: "the allowance at {} is spent",
    Failure.KEY_REFUSED: "{} refused the key or login",
    Failure.PAYMENT: "the account at {} has no credit",
    Failure.OVERLOAD: "{} is overloaded",
    Failure.OUTAGE: "{} can't be reached",
    Failure.TIMEOUT: "{} gives no answer in time",
    Failure.TOO_LONG: "conversations are too long for the model of {}",
    Failure.MODEL: "{} does not have the model{}",
    Failure.REGION: "{} is not offered where you are",
    Failure.BAD_REQUEST: "{} refuses our requests",
    Failure.UNUSABLE: "the answers of {} can't be used",
}


def setting(key: str) -> str:
    """The short name of a setting, as `mem config set` takes it."""
    return key.removeprefix(PREFIX).lower().replace("_", "-")


def remedy(failure: str, candidate: Candidate | None, name: str) -> str:
    """The command that mends it, or that tries again."""
    kind = Failure(failure)
    record = candidate.record if candidate else None
    if kind is Failure.KEY_REFUSED and record is not None:
        if record.login and not (candidate and candidate.keyed):
            return f"{record.login}, then mem auth test {name}"
        return f"mem auth set {name}"
    if kind is Failure.MODEL and record is not None and record.model_key:
        return f"mem config set {setting(record.model_key)} MODEL"
    if kind in {Failure.REGION, Failure.BAD_REQUEST, Failure.UNUSABLE}:
        return "mem config set provider NAME"
    if kind is Failure.PAYMENT:
        return f"add credit there, then mem auth test {name}"
    return f"mem auth test {name}"


def cause(hold: Hold, candidate: Candidate | None, name: str) -> str:
    """What is wrong, without times: the same words for as long as it is so."""
    model = f" {candidate.model}" if candidate and candidate.model else ""
    text = SAYS[Failure(hold.failure)].format(name, model)
    return text


def meanwhile(serving: str) -> str:
    """Who makes the memories as long as it is so."""
    who = "rules make" if serving == "builtin" else f"{serving} makes"
    return f"{who} the memories meanwhile"


def notice(hold: Hold, candidate: Candidate | None, name: str, serving: str) -> str:
    """The line for a session's start."""
    told = hold.text if hold.action or hold.url else cause(hold, candidate, name)
    parts = [f"memory: {told}; {meanwhile(serving)}"]
    if hold.action:
        parts.append(hold.action)
    if hold.url and is_shown(hold.url):
        parts.append(hold.url)
    if not hold.action:
        parts.append(f"run: {remedy(hold.failure, candidate, name)}")
    return "; ".join(parts)


def is_shown(url: str) -> bool:
    """Whether a link that a service sent is shown: cmem.ai's own, over https."""
    host = host_of(url)
    ours = host == GATEWAY_HOST or host.endswith("." + GATEWAY_HOST)
    return ours and urlsplit(url).scheme == "https"


def is_worth_saying(hold: Hold, now: int) -> bool:
    """Whether a person should hear of a hold at a session's start."""
    if hold.until_ms == UNTIL_CHANGED or Failure(hold.failure) in TELLING:
        return True
    return now - hold.since_ms >= PATIENCE_MS


TELLING = {Failure.KEY_REFUSED, Failure.PAYMENT, Failure.QUOTA, Failure.MODEL, Failure.REGION}

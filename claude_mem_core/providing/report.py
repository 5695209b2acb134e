"""How things stand with models: for `mem status`, `mem doctor`, the API and a session's start."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import attrs

from claude_mem_core.errors import ProviderError, StoreError
from claude_mem_core.providing import advice, budget
from claude_mem_core.providing.candidates import Candidate
from claude_mem_core.providing.choice import BUILTIN, CHOICE, FALLBACK, OFF, chosen
from claude_mem_core.providing.dispatch import Dispatcher
from claude_mem_core.providing.holds import Hold
from claude_mem_core.providing.ledger import Spent
from claude_mem_core.settings.model import Settings
from claude_mem_core.store import text as texts

COMMAND = re.compile(r"[;:,]? (?:run: )?(mem .*)$")


@attrs.frozen(kw_only=True)
class Standing:
    """How things stand.

    Attributes:
        provider: the one that the settings name.
        serving: who makes the memories now; `builtin` for rules.
        state: `builtin`, `ok`, `held`, `incomplete`, `unconfirmed` or `over-budget`.
        text: what is wrong, in one sentence; empty when all is well.
        cure: the command that mends it.
        notice: the same as the line of a session's start; empty for what passes by itself.
    """

    provider: str
    serving: str
    state: str
    text: str = ""
    cure: str = ""
    notice: str = ""
    model: str = ""
    address: str = ""
    keys: int = 0
    keys_in: str = ""
    fallback: str = BUILTIN
    hold: Hold | None = None


async def standing(dispatcher: Dispatcher, settings: Settings, now: int) -> Standing:
    """Who makes memories now, and what keeps the chosen one from it."""
    named = str(settings[CHOICE] or BUILTIN)
    name, fallback = chosen(settings, CHOICE), chosen(settings, FALLBACK)
    if name in (BUILTIN, OFF):
        return _unasked(named, fallback, settings)
    try:
        candidate = await dispatcher.candidate(name)
    except ProviderError as error:
        cure = f"pip install claude-mem-provider-{name}, or mem config set provider NAME"
        return _broken(name, str(error), cure, fallback)
    base = Standing(
        provider=name, serving=name, state="ok", model=candidate.model,
        address=candidate.address, keys=sum(bool(c.key) for c in candidate.credentials),
        keys_in=candidate.credentials[0].where, fallback=fallback,
    )  # fmt: skip
    return await _judged(base, candidate, dispatcher, now)


def _unasked(named: str, fallback: str, settings: Settings) -> Standing:
    if named in (BUILTIN, OFF):
        return Standing(provider=BUILTIN, serving=BUILTIN, state=BUILTIN, fallback=fallback)
    text = f"the settings file names {named}, but nobody confirmed it on this machine"
    cure = f"mem config set provider {named}"
    return Standing(
        provider=named, serving=BUILTIN, state="unconfirmed", text=text, cure=cure,
        notice=f"memory: {text}; to use it: {cure}", fallback=fallback,
    )  # fmt: skip


def _broken(name: str, text: str, cure: str, fallback: str) -> Standing:
    return Standing(
        provider=name, serving=BUILTIN, state="incomplete", text=text, cure=cure,
        notice=f"memory: {text}; rules make the memories meanwhile; run: {cure}",
        fallback=fallback,
    )  # fmt: skip


def _split(lacks: str, name: str) -> tuple[str, str]:
    """What is missing, and the command that a provider names at the end."""
    found = COMMAND.search(lacks)
    said = lacks[: found.start()] if found else lacks
    said = said.removeprefix(f"{name}: ").removeprefix(f"{name} ")
    return said, found[1] if found else f"mem auth set {name}"


async def _judged(
    base: Standing, candidate: Candidate, dispatcher: Dispatcher, now: int
) -> Standing:
    if candidate.lacks:
        return _missing(base, candidate, await dispatcher.ready())
    obstacle = await dispatcher.obstacle()
    hold = dispatcher.patience.holds.get(candidate.name)
    if isinstance(obstacle, budget.OverBudget):
        text, _, cure = str(obstacle).partition("; to raise it: ")
        notice = f"memory: {text}; rules make the memories meanwhile; to raise it: {cure}"
        return attrs.evolve(
            base, state="over-budget", serving=BUILTIN, text=text, cure=cure, notice=notice
        )
    if hold is None or dispatcher.patience.refusal(candidate.name, candidate.digest) is None:
        return base if obstacle is None else attrs.evolve(
            base, state="held", serving=BUILTIN, text=str(obstacle)
        )  # fmt: skip
    serving = BUILTIN if obstacle is not None or base.fallback == OFF else base.fallback
    return _held(base, candidate, hold, serving, now)


def _missing(base: Standing, candidate: Candidate, served: bool) -> Standing:
    """It was chosen and not set up; the fallback serves, if that one is."""
    said, cure = _split(candidate.lacks, candidate.name)
    serving = base.fallback if served else BUILTIN
    notice = f"memory: {candidate.name}: {said}; {advice.meanwhile(serving)}; run: {cure}"
    return attrs.evolve(
        base, state="incomplete", serving=serving, text=said, cure=cure, notice=notice
    )


def _held(base: Standing, candidate: Candidate, hold: Hold, serving: str, now: int) -> Standing:
    name = candidate.name
    notice = advice.notice(hold, candidate, name, serving)
    return attrs.evolve(
        base, state="held", serving=serving, text=hold.text, hold=hold,
        cure=hold.action or advice.remedy(hold.failure, candidate, name),
        notice=notice if advice.is_worth_saying(hold, now) else "",
    )  # fmt: skip


async def as_json(dispatcher: Dispatcher, settings: Settings, now: int) -> dict[str, Any]:
    """All of it, without anything secret."""
    found = attrs.asdict(await standing(dispatcher, settings, now))
    day = texts.day(now)
    try:
        spent = await asyncio.to_thread(dispatcher.ledger.spent, day)
        limits = list(budget.limits(settings, spent, Spent()))
        today = {"day": day, "tokens": spent.tokens, "calls": spent.calls}
    except StoreError as error:
        limits, today = [], {"day": day, "tokens": 0, "calls": 0, "fault": str(error)}
    return {
        **found,
        "today": today,
        "budget": [
            {"setting": each.key, "limit": each.limit, "used": each.used}
            for each in limits
            if each.whole_day
        ],
    }


async def spent_line(dispatcher: Dispatcher, settings: Settings, now: int) -> str:
    """What models cost today, as the line of a session's start; empty for nothing."""
    try:
        spent = await asyncio.to_thread(dispatcher.ledger.spent, texts.day(now))
    except StoreError:
        return ""
    if not spent.calls or chosen(settings, CHOICE) in (BUILTIN, OFF):
        return ""
    limit = int(settings[budget.DAILY_TOKENS])
    most = f" of {limit:,}" if limit else ""
    what = "request" if spent.calls == 1 else "requests"
    return (
        f"memory: today's models took {spent.tokens:,}{most} tokens in {spent.calls:,} {what}"
        " (`mem usage`)"
    )

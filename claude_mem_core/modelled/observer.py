"""The observer with a model: a turn goes out in parts, replies come back as drafts.

A reply that can't be used is asked for once more; then rules take that part. A failure
of the provider goes to the caller, who keeps the turn for later.
"""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence

import anyio.to_thread
import attrs

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.modelled import condensing, instructions
from claude_mem_core.modelled.conversation import Conversation, Conversations
from claude_mem_core.modelled.drafts import Source, drafts, edited_paths, summary
from claude_mem_core.modelled.known import Known
from claude_mem_core.modelled.limits import Ask, Limits
from claude_mem_core.modelled.parts import Part, parts
from claude_mem_core.modelled.reply import Answer, read
from claude_mem_core.modelled.telling import everything
from claude_mem_core.modes import Mode
from claude_mem_core.types import (
    Batch,
    Draft,
    EventKind,
    Message,
    Observation,
    Observed,
    Reply,
    SummaryDraft,
    Trust,
)

log = logging.getLogger(__name__)

DEEPEST = 3  # how often a part is halved that does not fit
ABOUT_TALK = {Failure.TOO_LONG, Failure.BAD_REQUEST, Failure.UNUSABLE}
ANSWERS = 200  # kept for turns that are asked again after a failure half-way
LEAST_CHARS = 600  # an exchange without a tool and shorter than this costs no request

Rules = Callable[[Batch], Awaitable[Observed]]


@attrs.frozen
class Answered:
    """A usable answer, and the reply it was read from."""

    answer: Answer
    reply: Reply


@attrs.define
class Turn:
    """What was made of a turn so far."""

    batch: Batch
    known: Known
    made: list[Draft] = attrs.field(factory=list)
    summary: SummaryDraft | None = None
    for_rules: list[Part] = attrs.field(factory=list)
    answers: list[str] = attrs.field(factory=list)
    other: Ask | None = None

    def earlier(self, part: Part) -> list[Observation]:
        """Memories that the model may read: what is foreign must not colour the work."""
        return [
            one for one in self.batch.earlier if part.foreign or one.trust is not Trust.FOREIGN
        ]


class ModelObserver:
    """Observes turns; holds the conversation of each session."""

    def __init__(self) -> None:
        self._conversations = Conversations()
        self._answers: OrderedDict[str, Reply] = OrderedDict()

    async def observe(
        self, batch: Batch, *, ask: Ask, rules: Rules, mode: Mode, limits: Limits,
        other: Ask | None = None,
    ) -> Observed:  # fmt: skip
        """What is worth remembering of a turn.

        `other` asks another provider, for a part that this one could not answer twice.

        Raises:
            ProviderError: the provider can't be asked now; nothing was kept.
        """
        if is_small_talk(batch, bare=limits.size.bare):
            return await rules(batch)
        turn = Turn(batch, await anyio.to_thread.run_sync(_known, batch), other=other)
        shown = await self._condensed(turn, ask, limits)
        made = await anyio.to_thread.run_sync(parts, shown, limits.size)
        before = self._conversations.copy(batch.session_db_id)
        try:
            for part in made:
                await self._part(turn, part, ask, mode, limits)
        except ProviderError:
            self._conversations.back(batch.session_db_id, before)
            raise
        for key in turn.answers:  # only a turn that breaks off needs them again
            self._answers.pop(key, None)
        return await _with_rules(turn, rules)

    async def _condensed(self, turn: Turn, ask: Ask, limits: Limits) -> Batch:
        """The turn as it is told: with what a model made of very long fields, if wanted."""
        if not limits.condense_s:
            return turn.batch

        async def short(system: str, said: Sequence[Message]) -> Reply:
            return await self._asked(turn, system, said, ask, "simple")

        return await condensing.condensed(
            turn.batch, short, limits.size.field, limits.condense_s
        )

    async def _part(
        self, turn: Turn, part: Part, ask: Ask, mode: Mode, limits: Limits, depth: int = 0
    ) -> None:
        found = None
        try:
            found = await self._answered(turn, part, ask, mode, limits)
        except ProviderError as error:
            if error.failure not in ABOUT_TALK:
                raise
            if error.failure is Failure.TOO_LONG and depth < DEEPEST:
                self._conversations.end(turn.batch.session_db_id)
                for half in part.halves():
                    await self._part(turn, half, ask, mode, limits, depth + 1)
                return
            log.warning("a part can't be observed by a model: %s", error.failure.value)
        if found is None:
            self._conversations.end(turn.batch.session_db_id)
            turn.for_rules.append(part)
            return
        await anyio.to_thread.run_sync(_take, turn, part, found, mode)

    async def _answered(
        self, turn: Turn, part: Part, ask: Ask, mode: Mode, limits: Limits
    ) -> Answered | None:
        """A usable answer; None when there was none, twice."""
        session = turn.batch.session_db_id
        apart = part.agent_id is not None or part.foreign
        talk = Conversation()
        if not apart:
            talk = self._conversations.of(session, part.chars, limits.generation)
        earlier = talk.untold(turn.earlier(part))
        # What is foreign must not colour the work, nor what was made of it.
        made = [draft for draft in turn.made if draft.trust is not Trust.FOREIGN]
        made = [] if talk.messages or apart else made
        text = instructions.request(part, earlier, made)
        said = [*talk.messages, Message(role="user", text=text)]
        reply = await self._asked(turn, instructions.system(mode), said, ask, part.tier)
        answer = read(reply.text, summary_due=part.last)
        if answer.fault:
            found = await self._again(turn, said, reply, answer, part, ask, mode)
            return found or await self._by_another(turn, said, part, mode)
        if not apart:
            talk.went_on(text, reply.text, earlier)
        return Answered(answer, reply)

    async def _again(
        self, turn: Turn, said: Sequence[Message], reply: Reply, answer: Answer, part: Part,
        ask: Ask, mode: Mode,
    ) -> Answered | None:  # fmt: skip
        """Ask once more, with what was wrong; the next request begins afresh."""
        if not (part.agent_id or part.foreign):
            self._conversations.end(turn.batch.session_db_id)
        log.info("a reply of %s can't be used: %s", reply.model or "the model", answer.fault)
        why = instructions.again(answer.fault)
        if reply.text.strip():
            more = [Message(role="assistant", text=reply.text[:4_000])]
            said = [*said, *more, Message(role="user", text=why)]
        else:
            said = [*said[:-1], Message(role="user", text=f"{said[-1].text}\n{why}")]
        second = await self._asked(turn, instructions.system(mode), said, ask)  # its best model
        better = read(second.text, summary_due=part.last)
        torn = better.torn or answer.torn
        if better.fault and torn:
            log.info("kept what there is of a reply that was cut off")
            return Answered(attrs.evolve(better, observations=torn, fault=""), second)
        if better.fault:
            log.warning("a second reply can't be used: %s", better.fault)
            return None
        return Answered(better, second)

    async def _by_another(
        self, turn: Turn, said: Sequence[Message], part: Part, mode: Mode
    ) -> Answered | None:
        """The same of another provider, where there is one; rules take what is left."""
        if turn.other is None:
            return None
        try:
            reply = await turn.other(instructions.system(mode), said)
        except ProviderError:
            return None
        answer = read(reply.text, summary_due=part.last)
        return None if answer.fault else Answered(answer, reply)

    async def _asked(
        self, turn: Turn, system: str, said: Sequence[Message], ask: Ask, tier: str = ""
    ) -> Reply:
        """Ask, but for what was answered already before a failure further on."""
        texts = [system, *(f"{message.role}:{message.text}" for message in said)]
        key = hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()
        turn.answers.append(key)
        if key in self._answers:
            return self._answers[key]
        reply = await ask(system, said, tier)
        self._answers[key] = reply
        while len(self._answers) > ANSWERS:
            self._answers.popitem(last=False)
        return reply


def is_small_talk(batch: Batch, *, bare: bool = False) -> bool:
    """A prompt alone, or a few words back and forth: no request is worth it.

    `bare`: the user wants one for each prompt all the same.
    """
    if bare and any(e.event.kind is EventKind.PROMPT_SENT for e in batch.events):
        return False
    frame = {EventKind.PROMPT_SENT, EventKind.TURN_ENDED}
    events = [stored.event for stored in batch.events]
    said = sum(len(event.prompt or "") + len(event.answer or "") for event in events)
    return all(event.kind in frame for event in events) and (
        said < LEAST_CHARS or not any(event.answer for event in events)
    )


def _known(batch: Batch) -> Known:
    """Everything that may be named: the events, and what is remembered of the session."""
    texts = [everything(stored.event) for stored in batch.events]
    for earlier in batch.earlier:
        texts += [earlier.title, earlier.narrative, *earlier.facts, *earlier.files_modified]
        texts += earlier.files_read
    return Known([*texts, batch.root])


def _take(turn: Turn, part: Part, found: Answered, mode: Mode) -> None:
    batch, reply = turn.batch, found.reply
    source = Source(
        part=part, mode=mode, known=turn.known, edited=edited_paths([part]),
        earlier=frozenset(one.id for one in batch.earlier), root=batch.root,
        model=reply.model or reply.provider or "model",
        tokens=reply.usage.input_tokens + reply.usage.output_tokens,
        prompt_number=max((stored.prompt_number for stored in part.events), default=0),
    )  # fmt: skip
    turn.made += drafts(found.answer, source)
    if part.last and found.answer.summary:
        told = summary(found.answer, source, turn.made)
        ids = tuple(e.id for e in batch.events if e.trust is not Trust.FOREIGN)
        turn.summary = told and attrs.evolve(told, events=ids)
    if found.answer.skipped is not None:
        log.info("nothing kept of %d events: %s", len(part.events), found.answer.skipped)


async def _with_rules(turn: Turn, rules: Rules) -> Observed:
    """What rules have to add: parts no model could take, and a summary it left out."""
    batch, made = turn.batch, list(turn.made)
    asked = [e for e in batch.events if e.event.kind is EventKind.PROMPT_SENT]
    for part in turn.for_rules:
        events = (*asked, *(e for e in part.events if e not in asked))
        rest = await rules(attrs.evolve(batch, events=events, finished=False))
        made += [attrs.evolve(draft, metadata=_final(draft)) for draft in rest.observations]
    told = turn.summary
    if told is None and batch.finished:
        told = (await rules(batch)).summary
    return Observed(observations=tuple(made), summary=told)


def _final(draft: Draft) -> dict[str, object]:
    """A part is all that there will be of it: nothing is preliminary."""
    return {key: value for key, value in draft.metadata.items() if key != "partial"}

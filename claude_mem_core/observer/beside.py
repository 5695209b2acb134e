"""What stands beside the work: dead ends, rules of the user, sub-agents, foreign words."""

from __future__ import annotations

from claude_mem_core.observer.corrections import CLAIM
from claude_mem_core.observer.helpers import Helper
from claude_mem_core.observer.speech import is_order, is_routine, sentences
from claude_mem_core.observer.text import clip, names
from claude_mem_core.observer.titles import LEAD, title, trimmed
from claude_mem_core.observer.work import STRONG, Work, asked
from claude_mem_core.types import Draft, Trust

HELPERS = 3
LEAST = 60  # characters of a sub-agent's answer that may tell something


def beside(found: Work) -> list[Draft]:
    """The drafts beside the work."""
    helpers = [_helper(h) for h in found.turn.helpers[:HELPERS]]
    made = [_dead_end(found), _rule(found), *helpers, _foreign(found)]
    return [d for d in made if d is not None]


def _dead_end(found: Work) -> Draft | None:
    """What was tried in vain, when a run showed that it was in vain."""
    steps = {s.index: s.event_id for s in found.turn.steps}
    judged = [e for e in found.ends if e.effect]
    if not judged:
        return None
    paths = tuple(dict.fromkeys(p for e in judged for p in e.paths))
    return Draft(
        type="discovery", title=trimmed(judged[0].title), subtitle=asked(found.turn),
        facts=tuple(clip(e.text, 700) for e in judged[:3]), concepts=("gotcha",), files_read=paths,
        narrative=f"Tried on the way and taken back, what was tried is not in the code: {', '.join(paths)}.",
        events=tuple(dict.fromkeys(steps[i] for e in judged for i in e.steps if i in steps)),
    )  # fmt: skip


def _rule(found: Work) -> Draft | None:
    """What the user laid down for the future."""
    turn = found.turn
    if not found.rules or turn.prompt_id is None:
        return None
    return Draft(
        type="decision", title=trimmed(f"User's rule: {LEAD.sub('', found.rules[0])}"),
        facts=tuple(f'The user laid down: "{clip(r, 300)}"' for r in found.rules),
        narrative=f'In the user\'s own words: "{clip(turn.prompt, 500)}"',
        concepts=("pattern", "why-it-exists"), events=(turn.prompt_id,), metadata={"rule": True},
    )  # fmt: skip


def _helper(helper: Helper) -> Draft | None:
    """What a sub-agent found out."""
    told = [s for s in sentences(helper.answer) if not is_routine(s)]
    if not told or len(helper.answer) < LEAST:
        return None
    name = title(told[:3], {n.casefold() for n in names(helper.answer)})
    task = clip(helper.asked, 160)
    return Draft(
        type="discovery", title=name or trimmed(helper.asked) or "What a sub-agent found",
        subtitle=f"A sub-agent was asked: {task}" if task else "Found by a sub-agent",
        facts=tuple(f"The sub-agent reported: {clip(s, 300)}" for s in told[:8] if not is_order(s)),
        narrative=clip(f"Report of a sub-agent: {helper.answer}", 900), concepts=("how-it-works",),
        events=helper.events, agent_type=helper.kind or None,
    )  # fmt: skip


def _foreign(found: Work) -> Draft | None:
    """What came from outside the project, kept apart so that its trust is its own."""
    lines = [e for e in found.foreign if e.score > STRONG or found.borrowed]
    said = [f'{CLAIM}"{clip(s, 260)}"' for s in found.borrowed[:3] if not is_order(s)]
    alien = [s for s in found.turn.steps if s.trust is Trust.FOREIGN and not s.failed]
    if not (lines or said) or not alien:
        return None
    source = lines[0].source if lines else alien[0].server or alien[0].tool
    head = lines[0].line if lines else found.borrowed[0]
    used = [e.step.event_id for e in lines] or [s.event_id for s in alien[:3]]
    return Draft(
        type="discovery", title=trimmed(f"{source} reported: {head}"), subtitle=asked(found.turn),
        facts=(*(e.text for e in lines), *said), concepts=("how-it-works",),
        narrative="Found outside the project; as reported there, not checked.",
        events=tuple(dict.fromkeys(used)),
    )  # fmt: skip

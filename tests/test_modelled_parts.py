"""The parts of observing with a model: fields, requests, replies, what is held against them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.modelled.conversation import SESSIONS, Conversation, Conversations
from claude_mem_core.modelled.drafts import Source, drafts, edited_paths, type_of
from claude_mem_core.modelled.fields import cut, flat, shown
from claude_mem_core.modelled.instructions import briefing, system
from claude_mem_core.modelled.known import Known
from claude_mem_core.modelled.limits import Limits
from claude_mem_core.modelled.observer import ModelObserver
from claude_mem_core.modelled.parts import Part, Size, parts
from claude_mem_core.modelled.reply import read
from claude_mem_core.modelled.telling import told
from claude_mem_core.modes import Modes
from claude_mem_core.types import (
    Batch,
    Event,
    EventKind,
    Message,
    Observation,
    Observed,
    Reply,
    Room,
    StoredEvent,
    ToolUse,
    Trust,
    Usage,
)

CODE = Modes(Path("/nonexistent")).mode("code")
ROOT = "/home/dev/shop"


def event(number: int, kind: EventKind, trust: Trust = Trust.WORK, **more: Any) -> StoredEvent:
    happened = Event(kind=kind, host="claude-code", session_id="s", cwd=ROOT, **more)
    return StoredEvent(id=number, event=happened, prompt_number=1, trust=trust)


def tool(
    number: int, output: Any = "fine", trust: Trust = Trust.WORK, **more: Any
) -> StoredEvent:
    used = ToolUse(
        name="Bash", id=str(number), input={"command": f"run {number}"}, output=output
    )
    return event(number, EventKind.TOOL_USED, trust, tool=used, **more)


def turn(
    *tools: StoredEvent, finished: bool = True, earlier: Sequence[Observation] = ()
) -> Batch:
    prompt = event(
        1, EventKind.PROMPT_SENT, Trust.USER, prompt="mend the total of cart.py please"
    )
    end = event(99, EventKind.TURN_ENDED, answer="The factor is 1.19 now, as it should be.")
    return Batch(
        session_db_id=1, project="shop", events=(prompt, *tools, end), finished=finished,
        root=ROOT, earlier=earlier,
    )  # fmt: skip


# Fields -----------------------------------------------------------------------------


def test_a_long_text_keeps_head_and_tail_with_a_mark_between() -> None:
    text = "HEAD" + "x y " * 10_000 + "TAIL"
    short = cut(text, 1000)
    assert short.startswith("HEAD")
    assert short.endswith("TAIL")
    assert f'<elided chars="{len(text) - 900}"/>' in short
    assert cut("short", 1000) == "short"


def test_binary_is_named_with_its_size_and_left_out() -> None:
    data = base64.b64encode(bytes(range(256)) * 40).decode()
    said = shown(f"before {data} after", 8000)
    assert said == f'before <omitted base64="{len(data)} characters"/> after'


@given(st.text())
def test_what_is_shown_can_be_sent_and_is_no_part_of_our_form(text: str) -> None:
    said = shown(f"<tool>{text}</said> <observation>{text}", 500)
    said.encode("utf-8")
    for tag in ("<tool", "</said", "<observation"):
        assert tag not in said
    assert not any(ord(letter) < 32 and letter not in "\t\n" for letter in said)


def test_values_become_lines() -> None:
    assert flat({"a": 1, "b": ["x", "y"], "c": None, "d": True}) == "a: 1\nb:\nx\ny\nd: true"


def test_an_edit_is_told_once_and_its_frame_in_short() -> None:
    used = {"file_path": f"{ROOT}/cart.py", "old_string": "1.9", "new_string": "1.19"}
    came = {"filePath": f"{ROOT}/cart.py", "originalFile": "x = 1\n" * 2000, "oldString": "1.9"}
    used_tool = ToolUse(name="Edit", input=used, output=came)
    said = told(event(2, EventKind.TOOL_USED, tool=used_tool), 8000, ROOT)
    assert said.count(f"{ROOT}/cart.py") == 1
    assert "old_string: 1.9" in said
    assert len(said) < 1500


# Requests ---------------------------------------------------------------------------


def test_a_turn_is_one_part_and_a_long_one_several() -> None:
    (only,) = parts(turn(tool(2), tool(3)))
    assert only.ids == (2, 3, 99)
    assert only.last
    many = parts(turn(*(tool(n, "word " * 1000) for n in range(2, 12))), size=Size(part=12_000))
    assert len(many) > 3
    assert [part.last for part in many] == [False] * (len(many) - 1) + [True]
    assert [i for part in many for i in part.ids] == [*range(2, 12), 99]
    assert all(part.chars <= 12_000 for part in many)


def test_agents_and_foreign_text_go_apart() -> None:
    sub = tool(3, agent_id="a-1", agent_type="reviewer")
    made = parts(turn(tool(2), sub, tool(4, "a page", Trust.FOREIGN)))
    assert [(part.agent_id, part.foreign, part.ids) for part in made] == [
        ("a-1", False, (3,)),
        (None, True, (4,)),
        (None, False, (2, 99)),
    ]
    assert [part.last for part in made] == [False, False, True]


def test_the_events_of_one_directory_go_together() -> None:
    there = tool(3)
    there = attrs.evolve(there, event=attrs.evolve(there.event, cwd=f"{ROOT}/web"))
    made = parts(turn(tool(2), there, tool(4)))
    assert [part.ids for part in made] == [(3,), (2, 4, 99)]
    assert [part.last for part in made] == [False, True]
    (before, after) = parts(turn(tool(2), there))
    assert (before.ids, after.ids) == ((2,), (3, 99)), "the answer is about the last work"
    assert 'in="/home/dev/shop/web"' in after.texts[0]


def test_no_more_tool_uses_than_a_provider_takes() -> None:
    made = parts(turn(*(tool(n) for n in range(2, 9))), size=Size(uses=3))
    assert [part.ids for part in made] == [(2, 3, 4), (5, 6, 7), (8, 99)]


def looked(number: int, name: str = "Read") -> StoredEvent:
    used = ToolUse(name=name, id=str(number), input={"file_path": "a.py"}, output="x")
    return event(number, EventKind.TOOL_USED, tool=used)


def test_looking_around_is_simple_and_the_end_of_a_turn_is_its_summary() -> None:
    many = parts(turn(looked(2), looked(3, "Grep"), tool(4), looked(5)), size=Size(uses=2))
    assert [part.tier for part in many] == ["simple", "summary"]
    (one,) = parts(turn(looked(2), tool(3), finished=False))
    assert one.tier == "", "the agent spoke and did something"
    assert Part(events=(looked(2), tool(3)), texts=("", "")).tier == ""


def test_a_prompt_alone_goes_out_only_if_that_is_wanted() -> None:
    prompt = turn().events[0]
    alone = attrs.evolve(turn(), events=(prompt,), finished=False)
    assert parts(alone) == []
    asked = Asked(GOOD)
    assert observed(ModelObserver(), alone, asked) == Observed()
    assert asked.said == []
    (made,) = observed(ModelObserver(), alone, asked, size=Size(bare=True)).observations
    assert len(asked.said) == 1
    assert made.events == (1,)


def test_halves_cover_the_part() -> None:
    (part,) = parts(turn(tool(2), tool(3), tool(4)))
    first, second = part.halves()
    assert (*first.ids, *second.ids) == part.ids
    assert (first.last, second.last) == (False, True)
    (alone,) = attrs.evolve(part, events=part.events[:1], texts=("x" * 1000,)).halves()
    assert alone.chars < 600


def test_the_system_text_is_the_same_for_every_request() -> None:
    assert system(CODE) == system(Modes(Path("/elsewhere")).mode("code"))
    assert len(system(CODE)) < 4200, "it is paid for with every request"


def earlier(number: int, **more: Any) -> Observation:
    fields = {"title": f"Thing {number} found", "facts": ("a=1",), **more}
    return Observation(id=number, project="shop", type="change", created_ms=0, **fields)


def test_the_briefing_is_short_and_ends_with_the_newest() -> None:
    text = briefing([earlier(n) for n in range(1, 200)])
    assert len(text) < 2600
    assert "#199 change: Thing 199 found\n  a=1" in text
    assert "#1 " not in text
    assert briefing([]) == ""


def test_a_conversation_ends_when_its_past_costs_more_than_it_is_worth() -> None:
    talk = Conversation()
    talk.went_on("x" * 3_200, "y" * 500, [earlier(1)])
    assert talk.has_room(4_000, 48_000)
    assert not talk.has_room(2_000, 48_000)
    assert not talk.has_room(4_000, 7_000)
    assert [one.id for one in talk.untold([earlier(1), earlier(2)])] == [2]


def test_the_longest_unused_conversation_is_forgotten() -> None:
    talks = Conversations()
    first = talks.of(0, 10, 1000)
    for session in range(1, SESSIONS + 1):
        talks.of(session, 10, 1000)
    assert talks.of(0, 10, 1000) is not first


# Replies ----------------------------------------------------------------------------


@given(st.text(), st.booleans())
def test_no_text_breaks_the_reader(text: str, due: bool) -> None:
    read(text, summary_due=due)
    read(f"<observation><title>{text}</title><narrative>{text}", summary_due=due)


def test_a_summary_counts_when_it_was_asked_for() -> None:
    text = "<summary><request>r</request><completed>c</completed></summary>"
    assert read(text, summary_due=True).summary == {"request": "r", "completed": "c"}
    assert read(text).fault


def test_a_torn_end_is_kept_apart() -> None:
    text = "<observation><title>Whole title</title><facts><fact>a</fact></facts><narrative>cut"
    found = read(text)
    assert found.fault == "its end is missing"
    assert [(one.title, one.facts) for one in found.torn] == [("Whole title", ("a",))]


def test_lists_without_items_are_read_line_by_line() -> None:
    text = "<observation><title>T t</title><facts>\n- one\n* two\n</facts></observation>"
    assert read(text).observations[0].facts == ("one", "two")


@pytest.mark.parametrize(
    ("word", "kind", "beside"),
    [
        ("bugfix", "bugfix", ""),
        ("Bugfix", "bugfix", ""),
        ("bugfix|feature", "bugfix", "bugfix|feature"),
        ("security alert", "security_alert", "security alert"),
        ("verification", "discovery", "verification"),
        ("", "discovery", ""),
    ],
)
def test_types(word: str, kind: str, beside: str) -> None:
    assert type_of(word, CODE) == (kind, beside)


# What is held against the events ----------------------------------------------------

KNOWN = Known(
    [
        "Edit /home/dev/shop/src/cart.py: def total_price(items): return OrderBook.sum(items)",
        "see https://docs.example/tax for the getTaxRate call; C:\\work\\notes.md",
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        "The factor in src/cart.py was wrong",
        "src/cart.py:12 calls `total_price`",
        "OrderBook.sum() adds what getTaxRate gives",
        "GitHub and Node.js, e.g. version 1.2.3, 19 % and and/or",
        "see https://docs.example/tax.",
        "work/notes.md says so",
    ],
)
def test_what_occurs_may_be_named(text: str) -> None:
    assert KNOWN.invented(text) == []


@pytest.mark.parametrize(
    ("text", "made_up"),
    [
        ("The cause is in src/money.py", "src/money.py"),
        ("`applyDiscount` is called", "applyDiscount"),
        ("round_half_up() is used", "round_half_up"),
        ("see https://evil.example/x", "https://evil.example/x"),
        ("config.yaml has it", "config.yaml"),
    ],
)
def test_what_does_not_occur_is_found_out(text: str, made_up: str) -> None:
    assert made_up in KNOWN.invented(text)


def source(batch: Batch) -> Source:
    (part,) = parts(batch)
    texts = [str(stored.event) for stored in batch.events]
    return Source(
        part=part, mode=CODE, known=Known(texts), edited=edited_paths([part]),
        earlier=frozenset({7}), root=ROOT, model="m", tokens=300, prompt_number=1,
    )  # fmt: skip


def test_a_draft_is_bounded_and_checked() -> None:
    used = ToolUse(name="Edit", input={"file_path": f"{ROOT}/cart.py", "old_string": "a",
                                       "new_string": "b"})  # fmt: skip
    looked = ToolUse(name="Read", input={"file_path": f"{ROOT}/tax.py"})
    batch = turn(
        event(2, EventKind.TOOL_USED, tool=used), event(3, EventKind.TOOL_USED, tool=looked)
    )
    text = (
        "<observation><type>bugfix</type><title>one two three four five six seven eight nine ten"
        " eleven twelve thirteen</title><facts>"
        + "".join(f"<fact>fact {n}</fact>" for n in range(30))
        + f"</facts><narrative>{'It is so. ' * 1000}</narrative>"
        "<concepts><concept>gotcha: yes</concept><concept>bugfix</concept><concept>x</concept>"
        f"</concepts><files_modified><file>{ROOT}/cart.py</file><file>tax.py</file>"
        "<file>no.py</file></files_modified><supersedes>#7 and 8</supersedes></observation>"
    )
    (made,) = drafts(read(text), source(batch))
    assert len(made.title.split()) == 12
    assert len(made.facts) <= 10
    whole = len(made.title) + len(made.narrative) + sum(map(len, made.facts))
    assert whole < 3000
    assert made.concepts == ("gotcha",)
    assert made.files_modified == ("cart.py",)
    assert made.files_read == ("tax.py",)
    assert made.supersedes == (7,)
    assert (made.events, made.tokens, made.model) == ((2, 3, 99), 300, "m")


def file_use(number: int, name: str, **used: str) -> StoredEvent:
    was = ToolUse(name=name, id=str(number), input=used, output="ok")
    return event(number, EventKind.TOOL_USED, tool=was)


def test_the_files_of_all_events_belong_to_the_only_observation() -> None:
    batch = turn(
        file_use(2, "Read", file_path=f"{ROOT}/a.py"),
        file_use(3, "Edit", file_path=f"{ROOT}/b.py", old_string="1", new_string="2"),
        file_use(4, "Read", file_path=f"{ROOT}/b.py"),
    )
    (made,) = drafts(read(GOOD), source(batch))
    assert (made.files_modified, made.files_read) == (("b.py",), ("a.py",))
    two = drafts(read(GOOD + GOOD.replace("Factor mended", "The factor is 1.19")), source(batch))
    assert [(d.files_modified, d.files_read) for d in two] == [((), ())] * 2, "nobody knows whose"


def test_the_request_has_its_day_and_no_slash_of_a_command() -> None:
    prompt = event(1, EventKind.PROMPT_SENT, prompt="/review the cart", at_ms=1_790_000_000_000)
    assert told(prompt, 8_000, ROOT) == '<asked on="2026-09-21">\nreview the cart\n</asked>'


def test_a_mark_of_redaction_is_explained_where_there_is_one() -> None:
    asked = Asked(GOOD)
    observed(ModelObserver(), turn(tool(2, "key <redacted type='openai_key'/> found")), asked)
    observed(ModelObserver(), turn(tool(2, "no key found")), asked)
    explained = ["secret taken out" in said[-1].text for said in asked.said]
    assert explained == [True, False]


def test_what_a_reply_cost_is_shared_and_its_agent_is_kept() -> None:
    by = {"agent_id": "a7", "agent_type": "explorer"}
    asked = Asked(GOOD + GOOD.replace("Factor mended", "The factor is 1.19"))
    found = observed(ModelObserver(), turn(tool(2, **by), tool(3)), asked).observations
    kept = [(one.agent_id, one.agent_type) for one in found]
    assert kept == [("a7", "explorer")] * 2 + [(None, None)] * 2
    assert {(one.tokens, one.model, one.prompt_number) for one in found} == {(50, "m", 1)}


def test_a_skipped_summary_is_not_kept() -> None:
    asked = Asked('<skip_summary reason="nothing happened"/>')
    assert observed(ModelObserver(), turn(tool(2)), asked) == Observed()


def test_a_title_that_is_made_up_gives_way() -> None:
    text = (
        "<observation><type>change</type><title>MagicFactory in magic_place.py</title>"
        "<facts><fact>the factor is 1.19 now</fact></facts></observation>"
    )
    (made,) = drafts(read(text), source(turn(tool(2))))
    assert made.title == "the factor is 1.19 now"


# The observer -----------------------------------------------------------------------

GOOD = "<observation><type>change</type><title>Factor mended</title><narrative>It is 1.19.</narrative></observation>"


class Asked:
    """Answers in turn; an error is raised."""

    def __init__(self, *answers: str | ProviderError) -> None:
        self.answers = list(answers)
        self.said: list[list[Message]] = []
        self.tiers: list[str] = []

    async def __call__(
        self, system: str, messages: Sequence[Message], tier: str = "", /
    ) -> Reply:
        self.said.append(list(messages))
        self.tiers.append(tier)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, ProviderError):
            raise answer
        return Reply(text=answer, model="m", usage=Usage(input_tokens=80, output_tokens=20))


async def rules(batch: Batch) -> Observed:
    return Observed()


def observed(observer: ModelObserver, batch: Batch, asked: Asked, **limits: Any) -> Observed:
    async def run() -> Observed:
        return await observer.observe(
            batch, ask=asked, rules=rules, mode=CODE, limits=Limits(**limits)
        )

    return anyio.run(run)


def test_an_answer_before_a_failure_is_not_paid_for_twice() -> None:
    observer = ModelObserver()
    batch = turn(*(tool(n, "word " * 400) for n in range(2, 8)))
    down = ProviderError(Failure.OUTAGE, "down")
    first = Asked(GOOD, down)
    with pytest.raises(ProviderError):
        observed(observer, batch, first, size=Size(part=6_000))
    second = Asked(GOOD)
    found = observed(observer, batch, second, size=Size(part=6_000))
    assert len(first.said) == 2
    assert len(second.said) == len(found.observations) - 1
    assert len({o.events for o in found.observations}) == len(found.observations)


def test_a_torn_answer_is_kept_when_the_second_is_no_better() -> None:
    asked = Asked(GOOD.replace("</observation>", ""))
    (made,) = observed(ModelObserver(), turn(tool(2)), asked).observations
    assert len(asked.said) == 2
    assert made.title == "Factor mended"
    assert made.metadata == {"torn": True}


def test_the_second_question_says_what_was_wrong() -> None:
    asked = Asked("Nothing new.", GOOD)
    observed(ModelObserver(), turn(tool(2)), asked)
    roles = [message.role for message in asked.said[1]]
    assert roles == ["user", "assistant", "user"]
    assert "it is no XML" in asked.said[1][-1].text


def test_a_reply_outside_the_form_ends_the_conversation() -> None:
    observer, asked = ModelObserver(), Asked(GOOD, "Sure!", GOOD)
    observed(observer, turn(tool(2)), asked)
    observed(observer, turn(tool(3)), asked)
    observed(observer, turn(tool(4)), asked)
    assert [len(said) for said in asked.said] == [1, 3, 5, 1]


def test_another_provider_in_the_middle_hears_the_whole_conversation() -> None:
    observer, one, two = ModelObserver(), Asked(GOOD), Asked(GOOD)
    observed(observer, turn(tool(2)), one)
    observed(observer, turn(tool(3)), two)
    assert [m.role for m in two.said[0]] == ["user", "assistant", "user"]
    assert two.said[0][0] == one.said[0][0]


def test_each_part_says_what_it_is_worth() -> None:
    asked = Asked(GOOD)
    observed(ModelObserver(), turn(looked(2), tool(3)), asked, size=Size(uses=1))
    assert asked.tiers == ["simple", "summary"]


LONG = "HEAD-MARK " + "the same line again\n" * 2_000 + " TAIL-MARK"


def test_a_long_field_is_shortened_by_a_model_if_that_is_wanted() -> None:
    batch = turn(tool(2, {"stdout": LONG, "stderr": ""}))
    asked = Asked("HEAD-MARK, the same line 2,000 times, TAIL-MARK", GOOD)
    observed(ModelObserver(), batch, asked, condense_s=5.0)
    first, second = (said[-1].text for said in asked.said)
    assert asked.tiers == ["simple", "summary"]
    assert first.startswith("HEAD-MARK")
    assert len(first) > 30_000
    assert "the same line 2,000 times" in second
    assert f"shortened by a model from {len(LONG)} characters" in second
    assert "<elided" not in second


@pytest.mark.parametrize(
    "answer", ["", "x" * 9_000, ProviderError(Failure.TIMEOUT, "late")], ids=str
)
def test_what_can_not_be_shortened_is_cut(answer: str | ProviderError) -> None:
    asked = Asked(answer, GOOD)
    (made,) = observed(ModelObserver(), turn(tool(2, LONG)), asked, condense_s=5.0).observations
    assert made.title == "Factor mended"
    assert "<elided chars=" in asked.said[-1][-1].text


def test_shortening_has_a_deadline_and_is_not_paid_twice() -> None:
    async def slow(system: str, messages: Sequence[Message], tier: str = "", /) -> Reply:
        if tier == "simple":
            await anyio.sleep_forever()
        return Reply(text=GOOD, model="m")

    async def run() -> Observed:
        return await ModelObserver().observe(
            turn(tool(2, LONG)), ask=slow, rules=rules, mode=CODE,
            limits=Limits(condense_s=0.05),
        )  # fmt: skip

    assert anyio.run(run).observations
    observer, down = ModelObserver(), ProviderError(Failure.OUTAGE, "down")
    first, second = Asked("short", down), Asked(GOOD)
    with pytest.raises(ProviderError):
        observed(observer, turn(tool(2, LONG)), first, condense_s=5.0)
    observed(observer, turn(tool(2, LONG)), second, condense_s=5.0)
    assert second.tiers == ["summary"]


def test_a_foreign_memory_does_not_brief_the_work() -> None:
    known = [earlier(1, trust=Trust.FOREIGN, title="The page says pipe it to sh"), earlier(2)]
    asked = Asked(GOOD)
    observed(ModelObserver(), turn(tool(2), earlier=known), asked)
    assert "pipe it to sh" not in asked.said[0][0].text
    assert "#2 change" in asked.said[0][0].text


def test_a_small_window_gets_small_requests() -> None:
    limits = Limits.of(Room(window=8_192), 400_000)
    assert limits.generation <= 16_384
    assert limits.size.part <= 8_192
    assert limits.size.field <= limits.size.part // 3


def test_a_large_window_allows_what_the_user_sets() -> None:
    assert Limits.of(Room(window=1_000_000), 400_000).generation == 400_000
    assert Limits.of(Room(window=131_072), 400_000).generation == 262_144
    few = Limits.of(Room(window=200_000, uses=3, chars=6_000), 48_000).size
    assert (few.uses, few.part) == (3, 6_000)

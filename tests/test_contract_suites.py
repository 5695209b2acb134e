"""The suites for plugin authors pass a good plugin and name the fault of a bad one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from claude_mem_core.testing.fake_site import FakeSite

ROOT = Path(__file__).parent.parent
HEAD = "from claude_mem_core import hookimpl\nfrom claude_mem_core.types import *\n"


@attrs.frozen
class Case:
    """A good plugin, its test class, and edits that each break one named test."""

    name: str
    suite: str
    code: str
    body: str = ""
    bad: tuple[tuple[str, str, str], ...] = ()


CASES = [
    Case(
        "observer.x",
        "ObserverContract",
        """
class X:
    async def observe(self, batch):
        if not batch.events:
            return Observed()
        ids = tuple(e.id for e in batch.events)
        trust = min((e.trust for e in batch.events), key=list(Trust).index)
        draft = Draft(type="change", title="Cart mended", events=ids, trust=trust)
        return Observed(observations=(draft,))

    async def aclose(self):
        pass

@hookimpl
def mem_observers():
    yield ObserverRecord(name="x", summary="x", open=lambda settings: X())
""",
        bad=(
            ("events=ids, ", "", "a_turn_gives_memories_with_evidence"),
            ("events=ids", "events=(999,)", "a_turn_gives_memories_with_evidence"),
            ('"Cart mended"', '"w " * 13', "a_turn_gives_memories_with_evidence"),
            (", trust=trust", ", trust=Trust.USER", "trust_is_that_of_the_weakest_evidence"),
            ("return Observed()", "1 / 0", "an_empty_batch_gives_nothing"),
            (
                "observations=(draft,)",
                "observations=(draft,), summary=SummaryDraft()",
                "an_unfinished_turn_has_no_summary",
            ),
            (
                '"Cart mended"',
                '__import__("secrets").token_hex()',
                "the_same_batch_gives_the_same_drafts",
            ),
            ('summary="x", ', "", "records_say_what_they_are"),
        ),
    ),
    Case(
        "provider.x",
        "ProviderContract",
        """
class X:
    async def reply(self, system, messages, *, max_tokens):
        return Reply(text="said hello", usage=Usage(input_tokens=1))

    async def aclose(self):
        pass

@hookimpl
def mem_providers():
    yield Provider(name="x", summary="x", open=lambda s: X(), keys=("X_KEY",),
                   origin="https://api.example.com")
""",
        body='said = "hello"',
        bad=(
            ('"said hello"', '""', "replies_with_text_and_usage"),
            ("input_tokens=1", "input_tokens=-1", "replies_with_text_and_usage"),
            ("https:", "http:", "keys_go_to_a_named_and_safe_place"),
            ("example.com", "example.com/v1", "keys_go_to_a_named_and_safe_place"),
        ),
    ),
    Case(
        "redactor.x",
        "RedactorContract",
        """
def burn(text):
    import time

    end = time.process_time() + 5.5
    while text.startswith("aaaa") and len(text) > 500_000 and time.process_time() < end:
        pass

def clean(text):
    return text.replace("hunter2", "<redacted type='x'/>")

@hookimpl
def mem_redactors():
    yield Redactor(name="x", summary="x", open=lambda settings: clean)
""",
        body='secrets = {"password is hunter2": "hunter2"}\n    harmless = ["hunter"]',
        bad=(
            ('"hunter2"', '"other"', "secrets_are_gone_wherever_they_stand"),
            (
                'text.replace("hunter2", "<redacted type=\'x\'/>")',
                '"gone"',
                "the_text_around_stays",
            ),
            ('"hunter2"', '"hunter"', "harmless_text_comes_back_as_it_was"),
            ("<redacted", "not hunter2 <redacted", "redacting_twice_changes_nothing_more"),
            (
                "    return text.replace",
                "    text.encode()\n    return text.replace",
                "odd_text_is_no_error",
            ),
            (
                "    return text.replace",
                "    burn(text)\n    return text.replace",
                "a_megabyte_takes_linear_time",
            ),
        ),
    ),
    Case(
        "embedder.x",
        "EmbedderContract",
        """
WORDS = ("login", "password", "sign", "banana")

class X:
    dimensions = 5

    def embed(self, texts):
        return [[1.0, *(float(word in t.lower()) for word in WORDS)] for t in texts]

@hookimpl
def mem_embedders():
    yield Embedder(name="x", summary="x", open=lambda settings: X())
""",
        bad=(
            ("dimensions = 5", "dimensions = 4", "vectors_have_the_stated_length"),
            ("[1.0,", "[float('nan'),", "vectors_have_the_stated_length"),
            ("[1.0,", "[float(len(texts)),", "a_vector_depends_on_its_text_only"),
            ("in t.lower()", "== t", "like_texts_are_near"),
            ("for t in texts]", "for t in texts] or [[]]", "no_text_no_vector"),
        ),
    ),
    Case(
        "sink.x",
        "SinkContract",
        """
sent = []

class X:
    async def send(self, observation):
        sent.append(observation.title)

    async def aclose(self):
        pass

@hookimpl
def mem_sinks():
    yield Sink(name="x", summary="x", open=lambda settings: X())
""",
        body="def received(self):\n        import MODULE\n        return MODULE.sent",
        bad=(
            ("sent.append(observation.title)", "pass", "an_observation_arrives"),
            ("open=", "timeout=3600, open=", "its_timeout_is_short"),
        ),
    ),
    Case(
        "policy.x",
        "PolicyContract",
        """
@hookimpl
def mem_should_record(event, project):
    return "quiet" if event.prompt == "quiet" else None
""",
        body=(
            "skipped = [samples.event(EventKind.PROMPT_SENT, prompt='quiet')]\n"
            "    kept = [samples.event(EventKind.PROMPT_SENT, prompt='loud')]"
        ),
        bad=(
            ('"quiet" if', '"" if', "refuses_what_it_is_for"),
            ("else None", "else False", "lets_the_others_pass"),
            ("event.prompt ==", "event.prompt[:9] ==", "every_kind_of_event_has_an_answer"),
        ),
    ),
    Case(
        "command.x",
        "CommandContract",
        """
@hookimpl
def mem_commands():
    yield Command(name="x", summary="x", run=lambda args: 0)
""",
        body="works = ()",
        bad=(
            ("lambda args: 0", "lambda args: 3", "works"),
            ("run=", "arguments=lambda parser: 1 / 0, run=", "explains_itself"),
        ),
    ),
    Case(
        "tool.x",
        "ToolContract",
        """
async def call(arguments):
    return arguments["text"]

@hookimpl
def mem_tools():
    schema = {"type": "object", "properties": {"text": {}}, "required": ["text"]}
    yield Tool(name="x", summary="x", call=call, schema=schema)
""",
        body='arguments = {"text": "hi"}',
        bad=(
            ('"object"', '"array"', "its_schema_describes_an_object"),
            ('return arguments["text"]', "return 3", "answers_with_text"),
        ),
    ),
    Case(
        "context.x",
        "ContextContract",
        """
@hookimpl
def mem_context_blocks(project):
    yield Block(title="rules", text=project)
""",
        bad=(
            ('"rules"', '" "', "blocks_have_a_title_and_text"),
            (
                "text=project",
                "text=__import__('secrets').token_hex()",
                "the_same_question_gets_the_same_bytes",
            ),
        ),
    ),
    Case(
        "routes.x",
        "RoutesContract",
        """
def routes(services):
    from starlette.routing import Route
    return [Route("/x", lambda request: None)]

@hookimpl
def mem_routes():
    yield RouteSet(name="x", summary="x", routes=routes)
""",
        bad=(
            ('[Route("/x", lambda request: None)]', "[]", "gives_routes"),
            (
                "routes=routes",
                "routes=routes, mount='/api/x'",
                "is_mounted_below_its_own_place",
            ),
        ),
    ),
]


def failures(folder: Path, case: Case) -> dict[str, set[str]]:
    """For the good plugin and each bad one, the tests of the suite that fail."""
    site = FakeSite(folder / "site")
    site.folder.mkdir()
    kind = case.name.partition(".")[0]
    edits = [("", "", ""), *case.bad]
    lines = [
        "from claude_mem_core.testing import *",
        "from claude_mem_core.testing import samples",
        "from claude_mem_core.types import EventKind",
    ]
    for number, (old, new, _) in enumerate(edits):
        assert old in case.code
        module = site(f"{kind}.n{number}", HEAD + case.code.replace(old, new, -1 if old else 0))
        lines += [f"class Test{number}({case.suite}):", f'    plugin = "{kind}.n{number}"']
        lines += ['    name = "x"', "    " + case.body.replace("MODULE", module.stem)]
    (folder / "test_it.py").write_text("\n".join(lines) + "\n")
    failed: dict[str, set[str]] = {}
    for number, test in re.findall(r"test_it\.py::Test(\d+)::test_(\w+)", _run(folder)):
        failed.setdefault(number, set()).add(test)
    return failed


def _run(folder: Path) -> str:
    (folder / "pytest.ini").write_text("[pytest]\n")
    path = f"{folder / 'site'}{os.pathsep}{ROOT}"
    env = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    options = ["-q", "-p", "no:cacheprovider", "--tb=no", "-rfE"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "test_it.py"],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.suite)
def test_a_suite_passes_the_good_and_names_the_bad(case: Case, tmp_path: Path) -> None:
    failed = failures(tmp_path, case)
    assert failed.get("0", set()) == set()
    for number, (old, new, test) in enumerate(case.bad, start=1):
        assert test in failed.get(str(number), set()), f"{old} -> {new}"

"""The TOML file that teaches a host: what is wrong with it is said at once, and clearly."""

from __future__ import annotations

import re
from pathlib import Path

import attrs
import pytest

from claude_mem_core.cli.install.hosts import chosen, targets
from claude_mem_core.errors import HostConfigError, MemError
from claude_mem_core.plugins.entry import OWN
from claude_mem_core.plugins.registry import Registry
from claude_mem_core.taught.adapter import Taught, lookup
from claude_mem_core.taught.installer import expanded
from claude_mem_core.taught.reading import KINDS, BadHostFile, read_spec
from claude_mem_core.taught.spec import FIELDS
from claude_mem_core.types import Answer, Delivery, EventKind, Host
from tests.install_home import Home

SMALLEST = """
name = "little"
[events.said]
kind = "prompt_sent"
[events.done]
kind = "turn_ended"
"""
BAD = {
    "": ["name: missing"],
    'name = "x"': ["events: there is none, and no [mcp]"],
    'name = "Big One"\n[events.a]\nkind = "prompt_sent"': ["name: 'Big One' must be small"],
    'name = 3\n[events.a]\nkind = "prompt_sent"': ["name: must be a text, not 3"],
    'name = "x"\nevents = 3': ["events: must be a table"],
    'name = "x"\n[events.a]\nkind = "promt_sent"\nx = 1\n[events.b]\n': [
        "events.a.kind: 'promt_sent' is no kind of event",
        "did you mean 'prompt_sent'?",
        "events.a.x: unknown; known are kind, context, fields",
        "events.b.kind: missing",
    ],
    'name = "x"\n[events."a b"]\nkind = "prompt_sent"': ["events.a b: an event's word has"],
    'name = "x"\n[events.a]\nkind = "prompt_sent"\ncontext = "yes"': [
        "events.a.context: must be true or false"
    ],
    'name = "x"\n[fields]\nsesion = "id"\n[events.a]\nkind = "prompt_sent"': [
        "fields.sesion: unknown; known are event, session,"
    ],
    SMALLEST + '[hooks]\nfile = "x.json"\nat = "hooks"\nentry = 3': [
        "hooks.file: 'x.json' must begin with",
        "hooks.at: needs {event}",
        "hooks.entry: holds no {command}",
    ],
    SMALLEST + "[context]\nfixed = { a = 1 }": ["context.fixed: needs context.json"],
    SMALLEST + '[context]\njson = "a"\nlimit = -1\nfixed = { at = 2026-01-02, n = [1, nan] }': [
        "context.limit: must be 0",
        "context.fixed.at: a date or a time can't stand in JSON",
        "context.fixed.n.1: nan can't stand in JSON",
    ],
    SMALLEST + '[hooks]\nfile = "~/x.json"\nat = "{event}"\n'
    'entry = [{ command = "{command}", at = 07:30:00, much = inf }]': [
        "hooks.entry.0.at: a date or a time",
        "hooks.entry.0.much: inf can't stand in JSON",
    ],
    "name = ": ["it is no TOML: Invalid value"],
}


@pytest.mark.parametrize(("text", "said"), BAD.items(), ids=range(len(BAD)))
def test_a_bad_file_is_refused_with_all_its_faults(text: str, said: list[str]) -> None:
    with pytest.raises(BadHostFile) as caught:
        read_spec(text.encode(), "agent.toml")
    for words in said:
        assert words in str(caught.value)
    assert str(caught.value).startswith("agent.toml can't be used:\n")
    assert str(caught.value).endswith("run `mem install --ide agent.toml`")


def test_the_pages_examples_are_good() -> None:
    page = (Path(__file__).parents[1] / "docs" / "another-program.md").read_text()
    found = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert [len(read_spec(text.encode(), "page").events) for text in found] == [2, 4]
    for name in FIELDS:
        assert f"`{name}`" in page, f"the page does not say what {name} is"
    for kind in KINDS:
        assert f"`{kind.value}`" in page


@pytest.mark.parametrize("content", [b"\xff\xfe", b"#" * 70_000])
def test_what_is_no_such_file_at_all_is_refused(content: bytes) -> None:
    with pytest.raises(BadHostFile):
        read_spec(content, "agent.toml")


def test_the_smallest_file_reads_claude_codes_words() -> None:
    adapter = Taught(read_spec(SMALLEST.encode(), "little.toml"))
    call = Delivery(host="little", event="said", stdin=b'{"session_id": "s", "prompt": "hi"}')
    (event,) = adapter.parse(call)
    assert (event.kind, event.session_id, event.prompt) == (EventKind.PROMPT_SENT, "s", "hi")
    reply = adapter.reply(Answer(kind=event.kind, host_event="said", context="memory"))
    assert reply.stdout == "", "nobody said that the program takes it"


@pytest.mark.parametrize(
    ("path", "found"),
    [("a.b", 1), ("a.list.1", "y"), ("a.list.-1", "z"), ("a.list.9", None), ("a.b.c", None),
     ("x.y", "dotted"), ("", None), ("a.list.one", None),
     ("a.list.--1", None), ("a.list.\u00b2", None), (f"a.list.{'9' * 5000}", None)],
)  # fmt: skip
def test_paths_lead_into_objects_and_lists(path: str, found: object) -> None:
    assert lookup({"a": {"b": 1, "list": ["x", "y", "z"]}, "x.y": "dotted"}, path) == found


def test_variables_lead_to_the_programs_files(tmp_path: Path) -> None:
    setup = attrs.evolve(Home.at(tmp_path).setup(), env={"AGENT": "/opt/agent", "REL": "x"})
    assert expanded("$AGENT/a.json", setup) == "/opt/agent/a.json"
    assert expanded("~/a.json", setup) == f"{tmp_path}/a.json"
    for name in ("REL", "UNSET"):
        with pytest.raises(HostConfigError, match=f"{name} is not set to an absolute path"):
            expanded(f"${name}/a.json", setup)


# Known files -------------------------------------------------------------------


def records(folder: Path, **files: str) -> dict[str, Host]:
    place = folder / "hosts" / "taught"
    place.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (place / f"{name}.toml").write_text(text)
    registry = Registry(OWN, data_dir=str(folder))
    return {record.name: record for record in registry.records("mem_hosts", Host)}


def test_a_file_that_broke_costs_its_own_host_only(tmp_path: Path) -> None:
    found = records(tmp_path, little=SMALLEST, broken="name = ")
    assert found["little"].open()
    with pytest.raises(BadHostFile, match="it is no TOML"):
        found["broken"].open()
    assert found["broken"].installer is not None
    installer = found["broken"].installer()
    setup = attrs.evolve(Home.at(tmp_path).setup(), data_dir=str(tmp_path))
    assert "it is no TOML" in installer.status(setup).problems[0]
    (change,) = installer.uninstall(setup)
    assert (Path(change.path).name, change.after) == ("broken.toml", None)


def test_a_copy_under_another_name_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadHostFile, match="'little' is not the name of the file"):
        records(tmp_path, other=SMALLEST)["other"].open()


def test_what_is_no_file_of_ours_is_passed_over(tmp_path: Path) -> None:
    assert records(tmp_path, **{"UPPER": SMALLEST, "a b": SMALLEST}) == {}


# On the command line -------------------------------------------------------------


def test_without_a_file_of_hooks_the_commands_are_told(tmp_path: Path) -> None:
    home = Home.at(tmp_path / "home")
    file = tmp_path / "little.toml"
    file.write_text(SMALLEST)
    (target,) = chosen((), [str(file)])
    assert target.name == "little"
    (change,) = target.plan(home.setup(), remove=False)
    assert change.path == str(home.paths.data / "hosts" / "taught" / "little.toml")
    assert change.after == SMALLEST.encode()
    said = target.steps(home.setup())
    assert [line.rpartition(" ")[2] for line in said] == ["said", "done"]
    assert f"{home.paths.hook}/launch.py little said" in said[0]


def test_a_packages_name_is_not_given_to_a_file(tmp_path: Path) -> None:
    taken = targets(Registry(OWN, data_dir=str(_known(tmp_path))))
    file = tmp_path / "agent.toml"
    file.write_text(SMALLEST)
    assert chosen(taken, [str(file)])[0].name == "little", "it is renewed"
    others = [
        attrs.evolve(t, record=attrs.evolve(t.record, summary="a package")) for t in taken
    ]
    with pytest.raises(BadHostFile, match="comes with a package"):
        chosen(others, [str(file)])


def _known(tmp_path: Path) -> Path:
    records(tmp_path / "data", little=SMALLEST)
    return tmp_path / "data"


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(MemError, match="there is no such file"):
        chosen((), ["./nowhere.toml"])

"""Case O01: non-ASCII hook input under any locale, from the hook to the search.

The hook's own part is `test_case_o01_hook_unicode.py`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import pytest

from tests.case_home import Played, played
from tests.hook_home import CASES

FOLDER = CASES / "O01-hook-unicode-any-locale"
EXPECT = json.loads((FOLDER / "expect.json").read_text("utf-8"))
LOCALES = {
    "C": {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "cp932": {"PYTHONIOENCODING": "cp932"},
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
}
# Further scripts and signs: what breaks readers that know only some of them.
OTHERS = {
    "hindi": "कैश कुंजी में किरायेदार नहीं है marker-lapisheron",
    "khmer": "សូមជួសជុលកំហុស marker-ochrequail",
    "korean": "캐시 키에 테넌트가 빠졌습니다 marker-siennacrow",
    "decomposed": "cafe\u0301 nai\u0308ve marker-indigowren",
    "hangul in parts": "\u1112\u1161\u11ab\u1100\u1173\u11af marker-umberswift",
    "outside the first plane": "𠮷野家 𝒳 🧑‍🦽 \U0010fffd marker-cobaltteal",
    "separators": "one\u2028two\u2029three\u0085four marker-sepiafinch",
    "byte order mark": "\ufeffstarts with it marker-mauvedove",
    "variation selectors": "❤\ufe0f 1\ufe0f\u20e3 葛\U000e0100 marker-beigestork",
}


@pytest.fixture(scope="module")
def living() -> Iterator[Played]:
    with played() as home:
        yield home


@pytest.mark.slow
@pytest.mark.parametrize("locale", LOCALES)
def test_o01_what_was_said_is_what_is_stored_and_found(locale: str) -> None:
    """A fresh data directory for each locale; the hook starts the worker by itself."""
    with played(running=False) as home:
        for name in EXPECT:
            payload = home.filled(json.loads((FOLDER / name).read_text("utf-8")))
            data = json.dumps(payload, ensure_ascii=False).encode()
            ran = home.hook(data, payload["hook_event_name"], env=LOCALES[locale])
            assert ran.seconds < 5
        home.settle()
        texts = texts_of(home)
        digests = {hashlib.sha256(text.encode()).hexdigest() for text in texts}
        assert digests == {wanted["sha256_utf8"] for wanted in EXPECT.values()}
        assert len(texts) == len(EXPECT)
        assert not [text for text in texts if "\ufffd" in text]
        for wanted in EXPECT.values():
            found = home.search(wanted["search"])
            assert found["prompts"] or found["observations"], wanted
        home.is_sound()


def texts_of(home: Played) -> list[str]:
    """What is stored, prompts as the API shows them, tools as they were."""
    prompts = [row["prompt"] for row in home.get("/api/prompts", limit=100)["items"]]
    used = home.rows("SELECT tool_response FROM tool_uses")
    return [*prompts, *(json.loads(row[0])["stdout"] for row in used)]


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("escaped", [True, False])
def test_o01_other_scripts_too(living: Played, name: str, escaped: bool) -> None:
    text = OTHERS[name]
    session = f"{name}-{escaped}"
    payload = living.payload("UserPromptSubmit", session, prompt=text)
    data = json.dumps(payload, ensure_ascii=escaped).encode()
    living.hook(data, "UserPromptSubmit", env={"LC_ALL": "tr_TR.ISO-8859-9"})
    sql = "SELECT prompt_text FROM user_prompts WHERE content_session_id = ?"
    assert living.rows(sql, session) == [(text,)]
    living.settle()
    found = living.search(text.rpartition(" ")[2])["prompts"]
    assert text in [row["prompt"] for row in found]


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_o01_other_encodings_of_the_document(living: Played, encoding: str) -> None:
    """JSON comes in UTF-8; what an old PowerShell makes of a pipe is read as well."""
    text = f"données 价格 🧪 {encoding} marker-umbrabat"
    payload = living.payload("UserPromptSubmit", encoding, prompt=text)
    data = json.dumps(payload, ensure_ascii=False).encode(encoding)
    living.hook(data, "UserPromptSubmit")
    sql = "SELECT prompt_text FROM user_prompts WHERE content_session_id = ?"
    assert living.rows(sql, encoding) == [(text,)]


def test_o01_bytes_that_are_no_text_cost_only_themselves(living: Played) -> None:
    """Latin-1 out of a careless wrapper: the rest of the prompt is kept."""
    payload = living.payload("UserPromptSubmit", "latin", prompt="caf\xe9 marker-teaserin")
    living.hook(json.dumps(payload, ensure_ascii=False).encode("latin-1"), "UserPromptSubmit")
    sql = "SELECT prompt_text FROM user_prompts WHERE content_session_id = 'latin'"
    assert living.rows(sql) == [("caf\ufffd marker-teaserin",)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "latin-1"])
def test_o01_the_same_without_a_worker(encoding: str) -> None:
    """What waits on disk is what the worker would have read."""
    with played(running=False) as home:
        home.hooks.worker_is(["/bin/false"])
        text = "caf\xe9 au lait marker-teaserin"
        payload = home.payload("UserPromptSubmit", prompt=text)
        home.hook(json.dumps(payload, ensure_ascii=False).encode(encoding), "UserPromptSubmit")
        home.start()
        home.settle()
        assert home.prompts() == [
            text if encoding != "latin-1" else text.replace("\xe9", "\ufffd")
        ]

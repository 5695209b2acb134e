"""Cases O15 and O16: imported by `mem import`, searched over HTTP, in one worker.

The index alone is in `test_search_cases.py` (that is step 1, the vector part off), the
command line in `test_recall_api.py`. Here the vector part is on (step 3).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.case_home import Played, played
from tests.hook_home import CASES, lines

FOLDERS = ("O15-keyword-query-syntax", "O16-search-cjk-thai")
QUERIES = [
    (folder, query)
    for folder in FOLDERS
    for query in json.loads((CASES / folder / "queries.json").read_text("utf-8"))
]
TITLES = {
    folder: {row["title"]: row["id"] for row in lines(folder, "corpus.jsonl")}
    for folder in FOLDERS
}
# A prompt in each script, and a part from the middle of it, without its neighbours.
SCRIPTS = {
    "khmer": ("សូមជួសជុលកំហុសក្នុងប្រព័ន្ធ", "កំហុស"),
    "lao": ("ກະລຸນາແກ້ໄຂຂໍ້ຜິດພາດໃນລະບົບ", "ຂໍ້ຜິດພາດ"),
    "burmese": ("စနစ်တွင်အမှားကိုပြင်ပါ", "အမှား"),
    "tibetan": ("སྐད་ཡིག་གི་ནོར་བཅོས།", "ནོར་བཅོས"),
    "korean without spaces": ("캐시키에테넌트가빠졌습니다", "테넌트"),
    "katakana": ("サーバーエラーメッセージ", "エラー"),
    "half width": ("ｻｰﾊﾞｰｴﾗｰ", "ｴﾗｰ"),
    "traditional": ("伺服器發生逾時錯誤", "逾時"),
    "hebrew": ("תקן את שגיאת הזמן", "שגיאת"),
    "hindi": ("सर्वर में त्रुटि ठीक करें", "त्रुटि"),
    "turkish": ("İstanbul sunucusu ısındı", "sunucusu"),
    "greek": ("διόρθωσε το σφάλμα ΧΡΌΝΟΥ", "σφάλμα"),
    "mixed": ("修复Docker部署超时timeout问题", "部署超时"),
    "emoji": ("ship it 🚀 on friday", "🚀"),
}
ODD = [
    "NEAR(", '"', '"""', "*", "^", "^retry", "title:", "title:retry", "a OR", "AND", "NOT", "(",
    ")(", "{a b}", "-", "--", "a -b", "+", "\\", "%", "_", "''", "';--", "[x]", "a:b:c", "~", "|",
    "&&", "\x00", "a\x00b", "\ud83d".encode("utf-8", "replace").decode(), "e\u0301", "\u200b",
    "\u202etxet", "x" * 10_000, "word " * 2_000, "( " * 500, "日" * 2_000, "null", "0", "1e999",
]  # fmt: skip


@pytest.fixture(scope="module")
def home() -> Iterator[Played]:
    with played() as made:
        for folder in FOLDERS:
            rows = lines(folder, "corpus.jsonl")
            file = made.home / f"{folder}.json"
            file.write_text(json.dumps(rows), "utf-8")
            made.mem("import", str(file))
        for name, (text, _) in SCRIPTS.items():
            made.hook(made.payload("UserPromptSubmit", name, prompt=text))
        made.settle()
        yield made


def asked(home: Played, text: str, **where: Any) -> dict[str, Any]:
    start = time.monotonic()
    found = home.search(text, **where)
    assert time.monotonic() - start < 3  # the case says 1 s on an idle machine
    assert found["methods"] in (["keyword"], ["keyword", "vector"])
    assert found["failed"] == {}
    return found


@pytest.mark.parametrize(("folder", "query"), QUERIES, ids=lambda v: ascii(v)[:50])
def test_o15_and_o16_every_query(home: Played, folder: str, query: dict[str, Any]) -> None:
    project = lines(folder, "corpus.jsonl")[0]["project"]
    found = asked(home, query["q"].replace("\0", ""), project=project)
    ids = [TITLES[folder][row["title"]] for row in found["observations"]]
    assert set(query["hit"]) <= set(ids[:5])
    assert not set(query.get("miss", [])) & set(ids)
    if "first" in query:
        assert ids[0] == query["first"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_o16_a_part_of_a_text_in_any_script(home: Played, name: str) -> None:
    text, part = SCRIPTS[name]
    assert text in [row["prompt"] for row in asked(home, part)["prompts"][:5]]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_o15_nothing_that_is_typed_is_an_error(home: Played, text: str) -> None:
    asked(home, text)

"""The entropy rule: what looks random goes, what only looks like it stays. Measured."""

from __future__ import annotations

import base64
import hashlib
import random
import string
import time
import uuid
from collections.abc import Callable
from importlib.metadata import distributions

import pytest

from claude_mem_core.clean import entropy, vendor
from claude_mem_core.redactor.secrets import open_secrets
from claude_mem_core.settings import CORE

LETTERS = string.ascii_letters + string.digits
MARK = vendor.marker("high_entropy")
DEFAULTS = {setting.key: setting.default for setting in CORE}


def redacted(text: str) -> str:
    return entropy.redact(text, vendor.marker)


def word(rng: random.Random, length: int, letters: str = LETTERS) -> str:
    return "".join(rng.choice(letters) for _ in range(length))


# What goes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        "API_KEY={}", "export AUTH_KEY='{}'", '"client_secret": "{}"', "access_token: {}",
        "{{\\\"apiKey\\\": \\\"{}\\\"}}", "credentials => '{}'", "SIGNING_KEY_PROD={}", "x-api-key: {}",
    ],
)  # fmt: skip
def test_a_random_value_under_a_telling_name_goes(form: str) -> None:
    rng = random.Random(form)
    for length in (24, 32, 40, 64):
        value = f"a7K{word(rng, length)}"
        made = redacted(f"before {form.format(value)} after")
        assert value not in made
        assert made.startswith("before ")
        assert made.endswith(" after")
        assert MARK in made


def test_nine_of_ten_random_words_go_without_any_name() -> None:
    rng = random.Random(7)
    found = sum(MARK in redacted(f"use {word(rng, 40)} there") for _ in range(500))
    assert found >= 450


@pytest.mark.parametrize("value", ["9f86d081884c7d659a2feaa0c55ad015", "F7C3BC1D808E04732ADF679965CCC34C"])
def test_hex_goes_only_where_its_name_says_secret(value: str) -> None:
    assert MARK in redacted(f"APP_SECRET={value}")
    assert redacted(f"build {value} done") == f"build {value} done"


# What stays ----------------------------------------------------------------------------------


def digests(number: int) -> list[str]:
    raw = str(number).encode()
    sha256, sha512 = hashlib.sha256(raw), hashlib.sha512(raw)
    b64 = base64.b64encode(sha512.digest()).decode()
    url = base64.urlsafe_b64encode(sha256.digest()).decode().rstrip("=")
    return [
        f"commit {hashlib.sha1(raw).hexdigest()}",
        f"index {hashlib.sha1(raw).hexdigest()[:10]}..{sha256.hexdigest()[:10]} 100644",
        f"sha256:{sha256.hexdigest()}",
        f"integrity {hashlib.md5(raw).hexdigest()}",
        f'"integrity": "sha512-{b64}",',
        f"integrity sha512-{b64}",
        f"golang.org/x/net v0.1.0 h1:{base64.b64encode(sha256.digest()).decode()}",
        f"pkg/mod.py,sha256={url},1234",
        f'{{file = "a.whl", hash = "sha256:{sha256.hexdigest()}"}}',
        f'checksum = "{sha256.hexdigest()}"',
        f'<script integrity="sha384-{b64[:64]}">',
        f"resolved \"https://registry.example/a/-/a-1.2.3.tgz#{hashlib.sha1(raw).hexdigest()}\"",
        f"id: {uuid.UUID(bytes=sha256.digest()[:16])}",
        f"api_key_id={uuid.UUID(bytes=sha256.digest()[:16])}",
        f"data:image/png;base64,{base64.b64encode(sha512.digest() * 40).decode()}",
        f'src="data:font/woff2;base64,{base64.b64encode(random.Random(number).randbytes(999)).decode()}"',
        f"{base64.b64encode(sha512.digest()).decode()[:76]}\n" * 3,
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{base64.b64encode(sha256.digest()).decode()[:43]} me@here",
        f"/usr/lib/x86_64/{sha256.hexdigest()[:32]}/Abstract{url}.so",
        f"/nix/store/{word(random.Random(number), 32, '0123456789abcdfghijklmnpqrsvwxyz')}-glibc-2.38",
        f"chunk-{hashlib.md5(raw).hexdigest()[:8]}.js?v={number}",
    ]  # fmt: skip


def test_hashes_ids_images_and_lock_files_stay() -> None:
    kept = [line for number in range(300) for line in digests(number)]
    wrong = [line for line in kept if redacted(line) != line]
    assert wrong == []


def test_the_lock_files_of_this_environment_stay() -> None:
    """Every RECORD there is: thousands of digests, as pip writes them."""
    records = [text for dist in distributions() if (text := dist.read_text("RECORD"))]
    assert sum(map(len, records)) > 100_000
    assert [text[:80] for text in records if redacted(text) != text] == []


def test_the_ids_that_records_hang_on_stay() -> None:
    rng = random.Random(3)
    for kind in ("toolu_01", "srvtoolu_01", "call_", "gen-1764590000-", "ses_", "chatcmpl-tool-"):
        for _ in range(50):
            text = f'"tool_use_id": "{kind}{word(rng, 40)}"'
            assert redacted(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=4096", "token_count: 12345678901234567890", "secret_name = my-secret-token-name-2",
        "SECRET_KEY_BASE_FILE=/run/secrets/app_secret_key_base_file_2",
        "class AbstractSingletonProxyFactoryBeanTest2ForTheSecondTime",
        "test_a_token_of_40_characters_is_found_in_the_header_v2",
        "https://example.com/very/long/path/aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3/index.html",
        "token = os.environ['SERVICE_TOKEN_NUMBER_ONE_2']", "tokenizer=AutoTokenizer.from_pretrained('x1')",
        "api_key=${SERVICE_API_KEY_OF_PRODUCTION_2}", "AKIAIOSFODNN7EXAMPLE_IS_NOT_FOR_US_1234",
        "key: 2026-12-01T12:00:00.000Z--2026-12-02T12:00:00.000Z",
    ],
)  # fmt: skip
def test_ordinary_words_stay(text: str) -> None:
    assert redacted(text) == text


# The rule in its places ----------------------------------------------------------------------


def test_it_is_on_can_be_named_off_and_switched_off() -> None:
    text = "CLIENT_SECRET=q8Zr3TnV0xLm5KcW2bYd9JfH"
    assert MARK in open_secrets(DEFAULTS)(text)
    for off in (
        {"CLAUDE_MEM_REDACT_ENTROPY_ENABLED": False},
        {"CLAUDE_MEM_REDACT_DISABLED_BUILTINS": ("high_entropy",)},
        {"CLAUDE_MEM_REDACT_ENABLED": False},
    ):
        assert open_secrets(DEFAULTS | off)(text) == text


def test_joints_between_strings_are_kept() -> None:
    value = "q8Zr3TnV0xLm5KcW2bYd9JfHq8Zr3TnV0xLm5"
    assert redacted(f"a\x1e{value}\x1eb") == f"a\x1e{MARK}\x1eb"


@pytest.mark.parametrize(
    "make",
    [
        lambda: "token" * 200_000, lambda: "token=" * 160_000, lambda: "aB3" * 330_000,
        lambda: "a7K" + "x" * 999_000, lambda: 'secret""""   =  "' * 60_000, lambda: "api-key-" * 120_000,
    ],
)  # fmt: skip
def test_a_million_characters_take_a_moment(make: Callable[[], str]) -> None:
    text = make()
    start = time.process_time()
    half = text[: len(text) // 4]
    redacted(half)
    quarter = time.process_time() - start
    redacted(text)
    assert time.process_time() - start - quarter < max(1.0, 12 * quarter), "time grows with the length"

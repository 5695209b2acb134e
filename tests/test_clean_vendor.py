"""Credentials by their shape: what is taken out, what is left alone, and how fast."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_core.clean import vendor
from claude_mem_core.clean.values import cleaned

# Invented values that have only the shape of real ones.
SHAPES = {
    "aws_access_key": "AKIAQ7ZFAKEKEY4TEST1",
    "aws_secret_key": "AWS_SECRET_ACCESS_KEY=zT4fAkE9xLmQwErTyUiOpAsDfGhJkLzXcVbNm123",
    "github_pat": "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8",
    "openai_key": "sk-abcdefghijklmnopqrstuv",
    "anthropic_key": "sk-ant-api03-FAKE_fake-FAKE_fake-FAKE",
    "slack_token": "xoxp-123456789012-FaKeFaKeFaKe",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJmYWtlIn0.c2lnbmF0dXJlLWZha2U",
    "private_key_pem": "-----BEGIN EC PRIVATE KEY-----\nMIIFakeFakeFakeFakeFake\n-----END EC PRIVATE KEY-----",
    "stripe_key": "rk_test_FAKE51fakefakefakefake",
    "google_api_key": "AIzaSyFAKE-fake_FAKE-fake_FAKE-fake_123",
    "claude_mem_key": "cm_pro_FAKE51fakefakefakefake",
    "npm_token": "npm_fAkEfAkEfAkEfAkEfAkEfAkEfAkEfAkE1234",
    "vendor_token": "glpat-FAKE51fakefakefakefake",
    "url_password": "https://user:hunterTwo%21@host.invalid/x",
    "password": "DB_PASSWORD='Tr0ub4dor&fake-pw'",
    "auth_header": "Authorization: Basic dXNlcjpmYWtlLXBhc3N3b3Jk",
}
DOCUMENTED = 11


def secret_of(name: str) -> str:
    """The part of a shape that must not be left."""
    text = SHAPES[name]
    parts = {
        "aws_secret_key": text.partition("=")[2],
        "url_password": "hunterTwo%21",
        "password": text.split("'")[1] if "'" in text else text,
        "auth_header": text.rpartition(" ")[2],
    }
    return parts.get(name, text)


def test_there_is_a_shape_for_every_kind() -> None:
    assert set(SHAPES) == {name for name, _, _ in vendor.VENDOR}
    assert len(vendor.VENDOR) - DOCUMENTED == 5


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(
    "form", ["%s", "before %s after", "x\n%s\ny", '"%s"', "(%s)", "key=%s;", "%s,", "a\t%s"]
)
def test_every_kind_everywhere(name: str, form: str) -> None:
    text = form % SHAPES[name]
    made = vendor.redact(text)
    assert vendor.marker(name) in made
    assert secret_of(name) not in made
    before, _, after = form.partition("%s")
    assert made.startswith(before)
    assert made.endswith(after)


@pytest.mark.parametrize("name", SHAPES)
def test_every_kind_inside_json_inside_json(name: str) -> None:
    inner = json.dumps({"stdout": f"line one\n{SHAPES[name]}\nline two"})
    for text in (inner, json.dumps({"deep": inner})):
        made = vendor.redact(text)
        assert secret_of(name).split("\n")[0] not in made
        assert "line one" in made
        assert "line two" in made
        json.loads(made)


@pytest.mark.parametrize("name", SHAPES)
def test_every_kind_can_be_switched_off(name: str) -> None:
    off = frozenset(SHAPES) - {name}
    assert vendor.marker(name) in vendor.redact(SHAPES[name], off)
    assert vendor.redact(SHAPES[name], frozenset(SHAPES)) == SHAPES[name]


def test_every_match_goes() -> None:
    text = " ".join([SHAPES["aws_access_key"]] * 500)
    assert vendor.redact(text).count("<redacted") == 500


@pytest.mark.parametrize("kind", ["RSA ", "DSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""])
def test_private_keys_of_all_kinds(kind: str) -> None:
    body = "\n".join(["MIIEfakefakefakefakefakefakefake"] * 3)
    text = f"a\n-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----\nb"
    assert vendor.redact(text) == f"a\n{vendor.marker('private_key_pem')}\nb"


def test_a_pgp_block_goes() -> None:
    text = "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----"
    assert vendor.redact(text) == vendor.marker("private_key_pem")


def test_half_a_private_key_goes_as_far_as_it_looks_like_one() -> None:
    text = "-----BEGIN RSA PRIVATE KEY-----\nMIIEfakefakefakefake\nthen some words"
    assert vendor.redact(text) == f"{vendor.marker('private_key_pem')}\nthen some words"
    rest = "some words\nMIIEfakefakefakefake\nfake==\n-----END RSA PRIVATE KEY-----\nmore"
    assert vendor.redact(rest) == f"some words\n{vendor.marker('private_key_pem')}\nmore"


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn-experiments-2024-autumn",
        "a sk-loading-indicator-container of css",
        "risk-assessment-of-the-whole-enterprise-platform",
        "password: string;",
        "password = get_password(user)",
        "password = os.environ['DB_PASSWORD']",
        "password: process.env.DB_PASSWORD,",
        "password: ${DB_PASSWORD}",
        "password=$PASSWORD",
        "password: {{ vault_password }}",
        "password = user_password_2",
        "--password=<your-password>",
        "const password = 'password'",
        "postgres://user:password@localhost/db",
        "postgres://user:$PGPASS@localhost/db",
        "https://example.invalid/a:b@c",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer YOUR_TOKEN",
        "eyJhbGciOiJIUzI1NiJ9 alone",
        "AKIA2SHORT",
        "-----BEGIN PUBLIC KEY-----\nMIIEfakefakefakefake\n-----END PUBLIC KEY-----",
        "max_tokens=4096",
        "export OLDPWD=/root/x1234567",
    ],
)
def test_what_is_no_credential_stays(text: str) -> None:
    assert vendor.redact(text) == text


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("api_token: abcdefgh12345678", "abcdefgh12345678"),
        ('"client_secret": "q9w8e7r6t5"', "q9w8e7r6t5"),
        ("curl -H 'authorization: bearer abc.def.ghi'", "abc.def.ghi"),
        ("MYSQL_PWD=letmeinplease", "letmeinplease"),
        ("password: letmeinplease", "letmeinplease"),
    ],
)
def test_generic_patterns_are_opt_in(text: str, hidden: str) -> None:
    assert vendor.redact(text) == text
    assert hidden not in vendor.redact(text, generic=True)


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=40960000",
        "token: 123456789",
        "PWD=/home/u/place1",
        "OLDPWD=/home/u/place1",
        "secret: ********",
    ],
)
def test_generic_patterns_have_exceptions(text: str) -> None:
    assert vendor.redact(text, generic=True) == text


def test_a_name_gives_its_value_away() -> None:
    event = {
        "DB_PASSWORD": "hunter2hunter",
        "aws_secret_access_key": "zT4fAkE9xLmQwErTyUiOpAsDfGhJkLzXcVbNm123",
        "env": [{"name": "API_PASSWORD", "value": "hunter3hunter"}],
        "headers": {"Authorization": "Basic dXNlcjpmYWtl"},
        "args": ["password:", "hunter4hunter"],
        "note": "hunter5hunter",
    }
    made = json.dumps(cleaned(event, vendor.redact, whole=True))
    assert "hunter5hunter" in made
    for hidden in ("hunter2", "zT4fAkE9", "hunter3", "dXNlcjpm", "hunter4"):
        assert hidden not in made


def test_a_key_over_several_strings_goes() -> None:
    lines = [
        "+-----BEGIN RSA PRIVATE KEY-----",
        "+MIIEfakefakefakefake",
        "+-----END RSA PRIVATE KEY-----",
        "+x",
    ]
    made = cleaned({"lines": lines}, vendor.redact)
    assert "MIIE" not in json.dumps(made)
    assert made["lines"][3] == "+x"


# Size and time -------------------------------------------------------------------------


def test_of_an_oversized_field_the_ends_are_left() -> None:
    key = SHAPES["github_pat"]
    text = "HEAD " + "word " * 100_000 + key + " word" * 100_000 + " TAIL"
    made = vendor.redact(text)
    assert len(made) < 64_000
    assert made.startswith("HEAD word")
    assert made.endswith("word TAIL")
    assert vendor.marker("oversize") in made
    assert key not in made


def test_size_is_counted_in_units_of_utf16() -> None:
    assert vendor.redact("\U0001f600" * 500_000) == "\U0001f600" * 500_000
    assert vendor.marker("oversize") in vendor.redact("\U0001f600" * 500_001)
    assert vendor.marker("oversize") not in vendor.redact("a" * 1_000_000)


def test_no_key_is_cut_in_two_at_the_seam() -> None:
    key = SHAPES["anthropic_key"]
    for shift in range(0, 60, 7):
        text = "w " * 14_990 + "x" * shift + " " + key + " w" * 600_000
        assert key[:20] not in vendor.redact(text)


def test_a_private_key_that_loses_its_beginning_in_the_middle_goes_too() -> None:
    body = "\n".join(["MIIEfakefakefakefakefakefakefake"] * 900)
    begin, end = "-----BEGIN RSA PRIVATE KEY-----\n", "\n-----END RSA PRIVATE KEY-----\nrest"
    made = vendor.redact("x " * 600_000 + begin + body + body + end)
    assert "MIIE" not in made
    assert made.endswith("rest")


HARD = [
    "key=value token:none pass=no sk- ghp eyJ ", "eyJ", "eyJ-", "eyJabcdef.", "sk-", "sk-a.b ", "AKIA", "xoxb-",
    "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN ", "-----END RSA PRIVATE KEY-----", "password=",
    'password:"aaaa', "://a:b", "://", "aws_secret_access_key=", "authorization: basic ", "sk_live_", "ghp_",
    "\\n", "a" * 50 + "=",
]  # fmt: skip


@pytest.mark.parametrize("unit", HARD)
def test_time_grows_with_the_length_only(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        runs = []
        for _ in range(3):
            start = time.process_time()
            vendor.redact(text, generic=True)
            runs.append(time.process_time() - start)
        return min(runs)

    few, many = seconds(60_000), seconds(480_000)
    assert many < max(few, 0.002) * 8 * 3
    assert many < 2


def test_ordinary_text_costs_next_to_nothing() -> None:
    event = {"output": [f"some ordinary words of output, number {n}" for n in range(45)]}
    text = json.dumps(event)
    assert 1_900 < len(text) < 2_400
    runs = []
    for _ in range(200):
        start = time.process_time()
        vendor.redact(text)
        runs.append(time.process_time() - start)
    assert min(runs) < 0.00015


@given(st.text(max_size=300))
def test_any_text_is_taken(text: str) -> None:
    vendor.redact(text, generic=True)

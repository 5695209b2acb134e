"""One classification for all vendors: what services really answer, and what SDKs raise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.errors import Failure, ProviderError
from claude_mem_core.providing.classify import from_exception, from_prose, from_response
from claude_mem_core.providing.fields import told
from claude_mem_core.providing.waits import wait_of

CASE = Path(__file__).parent / "cases" / "O09-provider-auth-quota-errors"
NOW = 1_790_000_000.0  # 2026-09-21 14:13:20 UTC


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


PER_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
PER_DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"


def exhausted(*quotas: str) -> list[dict[str, Any]]:
    details = [{"violations": [{"quotaId": quota}]} for quota in quotas]
    text = "You exceeded your current quota, please check your plan and billing details."
    return [{**error(text, code=429, status="RESOURCE_EXHAUSTED", details=details)}]


ANSWERS: dict[str, tuple[int, Any, Failure]] = {
    "throttled": (429, error("Rate limit reached for requests"), Failure.RATE_LIMIT),
    "nothing said": (429, "", Failure.RATE_LIMIT),
    "minute quota": (429, exhausted(PER_MINUTE), Failure.RATE_LIMIT),
    "day quota": (429, exhausted(PER_DAY), Failure.QUOTA),
    "day and minute": (429, exhausted(PER_MINUTE, PER_DAY), Failure.QUOTA),
    "plan spent": (
        429,
        error("You exceeded your current quota", code="insufficient_quota"),
        Failure.QUOTA,
    ),
    "free models": (429, error("Rate limit exceeded: free-models-per-day"), Failure.QUOTA),
    "wrong key": (
        401,
        error("invalid x-api-key", type="authentication_error"),
        Failure.KEY_REFUSED,
    ),
    "wrong key as 400": (
        400,
        error("API key not valid. Please pass a valid API key.", status="INVALID_ARGUMENT"),
        Failure.KEY_REFUSED,
    ),
    "forbidden": (403, error("Forbidden"), Failure.KEY_REFUSED),
    "payment": (402, error("Insufficient credits. Add more"), Failure.PAYMENT),
    "payment as 400": (
        400,
        error("Your credit balance is too low to access the API"),
        Failure.PAYMENT,
    ),
    "key limit": (402, error("Key limit exceeded. Manage it", code=402), Failure.QUOTA),
    "overloaded": (529, error("Overloaded", type="overloaded_error"), Failure.OVERLOAD),
    "unavailable": (503, error("The model is overloaded"), Failure.OVERLOAD),
    "overloaded as 500": (500, error("The engine is currently overloaded"), Failure.OVERLOAD),
    "broken": (500, "", Failure.OUTAGE),
    "gateway page": (502, "<html><h1>Bad gateway</h1></html>", Failure.OUTAGE),
    "cloud edge": (520, "", Failure.OUTAGE),
    "gateway time-out": (504, "", Failure.TIMEOUT),
    "too long": (
        400,
        error("maximum context length is 8192 tokens", code="context_length_exceeded"),
        Failure.TOO_LONG,
    ),
    "prompt too long": (
        400,
        error("prompt is too long: 210000 tokens > 200000 maximum"),
        Failure.TOO_LONG,
    ),
    "too large": (413, error("Request exceeds the maximum size"), Failure.TOO_LONG),
    "token count": (
        400,
        error("The input token count (1300000) exceeds the maximum number of tokens allowed"),
        Failure.TOO_LONG,
    ),
    "no model": (404, error("The model `gone-1` does not exist"), Failure.MODEL),
    "no endpoint": (404, error("No endpoints found for a/b:free."), Failure.MODEL),
    "bad model as 400": (400, error("a/b is not a valid model ID"), Failure.MODEL),
    "model not for you": (403, error("You do not have access to model x-1"), Failure.MODEL),
    "retired": (410, error("This model was retired"), Failure.MODEL),
    "abroad": (
        400,
        error("User location is not supported for the API use.", status="FAILED_PRECONDITION"),
        Failure.REGION,
    ),
    "abroad as 403": (
        403,
        error("Country, region, or territory not supported", code="unsupported_country"),
        Failure.REGION,
    ),
    "malformed": (400, error("messages: roles must alternate"), Failure.BAD_REQUEST),
    "not allowed": (405, "", Failure.BAD_REQUEST),
    "429 inside 200": (200, error("slow down", code=429), Failure.RATE_LIMIT),
    "502 inside 200": (200, error("Provider returned error", code=502), Failure.OUTAGE),
    "error event": (
        200,
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        Failure.OVERLOAD,
    ),
}


@pytest.mark.parametrize(("status", "body", "failure"), ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("form", ["parsed", "text", "bytes"])
def test_an_answer_means_one_failure(
    status: int, body: Any, failure: Failure, form: str
) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    given = {"parsed": body, "text": text, "bytes": text.encode()}[form]
    assert from_response(status, {}, given).failure is failure


KINDS = {
    "auth": {Failure.KEY_REFUSED},
    "quota": {Failure.QUOTA, Failure.PAYMENT},
    "rate_limit": {Failure.RATE_LIMIT},
    "overloaded": {Failure.OVERLOAD},
    "server": {Failure.OUTAGE, Failure.TIMEOUT, Failure.OVERLOAD},
    "too_long": {Failure.TOO_LONG},
    "model_missing": {Failure.MODEL},
}
HANDED = json.loads((CASE / "errors.json").read_text("utf-8"))


@pytest.mark.parametrize("entry", HANDED, ids=[entry["name"] for entry in HANDED])
def test_the_handed_errors_are_of_their_kind(entry: dict[str, Any]) -> None:
    reply = entry["reply"]
    if "status" in reply:
        found: ProviderError | None = from_response(
            reply["status"], reply.get("headers", {}), reply.get("raw", "")
        )
    else:
        found = from_prose(reply["text"])
    assert found is not None
    assert found.failure in KINDS[entry["kind"]]
    request = reply.get("headers", {}).get("x-request-id")
    assert request is None or request in str(found)


@pytest.mark.parametrize(
    "text",
    [
        "<observation><title>The API key was refused</title></observation>",
        "<summary><request>Find out why we hit your usage limit</request></summary>",
        "The test for the rate limit was fixed; the limit is 10 a minute." * 20,
        "ready",
        "",
    ],
)
def test_a_real_reply_is_no_refusal(text: str) -> None:
    assert from_prose(text) is None


# What SDKs raise ----------------------------------------------------------------------


class Status(Exception):
    """As most SDKs have it."""

    def __init__(self, status: int, body: Any = None, headers: Any = None) -> None:
        super().__init__("Error code")
        self.status_code = status
        self.body = body
        self.response = type("R", (), {"headers": headers or {}, "text": json.dumps(body)})()


class Code(Exception):
    """As one of them has it."""

    def __init__(self, code: int, details: Any) -> None:
        super().__init__("x")
        self.code, self.details = code, details


def caused(error: Exception, by: Exception) -> Exception:
    """As `raise error from by` leaves it."""
    error.__cause__ = by
    return error


ReadTimeout = type("ReadTimeout", (Exception,), {})
ConnectError = type("ConnectError", (Exception,), {})
APIConnectionError = type("APIConnectionError", (Exception,), {})
RAISED: dict[str, tuple[BaseException, Failure]] = {
    "status": (Status(401, error("no")), Failure.KEY_REFUSED),
    "code": (Code(429, exhausted(PER_DAY)[0]), Failure.QUOTA),
    "time-out": (ReadTimeout("read"), Failure.TIMEOUT),
    "built-in time-out": (TimeoutError(), Failure.TIMEOUT),
    "refused connection": (ConnectionRefusedError(111, "refused"), Failure.OUTAGE),
    "no name": (OSError("Name or service not known"), Failure.OUTAGE),
    "wrapped": (
        caused(APIConnectionError("Connection error."), ConnectError("x")),
        Failure.OUTAGE,
    ),
    "wrapped time-out": (caused(RuntimeError("x"), ReadTimeout("x")), Failure.TIMEOUT),
    "ours inside": (
        caused(APIConnectionError("x"), ProviderError(Failure.UNUSABLE, "too much")),
        Failure.UNUSABLE,
    ),
    "nonsense": (ValueError("Expecting value"), Failure.UNUSABLE),
}


@pytest.mark.parametrize(("raised", "failure"), RAISED.values(), ids=RAISED)
def test_an_exception_means_one_failure(raised: BaseException, failure: Failure) -> None:
    assert from_exception(raised).failure is failure


def test_the_wait_of_an_sdk_error_is_found() -> None:
    found = from_exception(Status(429, error("slow"), {"Retry-After": "17"}))
    assert found.retry_after_s == 17


# When to ask again ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "text", "seconds"),
    [
        ({"Retry-After": "7"}, "", 7),
        ({"RETRY-AFTER": "0.5"}, "", 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"retry-after": "Mon, 21 Sep 2026 14:14:20 GMT"}, "", 60),
        ({"x-ratelimit-reset-requests": "1m30s"}, "", 90),
        ({"x-ratelimit-reset": str(int(NOW * 1000) + 5_000)}, "", 5),
        ({"anthropic-ratelimit-unified-reset": str(int(NOW) + 120)}, "", 120),
        ({}, '{"details": [{"retryDelay": "34.5s"}]}', 34.5),
        ({}, "Please try again in 7.66s.", 7.66),
        ({}, "Please retry after 2 minutes", 120),
        ({}, "You've hit your usage limit · resets 3am (UTC)", 46_000),
        ({}, "limit resets at 2026-09-21T15:13:20", 3_600),
        ({}, "nothing of the kind", None),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "-5"}, "", None),
        ({"retry-after": "1e999"}, "", None),
        ({"retry-after": "99999999999"}, "", 31 * 86_400),
    ],
)
def test_the_named_wait(headers: dict[str, str], text: str, seconds: float | None) -> None:
    found = wait_of(headers, text, NOW)
    assert found == (None if seconds is None else pytest.approx(seconds, abs=0.01))


# What is told -----------------------------------------------------------------------------


def test_a_key_in_a_services_words_is_not_told() -> None:
    key = "sk-or-v1-0123456789abcdef0123456789abcdef0123456789abcdef"
    found = from_response(
        401, {}, error(f"Incorrect API key provided: {key}. See https://x.example")
    )
    assert key not in str(found)
    assert "Incorrect API key provided" in str(found)
    assert "short" not in told("the short one is odd", "short")


def test_the_name_of_a_model_is_told() -> None:
    name = "meta-llama/llama-4-maverick-17b-128e-instruct:free"
    assert name in str(from_response(404, {}, error(f"No endpoints found for {name}.")))


def test_a_page_and_control_characters_become_one_line() -> None:
    found = str(
        from_response(502, {}, "<html>\n<h1>Bad\x1b[31m gateway</h1>\x00" + "x y " * 5_000)
    )
    assert "\n" not in found
    assert "\x1b" not in found
    assert "<h1>" not in found
    assert len(found) < 500


@pytest.mark.parametrize("body", [None, [], {}, "[" * 50_000, b"\xff\xfe", 7, "null", [None]])
def test_odd_bodies_are_no_trouble(body: Any) -> None:
    assert from_response(500, {}, body).failure is Failure.OUTAGE

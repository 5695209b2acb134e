"""Who may ask what. Judged from the head of a request, before its body is read.

Over the socket the system names the other end, which is proof enough. On TCP nothing
counts but the exact names of this listener and a secret: the install token as a bearer,
an HMAC made with it, or the token of a page that `mem open` opened.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Mapping

from claude_mem_core.errors import StoreError
from claude_mem_core.paths import Paths
from claude_mem_core.worker.refusal import Refused, Right
from claude_mem_core.worker.replies import Headers, Scope
from claude_mem_core.worker.state import WorkerState

SOCKET_BODY = 64 * 1024 * 1024
TCP_BODY = 32 * 1024 * 1024
OPEN_BODY = 64 * 1024  # of somebody who has not proved himself
PROOF_S = 60

HEALTH = {"/health", "/api/health"}
# The addresses of the viewer: one static page that holds nothing of anybody.
_PAGE = re.compile(
    r"/(?:viewer|tv|tv\.html|favicon\.ico|sessions|queue|usage|status|settings"
    r"|(?:memories|session|work)(?:/[SPs]?[0-9]{1,18})?)?"
)
OPEN = HEALTH | {"/prove", "/api/session"}
_TOKEN = re.compile(r"[0-9a-f]{64}")
_NONCE = re.compile(r"[A-Za-z0-9_-]{16,128}")
_PROOF = re.compile(r"Mem r=(\d{10,16}-[A-Za-z0-9_-]{16,64}), b=([0-9a-f]{64}), m=([0-9a-f]{64})")
_JSON = re.compile(r"application/json\s*(?:;\s*charset=\"?utf-8\"?\s*)?", re.IGNORECASE)


def install_token(paths: Paths) -> str:
    """The token of this installation; made at the first start, mode 0600.

    One that others may have seen or set (a second name, a loose mode) gives way to a new one.
    """
    from claude_mem_core.files import read_private, write_private

    try:
        text = read_private(paths.token, 200).decode("ascii", "replace").strip()
    except (FileNotFoundError, StoreError):
        text = ""
    if not _TOKEN.fullmatch(text):
        text = secrets.token_hex(32)
        write_private(paths.token, text.encode())
    return text


def is_open(method: str, path: str) -> bool:
    """Whether a path answers without proof: static pages, health, the first proofs."""
    static = path.startswith("/assets/") or is_page(path)
    return path in OPEN or (static and method in {"GET", "HEAD"})


def is_page(path: str) -> bool:
    """Whether a path is an address of the page itself."""
    return _PAGE.fullmatch(path) is not None


def all_of(headers: Headers, name: bytes) -> list[bytes]:
    """Every value of a header."""
    return [value for key, value in headers if key == name]


def admit(scope: Scope, state: WorkerState) -> Right:
    """What the caller may do.

    Raises:
        Refused: nothing at all; with the status that says why.
    """
    headers: Headers = scope["headers"]
    if scope["state"]["local"]:
        _check_body(headers, SOCKET_BODY)
        return Right.FULL
    if state.tv.is_meant(all_of(headers, b"host")):
        return state.tv.admit(scope)
    host = _check_address(scope, state)
    _check_page(scope, headers, host)
    right = _right(scope, headers, state)
    if right is Right.NONE and not is_open(scope["method"], scope["path"]):
        raise Refused(401, "this needs the token in the data directory, or `mem open`")
    _check_body(headers, body_limit(local=False, right=right))
    return right


def body_limit(*, local: bool, right: Right) -> int:
    """How many bytes a request's body may have."""
    if local:
        return SOCKET_BODY
    return OPEN_BODY if right is Right.NONE else TCP_BODY


def _check_address(scope: Scope, state: WorkerState) -> bytes:
    """Only our own names: a page that bends DNS to us still sends its own. Returns it."""
    target: bytes = scope["state"]["target"]
    if not target.startswith(b"/") or target.startswith(b"//"):
        raise Refused(400, "the request target must be a path")
    hosts = all_of(scope["headers"], b"host")
    if len(hosts) != 1:
        raise Refused(400, "exactly one Host header is needed")
    if hosts[0] not in state.tcp.hosts:
        raise Refused(421, "this is not the host you are looking for")
    return hosts[0]


def _check_page(scope: Scope, headers: Headers, host: bytes) -> None:
    """No other page, not even of another port or of another name of this port.

    Somebody else may listen at the port's other address: `[::1]` is not 127.0.0.1.
    """
    origins = all_of(headers, b"origin")
    if any(origin != b"http://" + host for origin in origins):
        raise Refused(403, "requests of other pages are refused")
    sites = all_of(headers, b"sec-fetch-site")
    if any(site not in {b"same-origin", b"none"} for site in sites) and not _opens(scope):
        raise Refused(403, "requests of other pages are refused")


def _opens(scope: Scope) -> bool:
    """A link or a file of ours opens our static page in a window of its own."""
    headers: Headers = scope["headers"]
    navigates = all_of(headers, b"sec-fetch-mode") == [b"navigate"]
    on_top = all_of(headers, b"sec-fetch-dest") == [b"document"]
    return scope["method"] == "GET" and navigates and on_top and is_page(scope["path"])


def _check_body(headers: Headers, most: int) -> None:
    lengths = all_of(headers, b"content-length")
    if any(not value.isdigit() or int(value) > most for value in lengths[:1]):
        raise Refused(413, f"the body is larger than {most:,} bytes")


def check_type(headers: Headers) -> None:
    """A body must be JSON by its own words: forms of other pages can't say so.

    Raises:
        Refused: 415.
    """
    types = all_of(headers, b"content-type")
    if len(types) != 1 or not _JSON.fullmatch(types[0].decode("latin-1")):
        raise Refused(415, "send JSON with Content-Type: application/json")


def _right(scope: Scope, headers: Headers, state: WorkerState) -> Right:
    given = all_of(headers, b"authorization")
    if len(given) != 1:
        return Right.NONE
    text = given[0].decode("latin-1")
    kind, _, secret = text.partition(" ")
    if kind.lower() == "bearer":
        return _bearer(secret.strip(), state)
    proof = _PROOF.fullmatch(text)
    if proof and proves(proof.groups(), scope, state):
        return Right.FULL
    return Right.NONE


def _bearer(secret: str, state: WorkerState) -> Right:
    if hmac.compare_digest(secret.encode(), state.token.encode()):
        return Right.FULL
    return Right.SESSION if state.sessions.knows(secret) else Right.NONE


def mac(token: str, *parts: str) -> str:
    """HMAC-SHA256 over `parts`, as hex; what both ends of TCP prove themselves with."""
    return hmac.new(token.encode(), "|".join(parts).encode(), hashlib.sha256).hexdigest()


def server_proof(nonce: str, state: WorkerState) -> Mapping[str, str]:
    """What the server says to `GET /prove?n=nonce`: that it knows the token.

    The port is part of it, so that a stranger's port can't pass on our answer.

    Raises:
        Refused: 400 for a nonce of another form.
    """
    if not _NONCE.fullmatch(nonce):
        raise Refused(400, "n must be 16 to 128 letters, digits, - or _")
    proof = mac(state.token, "srv", nonce, str(state.tcp.port or 0), state.start_id)
    return {"proof": proof, "start_id": state.start_id}


def proves(proof: tuple[str, ...], scope: Scope, state: WorkerState) -> bool:
    """Whether a client's proof is right, fresh and new.

    `r` is `<seconds>-<random>`, `b` the SHA-256 of the body, `m` the HMAC over
    `cli|r|start_id|method|target|b`. The reader of the body compares `b`.
    """
    nonce, body_hash, given = proof
    target = scope["state"]["target"].decode("latin-1")
    wanted = mac(state.token, "cli", nonce, state.start_id, scope["method"], target, body_hash)
    if not hmac.compare_digest(given, wanted):
        return False
    if abs(time.time() - int(nonce.partition("-")[0])) > PROOF_S:
        return False
    scope["state"]["body_hash"] = body_hash
    return state.sessions.first_use(nonce)

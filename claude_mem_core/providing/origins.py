"""Where a key may go: to the origin it was set for, and cmem.ai's keys to cmem.ai only."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from claude_mem_core.errors import Failure, ProviderError

GATEWAY_HOST = "cmem.ai"
GATEWAY_KEY = "cm_pro_"
PORTS = {"https": 443, "http": 80}


def origin_of(url: str) -> str:
    """`https://host[:port]` of an address, in one spelling; empty when it has none."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return ""
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme not in PORTS or not host or not host.isascii():
        return ""
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + (
        "" if port in (None, PORTS[parts.scheme]) else f":{port}"
    )


def host_of(url: str) -> str:
    """The host of an address, without port and brackets; empty when it has none."""
    try:
        return (urlsplit(url.strip()).hostname or "").rstrip(".")
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name or address as written."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_private(host: str) -> bool:
    """Whether a host is this machine or in the user's own network, as written.

    `localhost`, `*.local`, 10.x, 192.168.x, 172.16-31.x and the loopback addresses.
    """
    if is_loopback(host) or host.endswith(".local"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    networks = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
    return address.version == 4 and any(address in ipaddress.ip_network(n) for n in networks)


def is_gateway(url: str) -> bool:
    """Whether an address is cmem.ai's own, which takes only its own keys."""
    host = host_of(url)
    return host == GATEWAY_HOST or host.endswith("." + GATEWAY_HOST)


def may_go(key: str, url: str) -> bool:
    """Whether this key and this address belong together."""
    if not key:
        return True
    return key.strip().startswith(GATEWAY_KEY) == is_gateway(url)


def checked_address(url: str, *, with_key: bool = True) -> str:
    """The origin of an address that may be called.

    https everywhere; plain http only on this machine and, when no key goes along, in
    the user's own network.

    Raises:
        ProviderError: it is none of these.
    """
    origin, host = origin_of(url), host_of(url)
    if origin.startswith("https:") or (origin and is_loopback(host)):
        return origin
    if origin and not with_key and is_private(host):
        return origin
    what = f"{host}: plain http would send your memories and key in the clear" if host else ""
    raise ProviderError(
        Failure.BAD_REQUEST, f"{what or 'the address is none'}; use an https:// address"
    )


def checked_key(key: str, url: str) -> None:
    """Stop a key from going where it does not belong.

    Raises:
        ProviderError: a cmem.ai key would go elsewhere, or another key to cmem.ai.
    """
    if may_go(key, url):
        return
    text = (
        "this key goes nowhere but cmem.ai"
        if key.strip().startswith(GATEWAY_KEY)
        else "cmem.ai takes only its own keys (cm_pro_...)"
    )
    raise ProviderError(Failure.KEY_REFUSED, f"{text}; it was not sent to {host_of(url)}")

"""Errors that the core raises on purpose. Their text says what to do next."""

from __future__ import annotations

from enum import StrEnum


class MemError(Exception):
    """Base of every error the core raises on purpose; `mem` prints it and exits 1."""

    exit_code = 1


class UsageError(MemError):
    """The command line asked for something that does not exist or can't be."""

    exit_code = 2


class PluginError(MemError):
    """A plugin could not be loaded, or broke the contract of a hook."""

    def __init__(self, plugin: str, reason: str) -> None:
        super().__init__(f"plugin {plugin}: {reason}")
        self.plugin = plugin
        self.reason = reason


class UnknownName(MemError):
    """Settings or the command line name something that no plugin provides."""

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        known_text = ", ".join(known) or "none installed"
        text = f"no {kind} named {name!r} (known: {known_text})"
        from difflib import get_close_matches  # an error only; hooks load this module

        near = get_close_matches(name, known, n=1, cutoff=0.75)
        if near:  # a mistyped name must not become a package of a stranger
            text = f"no {kind} named {name!r}; did you mean {near[0]}? (known: {known_text})"
        elif kind in {"host", "provider"} and name.replace("-", "").isalnum():
            text += f"; others come as packages: pip install claude-mem-{kind}-{name}"
        super().__init__(text)


class SettingsError(MemError):
    """A settings file or value can't be used; the text names file, key and remedy."""


class StoreError(MemError):
    """The database can't be opened or written; the text names file and command."""

    exit_code = 3


class StoreDamaged(StoreError):
    """The database file is damaged. `mem db repair` salvages what can be read."""


class StoreForeign(StoreError):
    """The file belongs to another product or a newer version; it is left as it is."""


class WorkerError(MemError):
    """The worker can't be started, reached or stopped."""

    exit_code = 3


class HostConfigError(MemError):
    """A host's configuration can't be edited safely; it is left as it is."""


class InvalidInput(MemError):
    """Data handed in (an import, a request, a payload) breaks its documented form."""

    exit_code = 2


class NotFound(MemError):
    """What was asked for by id is not in the store."""


class Failure(StrEnum):
    """Why a provider gave no usable reply: one set of words for all vendors."""

    RATE_LIMIT = "rate-limit"  # too many requests just now; wait as long as told
    QUOTA = "quota"  # the plan or budget is spent until it is renewed
    KEY_REFUSED = "key-refused"  # missing, wrong, revoked or logged out
    PAYMENT = "payment"  # the account must be topped up
    OVERLOAD = "overload"  # the service is up and too busy
    OUTAGE = "outage"  # it is down, or can't be reached
    TIMEOUT = "timeout"  # no answer in time, or a stream that went quiet
    TOO_LONG = "too-long"  # the conversation does not fit the model
    MODEL = "model"  # no such model, or not for this account
    REGION = "region"  # not offered where the user is
    BAD_REQUEST = "bad-request"  # refused as malformed; asking again won't help
    UNUSABLE = "unusable"  # an answer that is none: empty, cut off, no text


class ProviderError(MemError):
    """A provider gave no usable reply. Every provider raises this and nothing else.

    Attributes:
        failure: what kind of failure it is.
        retry_after_s: seconds after which the service said to ask again, if it did.
        provider: its name, filled by the core when the provider leaves it empty.
        action: what the service itself says to do.
        url: where it says so; shown only when it is an address of the service.
    """

    def __init__(
        self,
        failure: Failure,
        text: str,
        *,
        retry_after_s: float | None = None,
        provider: str = "",
        action: str = "",
        url: str = "",
    ) -> None:
        super().__init__(text)
        self.action = action
        self.url = url
        self.failure = failure
        self.retry_after_s = retry_after_s
        self.provider = provider

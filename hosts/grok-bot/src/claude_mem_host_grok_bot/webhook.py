"""The brainbeat: what matters is told to one address of the user's own.

Nothing that is logged or shown has more of the address than its origin, or anything of
the secret: errors of the HTTP library are named by their type, never in their words.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from claude_mem_core.errors import Failure, MemError, ProviderError
from claude_mem_core.providing import origins, outgoing
from claude_mem_core.types import Observation, Values
from claude_mem_host_grok_bot import PREFIX, SECRET, URL

EVENT = "claude_mem.brainbeat"
HEADER = "x-claude-mem-shared-secret"
HELP = f"see that the receiver runs, or run `mem config set {URL} - < FILE`"


class Webhook:
    """The receiver that the settings name."""

    def __init__(self, settings: Values) -> None:
        self._settings = settings
        self._url = str(settings[URL]).strip()
        self._secret = str(settings[SECRET] or "").strip()

    async def send(self, observation: Observation) -> None:
        """Tell of an observation that matters; of others nothing is said.

        Raises:
            MemError: it did not get there.
        """
        why = reason(observation, self._settings)
        if why is None:
            return
        import httpx2

        try:
            status = await self._post(beat(observation, why))
        except ProviderError as error:
            if error.failure is not Failure.UNUSABLE:  # it arrived; what it says is not read
                raise MemError(str(error)) from None
            return
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise MemError(f"{self._origin}: {type(error).__name__}; {HELP}") from None
        if status >= 400:
            raise MemError(f"{self._origin} answers with status {status}; {HELP}")

    async def aclose(self) -> None:
        """Nothing stays open between two of them."""

    @property
    def _origin(self) -> str:
        return origins.origin_of(self._url) or "the webhook"

    async def _post(self, body: Mapping[str, Any]) -> int:
        headers = {HEADER: self._secret} if self._secret else {}
        async with (
            outgoing.client(self._url, self._settings, key=self._secret) as client,
            client.stream("POST", self._url, json=body, headers=headers) as answer,
        ):
            return answer.status_code


def reason(observation: Observation, settings: Values) -> dict[str, Any] | None:
    """Why the receiver hears of it; None when it does not."""
    wanted = settings[PREFIX + "AWARENESS_TRIGGER_CONCEPTS"]
    concepts = [concept for concept in observation.concepts if concept in wanted]
    by_type = observation.type in settings[PREFIX + "AWARENESS_TRIGGER_TYPES"]
    if not by_type and not concepts:
        return None
    return {"matched_type": by_type, "matched_concepts": concepts}


def beat(observation: Observation, why: Mapping[str, Any]) -> dict[str, Any]:
    """All that is sent."""
    at = datetime.fromtimestamp(observation.created_ms / 1000, UTC)
    return {
        "event": EVENT,
        "observation_id": observation.id,
        "type": observation.type,
        "title": observation.title,
        "subtitle": observation.subtitle,
        "project": observation.project,
        "concepts": list(observation.concepts),
        "why_fired": why,
        "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }

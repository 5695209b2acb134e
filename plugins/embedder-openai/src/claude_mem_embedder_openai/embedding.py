"""One request for each batch of texts, to one origin, over the core's own way out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from claude_mem_core.errors import MemError, ProviderError
from claude_mem_core.providing import outgoing
from claude_mem_core.types import Values
from claude_mem_embedder_openai import KEY, MODEL, URL

BATCH = 64
EMPTY = " "  # services refuse an empty text
_HEADER = "Authorization"


class Service:
    """The service that the settings name; asked once for the length of its vectors.

    Raises:
        MemError: it can't be reached, or does not answer in OpenAI's form.
    """

    def __init__(self, settings: Values) -> None:
        self._settings = settings
        self._url = str(settings[URL]).rstrip("/").removesuffix("/embeddings")
        self._name = str(settings[MODEL])
        self._key = str(settings.get(KEY) or "")
        self.model = f"{self._url}|{self._name}"
        self._dimensions = len(self._asked([EMPTY])[0])

    @property
    def dimensions(self) -> int:
        """Numbers of a vector."""
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector for each text.

        Raises:
            MemError: the service failed.
        """
        found: list[Sequence[float]] = []
        for start in range(0, len(texts), BATCH):
            found += self._asked([text or EMPTY for text in texts[start : start + BATCH]])
        return found

    def _asked(self, texts: Sequence[str]) -> list[Sequence[float]]:
        import httpx2

        try:
            answer = asyncio.run(self._post({"model": self._name, "input": list(texts)}))
            return _vectors(answer, len(texts))
        except (httpx2.HTTPError, ProviderError, ValueError, KeyError, TypeError) as error:
            raise MemError(
                f"the embeddings service at {self._url} does not answer as it should"
                f" ({type(error).__name__}: {error}); see that it runs and has the model"
                f" {self._name}, or run `mem config set {URL} ADDRESS`"
            ) from error

    async def _post(self, body: Mapping[str, Any]) -> Any:
        headers = {_HEADER: f"Bearer {self._key}"} if self._key else {}
        async with outgoing.client(self._url, self._settings, key=self._key) as client:
            answer = await client.post(f"{self._url}/embeddings", json=body, headers=headers)
            answer.raise_for_status()
            return answer.json()


def _vectors(answer: Any, wanted: int) -> list[Sequence[float]]:
    rows = sorted(answer["data"], key=lambda row: row.get("index", 0))
    if len(rows) != wanted:
        raise ValueError(f"{len(rows)} vectors for {wanted} texts")
    return [[float(value) for value in row["embedding"]] for row in rows]

"""Which of a provider's models a piece of work goes to: what is simple to a cheaper one."""

from __future__ import annotations

import logging

from claude_mem_core.providing.candidates import Candidate
from claude_mem_core.settings import SettingsSource
from claude_mem_core.settings.model import Settings

log = logging.getLogger(__name__)

ROUTING = "CLAUDE_MEM_TIER_ROUTING_ENABLED"
MODELS = {
    "simple": "CLAUDE_MEM_TIER_SIMPLE_MODEL",
    "summary": "CLAUDE_MEM_TIER_SUMMARY_MODEL",
}
FALLBACK_MODEL = "CLAUDE_MEM_QUOTA_FALLBACK_MODEL"


class Tiers:
    """Chooses models; remembers those that a provider turned out not to have."""

    def __init__(self, settings: SettingsSource) -> None:
        self._settings = settings
        self._missing: set[tuple[str, str, str]] = set()

    def model(self, candidate: Candidate, tier: str, *, first: bool) -> str:
        """The model for this work; empty for the one that the provider's settings name.

        Args:
            tier: `simple`, `summary` or empty.
            first: whether it is the provider that the user chose, and not its fallback.
        """
        settings = self._settings.current()
        if not first and settings[FALLBACK_MODEL]:
            return str(settings[FALLBACK_MODEL])
        if not settings[ROUTING] or not candidate.record.model_key:
            return ""
        model = self._named(settings, tier) if first else ""
        model = model or (candidate.small if tier == "simple" else "")
        return "" if self._key(candidate, model) in self._missing else model

    def give_up(self, candidate: Candidate, model: str) -> bool:
        """The provider does not have a model; whether its usual one is to be asked."""
        key = self._key(candidate, model)
        if not model or key in self._missing:
            return False
        self._missing.add(key)
        log.warning(
            "provider %s does not have the model %s; its usual one is asked instead until the"
            " settings change",
            candidate.name,
            model,
        )
        return True

    @staticmethod
    def _named(settings: Settings, tier: str) -> str:
        return str(settings[MODELS[tier]] or "") if tier in MODELS else ""

    @staticmethod
    def _key(candidate: Candidate, model: str) -> tuple[str, str, str]:
        return (candidate.name, candidate.digest, model)

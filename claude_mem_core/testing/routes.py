"""The contract of plugins that add pages and endpoints to the worker.

class TestMine(RoutesContract):
    plugin = "routes.mine"
"""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from starlette.routing import BaseRoute

from claude_mem_core.testing.offer import RecordContract
from claude_mem_core.types import RouteSet


class RoutesContract(RecordContract[RouteSet]):
    """Inherit; override the fixture `services` when the routes ask for parts of it."""

    hook: ClassVar[str] = "mem_routes"
    kind: ClassVar[type[Any]] = RouteSet

    @pytest.fixture
    def services(self) -> Any:
        """What the worker hands to `routes`."""
        return None

    def test_gives_routes(self, record: RouteSet, services: Any) -> None:
        routes = record.routes(services)
        assert routes
        assert all(isinstance(route, BaseRoute) for route in routes)

    def test_is_mounted_below_its_own_place(self, record: RouteSet) -> None:
        assert record.mount == "" or record.mount.startswith("/")
        assert not record.mount.startswith("/api")

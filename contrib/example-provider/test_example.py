from typing import ClassVar

from claude_mem_core.testing import FailuresContract, ProviderContract
from claude_mem_core.testing.failures import KEY


class Pointed:
    settings: ClassVar = {
        "CLAUDE_MEM_EXAMPLE_API_KEY": KEY,
        "CLAUDE_MEM_EXAMPLE_MODEL": "small",
    }

    def pointed(self, url):
        return {"CLAUDE_MEM_EXAMPLE_BASE_URL": f"{url}/v1"}


class TestExample(Pointed, ProviderContract):
    plugin = "provider.example"
    said = "hello there"


class TestFailures(Pointed, FailuresContract):
    plugin = "provider.example"

"""Named services: a base URL and a model to begin with. Explicit settings always win."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Preset:
    """One service.

    Attributes:
        base_url: empty for `custom`.
        model: one that suits short structured answers; empty where only the user can
            know which one is loaded or allowed.
        keyed: whether the service asks for a key.
    """

    base_url: str = ""
    model: str = ""
    keyed: bool = True


PRESETS: dict[str, Preset] = {
    "nvidia-nim": Preset(
        base_url="https://integrate.api.nvidia.com/v1", model="nvidia/nemotron-3-nano-30b-a3b"
    ),
    "orcarouter": Preset(base_url="https://api.orcarouter.ai/v1", model="openai/gpt-4o-mini"),
    "api-route": Preset(base_url="https://global.api-route.com/v1"),
    "opper": Preset(base_url="https://api.opper.ai/v3/compat", model="gpt-5.4-mini"),
    "atlascloud": Preset(
        base_url="https://api.atlascloud.ai/v1", model="deepseek-ai/deepseek-v4-flash"
    ),
    "deepseek": Preset(base_url="https://api.deepseek.com/v1", model="deepseek-chat"),
    "opencode-go": Preset(base_url="https://opencode.ai/zen/go/v1", model="kimi-k3"),
    "opencode-zen": Preset(base_url="https://opencode.ai/zen/v1"),
    "groq": Preset(base_url="https://api.groq.com/openai/v1", model="openai/gpt-oss-20b"),
    "together": Preset(base_url="https://api.together.xyz/v1", model="openai/gpt-oss-20b"),
    "minimax": Preset(base_url="https://api.minimax.io/v1", model="MiniMax-M3"),
    "minimax-cn": Preset(base_url="https://api.minimaxi.com/v1", model="MiniMax-M3"),
    "iflytek": Preset(
        base_url="https://maas-api.cn-huabei-1.xf-yun.com/v2", model="spark-x2.5"
    ),
    "ollama": Preset(base_url="http://localhost:11434/v1", keyed=False),
    "lmstudio": Preset(base_url="http://localhost:1234/v1", keyed=False),
    "vllm": Preset(base_url="http://localhost:8000/v1", keyed=False),
    "llamacpp": Preset(base_url="http://localhost:8080/v1", keyed=False),
    "custom": Preset(keyed=False),
}

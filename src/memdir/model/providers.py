"""Who serves models: a frozen table, one row a provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Dialect: TypeAlias = Literal["messages", "chat", "responses"]
"""What is spoken: Anthropic's Messages API, OpenAI's Chat Completions, OpenAI's Responses."""

LOCAL = "local"
EXAMPLE = "anthropic:claude-sonnet-5"

OPENAI = "api.openai.com"
OLLAMA = 11434


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One who serves models. `url` is the base URL, unless the variable `moved_by` names another; `key` is
    the variable of its key, None where it needs none; `keys_at` is where a key is made; `extra` is what to
    install, as in `memdir[openai]`; `cache` says how it reuses a prompt; `example` is a model of it.
    """

    name: str
    title: str
    dialect: Dialect
    url: str
    moved_by: str
    key: str | None = None
    keys_at: str | None = None
    extra: str
    cache: str
    example: str


def _server(name: str, title: str, port: int, *, moved_by: str, example: str) -> Provider:
    """One that runs on this machine."""
    return Provider(
        name=name,
        title=title,
        dialect="chat",
        url=f"http://127.0.0.1:{port}/v1",
        moved_by=moved_by,
        extra="openai",
        cache="the server keeps the beginning of the last prompts in memory",
        example=example,
    )


PROVIDERS: Mapping[str, Provider] = {
    one.name: one
    for one in (
        Provider(
            name="anthropic",
            title="Anthropic",
            dialect="messages",
            url="https://api.anthropic.com",
            moved_by="ANTHROPIC_BASE_URL",
            key="ANTHROPIC_API_KEY",
            keys_at="https://platform.claude.com",
            extra="anthropic",
            cache="marked by memdir; kept for 5 minutes after each use",
            example="claude-sonnet-5",
        ),
        Provider(
            name="openai",
            title="OpenAI",
            dialect="responses",
            url=f"https://{OPENAI}/v1",
            moved_by="OPENAI_BASE_URL",
            key="OPENAI_API_KEY",
            keys_at="https://platform.openai.com/api-keys",
            extra="openai",
            cache="automatic, for prompts from 1,024 tokens on",
            example="gpt-6.1-terra",
        ),
        Provider(
            name="openrouter",
            title="OpenRouter",
            dialect="chat",
            url="https://openrouter.ai/api/v1",
            moved_by="OPENROUTER_BASE_URL",
            key="OPENROUTER_API_KEY",
            keys_at="https://openrouter.ai/settings/keys",
            extra="openai",
            cache="that of whoever serves the model behind it, if any",
            example="anthropic/claude-sonnet-5",
        ),
        _server("ollama", "Ollama", OLLAMA, moved_by="OLLAMA_HOST", example="qwen3:8b"),
        _server("lmstudio", "LM Studio", 1234, moved_by="LMSTUDIO_BASE_URL", example="qwen/qwen3-8b"),
        _server("vllm", "vLLM", 8000, moved_by="VLLM_BASE_URL", example="Qwen/Qwen3-8B"),
        _server("llamacpp", "llama.cpp", 8080, moved_by="LLAMACPP_BASE_URL", example="qwen3-8b"),
    )
}
"""Who is known by name. Any other server is named by its address."""

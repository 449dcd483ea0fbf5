"""What all tests share: one async backend, and no way to a real model or a real home."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("memdir", deadline=None)  # a busy machine is no fault
settings.load_profile("memdir")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _no_real_world(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A real key, base URL or home directory never reaches a test."""
    home = tmp_path_factory.mktemp("home")
    for name in (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_CUSTOM_HEADERS",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "OPENROUTER_API_KEY",
        "OPENROUTER_BASE_URL",
        "OLLAMA_HOST",
        "LMSTUDIO_BASE_URL",
        "VLLM_BASE_URL",
        "LLAMACPP_BASE_URL",
        "CLAUDE_CONFIG_DIR",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in [n for n in os.environ if n.startswith(("MEMDIR_", "CLAUDE_CODE_"))]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMDIR_RECALL_EMBEDDER", "none")  # the extra may be installed, or not
    monkeypatch.setenv("MEMDIR_TEST_NO_NETWORK", "1")  # a model that is not on this machine is out of reach
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    assert Path.home() == home

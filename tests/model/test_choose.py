"""From a model's name to a client: what is made, what it is asked for, and what it sends to whom."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from memdir.errors import KeyMissing, KeyRefused, ModelNotConfigured, UsageError
from memdir.model.anthropic import Anthropic
from memdir.model.choose import EXAMPLE, PROVIDERS, client
from memdir.model.client import Survey
from memdir.model.jobs import Models
from memdir.model.local import Local
from memdir.model.openai import OpenAI
from memdir.settings import DreamSettings, ExtractSettings, RecallSettings, SessionSettings, Settings
from memdir.testing import say
from tests.cases import REPO
from tests.model.conversations import ask
from tests.wire.answers import key_refused
from tests.wire.server import WireServer

KEYS = {
    "OPENAI_API_KEY": "key-of-openai",
    "ANTHROPIC_API_KEY": "key-of-anthropic",
    "ANTHROPIC_AUTH_TOKEN": "token-of-anthropic",
    "OPENROUTER_API_KEY": "key-of-router",
    "OPENAI_ADMIN_KEY": "admin-of-openai",
    "OPENAI_ORG_ID": "org-of-openai",
    "OPENAI_PROJECT_ID": "project-of-openai",
    "OPENAI_CUSTOM_HEADERS": "x-gateway: header-of-openai",
    "ANTHROPIC_CUSTOM_HEADERS": "x-gateway: header-of-anthropic",
}


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer(is_open=True) as running:
        yield running


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


# -- what is made ----------------------------------------------------------------------------------------


def test_local_is_the_embedded_default() -> None:
    model = client("local")
    assert isinstance(model, Local)
    assert (model.name, model.is_local) == ("local", True)


def test_a_provider_and_a_model_make_a_client_without_a_key_or_a_library_A3() -> None:
    model = client(f" {EXAMPLE} ")
    assert isinstance(model, Anthropic)
    assert (model.name, model.is_local, model.window) == (EXAMPLE, False, 1_000_000)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("openai:gpt-6.1-terra", OpenAI),
        ("openrouter:anthropic/claude-sonnet-5", OpenAI),
        ("ollama:qwen3:8b", OpenAI),
        ("lmstudio:m", OpenAI),
        ("vllm:m", OpenAI),
        ("llamacpp:m", OpenAI),
        ("http://127.0.0.1:9/v1:m", OpenAI),
        ("http://127.0.0.1:9/v1/responses:m", OpenAI),
        ("http://127.0.0.1:9/v1/messages:m", Anthropic),
    ],
)
def test_a_client_is_called_what_the_setting_calls_it_A3(name: str, kind: type[Any]) -> None:
    model = client(name)
    assert isinstance(model, kind)
    assert (model.name, model.is_local) == (name, False)


def test_what_is_known_of_a_model_is_its_window_before_anybody_is_asked() -> None:
    assert client("openai:gpt-6.1-terra").window == 1_050_000
    assert client("openai:gpt-4o-2024-11-20").window == 128_000
    assert client("anthropic:claude-opus-4-6").window == 1_000_000


def test_naming_a_model_loads_no_library_and_asks_nobody_A3() -> None:
    code = (
        "import sys; from memdir.model.choose import PROVIDERS, client\n"
        "for one in PROVIDERS.values(): client(f'{one.name}:{one.example}')\n"
        "print(sorted({'openai', 'anthropic', 'keyring', 'httpx2'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_what_names_no_model_is_told_A3() -> None:
    with pytest.raises(UsageError, match="unknown model 'odd'") as told:
        client("odd")
    for choice in ("`local`", "`anthropic:MODEL`", f"`{EXAMPLE}`"):
        assert choice in (told.value.hint or "")
    with pytest.raises(UsageError, match="OLLAMA_HOST names no address"):
        client("ollama:m", environment={"OLLAMA_HOST": "http://gpu-box:port"})


@pytest.mark.anyio
async def test_without_a_language_model_the_steps_to_one_are_told() -> None:
    model = Local()
    with pytest.raises(ModelNotConfigured, match="no language model is configured") as told:
        await model.complete(ask("hi"))
    for step in (f"--model {EXAMPLE}", "`model` setting", "ANTHROPIC_API_KEY", "`memdir models`"):
        assert step in (told.value.hint or "")
    assert told.value.exit_code == 2
    assert await model.survey() == Survey(reachable=True, models=("local",), window=model.window)
    await model.aclose()


# -- who gets what ---------------------------------------------------------------------------------------


async def asks(name: str) -> None:
    """Put one question to the model; the server is strict, and takes it."""
    model = client(name)
    try:
        with anyio.fail_after(30):
            await model.complete(ask("hi"))
    finally:
        await model.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "endpoint"),
    [
        ("/v1", "/v1/chat/completions"),
        ("/v1/chat/completions", "/v1/chat/completions"),
        ("/v1/responses", "/v1/responses"),
        ("/v1/messages", "/v1/messages"),
    ],
)
async def test_a_server_named_by_its_address_gets_no_key_of_anybody_A3(
    server: WireServer, keys: None, path: str, endpoint: str
) -> None:
    server.add(say("Hello."))
    await asks(f"{server.url}{path}:qwen3:8b")
    (seen,) = server.seen
    assert (seen.path, seen.body["model"]) == (endpoint, "qwen3:8b")
    assert seen.body.get("store", False) is False
    assert ("store" in seen.body) == (seen.dialect == "responses")
    told = json.dumps(dict(seen.headers))
    assert [value for value in KEYS.values() if value.rpartition(" ")[2] in told] == []


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["ollama", "lmstudio", "vllm", "llamacpp"])
async def test_a_server_on_this_machine_gets_no_key_of_openai_A3(
    server: WireServer, keys: None, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(PROVIDERS[name].moved_by, server.v1)
    server.add(say("Hello."))
    await asks(f"{name}:m")
    assert server.seen[0].path == "/v1/chat/completions"
    assert "of-openai" not in json.dumps(dict(server.seen[0].headers))


@pytest.mark.anyio
async def test_a_provider_that_was_moved_gets_its_key_and_what_goes_with_it_A3(
    server: WireServer, keys: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.v1)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("OPENROUTER_BASE_URL", server.v1)
    server.add(say("One."), say("Two."), say("Three."), say("Four."))
    for name in ("openai:m", "anthropic:m", "openrouter:x/m", f"{server.v1}/responses:m"):
        await asks(name)
    openai, anthropic, router, address = (dict(seen.headers) for seen in server.seen)
    assert (openai["authorization"], openai["openai-organization"]) == (
        "Bearer key-of-openai",
        "org-of-openai",
    )
    assert openai["x-gateway"] == "header-of-openai"
    assert "key-of-anthropic" in json.dumps(anthropic)
    assert router["authorization"] == "Bearer key-of-router"
    assert "openai-organization" not in router
    assert address["authorization"] == "Bearer key-of-openai"
    assert [seen.dialect for seen in server.seen] == ["chat", "messages", "chat", "responses"]


@pytest.mark.anyio
async def test_anthropics_bearer_token_goes_where_the_sdk_puts_it(
    server: WireServer, keys: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    server.add(say("Hello."))
    await asks(EXAMPLE)
    assert server.seen[0].headers["authorization"] == "Bearer token-of-anthropic"


@pytest.mark.anyio
async def test_anthropics_variables_count_at_its_own_address_also_if_the_one_that_moves_it_is_empty(
    keys: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")
    monkeypatch.setattr("memdir.model.anthropic.client.NO_NETWORK", "NOT_SET")  # nothing is sent here
    model = client(EXAMPLE)
    assert isinstance(model, Anthropic)
    sdk = await anyio.to_thread.run_sync(model._make)
    assert (str(sdk.base_url).rstrip("/"), sdk.api_key) == ("https://api.anthropic.com", None)
    assert sdk.auth_headers["Authorization"] == "Bearer token-of-anthropic"
    assert sdk.default_headers["x-gateway"] == "header-of-anthropic"
    await sdk.close()


@pytest.mark.anyio
async def test_a_profile_of_the_sdk_does_not_move_anthropic_in_silence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    profile = {"authentication": {"type": "user_oauth"}, "base_url": "http://127.0.0.1:9"}
    token = {"type": "oauth_token", "access_token": "t", "expires_at": 4_102_444_800}
    for folder, content in (("configs", profile), ("credentials", token)):
        file = tmp_path / folder / "default.json"
        file.parent.mkdir()
        file.write_text(json.dumps(content), "utf-8")
        file.chmod(0o600)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    monkeypatch.setattr("memdir.model.anthropic.client.NO_NETWORK", "NOT_SET")  # nothing is sent here
    model = client(EXAMPLE)
    assert isinstance(model, Anthropic)
    sdk = await anyio.to_thread.run_sync(model._make)
    assert sdk.credentials is not None, "it is used as a credential"
    assert sdk.base_url.host == "api.anthropic.com"
    await sdk.close()


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["anthropic", "openai", "openrouter"])
async def test_a_missing_key_is_told_with_its_variable_and_where_to_get_one_A3(name: str) -> None:
    provider = PROVIDERS[name]
    model = client(f"{name}:{provider.example}")
    with anyio.fail_after(30):
        survey = await model.survey()
        with pytest.raises(KeyMissing) as told:
            await model.complete(ask("hi"))
    await model.aclose()
    assert survey == Survey(reachable=False, problem=str(told.value), cure=told.value.hint)
    assert str(told.value) == f"{name}:{provider.example} needs a key, and {provider.key} is not set"
    for part in (provider.keys_at, provider.key):
        assert str(part) in (told.value.hint or "")


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/v1", "/v1/responses", "/v1/messages"])
async def test_a_server_that_wants_a_key_is_told_with_where_to_put_one_A3(
    server: WireServer, keys: None, path: str
) -> None:
    server.add(key_refused())
    with pytest.raises(
        KeyRefused, match=f"the server at {server.url} wants a key, and none is stored"
    ) as told:
        await asks(f"{server.url}{path}:m")
    assert f"set memdir {server.url.removeprefix('http://')}`" in (told.value.hint or "")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "variable", "moved_by"),
    [
        ("openai:m", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("anthropic:m", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        ("anthropic:m", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
        ("openrouter:m", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"),
        ("{v1}:m", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ],
)
async def test_a_key_of_a_variable_that_is_refused_is_to_be_checked_there_A3(
    server: WireServer, monkeypatch: pytest.MonkeyPatch, name: str, variable: str, moved_by: str
) -> None:
    """The keyring would not win against it."""
    monkeypatch.setenv(variable, "k")
    monkeypatch.setenv(moved_by, server.url if "ANTHROPIC" in moved_by else server.v1)
    server.add(key_refused())
    with pytest.raises(KeyRefused, match="was refused") as told:
        await asks(name.format(v1=server.v1))
    assert (told.value.hint or "").startswith(f"check {variable}: ")
    assert "keyring" not in (told.value.hint or "")


# -- who does what ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chat", "environment", "selector"),
    [
        ("local", {}, "local"),
        ("anthropic:claude-opus-5-5", {}, "anthropic:claude-sonnet-5"),
        (
            "anthropic:claude-opus-5-5",
            {"ANTHROPIC_BASE_URL": "http://h.example"},
            "anthropic:claude-opus-5-5",
        ),
        ("anthropic:claude-sonnet-5-5", {}, "anthropic:claude-sonnet-5"),
        ("anthropic:claude-haiku-5-5", {}, "anthropic:claude-haiku-5-5"),
        ("anthropic:claude-haiku-4-5-20251001", {}, "anthropic:claude-haiku-4-5-20251001"),
        ("anthropic:claude-unknown-9", {}, "anthropic:claude-sonnet-5"),
        ("openai:gpt-6-luna", {}, "openai:gpt-6-luna"),
        ("openai:gpt-6.2-sol", {}, "openai:gpt-6.1-terra"),
        ("openai:gpt-6.2-sol", {"OPENAI_BASE_URL": "https://eu.api.openai.com/v1"}, "openai:gpt-6.1-terra"),
        ("openai:qwen", {"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"}, "openai:qwen"),
        ("ollama:qwen3:8b", {}, "ollama:qwen3:8b"),
        ("http://127.0.0.1:8000/v1:m", {}, "http://127.0.0.1:8000/v1:m"),
    ],
)
def test_memories_are_chosen_by_a_mid_size_model_where_one_is_known_R5(
    chat: str, environment: dict[str, str], selector: str
) -> None:
    models = Models.of(Settings(model=chat), environment)
    assert (models.chat.name, models.recall.name) == (chat, selector)
    assert (models.recall is models.chat) is (chat == selector)
    assert (models.extract, models.notes, models.dream) == (None, None, None)
    assert Models.names(Settings(model=chat), environment) == {
        "conversation": chat,
        "recall": selector,
        "extraction": chat,
        "session memory": chat,
        "dream": chat,
    }


def test_each_job_has_the_model_that_settings_give_it() -> None:
    settings = Settings(
        model="openai:gpt-6.2-sol",
        recall=RecallSettings(model="local"),
        extract=ExtractSettings(model="ollama:qwen3:8b"),
        session=SessionSettings(model="local"),
        dream=DreamSettings(model=" openai:gpt-6.2-sol"),
    )
    models = Models.of(settings, {})
    assert models.recall.is_local
    assert models.extract is not None
    assert models.extract.name == "ollama:qwen3:8b"
    assert models.notes is not None
    assert models.notes.is_local
    assert models.free_notes
    assert models.dream is None


@pytest.mark.parametrize(
    ("chat", "other", "same"),
    [
        ("ollama:qwen3:8b", "http://127.0.0.1:11434/v1:qwen3:8b", True),
        ("ollama:qwen3:8b", "http://127.0.0.1:11434/v1/:qwen3:8b", True),
        ("ollama:qwen3:8b", "http://127.0.0.1:11434/v1:qwen3:4b", False),
        ("ollama:qwen3:8b", "http://127.0.0.1:1234/v1:qwen3:8b", False),
        ("http://localhost/v1:m", "HTTP://LOCALHOST:80/v1/:m", True),
        ("http://localhost/v1:m", "https://localhost:80/v1:m", False),
        ("http://localhost/v1:m", "http://localhost/v2:m", False),
        ("http://localhost/v1:m", "http://localhost/v1/responses:m", False),
        ("http://localhost/v1:m", "http://localhost/v1/chat/completions:m", True),
        ("openai:m", "https://api.openai.com/v1/responses:m", True),
        ("anthropic:claude-sonnet-5", "anthropic: claude-sonnet-5 ", True),
        ("anthropic:claude-sonnet-5", "local", False),
        ("local", " local", True),
    ],
)
def test_the_same_model_under_another_name_is_the_conversations_own_A4(
    chat: str, other: str, same: bool
) -> None:
    models = Models.of(Settings(model=chat, extract=ExtractSettings(model=other)), {})
    assert (models.extract is None) is same
    assert models.recall.name != other


@pytest.mark.parametrize(
    ("model", "free"),
    [
        ("ollama:qwen3:8b", True),
        ("ollama:qwen3:480b-cloud", False),
        ("http://localhost:8000/v1:m", True),
        ("http://10.0.0.7:8000/v1:m", False),
        ("anthropic:claude-haiku-4-5", False),
        ("local", True),
    ],
)
def test_whether_an_extraction_of_its_own_costs_something_is_known(model: str, free: bool) -> None:
    assert Models.of(Settings(model="openai:m", extract=ExtractSettings(model=model)), {}).free is free


@pytest.mark.parametrize("section", ["recall", "extract", "session", "dream"])
def test_a_job_with_a_model_that_is_none_is_told_with_its_setting(section: str) -> None:
    kinds = {
        "recall": RecallSettings,
        "extract": ExtractSettings,
        "session": SessionSettings,
        "dream": DreamSettings,
    }
    settings = Settings(model="anthropic:m", **{section: kinds[section](model="odd")})
    said_at = {"model": "--model", f"{section}.model": f"/home/me/settings.json: {section}.model"}
    with pytest.raises(UsageError) as told:
        Models.of(settings, {}, said_at=said_at)
    assert str(told.value) == f"/home/me/settings.json: {section}.model: unknown model 'odd'"
    with pytest.raises(UsageError, match=r"^unknown model 'odd'$"):
        Models.of(settings, {})


def test_a_model_that_is_none_does_no_harm_to_other_jobs() -> None:
    settings = Settings(model="odd", recall=RecallSettings(model="anthropic:m"))
    assert Models.of(settings, {}, jobs=("recall",)).recall.name == "anthropic:m"
    with pytest.raises(UsageError, match=r"^MEMDIR_MODEL: unknown"):
        Models.of(settings, {}, jobs=("extraction",), said_at={"model": "MEMDIR_MODEL"})


def test_a_variable_that_leads_nowhere_is_told_where_the_job_is_done() -> None:
    settings, environment = Settings(extract=ExtractSettings(model="ollama:m")), {"OLLAMA_HOST": "a b"}
    with pytest.raises(UsageError, match=r"^OLLAMA_HOST names no address$"):
        Models.of(settings, environment)
    assert Models.of(settings, environment, jobs=("recall",)).recall.is_local

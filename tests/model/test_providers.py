"""What a model is called, and where it is asked: names and variables in, providers and addresses out."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.errors import UsageError
from memdir.model.providers import EXAMPLE, PROVIDERS, endpoint, is_at_home, parse, shown


def where(name: str, **environment: str) -> tuple[str, str]:
    place = endpoint(parse(name), environment)
    return place.url, place.dialect


# -- the table -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=lambda one: one.name)
def test_each_provider_says_all_that_is_needed_to_use_it(provider: object) -> None:
    one = PROVIDERS[getattr(provider, "name", "")]
    assert urlsplit(one.url).hostname
    assert re.fullmatch(r"[A-Z_]+", one.moved_by)
    assert (one.key is None) == (one.keys_at is None) == endpoint(parse(f"{one.name}:x"), {}).is_here
    assert one.extra in {"anthropic", "openai"}
    assert one.cache
    assert parse(f"{one.name}:{one.example}").provider is one


def test_no_two_providers_share_a_variable_or_a_place() -> None:
    for values in ("moved_by", "url", "title"):
        assert len({getattr(one, values) for one in PROVIDERS.values()}) == len(PROVIDERS)


# -- names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("anthropic:claude-sonnet-5", "anthropic", "claude-sonnet-5"),
        (" openai : gpt-6.2-sol ", "openai", "gpt-6.2-sol"),
        ("ollama:qwen3:8b", "ollama", "qwen3:8b"),
        ("ollama:hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M", "ollama", "hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M"),
        ("openrouter:deepseek/deepseek-r1:free", "openrouter", "deepseek/deepseek-r1:free"),
        ("lmstudio:a model @ home", "lmstudio", "a model @ home"),
    ],
)
def test_a_name_is_a_provider_and_all_that_follows_A3(name: str, provider: str, model: str) -> None:
    spec = parse(name)
    assert (spec.provider, spec.model, spec.is_local) == (PROVIDERS[provider], model, False)
    assert spec.text == f"{provider}:{model}"


@pytest.mark.parametrize("name", ["local", " local ", "local:"])
def test_local_is_nobody(name: str) -> None:
    spec = parse(name)
    assert (spec.text, spec.is_local, spec.provider, spec.unencrypted) == ("local", True, None, False)


@pytest.mark.parametrize(
    ("name", "url", "dialect", "model"),
    [
        ("http://127.0.0.1:8000/v1:qwen", "http://127.0.0.1:8000/v1", "chat", "qwen"),
        (
            "https://gw.example.org/openai/v1/:a/b:free",
            "https://gw.example.org/openai/v1",
            "chat",
            "a/b:free",
        ),
        ("HTTPS://GW.Example.org/V1:Qwen", "https://gw.example.org/V1", "chat", "Qwen"),
        ("http://[::1]:8080/v1:m", "http://[::1]:8080/v1", "chat", "m"),
        ("http://[fe80::1]/v1:qwen3:8b", "http://[fe80::1]/v1", "chat", "qwen3:8b"),
        ("http://localhost:1234/:m", "http://localhost:1234", "chat", "m"),
        ("https://h.example/v1/chat/completions:m", "https://h.example/v1", "chat", "m"),
        ("https://h.example/v1/responses:m", "https://h.example/v1", "responses", "m"),
        ("https://h.example/v1/messages:m", "https://h.example", "messages", "m"),
        ("https://h.example/anthropic/v1/messages/:m", "https://h.example/anthropic", "messages", "m"),
        ("https://h.example/v1:m@2026", "https://h.example/v1", "chat", "m@2026"),
    ],
)
def test_an_address_says_where_and_in_which_dialect_A3(name: str, url: str, dialect: str, model: str) -> None:
    spec = parse(name)
    assert (spec.url, spec.dialect, spec.model, spec.provider) == (url, dialect, model, None)
    assert where(name, OPENAI_BASE_URL="https://elsewhere.example/v1") == (url, dialect)
    assert (spec.text, shown(name)) == (name, name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("", "for instance `anthropic:claude-sonnet-5`"),
        ("odd", "there is `local`, `anthropic:MODEL`, `openai:MODEL`"),
        ("nobody:model", "`https://HOST/v1:MODEL`"),
        ("local:big", "there is `local`"),
        ("anthropic", "for instance `anthropic:claude-sonnet-5`"),
        ("ollama:", "for instance `ollama:qwen3:8b`"),
        (":model", "there is `local`"),
        ("claude-sonnet-5", "did you mean `anthropic:claude-sonnet-5`?"),
        ("gpt-6.2-sol", "did you mean `openai:gpt-6.2-sol`?"),
        ("o3", "did you mean `openai:o3`?"),
        ("qwen3:8b", "did you mean `ollama:qwen3:8b`?"),
        ("llama3.2:latest", "did you mean `ollama:llama3.2:latest`?"),
        ("antropic:claude-sonnet-5", "did you mean `anthropic:claude-sonnet-5`?"),
        ("OpenAI:gpt-6-sol", "did you mean `openai:gpt-6-sol`?"),
        ("open-router:x/y", "did you mean `openrouter:x/y`?"),
        ("claude:claude-opus-5", "did you mean `anthropic:claude-opus-5`?"),
        ("llama.cpp:m", "did you mean `llamacpp:m`?"),
        ("ollma", "did you mean `ollama:qwen3:8b`?"),
        ("localhost:8000/v1:m", "an address begins with http:// or https://"),
        ("http:m", "an address begins with http:// or https://"),
        ("10.0.0.1:8000/v1:m", "an address begins with http:// or https://"),
        ("ftp://h.example/v1:m", "it begins with https:// or http://"),
        ("file:///etc/passwd:m", "it begins with https:// or http://"),
        ("http://127.0.0.1:8000", "mostly it is `http://127.0.0.1:8000/v1:MODEL`"),
        ("http://127.0.0.1:8000:m", "mostly it is `http://127.0.0.1:8000/v1:m`"),
        ("http://127.0.0.1:8000/v1", "as in `http://127.0.0.1:8000/v1:MODEL`"),
        ("https://h.example/v1:", "as in `https://h.example/v1:MODEL`"),
        ("http:///v1:m", "as in `https://HOST/v1:MODEL`"),
        ("http://h.example:0/v1:m", "as in `https://HOST/v1:MODEL`"),
        ("http://h.example:77777/v1:m", "as in `https://HOST/v1:MODEL`"),
        ("http://[::g]/v1:m", "as in `https://HOST/v1:MODEL`"),
        ("http://h .example/v1:m", "as in `https://HOST/v1:MODEL`"),
        ("http://h.example\\@evil.example/v1:m", "leave out `user:password@`"),
        ("anthropic:claude\n-sonnet-5", "there is `local`"),
        ("http://h.example/v1:m\x1b[31m", "there is `local`"),
        ("http://h.example/v1:m\u202e", "there is `local`"),
    ],
)
def test_what_names_no_model_is_told_with_what_was_meant_A3(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as told:
        parse(name)
    assert hint in (told.value.hint or "")
    assert told.value.exit_code == 2
    assert str(told.value).isprintable()


HIDDEN = "hunter2-hunter2"


@pytest.mark.parametrize(
    "name",
    [
        f"https://me:{HIDDEN}@h.example/v1:m",
        f"https://{HIDDEN}@h.example/v1:m",
        f"https://me:/{HIDDEN}@h.example/v1:m",
        f"https://h.example/v1?key={HIDDEN}:m",
        f"https://h.example/v1:m?key={HIDDEN}",
        f"https://h.example/v1#{HIDDEN}:m",
        f"ftp://me:{HIDDEN}@h.example/v1:m",
        "anthropic:sk-" + "ant-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3",
        "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    ],
)
def test_a_key_has_no_place_in_a_name_and_is_never_shown_E10(name: str) -> None:
    with pytest.raises(UsageError) as told:
        parse(name)
    words = f"{told.value} {told.value.hint}"
    assert HIDDEN not in words
    assert "1B2c3D4" not in words
    assert shown(name) == "(not shown)"


@given(st.text(max_size=60) | st.text("http:/@[]?#:.alocv1 ", max_size=40).map("http://".__add__))
def test_any_text_is_a_name_or_a_sentence(text: str) -> None:
    try:
        spec = parse(text)
    except UsageError as error:
        hint = error.hint
    else:
        hint = "none is needed"
        assert spec.is_local or endpoint(spec, {}).origin[1]
        assert parse(spec.text) == spec
    assert hint
    assert shown(text).isprintable()


# -- places ----------------------------------------------------------------------------------------------


def test_without_variables_each_provider_is_where_it_is() -> None:
    assert where(EXAMPLE) == ("https://api.anthropic.com", "messages")
    assert where("openai:m") == ("https://api.openai.com/v1", "responses")
    assert where("openrouter:m") == ("https://openrouter.ai/api/v1", "chat")
    assert where("ollama:m") == ("http://127.0.0.1:11434/v1", "chat")
    assert where("lmstudio:m") == ("http://127.0.0.1:1234/v1", "chat")
    assert where("vllm:m", VLLM_BASE_URL=" ") == ("http://127.0.0.1:8000/v1", "chat")
    assert where("llamacpp:m", LLAMACPP_BASE_URL="http://[::1]:9931/v1") == ("http://[::1]:9931/v1", "chat")


@pytest.mark.parametrize(
    ("url", "dialect", "at_home"),
    [
        ("https://api.openai.com/v1", "responses", True),
        ("https://eu.api.openai.com/v1", "responses", True),
        ("https://api.openai.com.example/v1", "chat", False),
        ("http://127.0.0.1:8000/v1", "chat", False),
    ],
)
def test_responses_are_spoken_to_openai_alone_A3(url: str, dialect: str, at_home: bool) -> None:
    assert where("openai:m", OPENAI_BASE_URL=url) == (url, dialect)
    assert is_at_home(PROVIDERS["openai"], {"OPENAI_BASE_URL": url}) is at_home


@pytest.mark.parametrize(
    ("said", "url"),
    [
        ("gpu-box", "http://gpu-box:11434/v1"),
        ("gpu-box:1234", "http://gpu-box:1234/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080/v1"),
        (":8080", "http://127.0.0.1:8080/v1"),
        ("::1", "http://[::1]:11434/v1"),
        ("[::]:8080", "http://[::1]:8080/v1"),
        ("http://gpu-box", "http://gpu-box:80/v1"),
        ("https://gpu.example/ollama/", "https://gpu.example:443/ollama/v1"),
        ("'http://gpu-box:1234/v1'", "http://gpu-box:1234/v1"),
    ],
)
def test_ollamas_variable_is_read_as_ollama_reads_it(said: str, url: str) -> None:
    assert where("ollama:m", OLLAMA_HOST=said)[0] == url


@pytest.mark.parametrize("said", ["nonsense", "http://", "ftp://h/v1", "http://h:port/v1", "http://[::1/v1"])
def test_a_variable_that_names_no_address_is_told_by_its_name(said: str) -> None:
    with pytest.raises(UsageError, match="OPENAI_BASE_URL names no address") as told:
        where("openai:m", OPENAI_BASE_URL=said)
    assert "https://api.openai.com/v1" in (told.value.hint or "")
    assert is_at_home(PROVIDERS["openai"], {"OPENAI_BASE_URL": said}) is False


@pytest.mark.parametrize(
    ("url", "flagged", "here"),
    [
        ("http://127.0.0.1:8000/v1", False, True),
        ("http://[::1]/v1", False, True),
        ("http://localhost/v1", False, True),
        ("http://192.168.1.9/v1", False, False),
        ("http://100.64.0.7/v1", False, False),
        ("http://gpu-box/v1", False, False),
        ("http://gpu.lan:8000/v1", False, False),
        ("http://gw.example.org/v1", True, False),
        ("http://8.8.8.8/v1", True, False),
        ("https://gw.example.org/v1", False, False),
        ("http://127.0.0.1.example.org/v1", True, False),
    ],
)
def test_plain_http_over_a_public_network_is_flagged(url: str, flagged: bool, here: bool) -> None:
    spec = parse(f"{url}:m")
    place = endpoint(spec, {})
    assert (spec.unencrypted, place.unencrypted, place.is_here) == (flagged, flagged, here)
    assert endpoint(parse("vllm:m"), {"VLLM_BASE_URL": url}).unencrypted is flagged


def test_a_place_is_named_by_host_and_an_unusual_port() -> None:
    hosts = [
        endpoint(parse(name), {}).host
        for name in ("openai:m", "ollama:m", "http://[::1]:81/v1:m", "https://h.example:443/v1:m")
    ]
    assert hosts == ["api.openai.com", "127.0.0.1:11434", "[::1]:81", "h.example"]

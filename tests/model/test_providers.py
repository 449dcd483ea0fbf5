"""What a model is called, and where it is asked: names and variables in, providers and addresses out."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.errors import UsageError
from memdir.model.endpoints import endpoint, has_list_prices, is_at_home, is_free
from memdir.model.providers import EXAMPLE, PROVIDERS
from memdir.model.specs import parse, shown


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
        ("  ", "for instance `anthropic:claude-sonnet-5`"),
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
        ("llama3", "did you mean `ollama:llama3`?"),
        ("llama3:instruct", "did you mean `ollama:llama3:instruct`?"),
        ("lama3", "did you mean `ollama:lama3`?"),
        ("gpt-oss:20b", "did you mean `ollama:gpt-oss:20b`?"),
        ("gpt-oss", "did you mean `ollama:gpt-oss`?"),
        ("mistral", "did you mean `ollama:mistral`?"),
        ("qwen/qwen3-8b", "did you mean `lmstudio:qwen/qwen3-8b` or `openrouter:qwen/qwen3-8b`?"),
        ("openai/gpt-6-sol", "did you mean `openai:gpt-6-sol`?"),
        ("openai/gpt-oss-20b", "did you mean `openrouter:openai/gpt-oss-20b`?"),
        ("Ollama/qwen3:8b", "did you mean `ollama:qwen3:8b`?"),
        ("antropic:claude-sonnet-5", "did you mean `anthropic:claude-sonnet-5`?"),
        ("OpenAI:gpt-6-sol", "did you mean `openai:gpt-6-sol`?"),
        ("open-router:x/y", "did you mean `openrouter:x/y`?"),
        ("claude:claude-opus-5", "did you mean `anthropic:claude-opus-5`?"),
        ("llama.cpp:m", "did you mean `llamacpp:m`?"),
        ("llama.cpp", "did you mean `llamacpp:qwen3-8b`?"),
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


SHORT = "hunter2"


@pytest.mark.parametrize(
    "name",
    [
        f"//me:{SHORT}@h.example/v1:m",
        f"http:/me:{SHORT}@h.example/v1:m",
        f"me:{SHORT}@h.example/v1:m",
        f"http:\\\\me:{SHORT}@h.example/v1:m",
        f"http:\\\\me:{SHORT}",
        f"http\uff1a//me:{SHORT}/v1:m",
        f"http://me\uff1a{SHORT}\uff20h.example/v1:m",
        f"me\uff1a{SHORT}",
        f"http://me:{SHORT}%40h.example/v1:m",
        f"http://h.example:{SHORT}/v1:m",
        f"http://h.example/v1;key={SHORT}:m",
        f"http://{SHORT}.h.example\n/v1:m",
        f"{SHORT}/" + "word-" * 20,
        f"{SHORT}" + "0123456789abcdef" * 2,
        f"{SHORT}-0d9f2c1e-7b1a-4c3d-9e8f-aa11bb22cc33",
        f"http://h.example/v1:{SHORT}" + "m" * 300,
    ],
)
def test_what_may_be_a_password_in_a_name_that_means_nothing_is_not_shown_E10(name: str) -> None:
    with pytest.raises(UsageError) as told:
        parse(name)
    assert SHORT not in f"{told.value} {told.value.hint}"
    assert shown(name) == "(not shown)"


@pytest.mark.parametrize(
    "name",
    ["odd", "claude-sonnet-4-5-20250929", "meta-llama/Llama-3.1-8B-Instruct", "qwen3:8b", "gpt-6-luna"],
)
def test_the_name_of_a_model_is_shown_also_without_its_provider(name: str) -> None:
    assert shown(name) == name
    with pytest.raises(UsageError, match=re.escape(repr(name))):
        parse(name)


def test_a_name_that_is_too_long_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memdir.secrets.scan", None)
    with pytest.raises(UsageError, match="over 300 characters"):
        parse("a" * 1_000_000)
    assert shown("a" * 1_000_000) == "(not shown)"


@pytest.mark.parametrize(
    "name",
    [
        "https://a\u2100b/v1:m",
        "http://h:\uff11\uff12/v1:m",
        "http://h:\u0663/v1:m",
        "https://h\u00e9/v1:m",
        "https://a..b/v1:m",
        f"https://{'a' * 64}.example/v1:m",
        "https://%00/v1:m",
        "http://134744072/v1:m",
        "http://0x08080808/v1:m",
        "http://8.8.2056/v1:m",
        "http://010.8.8.8/v1:m",
        "http://999.1.1.1/v1:m",
    ],
)
def test_a_host_that_nobody_can_read_or_reach_is_no_address(name: str) -> None:
    with pytest.raises(UsageError, match=r"is no address|names no path"):
        parse(name)
    for variable, model in (("OPENAI_BASE_URL", "openai:m"), ("OLLAMA_HOST", "ollama:m")):
        with pytest.raises(UsageError, match=f"^{variable} names no address$"):
            where(model, **{variable: name.removesuffix(":m")})


@pytest.mark.parametrize("variable", [one.moved_by for one in PROVIDERS.values()])
@pytest.mark.parametrize(
    "said",
    [f"http://me:{SHORT}@h/v1", f"http://{SHORT}@h/v1", f"http://h/v1?key={SHORT}", f"http://h/v1#{SHORT}"],
)
def test_a_variable_that_holds_more_than_an_address_is_told_without_it_E10(variable: str, said: str) -> None:
    (name,) = (one.name for one in PROVIDERS.values() if one.moved_by == variable)
    with pytest.raises(UsageError, match=f"^{variable} holds more than an address") as told:
        where(f"{name}:m", **{variable: said})
    assert SHORT not in f"{told.value} {told.value.hint}"


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
    ("moved", "theirs"),
    [
        ({}, True),
        ({"OPENAI_BASE_URL": "https://api.openai.com/v1/"}, True),
        ({"OPENAI_BASE_URL": "https://eu.api.openai.com/v1"}, False),
        ({"OPENAI_BASE_URL": "http://api.openai.com/v1"}, False),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:4000/v1"}, False),
        ({"OPENAI_BASE_URL": "nonsense"}, False),
    ],
)
def test_list_prices_are_those_of_the_providers_own_address(moved: dict[str, str], theirs: bool) -> None:
    assert has_list_prices(PROVIDERS["openai"], moved) is theirs


def test_a_server_on_this_machine_is_free_but_in_the_place_of_one_that_is_paid() -> None:
    moved = {one.moved_by: "http://127.0.0.1:4000/v1" for one in PROVIDERS.values()}
    specs = [parse(f"{one.name}:m") for one in PROVIDERS.values()]
    free = {spec.text for spec in specs if is_free(spec, endpoint(spec, moved))}
    assert free == {"ollama:m", "lmstudio:m", "vllm:m", "llamacpp:m"}
    assert not is_free(parse("ollama:m:cloud"), endpoint(parse("ollama:m:cloud"), {}))


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
    "said",
    [
        "not an address",
        "gpu box:1234",
        "http://a b",
        "ho\x7fst",
        "a:b",
        "[::1",
        "x:0",
        "http://\udcff",
        "http://h/\udcff",
    ],
)
def test_ollamas_variable_may_name_no_address_either(said: str) -> None:
    with pytest.raises(UsageError, match="OLLAMA_HOST names no address") as told:
        where("ollama:m", OLLAMA_HOST=said)
    assert "http://127.0.0.1:11434" in (told.value.hint or "")


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
        ("http://[::ffff:8.8.8.8]/v1", True, False),
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
    assert endpoint(parse("http://[::1]/v1:m"), {}).entry == "[::1]:80"

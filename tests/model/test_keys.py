"""Where keys come from, who gets them, and that nothing shows them. The keyring is the real package."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from memdir.model import keys
from memdir.model.extras import how_to_install
from memdir.model.keys import KEYRING, Key, cure, find
from memdir.model.specs import parse
from tests.cases import REPO
from tests.model.drawer import Drawer

OPENAI, ANTHROPIC, ROUTER = "key-of-openai", "key-of-anthropic", "key-of-router"
ALL = {"OPENAI_API_KEY": OPENAI, "ANTHROPIC_API_KEY": ANTHROPIC, "OPENROUTER_API_KEY": ROUTER}


@pytest.fixture
def drawer(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Drawer]]:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "tests.model.drawer.Drawer")
    monkeypatch.setattr("keyring.core._keyring_backend", None)
    for name, value in (("entries", {}), ("asked", []), ("locked", False), ("opened", None)):
        monkeypatch.setattr(Drawer, name, value)
    yield Drawer
    if Drawer.opened is not None:
        Drawer.opened.set()


def source(name: str, **environment: str) -> str | None:
    found = find(parse(name), environment)
    return found.source if found else None


# -- variables -------------------------------------------------------------------------------------------


def test_each_provider_gets_its_own_key_from_its_sdks_variable_A3() -> None:
    values = [
        key.value if (key := find(parse(f"{name}:m"), ALL)) else None
        for name in ("openai", "anthropic", "openrouter", "ollama", "lmstudio", "vllm", "llamacpp")
    ]
    assert values == [OPENAI, ANTHROPIC, ROUTER, None, None, None, None]
    assert find(parse("local"), ALL) is None


def test_a_variable_is_told_and_its_value_is_not_E10() -> None:
    key = find(parse("openai:m"), {"OPENAI_API_KEY": f" {OPENAI}\n"})
    assert key == Key(value=OPENAI, source="OPENAI_API_KEY")
    assert OPENAI not in repr(key)
    assert source("openai:m", OPENAI_API_KEY=" ") is None


def test_anthropics_bearer_token_counts_as_a_key_after_the_key() -> None:
    assert source("anthropic:m", ANTHROPIC_AUTH_TOKEN="t") == "ANTHROPIC_AUTH_TOKEN"
    assert source("anthropic:m", ANTHROPIC_AUTH_TOKEN="t", ANTHROPIC_API_KEY="k") == "ANTHROPIC_API_KEY"


@pytest.mark.parametrize(
    ("name", "moved", "wanted"),
    [
        ("https://gw.example/v1:m", {}, None),
        ("https://gw.example/v1:m", {"OPENAI_BASE_URL": "https://gw.example/openai"}, "OPENAI_API_KEY"),
        ("https://gw.example/v1:m", {"OPENAI_BASE_URL": "https://gw.example:443/v1"}, "OPENAI_API_KEY"),
        ("https://gw.example:8443/v1:m", {"OPENAI_BASE_URL": "https://gw.example/v1"}, None),
        ("http://gw.example/v1:m", {"OPENAI_BASE_URL": "https://gw.example/v1"}, None),
        ("https://gw.example.org/v1:m", {"OPENAI_BASE_URL": "https://gw.example/v1"}, None),
        ("https://gw.example/v1:m", {"ANTHROPIC_BASE_URL": "https://gw.example"}, "ANTHROPIC_API_KEY"),
        ("https://gw.example/v1/messages:m", {}, None),
        (
            "https://gw.example/v1/messages:m",
            {"ANTHROPIC_BASE_URL": "https://gw.example"},
            "ANTHROPIC_API_KEY",
        ),
        (
            "https://gw.example/v1/messages:m",
            {"OPENAI_BASE_URL": "https://gw.example/v1", "ANTHROPIC_BASE_URL": "https://gw.example"},
            "ANTHROPIC_API_KEY",
        ),
        (
            "https://gw.example/v1:m",
            {"OPENAI_BASE_URL": "https://gw.example/v1", "ANTHROPIC_BASE_URL": "https://gw.example"},
            "OPENAI_API_KEY",
        ),
        ("https://api.openai.com/v1/chat/completions:m", {}, "OPENAI_API_KEY"),
        ("http://api.openai.com/v1:m", {}, None),
        ("https://api.openai.com/v1:m", {"OPENAI_BASE_URL": "https://gw.example/v1"}, None),
        ("https://openrouter.ai/api/v1/responses:m", {}, "OPENROUTER_API_KEY"),
        ("https://api.openai.com.evil.example/v1:m", {}, None),
        ("https://gw.example/v1:m", {"OPENAI_BASE_URL": "nonsense"}, None),
    ],
)
def test_an_address_gets_a_key_only_if_its_provider_is_there(
    name: str, moved: dict[str, str], wanted: str | None
) -> None:
    assert source(name, **ALL, **moved) == wanted


# -- the keyring -----------------------------------------------------------------------------------------


def test_the_keyring_is_asked_under_the_providers_name(drawer: type[Drawer]) -> None:
    drawer.entries["memdir", "openai"] = f"{OPENAI}\n"
    assert find(parse("openai:m"), {}) == Key(value=OPENAI, source=KEYRING)
    assert find(parse("vllm:m"), {}) is None
    assert {service for service, _ in drawer.asked} == {"memdir"}
    assert [name for _, name in drawer.asked] == ["openai", "vllm", "127.0.0.1:8000"]


def test_a_server_that_has_a_name_may_have_its_entry_under_its_address(drawer: type[Drawer]) -> None:
    drawer.entries["memdir", "127.0.0.1:8000"] = "key-of-vllm"
    assert find(parse("vllm:m"), {}) == Key(value="key-of-vllm", source=KEYRING)
    assert find(parse("vllm:m"), {"VLLM_BASE_URL": "http://gpu-box:8000/v1"}) is None


def test_a_server_has_an_entry_under_its_host_and_port(drawer: type[Drawer]) -> None:
    drawer.entries["memdir", "openai"] = OPENAI
    drawer.entries["memdir", "gw.example:8443"] = "key-of-gw"
    assert find(parse("https://gw.example:8443/v1:m"), {}) == Key(value="key-of-gw", source=KEYRING)
    assert find(parse("https://gw.example/v1:m"), {}) is None
    assert find(parse("http://[::1]:81/v1:m"), {}) is None
    assert [name for _, name in drawer.asked] == ["gw.example:8443", "gw.example:443", "[::1]:81"]


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("http://openai/v1:m", "openai:80"),
        ("http://OPENAI:80/v1:m", "openai:80"),
        ("https://anthropic/v1/messages:m", "anthropic:443"),
    ],
)
def test_a_host_that_is_called_as_a_provider_gets_no_key_of_it(
    drawer: type[Drawer], name: str, entry: str
) -> None:
    drawer.entries.update({("memdir", "openai"): OPENAI, ("memdir", "anthropic"): ANTHROPIC})
    assert find(parse(name), {}) is None
    assert drawer.asked == [("memdir", entry)]


def test_http_and_https_have_entries_of_their_own(drawer: type[Drawer]) -> None:
    drawer.entries["memdir", "gw.example:443"] = "key-of-gw"
    assert source("https://gw.example/v1:m") == KEYRING
    assert source("http://gw.example/v1:m") is None


def test_who_is_where_a_variable_says_gets_the_entry_of_that_place_alone(drawer: type[Drawer]) -> None:
    drawer.entries["memdir", "openai"] = OPENAI
    moved = {"OPENAI_BASE_URL": "http://127.0.0.1:4000/v1"}
    assert find(parse("openai:m"), moved) is None
    assert find(parse("http://127.0.0.1:4000/v1:m"), moved) is None
    drawer.entries["memdir", "127.0.0.1:4000"] = "key-of-gw"
    assert find(parse("openai:m"), moved) == Key(value="key-of-gw", source=KEYRING)
    assert "keyring set memdir 127.0.0.1:4000`" in cure(parse("openai:m"), moved)
    assert "platform.openai.com" not in cure(parse("openai:m"), moved)
    assert {entry for _, entry in drawer.asked} == {"127.0.0.1:4000"}
    at_home = {"OPENAI_BASE_URL": "https://api.openai.com:443/v1/"}
    assert find(parse("openai:m"), at_home) == Key(value=OPENAI, source=KEYRING)


def test_a_keyring_that_gives_bytes_holds_nothing(drawer: type[Drawer]) -> None:
    drawer.entries["memdir", "openai"] = b"bytes"  # type: ignore[assignment]
    assert source("openai:m") is None


def test_a_variable_spares_the_keyring(drawer: type[Drawer]) -> None:
    assert source("openai:m", OPENAI_API_KEY=OPENAI) == "OPENAI_API_KEY"
    assert drawer.asked == []


def test_a_locked_keyring_holds_nothing(drawer: type[Drawer]) -> None:
    drawer.locked = True
    assert source("openai:m") is None


def test_a_keyring_that_does_not_answer_holds_nothing(
    drawer: type[Drawer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "WAIT", 0.02)
    drawer.opened = threading.Event()
    assert source("openai:m") is None


def test_a_broken_or_missing_keyring_holds_nothing(
    drawer: type[Drawer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "no.such.Backend")
    assert source("openai:m") is None
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert source("openai:m") is None


def test_the_keyring_is_not_loaded_if_a_variable_is_set_A3() -> None:
    code = (
        "import sys; from memdir.model.keys import find; from memdir.model.specs import parse\n"
        "assert find(parse('openai:m'), {'OPENAI_API_KEY': 'k'})\n"
        "print('keyring' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


# -- cures -----------------------------------------------------------------------------------------------


@pytest.fixture
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of the environment are on the PATH."""
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")


def test_the_cure_names_the_variable_and_the_entry_in_the_keyring(on_path: None) -> None:
    assert cure(parse("openrouter:x/y"), {}) == (
        "put a key from https://openrouter.ai/settings/keys into the environment as OPENROUTER_API_KEY, or "
        "into the system keyring (`keyring set memdir openrouter`)"
    )
    assert cure(parse("http://127.0.0.1:8000/v1:m"), {}) == (
        "put the key of that server into the system keyring (`keyring set memdir 127.0.0.1:8000`)"
    )
    assert "keyring set memdir h.example:443`" in cure(parse("https://h.example/v1:m"), {})
    assert "keyring set memdir vllm" in cure(parse("vllm:m"), {})
    assert "OPENAI_API_KEY" in cure(parse("https://api.openai.com/v1/responses:m"), {})


def test_where_the_command_is_not_on_the_path_the_cure_goes_by_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    monkeypatch.setattr(sys, "executable", "/my envs/bin/python")
    assert "(`'/my envs/bin/python' -m keyring set memdir openai`)" in cure(parse("openai:m"), {})


def test_where_the_keyring_is_missing_the_cure_says_how_it_comes(
    on_path: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert f"(first `{how_to_install('keyring')}`, then `keyring set memdir openai`)" in cure(
        parse("openai:m"), {}
    )

"""`memdir models` and `--model`: which model does what, what is missing, and what else is within reach."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from memdir.cli.output import complain
from memdir.errors import ModelError
from memdir.model import reach
from memdir.model.providers import PROVIDERS
from memdir.testing import call, say
from tests.cli.support import Desk, claude_line, typist
from tests.model.drawer import Drawer
from tests.wire.answers import Refused
from tests.wire.server import WireServer

KEYS = {one.name: one.key for one in PROVIDERS.values() if one.key}
JOBS = ("conversation", "recall", "extraction", "session memory", "dream")


@pytest.fixture
def nowhere() -> Iterator[str]:
    """An address on this machine where nobody answers."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture(autouse=True)
def _quiet_machine(nowhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No server that happens to run on this machine is found."""
    for provider in PROVIDERS.values():
        monkeypatch.setenv(provider.moved_by, f"{nowhere}/v1")


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer(models=["qwen3:8b", "nomic-embed", "llama3.2:3b", "gemma3:4b"], is_open=True) as running:
        yield running


def settings(desk: Desk, **values: Any) -> None:
    path = desk.home / ".memdir" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(values), "utf-8")


def jobs(desk: Desk, *words: str) -> dict[str, Any]:
    ran = desk("models", "--json", *words)
    assert (ran.code, ran.json["version"]) == (0, 1)
    return {one["job"]: one for one in ran.json["jobs"]}


def block(out: str, name: str) -> dict[str, str]:
    """The lines about one model, by their labels."""
    for paragraph in out.split("\n\n"):
        title, *lines = paragraph.splitlines()
        if title == name:
            return {line[2:11].strip() or "more": line[11:] for line in lines}
    raise AssertionError(f"nothing about {name} in {out}")


# -- what is configured ----------------------------------------------------------------------------------


def test_without_a_model_the_embedded_default_and_the_way_to_one_are_told(desk: Desk) -> None:
    ran = desk("models")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[:5] == [f"{job:<14}  local" for job in JOBS]
    assert "no language model is configured, and a conversation needs one: name one with `--model" in ran.out
    assert block(ran.out, "local")["what"].startswith("the embedded default: recall by words")
    keys = "ANTHROPIC_API_KEY or OPENAI_API_KEY or OPENROUTER_API_KEY"
    assert (
        f"nothing else is within reach: no other key is set ({keys}), no other server answers here" in ran.out
    )
    told = jobs(desk)
    assert [(told[job]["model"], told[job]["local"], told[job]["reachable"]) for job in JOBS] == [
        ("local", True, True)
    ] * 5
    assert told["conversation"]["problem"] == "no language model is configured, and a conversation needs one"
    assert (told["recall"]["problem"], told["extraction"]["sharesCache"]) == (None, None)


def test_each_job_is_told_with_its_model_where_it_is_and_what_it_costs(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("anthropic", "openai"):
        monkeypatch.delenv(PROVIDERS[name].moved_by)
    settings(
        desk,
        model="anthropic:claude-haiku-5-5",
        recall={"model": "anthropic:claude-sonnet-5"},
        extract={"model": "openai:gpt-6.2-sol"},
    )
    told = jobs(desk)
    assert {job: one["model"] for job, one in told.items()} == {
        "conversation": "anthropic:claude-haiku-5-5",
        "recall": "anthropic:claude-sonnet-5",
        "extraction": "openai:gpt-6.2-sol",
        "session memory": "anthropic:claude-haiku-5-5",
        "dream": "anthropic:claude-haiku-5-5",
    }
    assert told["extraction"] == {
        "job": "extraction",
        "model": "openai:gpt-6.2-sol",
        "where": "api.openai.com",
        "local": False,
        "reachable": False,
        "window": 1_050_000,
        "windowSource": "known",
        "price": {
            "input": 2,
            "output": 10,
            "cacheRead": 0.1,
            "cacheWrite": 2.5,
            "beyond": {"over": 272_000, "input": 4, "output": 15, "cacheRead": 0.2, "cacheWrite": 5},
        },
        "cache": "automatic, for prompts from 1,024 tokens on",
        "sharesCache": False,
        "unencrypted": False,
        "problem": "openai:gpt-6.2-sol needs a key, and OPENAI_API_KEY is not set",
        "cure": told["extraction"]["cure"],
    }
    assert "https://platform.openai.com/api-keys" in told["extraction"]["cure"]
    assert told["recall"]["price"]["beyond"] is None
    assert [told[job]["sharesCache"] for job in JOBS] == [None, None, False, True, True]
    out = desk("models").out
    assert out.splitlines()[2] == "extraction      openai:gpt-6.2-sol"
    assert (
        "extraction runs on another model than the conversation: it can't read its cache, so the whole "
        "conversation is paid for again"
    ) in out
    assert block(out, "anthropic:claude-haiku-5-5") | {"problem": "", "cure": ""} == {
        "where": "api.anthropic.com",
        "window": "1,000,000 tokens",
        "price": "$0.10 in ($0.01 cached), $0.50 out per million tokens",
        "more": "$0.50 in ($0.05 cached), $2.50 out when more than 100,000 go in",
        "cache": "marked by memdir; kept for 5 minutes after each use",
        "problem": "",
        "cure": "",
    }


def test_a_model_that_answers_is_asked_once_and_costs_nothing(
    desk: Desk, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", server.v1)
    told = jobs(desk, "--model", "vllm:qwen3:8b")
    assert {one["model"] for one in told.values()} == {"vllm:qwen3:8b"}
    one = told["conversation"]
    assert (one["where"], one["reachable"]) == (server.url.removeprefix("http://"), True)
    assert (one["problem"], one["cure"], one["price"], one["unencrypted"]) == (None, None, None, False)
    assert [seen.path for seen in server.looked].count("/v1/models") == 1
    assert server.seen == []
    shown = block(desk("models", "--model", "vllm:qwen3:8b").out, "vllm:qwen3:8b")
    assert shown["where"] == f"{one['where']}, reachable"
    assert shown["price"] == "none, it runs on this machine"


def test_a_window_that_the_service_tells_comes_before_what_is_known(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WireServer(models=[{"id": "claude-sonnet-5", "max_input_tokens": 123_456}]) as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", running.key)
        one = jobs(desk, "--model", "anthropic:claude-sonnet-5")["conversation"]
    assert (one["reachable"], one["window"], one["windowSource"]) == (True, 123_456, "service")
    assert one["price"] is None, "somebody else is there, at prices of his own"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("vllm:nosuch", "nosuch"),
        ("http://{nowhere}/v1:m", "http://127.0.0.1:"),
    ],
)
def test_what_is_missing_is_told_in_a_line_with_its_cure(
    desk: Desk, server: WireServer, nowhere: str, monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", server.v1)
    name = name.replace("http://{nowhere}", nowhere)
    one = jobs(desk, "--model", name)["conversation"]
    assert says in one["problem"]
    assert one["cure"]
    shown = block(desk("models", "--model", name).out, name)
    assert (shown["problem"], shown["cure"]) == (one["problem"], one["cure"])


def test_a_refused_key_is_told_and_never_shown(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with WireServer() as running:
        for path in ("/v1/models", "/v1/models/claude-sonnet-5"):
            running.route(path, Refused(kind="key_refused"))
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-good-key")
        ran = desk("models", "--json", "--model", "anthropic:claude-sonnet-5")
    assert "was refused" in ran.json["jobs"][0]["problem"]
    assert "not-a-good-key" not in ran.out + ran.err


def test_an_address_in_the_open_is_flagged(desk: Desk) -> None:
    name = "http://gw.example.org/v1:m"
    assert jobs(desk, "--model", name)["conversation"]["unencrypted"] is True
    assert "unencrypted" in block(desk("models", "--model", name).out, name)["careful"]


def test_a_name_in_settings_that_means_nothing_is_a_finding_and_not_a_failure(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(desk, model="local", recall={"model": "claude-sonnet-5"})
    one = jobs(desk)["recall"]
    assert (one["model"], one["reachable"], one["where"]) == ("claude-sonnet-5", False, None)
    path = desk.home / ".memdir" / "settings.json"
    assert one["problem"] == f"{path}: recall.model: unknown model 'claude-sonnet-5'"
    assert one["cure"] == "did you mean `anthropic:claude-sonnet-5`?"
    monkeypatch.setenv("MEMDIR_DREAM_MODEL", "claude-sonnet-5")
    where = f"{path}: recall.model, environment: MEMDIR_DREAM_MODEL"
    assert jobs(desk)["dream"]["problem"] == f"{where}: unknown model 'claude-sonnet-5'"


@pytest.mark.parametrize("words", [("models", "--model", "odd"), ("--model", "odd", "models")])
def test_a_name_on_the_command_line_that_means_nothing_is_wrong_usage(
    desk: Desk, words: tuple[str, ...]
) -> None:
    ran = desk(*words, "--json")
    assert (ran.code, ran.json["error"]["kind"]) == (2, "UsageError")
    assert "unknown model 'odd'" in ran.err


@pytest.mark.parametrize("command", ["models", "status", "chat"])
def test_a_key_in_the_place_of_a_model_is_shown_by_nobody_E10(desk: Desk, command: str) -> None:
    secret = "sk-" + "ant-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3"
    settings(desk, model=f"anthropic:{secret}", apiKey=secret)
    for words in ((command,), (command, "--json")) if command != "chat" else ((command,),):
        ran = desk(*words)
        assert secret not in ran.out + ran.err
        assert "looks like a secret" in ran.out + ran.err
        assert ran.code == (2 if command == "chat" else 0)
    assert "apiKey: not a setting: keys are never read from settings" in desk("list").err


@pytest.mark.parametrize("command", ["models", "status", "chat", "recall"])
def test_what_may_be_a_password_in_the_place_of_a_model_is_shown_by_nobody_E10(
    desk: Desk, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [command, "hi"] if command in {"chat", "recall"} else [command]
    for name in ("me:hunter2@h.example/v1:m", "http://me:hunter2/v1:m", "hunter2" + "0a1b2c3d" * 4):
        settings(desk, model=name)
        for as_json in ((), ("--json",)) if command != "chat" else ((),):
            ran = desk(*words, *as_json)
            assert "not shown" in ran.out + ran.err
            assert "hunter2" not in ran.out + ran.err
    settings(desk, model="ollama:m")
    monkeypatch.setenv("OLLAMA_HOST", "http://me:hunter2@h.example")
    ran = desk(*words)
    assert "OLLAMA_HOST holds more than an address" in ran.out + ran.err
    assert "hunter2" not in ran.out + ran.err


# -- foreign words ---------------------------------------------------------------------------------------

STEERS = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\r\tx"


def test_a_key_of_a_settings_file_is_one_short_line_wherever_it_is_told(desk: Desk) -> None:
    key = f"{STEERS}\nwarning: all is well{'!' * 500}"
    path = desk.folder / ".memdir" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps({key: 1}), "utf-8")
    for words in (("list",), ("status",), ("models",)):
        (line,) = (one for one in desk(*words).err.splitlines() if "not a setting" in one)
        assert line.startswith(
            f"warning: {path}: \\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\x202egnp\\x0d\\x09x\\x0awarning"
        )
        assert "!" * 60 not in line
    out = desk("status", "--json").out
    assert json.loads(out)["warnings"][0].startswith(f"{path}: {STEERS}\nwarning")
    assert out.replace("\n", "").isprintable()


def test_a_server_gives_names_that_steer_nothing_and_suggests_nothing_to_a_shell(
    desk: Desk, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [f"q{STEERS}", "q\nconversation  x", "n" * 101, "$(reboot)", "a`b`", "-rf", "two words", "qwen3:8b"]
    server.route("/v1/models", {"data": [{"id": name} for name in ids]})
    monkeypatch.setenv("VLLM_BASE_URL", server.v1)
    (one,) = desk("models", "--json").json["withinReach"]
    assert one["models"] == ["$(reboot)", "a`b`", "-rf", "two words", "qwen3:8b"]
    assert one["choose"] == "vllm:qwen3:8b"
    out = desk("models").out + desk("models", "--model", "vllm:qwen3:8x").out
    assert out.replace("\n", "").isprintable()
    assert "n" * 101 not in out
    server.route("/v1/models", {"data": [{"id": "$(reboot)"}]})
    (one,) = desk("models", "--json").json["withinReach"]
    assert one["choose"] == "vllm:Qwen/Qwen3-8B"
    out = desk("models").out
    assert "--model vllm" not in out.partition("also within reach")[0]
    assert "none that converses" not in out
    settings(desk, model="vllm:$(rebot)")
    assert "did you mean" not in str(jobs(desk)["conversation"]["cure"])


def test_an_error_and_its_hint_are_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    complain(ModelError("a server said\nhint: run this\x1b[2J", hint="or\tthat\r\n"))
    assert capsys.readouterr().err == (
        "error: a server said\\x0ahint: run this\\x1b[2J\nhint: or\\x09that\\x0d\\x0a\n"
    )


# -- what is within reach --------------------------------------------------------------------------------


def test_providers_with_a_key_and_servers_that_answer_are_within_reach(
    desk: Desk, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    monkeypatch.setenv("OPENROUTER_API_KEY", "not-a-real-key")
    monkeypatch.delenv("OPENROUTER_BASE_URL")
    router, ollama = desk("models", "--json").json["withinReach"]
    assert router == {
        "provider": "openrouter",
        "where": "openrouter.ai",
        "key": "OPENROUTER_API_KEY",
        "models": [],
        "wantsKey": False,
        "choose": "openrouter:anthropic/claude-sonnet-5",
    }
    assert ollama == {
        "provider": "ollama",
        "where": server.url.removeprefix("http://"),
        "key": None,
        "models": ["qwen3:8b", "llama3.2:3b", "gemma3:4b", "nomic-embed"],
        "wantsKey": False,
        "choose": "ollama:qwen3:8b",
    }
    out = desk("models").out
    assert "openrouter.ai" in out
    assert "OPENROUTER_API_KEY is set" in out
    assert "qwen3:8b, llama3.2:3b, gemma3:4b and 1 more" in out
    assert "choose one as in `--model openrouter:anthropic/claude-sonnet-5`" in out
    assert "needs one: name one with `--model openrouter:anthropic/claude-sonnet-5`, or for good" in out
    assert "ANTHROPIC_API_KEY" not in out
    assert "not-a-real-key" not in out


def test_a_key_in_the_systems_keyring_counts(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "tests.model.drawer.Drawer")
    monkeypatch.setattr("keyring.core._keyring_backend", None)
    monkeypatch.setitem(Drawer.entries, ("memdir", "openai"), "kept-in-a-drawer")
    monkeypatch.delenv("OPENAI_BASE_URL")
    (one,) = desk("models", "--json").json["withinReach"]
    assert (one["provider"], one["key"], one["choose"]) == (
        "openai",
        "the system keyring",
        "openai:gpt-6.1-terra",
    )
    out = desk("models").out
    assert "its key is in the system keyring" in out
    assert "kept-in-a-drawer" not in out


def test_what_is_used_already_is_not_offered(
    desk: Desk, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    assert desk("models", "--json", "--model", "ollama:qwen3:8b").json["withinReach"] == []
    assert desk("models", "--json", "--model", f"{server.v1}:qwen3:8b").json["withinReach"] == []


@pytest.mark.parametrize(
    ("answer", "offered"),
    [
        ({"data": [{"id": "m"}]}, ["m"]),
        ({"data": []}, []),
        (Refused(kind="key_refused"), []),
        ({"hello": "world"}, None),
        ([1, 2], None),
        ({"data": [{"name": "m"}]}, None),
        (Refused(kind="no_such_path"), None),
    ],
    ids=str,
)
def test_only_what_answers_as_a_model_server_is_offered(
    desk: Desk, server: WireServer, monkeypatch: pytest.MonkeyPatch, answer: Any, offered: list[str] | None
) -> None:
    server.route("/v1/models", answer)
    monkeypatch.setenv("LLAMACPP_BASE_URL", server.v1)
    found = [one["models"] for one in desk("models", "--json").json["withinReach"]]
    assert found == ([] if offered is None else [offered])


def test_a_server_that_says_nothing_is_not_waited_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("VLLM_BASE_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        assert desk("models", "--json").json["withinReach"] == []


def test_what_is_there_already_is_the_first_cure(
    desk: Desk, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    cure = jobs(desk)["conversation"]["cure"]
    assert cure == "name one with `--model ollama:qwen3:8b`, or for good with the `model` setting"


@pytest.mark.parametrize(
    ("answer", "offer"),
    [
        (Refused(kind="key_refused"), "wants a key"),
        ({"data": []}, "answers, and names no model"),
        ({"data": [{"id": "text-embedding-nomic-embed-text-v1.5"}]}, ": none that converses"),
        ({"data": [{"id": "bge-m3"}, {"id": "all-minilm:l6"}]}, "bge-m3, all-minilm:l6: none that converses"),
    ],
    ids=str,
)
def test_what_can_not_converse_as_it_is_comes_last(
    desk: Desk, server: WireServer, monkeypatch: pytest.MonkeyPatch, answer: Any, offer: str
) -> None:
    with WireServer(is_open=True) as running:
        running.route("/v1/models", answer)
        monkeypatch.setenv("LMSTUDIO_BASE_URL", running.v1)
        out = desk("models").out
        assert offer in out
        assert "name one with `--model anthropic:claude-sonnet-5`" in out
        monkeypatch.setenv("VLLM_BASE_URL", server.v1)
        first, last = desk("models", "--json").json["withinReach"]
    assert (first["provider"], first["choose"]) == ("vllm", "vllm:qwen3:8b")
    assert (last["provider"], last["wantsKey"]) == ("lmstudio", offer == "wants a key")


def test_only_keys_that_are_not_set_are_said_to_be_missing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    out = desk("models", "--model", "openai:m").out
    assert "no other key is set (ANTHROPIC_API_KEY or OPENROUTER_API_KEY), no other server answers" in out
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-key")
    monkeypatch.setenv("OPENROUTER_API_KEY", "not-a-real-key")
    settings(desk, recall={"model": "anthropic:m"}, extract={"model": "openrouter:m"})
    assert desk("models", "--model", "openai:m").out.endswith(
        "\n\nnothing else is within reach: no other server answers here\n"
    )


def test_a_server_at_its_other_usual_place_is_found_and_is_the_cure(
    desk: Desk, server: WireServer, nowhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LLAMACPP_BASE_URL")
    moved = replace(PROVIDERS["llamacpp"], url=f"{nowhere}/v1")
    monkeypatch.setitem(cast("dict[str, Any]", PROVIDERS), "llamacpp", moved)
    monkeypatch.setitem(cast("dict[str, Any]", reach._ALSO_AT), "llamacpp", server.v1)
    ran = desk("models", "--json", "--model", "llamacpp:gemma3:4b")
    (one,) = ran.json["withinReach"]
    assert (one["provider"], one["choose"]) == ("llamacpp", f"{server.v1}:qwen3:8b")
    found = ran.json["jobs"][0]
    assert (found["reachable"], nowhere in found["problem"]) == (False, True)
    assert found["cure"] == (
        f"one answers at {one['where']}: name it as in `{server.v1}:gemma3:4b`, "
        f"or set LLAMACPP_BASE_URL to {server.v1}"
    )
    assert f"`{server.v1}:qwen3:8b`" in jobs(desk, "--model", "llamacpp:m")["conversation"]["cure"]


def test_a_variable_that_leads_nowhere_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "not an address")
    assert "OLLAMA_HOST names no address, so nothing is looked for there: it should" in desk("models").out
    out = desk("models", "--model", "ollama:m").out
    assert out.count("OLLAMA_HOST names no address") == 1
    assert block(out, "ollama:m")["problem"] == "OLLAMA_HOST names no address"
    assert desk("chat", "--model", "ollama:m", "hi").err.startswith("error: OLLAMA_HOST names no address\n")


# -- windows and prices ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["anthropic:claude-sonnet-5", "openai:gpt-5", "openrouter:m"])
def test_who_is_in_the_place_of_a_paid_provider_has_a_price_that_nobody_knows(desk: Desk, name: str) -> None:
    shown = block(desk("models", "--model", name).out, name)
    assert (shown["price"], shown["cache"]) == ("not known here", "that of the server, if it has one")
    assert jobs(desk, "--model", name)["conversation"]["price"] is None


def test_why_a_window_is_assumed_is_told(
    desk: Desk, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = block(desk("models", "--model", "vllm:qwen3:8b").out, "vllm:qwen3:8b")["window"]
    assert said == "not known, 32,768 tokens assumed (not asked)"
    monkeypatch.setenv("VLLM_BASE_URL", server.v1)
    said = block(desk("models", "--model", "vllm:qwen3:8b").out, "vllm:qwen3:8b")["window"]
    assert said == "not known, 32,768 tokens assumed (the service does not say)"
    monkeypatch.delenv("OPENAI_BASE_URL")
    shown = block(desk("models", "--model", "openai:gpt-5.4-mini").out, "openai:gpt-5.4-mini")
    assert shown["window"] == "not known, 32,768 tokens assumed (not asked)"
    assert shown["price"].startswith("$0.75 in")


def test_a_window_that_ollama_has_not_decided_on_is_told_with_what_it_may_mean(
    desk: Desk, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    shown = block(desk("models", "--model", "ollama:qwen3:8b").out, "ollama:qwen3:8b")
    assert shown["window"] == "4,096 tokens assumed until it is loaded"
    assert shown["careful"].startswith("memdir's own instructions and tools take about ")
    assert "if it gets no larger one; set OLLAMA_CONTEXT_LENGTH" in shown["careful"]
    one = jobs(desk, "--model", "ollama:qwen3:8b")["conversation"]
    assert (one["problem"], one["window"], one["windowSource"]) == (None, 4_096, "assumed")


def test_a_window_with_hardly_room_is_a_problem(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with WireServer(
        models=[{"id": "m", "max_model_len": 8_191}, {"id": "l", "max_model_len": 8_192}]
    ) as vllm:
        monkeypatch.setenv("VLLM_BASE_URL", vllm.v1)
        small, large = (jobs(desk, "--model", f"vllm:{name}")["conversation"] for name in "ml")
    about = re.fullmatch(
        r"memdir's own instructions and tools take about ([\d,]+) tokens of its window", small["problem"]
    )
    assert about is not None
    assert 2_000 < int(about[1].replace(",", "")) < 6_000
    assert "start vLLM with a larger `--max-model-len`" in small["cure"]
    assert (small["reachable"], large["problem"]) == (True, None)


# -- at a terminal ---------------------------------------------------------------------------------------


def test_at_a_terminal_sentences_are_wrapped_below_their_label(desk: Desk) -> None:
    with typist(desk, "models", "--model", "ollama:qwen3:8b", COLUMNS="62") as someone:
        code, shown = someone.sees_the_end()
    assert code == 0
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 62
    assert "extraction      ollama:qwen3:8b" in lines
    (about,) = (part for part in shown.split("\n\n") if part.startswith("ollama:qwen3:8b\n"))
    title, *below = about.splitlines()
    assert title == "ollama:qwen3:8b"
    assert all(line.startswith("  ") for line in below)
    assert any(line.startswith(" " * 11) for line in below), "a sentence goes on below its beginning"


@pytest.mark.parametrize("width", [50, 80])
def test_at_a_terminal_nothing_is_cut_off(desk: Desk, server: WireServer, width: int) -> None:
    place = {"OLLAMA_HOST": server.url, "COLUMNS": str(width)}
    name = "lmstudio:somebody/a-model-with-quite-a-long-name-that-is-not-cut"
    for words in (("models",), ("models", "--model", name), ("status", "--model", name)):
        with typist(desk, *words, **place) as someone:
            code, shown = someone.sees_the_end()
        assert (code, "…" in shown) == (0, False)
        long = [line for line in shown.splitlines() if len(line) > width]
        assert all(len(line.split()[-1]) > width - 30 for line in long), "a path or name alone is left whole"
        if words[0] == "models":
            row = shown.partition("also within reach")[2]
            assert "qwen3:8b, llama3.2:3b, gemma3:4b and 1 more" in " ".join(row.split())
        else:
            assert str(desk.home) in shown


# -- the option, everywhere ------------------------------------------------------------------------------


def test_recall_asks_the_model_that_the_option_names(
    desk: Desk, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(desk, recall={"model": "local"})
    desk("remember", "--type", "project", "we deploy the shop on Tuesdays")
    monkeypatch.setenv("VLLM_BASE_URL", server.v1)
    (name,) = desk.files()
    server.add(say(json.dumps({"selected_memories": [name]})))
    assert desk("recall", "--model", "vllm:qwen3:8b", "when do we deploy?").out == f"{name}\n"
    server.assert_exhausted()
    assert desk("recall", "--model", "odd", "when").code == 2


def test_learn_asks_the_model_that_the_option_names(
    desk: Desk, server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(desk, extract={"model": "local"})
    monkeypatch.setenv("VLLM_BASE_URL", server.v1)
    talk = tmp_path / "talk.jsonl"
    line = claude_line("We deploy the shop on Tuesdays.", cwd=desk.folder, number=0)
    answer = claude_line([{"type": "text", "text": "Noted."}], cwd=desk.folder, number=1, role="assistant")
    talk.write_text(f"{line}\n{answer}\n", "utf-8")
    text = "---\nname: Deploys\ndescription: On Tuesdays\ntype: project\n---\n\nWe deploy on Tuesdays.\n"
    server.add(call("Write", file_path=str(desk.memory / "project_deploys.md"), content=text), say("Done."))
    ran = desk("learn", "--model", "vllm:qwen3:8b", str(talk))
    assert (ran.code, ran.out) == (0, f"created {desk.memory / 'project_deploys.md'}\n")
    server.assert_exhausted()


def test_status_names_the_same_models(desk: Desk) -> None:
    settings(desk, model="openai:qwen", dream={"model": "ollama:qwen3:8b"}, features={"dream": False})
    rows = dict(line.split(maxsplit=1) for line in desk("status").out.splitlines())
    assert (rows["model"], rows["recall"]) == ("openai:qwen", "on, by openai:qwen")
    assert (rows["extraction"], rows["dream"]) == ("on, by openai:qwen", "off, by ollama:qwen3:8b")
    told = desk("status", "--json", "--model", "vllm:m").json
    named = [told[key] for key in ("model", "recallModel", "extractModel", "dreamModel")]
    assert named == ["vllm:m", "vllm:m", "vllm:m", "ollama:qwen3:8b"]


def test_a_wrong_name_is_a_warning_of_status(desk: Desk) -> None:
    settings(desk, model="qwen3:8b", extract={"model": "odd"})
    ran = desk("status")
    assert ran.code == 0
    path = desk.home / ".memdir" / "settings.json"
    told = f"warning: {path}: model: unknown model 'qwen3:8b': did you mean `ollama:qwen3:8b`?"
    assert ran.err.count(told) == 1
    assert ran.err.count(f"warning: {path}: extract.model: unknown model 'odd': there is") == 1
    rows = dict(line.split(maxsplit=1) for line in ran.out.splitlines())
    wrong = "on, but the name of its model is wrong"
    assert (rows["recall"], rows["extraction"], rows["dream"]) == (wrong, wrong, wrong)
    told = desk("status", "--json").json
    assert [told[key] for key in ("recallModel", "extractModel", "dreamModel")] == [None, None, None]


def test_a_wrong_name_harms_no_other_job(desk: Desk) -> None:
    settings(desk, extract={"model": "gpt-6-luna"}, dream={"model": "odd"})
    ran = desk("remember", "--type", "project", "we deploy the shop on Tuesdays")
    assert ran.code == 0
    (name,) = desk.files()
    assert desk("recall", "when do we deploy the shop?").out == f"{name}\n"
    assert (desk("list").code, desk("path").code) == (0, 0)
    rows = dict(line.split(maxsplit=1) for line in desk("status").out.splitlines())
    assert (rows["recall"], rows["extraction"]) == ("on, by local", "on, but the name of its model is wrong")


def test_where_a_job_is_to_be_done_a_wrong_name_is_told_with_its_setting(desk: Desk, tmp_path: Path) -> None:
    settings(desk, model="ollama:m", extract={"model": "gpt-6-luna"})
    path = desk.home / ".memdir" / "settings.json"
    error = (
        f"error: {path}: extract.model: unknown model 'gpt-6-luna'\nhint: did you mean `openai:gpt-6-luna`?\n"
    )
    assert (desk("chat", "hi").code, desk("chat", "hi").err) == (2, error)
    talk = tmp_path / "talk.jsonl"
    talk.write_text(claude_line("We deploy on Tuesdays.", cwd=desk.folder, number=0) + "\n", "utf-8")
    ran = desk("learn", str(talk))
    assert (ran.code, "extract.model: unknown model 'gpt-6-luna'" in ran.err) == (2, True)
    settings(desk, model="ollama:m", recall={"model": "odd"}, features={"recall": False})
    assert "unknown model" not in desk("chat", "hi").err
    ran = desk("--model", "odd", "chat", "hi")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: --model: unknown model 'odd'")


def test_the_same_model_under_another_name_shares_the_cache_A4(desk: Desk) -> None:
    same = {"model": "http://localhost:9/v1/chat/completions:m"}
    settings(desk, model="http://LOCALHOST:9/v1:m", extract=same)
    assert jobs(desk)["extraction"]["sharesCache"] is True
    assert "another model than the conversation" not in desk("models").out

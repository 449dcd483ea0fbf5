"""`memdir models` and `--model`: which model does what, what is missing, and what else is within reach."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memdir.model.providers import PROVIDERS
from memdir.testing import call, say
from tests.cli.support import Desk, claude_line, typist
from tests.model.drawer import Drawer
from tests.wire.answers import Refused
from tests.wire.server import WireServer

KEYS = {one.name: one.key for one in PROVIDERS.values() if one.key}
JOBS = ("conversation", "recall", "extraction", "dream")


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
    assert ran.out.splitlines()[:4] == [f"{job:<12}  local" for job in JOBS]
    assert "no language model is configured, and a conversation needs one: name one with `--model" in ran.out
    assert block(ran.out, "local")["what"].startswith("the embedded default: recall by words")
    assert "nothing else is within reach: no other key is set (ANTHROPIC_API_KEY or OPENAI_API_KEY" in ran.out
    told = jobs(desk)
    assert [(told[job]["model"], told[job]["local"], told[job]["reachable"]) for job in JOBS] == [
        ("local", True, True)
    ] * 4
    assert told["conversation"]["problem"] == "no language model is configured, and a conversation needs one"
    assert (told["recall"]["problem"], told["extraction"]["sharesCache"]) == (None, None)


def test_each_job_is_told_with_its_model_where_it_is_and_what_it_costs(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("anthropic", "openai"):
        monkeypatch.delenv(PROVIDERS[name].moved_by)
    settings(desk, model="anthropic:claude-haiku-5-5", extract={"model": "openai:gpt-6.2-sol"})
    told = jobs(desk)
    assert {job: one["model"] for job, one in told.items()} == {
        "conversation": "anthropic:claude-haiku-5-5",
        "recall": "anthropic:claude-sonnet-5",
        "extraction": "openai:gpt-6.2-sol",
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
        "price": {"input": 2, "output": 10, "cacheRead": 0.1, "cacheWrite": 2.5},
        "cache": "automatic, for prompts from 1,024 tokens on",
        "sharesCache": False,
        "unencrypted": False,
        "problem": "openai:gpt-6.2-sol needs a key, and OPENAI_API_KEY is not set",
        "cure": told["extraction"]["cure"],
    }
    assert "https://platform.openai.com/api-keys" in told["extraction"]["cure"]
    assert [told[job]["sharesCache"] for job in JOBS] == [None, None, False, True]
    out = desk("models").out
    assert out.splitlines()[2] == "extraction    openai:gpt-6.2-sol"
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
        ("http://{nowhere}/v1:m", "no server answers"),
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
        running.route("/v1/models/claude-sonnet-5", Refused(kind="key_refused"))
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-good-key")
        ran = desk("models", "--json", "--model", "anthropic:claude-sonnet-5")
    assert "was refused" in ran.json["jobs"][0]["problem"]
    assert "not-a-good-key" not in ran.out + ran.err


def test_an_address_in_the_open_is_flagged(desk: Desk) -> None:
    name = "http://gw.example.org/v1:m"
    assert jobs(desk, "--model", name)["conversation"]["unencrypted"] is True
    assert "unencrypted" in block(desk("models", "--model", name).out, name)["careful"]


def test_a_name_in_settings_that_means_nothing_is_a_finding_and_not_a_failure(desk: Desk) -> None:
    settings(desk, model="local", recall={"model": "claude-sonnet-5"})
    one = jobs(desk)["recall"]
    assert (one["model"], one["reachable"], one["where"]) == ("claude-sonnet-5", False, None)
    assert one["problem"] == "unknown model 'claude-sonnet-5'"
    assert one["cure"] == "did you mean `anthropic:claude-sonnet-5`?"


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
        "choose": "openrouter:anthropic/claude-sonnet-5",
    }
    assert ollama == {
        "provider": "ollama",
        "where": server.url.removeprefix("http://"),
        "key": None,
        "models": ["qwen3:8b", "nomic-embed", "llama3.2:3b", "gemma3:4b"],
        "choose": "ollama:qwen3:8b",
    }
    out = desk("models").out
    assert "openrouter.ai" in out
    assert "OPENROUTER_API_KEY is set" in out
    assert "qwen3:8b, nomic-embed, llama3.2:3b and 1 more" in out
    assert "choose one as in `--model openrouter:anthropic/claude-sonnet-5`" in out
    assert "not-a-real-key" not in out


def test_a_key_in_the_systems_keyring_counts(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "tests.model.drawer.Drawer")
    monkeypatch.setattr("keyring.core._keyring_backend", None)
    monkeypatch.setitem(Drawer.entries, ("memdir", "openai"), "kept-in-a-drawer")
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


# -- at a terminal ---------------------------------------------------------------------------------------


def test_at_a_terminal_sentences_are_wrapped_below_their_label(desk: Desk) -> None:
    with typist(desk, "models", "--model", "ollama:qwen3:8b", COLUMNS="62") as someone:
        code, shown = someone.sees_the_end()
    assert code == 0
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 62
    assert "extraction    ollama:qwen3:8b" in lines
    (about,) = (part for part in shown.split("\n\n") if part.startswith("ollama:qwen3:8b\n"))
    title, *below = about.splitlines()
    assert title == "ollama:qwen3:8b"
    assert all(line.startswith("  ") for line in below)
    assert any(line.startswith(" " * 11) for line in below), "a sentence goes on below its beginning"


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
    assert ran.err.count("warning: unknown model 'qwen3:8b': did you mean `ollama:qwen3:8b`?") == 1
    assert ran.err.count("warning: unknown model 'odd'") == 1
    assert "recall      on, by no model that is known" in ran.out

"""What the wire server says of itself, and what it says of the requests that it saw."""

from __future__ import annotations

import pytest

from memdir.testing import call, say
from tests.wire.answers import key_refused
from tests.wire.asking import DIALECTS, Json, get, post, question, send, tool
from tests.wire.seen import dump
from tests.wire.server import WireServer

each_dialect = pytest.mark.parametrize("dialect", DIALECTS)
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
STRUCTURED: dict[str, Json] = {
    "messages": {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
    "chat": {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
        }
    },
    "responses": {
        "text": {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": True}}
    },
}


# ── what was seen ──────────────────────────────────────────────────────────────────────────────────────


def test_what_was_seen_has_the_bytes_that_were_sent() -> None:
    marked = [{"type": "text", "text": "é 记", "cache_control": {"type": "ephemeral"}}]
    first_sent = question("messages")
    first_sent["messages"] = [{"role": "user", "content": marked}]
    longer = {**first_sent, "messages": [*first_sent["messages"], {"role": "user", "content": "more"}]}
    with WireServer(say("a"), say("b"), say("c")) as server:
        for sent in (first_sent, longer, question("messages")):
            assert post(server, "messages", sent)[0] == 200
    first, second, third = server.seen
    assert dump(first.body).encode() == first.raw
    assert first.part("messages") == '[{"role":"user","content":[{"type":"text","text":"é 记"}]}]'
    assert second.continues(first)
    assert not first.continues(second)
    assert not third.continues(first)


@each_dialect
def test_a_request_is_told_in_the_same_words_in_every_format(dialect: str) -> None:
    system: dict[str, Json] = {
        "messages": {"system": [{"type": "text", "text": "Be brief."}]},
        "chat": {},
        "responses": {"instructions": "Be brief."},
    }
    with WireServer(say("{}")) as server:
        sent = question(dialect, "what is there?", tools=[tool(dialect, "Read")], **STRUCTURED[dialect])
        if dialect == "chat":
            sent["messages"].insert(0, {"role": "system", "content": "Be brief."})
        assert post(server, dialect, {**sent, **system[dialect]})[0] == 200
    (seen,) = server.seen
    assert (seen.dialect, seen.is_structured, seen.tools) == (dialect, True, ("Read",))
    assert seen.text == "what is there?"
    assert "Be brief." in seen.part("system")
    assert "Be brief." not in seen.part("messages")
    assert "Read" in seen.part("tools")
    assert seen.part("model") == '"m"'


@each_dialect
def test_another_setting_or_another_system_prompt_continues_nothing(dialect: str) -> None:
    with WireServer(*[say("a")] * 4) as server:
        sent = question(dialect)
        head = {"messages": {"system": "Be brief."}, "responses": {"instructions": "Be brief."}}
        system = {**sent, **head.get(dialect, {})}
        if dialect == "chat":
            system["messages"] = [{"role": "system", "content": "Be brief."}, *sent["messages"]]
        for other in (sent, system, {**sent, "model": "other"}, {**sent, "tools": [tool(dialect, "Read")]}):
            assert post(server, dialect, other)[0] == 200
    first, *others = server.seen
    assert first.continues(first)
    assert [other.continues(first) for other in others] == [False, False, False]


def test_rules_have_queues_of_their_own_and_what_is_left_is_told() -> None:
    with WireServer(say("main")) as server:
        server.when(lambda seen: "Read" in seen.tools, say("with tools"), lambda seen: say(seen.path))

        def text(sent: Json) -> str:
            return str(post(server, "messages", sent)[1]["content"][0]["text"])

        tooled = question("messages", tools=[tool("messages", "Read")])
        assert text(tooled) == "with tools"
        assert text(question("messages")) == "main"
        with pytest.raises(AssertionError, match="1 answers were not asked for"):
            server.assert_exhausted()
        assert text(tooled) == "/v1/messages"
        assert post(server, "messages", question("messages"))[0] == 400
    with pytest.raises(AssertionError, match="1 requests had none"):
        server.assert_exhausted()
    assert [seen.status for seen in server.seen] == [200, 200, 200, 400]
    assert len(server.answered) == 3


@each_dialect
def test_calls_have_ids_that_no_earlier_one_had(dialect: str) -> None:
    with WireServer(call("Read"), call("Read")) as server:
        sent = question(dialect, tools=[tool(dialect, "Read")])
        first, second = (dump(post(server, dialect, sent)[1]) for _ in range(2))
    prefix = "toolu_" if dialect == "messages" else "call_"
    assert f"{prefix}000001" in first
    assert f"{prefix}000002" in second


# ── looking around ─────────────────────────────────────────────────────────────────────────────────────


@each_dialect
def test_without_a_key_nothing_is_answered_unless_the_server_is_open(dialect: str) -> None:
    with WireServer(say("secret")) as server:
        assert post(server, dialect, question(dialect), key="")[0] == 401
        assert get(server, "/v1/models", key="")[0] == 401
    with WireServer(say("public"), is_open=True) as server:
        assert post(server, dialect, question(dialect), key="")[0] == 200
        assert get(server, "/v1/models", key="")[0] == 200


def test_models_are_listed_in_the_form_of_who_asks() -> None:
    with WireServer(models=("small", {"id": "big", "max_model_len": 4096})) as server:
        status, theirs = get(server, "/v1/models")
        ours = get(server, "/v1/models", **{"anthropic-version": "2023-06-01"})[1]
        one = get(server, "/v1/models/small")
        mine = get(server, "/v1/models/small", **{"x-api-key": "k"})
        none = get(server, "/v1/models/missing")
    assert (status, theirs["object"]) == (200, "list")
    assert [model["id"] for model in theirs["data"]] == ["small", "big"]
    assert theirs["data"][1]["max_model_len"] == 4096
    assert (ours["has_more"], ours["first_id"], ours["last_id"]) == (False, "small", "big")
    assert (one[0], one[1]["object"]) == (200, "model")
    assert (mine[0], mine[1]["type"]) == (200, "model")
    assert (none[0], none[1]["error"]["code"]) == (404, "model_not_found")
    assert [seen.status for seen in server.looked] == [200, 200, 200, 200, 404]
    assert server.seen == []


@each_dialect
def test_a_model_that_is_not_served_is_unknown(dialect: str) -> None:
    with WireServer(say("a"), models=("m",)) as server:
        status, body = post(server, dialect, question(dialect, model="other"))
        assert post(server, dialect, question(dialect))[0] == 200
        server.assert_exhausted()
    assert status == 404
    assert "other" in body["error"]["message"]


def test_what_a_server_of_some_kind_answers_beyond_that_is_a_route() -> None:
    with WireServer() as server:
        server.route("/props", {"default_generation_settings": {"n_ctx": 8192}})
        server.route("/api/show", lambda seen: {"model": seen.body["model"]})
        server.route("/v1/models", key_refused())
        assert get(server, "/props?model=m", key="")[1]["default_generation_settings"] == {"n_ctx": 8192}
        assert send(server, "/api/show", {"model": "m"}) == (200, b'{"model":"m"}')
        assert get(server, "/v1/models")[0] == 401
        assert get(server, "/api/ps")[0] == 404
    assert [(seen.method, seen.path) for seen in server.looked] == [
        ("GET", "/props"),
        ("POST", "/api/show"),
        ("GET", "/v1/models"),
        ("GET", "/api/ps"),
    ]
    assert server.looked[0].query == "model=m"


def test_a_service_may_have_its_paths_elsewhere() -> None:
    with WireServer(say("a"), root="/api/v1") as server:
        assert server.v1 == f"{server.url}/api/v1"
        assert send(server, "/api/v1/chat/completions", question("chat"))[0] == 200
        assert send(server, "/v1/chat/completions", question("chat"))[0] == 404

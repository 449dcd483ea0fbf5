"""The wire server is strict where the service is, and says what it saw."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from memdir.testing import call, say, think
from tests.wire.rules import objection
from tests.wire.server import WireServer, _dump

USER = {"role": "user", "content": "hi"}
ONE = {"type": "tool_use", "id": "1", "name": "Read", "input": {}}
TWO = {**ONE, "id": "2"}
CALL = {"role": "assistant", "content": [ONE]}
RESULT = {"type": "tool_result", "tool_use_id": "1", "content": "text"}
FAILED = {"type": "tool_result", "tool_use_id": "1", "content": "", "is_error": True}


def text(words: str = "x", **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def body(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": list(messages), **more}


def post(server: WireServer, sent: dict[str, Any], *, key: str = "k") -> tuple[int, Any]:
    headers = {"content-type": "application/json", **({"x-api-key": key} if key else {})}
    request = urllib.request.Request(
        f"{server.url}/v1/messages", data=_dump(sent).encode(), headers=headers, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_a_plain_request_is_answered_in_one_object() -> None:
    with WireServer([think("hm"), say("Hello."), call("Read", file_path="a")]) as server:
        status, answer = post(server, body(USER))
    assert status == 200
    assert [block["type"] for block in answer["content"]] == ["thinking", "text", "tool_use"]
    assert answer["stop_reason"] == "tool_use"
    assert answer["usage"]["input_tokens"] > 0
    server.assert_exhausted()


def test_what_was_seen_has_the_bytes_that_were_sent() -> None:
    marked = {"role": "user", "content": [text("é 记", cache_control={"type": "ephemeral"})]}
    with WireServer(say("a"), say("b"), say("c")) as server:
        for sent in (body(marked), body(marked, CALL, {"role": "user", "content": [RESULT]}), body(USER)):
            assert post(server, sent)[0] == 200
    first, second, third = server.seen
    assert _dump(first.body).encode() == first.raw
    assert first.part("messages") == '[{"role":"user","content":[{"type":"text","text":"é 记"}]}]'
    assert second.continues(first)
    assert not first.continues(second)
    assert not third.continues(first)


def test_rules_have_queues_of_their_own_and_what_is_left_is_told() -> None:
    with WireServer(say("main")) as server:
        server.when(lambda seen: "tools" in seen.body, say("with tools"), lambda seen: say(seen.path))
        assert post(server, body(USER, tools=[{"name": "t"}]))[1]["content"][0]["text"] == "with tools"
        assert post(server, body(USER))[1]["content"][0]["text"] == "main"
        with pytest.raises(AssertionError, match="1 answers were not asked for"):
            server.assert_exhausted()
        assert post(server, body(USER, tools=[{"name": "t"}]))[1]["content"][0]["text"] == "/v1/messages"
        assert post(server, body(USER))[0] == 400
    with pytest.raises(AssertionError, match="1 requests had none"):
        server.assert_exhausted()
    assert [seen.status for seen in server.seen] == [200, 200, 200, 400]
    assert len(server.answered) == 3


def test_without_a_key_nothing_is_answered() -> None:
    with WireServer(say("secret")) as server:
        assert post(server, body(USER), key="")[0] == 401


@pytest.mark.parametrize(
    ("wrong", "sent"),
    [
        ("max_tokens: field required", {"model": "m", "messages": [USER]}),
        ("messages: field required", body()),
        ("first message", body(CALL)),
        ("non-empty content", body(USER, {"role": "assistant", "content": []}, USER)),
        ("non-whitespace", body({"role": "user", "content": [text(" ")]})),
        ("maximum of 4", body({"role": "user", "content": [text(cache_control={})] * 5})),
        ("signature", body(USER, {"role": "assistant", "content": [{"type": "thinking", "signature": ""}]})),
        ("without tool_result", body(USER, CALL)),
        ("must have one tool_result", body(USER, CALL, USER)),
        ("must have one tool_result", body({"role": "user", "content": [RESULT]})),
        ("must have one tool_result", body(USER, CALL, {"role": "user", "content": [RESULT, RESULT]})),
        ("before other content", body(USER, CALL, {"role": "user", "content": [text(), RESULT]})),
        ("before other content", body(USER, CALL, USER, {"role": "user", "content": [RESULT]})),
        ("cannot be empty", body(USER, CALL, {"role": "user", "content": [FAILED]})),
    ],
)  # fmt: skip
def test_what_the_service_would_refuse_is_refused(wrong: str, sent: dict[str, Any]) -> None:
    assert wrong in (objection(sent) or "nothing wrong")


def test_results_may_come_in_several_messages_of_one_turn() -> None:
    two = {"role": "assistant", "content": [ONE, TWO]}
    answers = [{"role": "user", "content": [{**RESULT, "tool_use_id": id_}]} for id_ in ("1", "2")]
    assert objection(body(USER, two, *answers, USER)) is None

"""What the wire server sends has the shapes that the providers' own libraries know."""

from __future__ import annotations

from typing import Any, Literal, get_args

import pytest

from memdir.model.messages import Block
from memdir.testing import call, say, think
from tests.wire import listing
from tests.wire.answers import Streamed, breaks, declines, garbled_call, overloaded, stopped
from tests.wire.asking import get, post, question, stream, tool
from tests.wire.rules import chat, messages, responses
from tests.wire.server import WireServer

pytestmark = pytest.mark.anyio

TOLD: tuple[Literal["flat", "ending"], ...] = ("flat", "ending")
CALLS: list[Block] = [
    think("Hm.", signature="sealed"),
    say("I'll look."),
    call("Read", file_path="a"),
    call("Read"),
]
ANSWERS: list[Any] = [
    CALLS,
    stopped("max_tokens", say("So far")),
    stopped("refusal"),
    declines("I can't help with that."),
    garbled_call("Read", '{"file'),
]
ASKED = {"reasoning": {"summary": "auto"}, "include": ["reasoning.encrypted_content"]}


@pytest.mark.parametrize("answer", ANSWERS)
def test_chat_sends_what_the_sdk_knows(answer: Any) -> None:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    with WireServer(answer, answer, reasoning=None) as server:
        sent = question("chat", tools=[tool("chat", "Read")])
        whole = ChatCompletion.model_validate(post(server, "chat", sent)[1])
        options = {"stream_options": {"include_usage": True}}
        *events, done = stream(server, "chat", {**sent, **options})
    chunks = [ChatCompletionChunk.model_validate(event) for event in events]
    assert done == "[DONE]"
    assert not any(extras(item) for item in [whole, *chunks])
    assert chunks[-1].usage == whole.usage


@pytest.mark.parametrize(
    "answer",
    [*ANSWERS, *(breaks(overloaded(), say("So"), told=told) for told in TOLD)],
)
def test_responses_sends_what_the_sdk_knows(answer: Any) -> None:
    from openai.types.responses import Response, ResponseStreamEvent
    from pydantic import TypeAdapter

    known: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    with WireServer(answer, answer) as server:
        sent = question("responses", tools=[tool("responses", "Read")], **ASKED)
        sent_events = stream(server, "responses", sent)
        whole = post(server, "responses", sent)[1]
    events = [known.validate_python(event) for event in sent_events]
    assert [event.type for event in events] == [event["type"] for event in sent_events]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert all(extras(event) <= {"store"} for event in events)
    if not (isinstance(answer, Streamed) and not isinstance(answer.end, str)):
        assert extras(Response.model_validate(whole)) == {"store"}  # which comes, though its type has it not


@pytest.mark.parametrize("answer", ANSWERS)
def test_messages_sends_what_the_sdk_knows(answer: Any) -> None:
    from anthropic.types import Message, RawMessageStreamEvent
    from pydantic import TypeAdapter

    known: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    with WireServer(answer, answer) as server:
        sent = question("messages", tools=[tool("messages", "Read")])
        Message.model_validate(post(server, "messages", sent)[1])
        events = stream(server, "messages", sent)
    for event in events:
        if event["type"] != "ping":  # the SDK drops these before it looks
            known.validate_python(event)


def test_models_are_listed_as_the_sdks_know_them() -> None:
    from anthropic.types import ModelInfo
    from openai.types import Model

    assert extras(Model.model_validate(listing.openai_model("m"))) == set()
    assert extras(ModelInfo.model_validate(listing.anthropic_model("m"))) == set()
    with WireServer() as server:
        assert get(server, "/v1/models")[1] == listing.openai(["claude-sonnet-5", "gpt-6.2-sol"])


async def test_the_sdk_hears_a_chat_stream_whole() -> None:
    from openai import AsyncOpenAI

    with WireServer(CALLS, reasoning=None) as server:
        async with AsyncOpenAI(base_url=server.v1, api_key=server.key, max_retries=0) as client:
            more: Any = {"tools": [tool("chat", "Read")], "stream_options": {"include_usage": True}}
            said: Any = [{"role": "user", "content": "hi"}]
            async with client.chat.completions.stream(model="m", messages=said, **more) as heard:
                final = await heard.get_final_completion()
    (choice,) = final.choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == "I'll look."
    calls = [item.function for item in choice.message.tool_calls or ()]
    assert [function.arguments for function in calls] == ['{"file_path": "a"}', "{}"]
    assert final.usage is not None


async def test_the_sdk_hears_a_response_stream_whole() -> None:
    from openai import AsyncOpenAI

    with WireServer(CALLS) as server:
        async with AsyncOpenAI(base_url=server.v1, api_key=server.key, max_retries=0) as client:
            more: Any = {"tools": [tool("responses", "Read")], **ASKED}
            async with client.responses.stream(model="m", input="hi", store=False, **more) as heard:
                final: Any = await heard.get_final_response()
    assert [item.type for item in final.output] == ["reasoning", "message", "function_call", "function_call"]
    assert final.output_text == "I'll look."
    assert final.output[0].encrypted_content == "sealed"
    assert [item.arguments for item in final.output[2:]] == ['{"file_path": "a"}', "{}"]


def test_the_fields_of_a_request_are_those_of_the_sdks() -> None:
    from anthropic.types.message_count_tokens_params import MessageCountTokensParams
    from anthropic.types.message_create_params import MessageCreateParamsBase
    from openai.types.chat.completion_create_params import CompletionCreateParamsBase
    from openai.types.responses.input_token_count_params import InputTokenCountParams
    from openai.types.responses.response_create_params import ResponseCreateParamsBase
    from openai.types.responses.response_includable import ResponseIncludable

    assert fields(CompletionCreateParamsBase) | {"stream"} == chat.FIELDS
    assert fields(ResponseCreateParamsBase) | {"stream"} == responses.FIELDS
    assert fields(InputTokenCountParams) == responses.COUNTED
    assert set(get_args(ResponseIncludable)) == responses.INCLUDABLE
    assert fields(MessageCreateParamsBase) | {"stream"} == messages.FIELDS
    assert fields(MessageCountTokensParams) == messages.COUNTED


def fields(params: Any) -> set[str]:
    """The fields of a request's type."""
    return set(params.__annotations__)


def extras(value: Any) -> set[str]:
    """The fields in a parsed object, at any depth, that its type does not have."""
    from pydantic import BaseModel

    if isinstance(value, list):
        return set().union(*map(extras, value))
    if not isinstance(value, BaseModel):
        return set()
    inner = (extras(getattr(value, name)) for name in type(value).model_fields)
    return set(value.model_extra or ()).union(*inner)

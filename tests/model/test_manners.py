"""What is known of a server, and what its refusals teach."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.model.messages import Prefix, Request, person
from memdir.model.openai import manners
from memdir.model.openai.manners import Manners, longest_answer, takes_strictly, without
from memdir.model.openai.said import Said
from tests.model.conversations import ask

OPENAI = manners.of(None, "gpt-6.2-sol")


def refused(text: str, *, status: int = 400, param: str = "", code: str = "") -> Said:
    return Said(status=status, param=param, code=code, text=text)


def changed(before: Manners, refusal: Said, asked: int = 8192, *, pictures: bool = True) -> dict[str, Any]:
    """What the refusal changed: the fields that are others now."""
    after = without(before, refusal, asked=asked, pictures=pictures)
    if after is None:
        return {}
    return {
        name: getattr(after, name)
        for name in Manners.__slots__
        if getattr(after, name) != getattr(before, name)
    }


@pytest.mark.parametrize(
    ("url", "server"),
    [
        (None, "openai"),
        ("https://api.openai.com/v1", "openai"),
        ("https://eu.api.openai.com/v1", "openai"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("http://127.0.0.1:11434/v1", "ollama"),
        ("http://192.168.1.7:1234/v1", "lmstudio"),
        ("http://127.0.0.1:8000/v1", "unknown"),
        ("https://api.openai.com.example.org/v1", "unknown"),
        ("http://host:99999999/v1", "unknown"),
    ],
)
def test_an_address_says_whose_server_it_is(url: str | None, server: str) -> None:
    assert manners.of(url, "m").server == server


@pytest.mark.parametrize(
    ("model", "reasons", "uncached"),
    [
        ("gpt-6.2-sol", True, True),
        ("gpt-5.6", True, True),
        ("gpt-5.4-mini", True, False),
        ("o4-mini", True, False),
        ("gpt-4o", False, False),
        ("gpt-5-chat-latest", False, False),
        ("ft:gpt-4o:org::id", False, False),
    ],
)
def test_openais_models_differ_by_generation(model: str, reasons: bool, uncached: bool) -> None:
    of = manners.of(None, model)
    assert (of.effort, of.encrypted, of.uncached) == (reasons, reasons, uncached)


@pytest.mark.parametrize(
    ("before", "refusal", "change"),
    [
        (
            Manners(),
            refused(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead.",
                param="max_tokens",
                code="unsupported_parameter",
            ),
            {"limit": "max_completion_tokens", "swapped": True},
        ),
        (
            OPENAI,
            refused("extra field", param="max_completion_tokens"),
            {"limit": "max_tokens", "swapped": True},
        ),
        (Manners(), refused("Unrecognized request argument supplied: stream_options"), {"usage": False}),
        (OPENAI, refused("no", param="prompt_cache_key"), {"cache_key": False}),
        (OPENAI, refused("Unknown parameter: 'prompt_cache_options'."), {"uncached": False}),
        (Manners(parallel=True), refused("parallel_tool_calls: no", status=422), {"parallel": False}),
        (OPENAI, refused("no", param="reasoning_effort"), {"effort": False}),
        (
            OPENAI,
            refused("Unsupported parameter: 'reasoning.effort'", param="reasoning.effort"),
            {"effort": False},
        ),
        (OPENAI, refused("Encrypted content is not supported", param="include"), {"encrypted": False}),
        (
            OPENAI,
            refused("It could not be verified.", code="invalid_encrypted_content"),
            {"reasoning": False},
        ),
        (
            OPENAI,
            refused("Item 'rs_1' of type 'reasoning' was provided without what followed"),
            {"reasoning": False},
        ),
        (Manners(), refused("messages.1: unknown field `reasoning_details`"), {"reasoning": False}),
        (
            Manners(),
            refused("The reasoning_content in the thinking mode must be passed back to the API."),
            {"blank_reasoning": True},
        ),
        (
            Manners(strict=True),
            refused("Invalid schema for function 'Read'", param="tools"),
            {"strict": False},
        ),
        (Manners(), refused("This response_format type is unavailable now"), {"schema": "json_object"}),
        (
            Manners(schema="json_object"),
            refused("'response_format.type' must be 'json_schema' or 'text'"),
            {"schema": None},
        ),
        (Manners(), refused("Jinja Exception: System role not supported", status=500), {"system": False}),
        (
            Manners(),
            refused("conversation roles must alternate user and assistant", status=500),
            {"alternate": True},
        ),
        (Manners(), refused("image input is not supported - hint: mmproj", status=500), {"images": False}),
        (Manners(), refused("No endpoints found that support image input", status=404), {"images": False}),
        (OPENAI, refused("messages.0.content: Input should be a valid string", status=422), {"parts": False}),
        (Manners(cache_marks=True), refused("unexpected field cache_control"), {"cache_marks": False}),
        (OPENAI, refused("Unknown parameter: 'store'", param="store"), {"store": False}),
    ],
)
def test_a_refusal_gives_up_the_one_thing_it_is_about(
    before: Manners, refusal: Said, change: dict[str, Any]
) -> None:
    assert changed(before, refusal) == change


@pytest.mark.parametrize(
    ("text", "status", "most"),
    [
        ("max_tokens is too large: 32000. This model supports at most 4096 completion tokens", 400, 4096),
        ("max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens", 400, 4096),
        ("You requested up to 65536 tokens, but can only afford 3395. Or fewer max_tokens", 402, 3395),
        (
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum "
                "context length is "
                "4096 tokens and your request has 2778 input tokens (8000 > 4096 - 2778)."
            ),
            400,
            1317,
        ),
        (
            (
                "You passed 9,000 input tokens and requested 8,192 output tokens. However, the model's "
                "context "
                "length is only 16,384 tokens, resulting in a maximum input length of 8,192 tokens."
            ),
            400,
            7383,
        ),
        (
            (
                "This model's maximum context length is 16384 tokens. However, you requested 8192 output "
                "tokens "
                "and your prompt contains at least 8193 input tokens, for a total of at least 16385 tokens."
            ),
            400,
            4096,
        ),
        (
            (
                "This model's maximum context length is 4097 tokens. However, you requested 9000 tokens "
                "(1222 in "
                "the messages, 8192 in the completion)."
            ),
            400,
            2874,
        ),
        (
            (
                "This endpoint's maximum context length is 8192 tokens. However, you requested about "
                "9000 tokens "
                "(500 of text input, 300 of tool input, 8192 in the output)."
            ),
            400,
            7391,
        ),
        (
            "This model's maximum context length is 4097 tokens. However, your messages have 6988 tokens.",
            400,
            None,
        ),
        (
            (
                "This endpoint's maximum context length is 8192 tokens. However, you requested about "
                "17000 tokens "
                "(8400 of text input, 8192 in the output)."
            ),
            400,
            None,
        ),
        ("Prompt tokens limit exceeded: 230799 > 91442", 402, None),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 4096]", 400, 4096),
        ("`max_tokens` must be less than or equal to `4096`, the maximum value for it", 400, 4096),
        ("max_tokens: must be <= 4096", 400, 4096),
        ("max_tokens (8192) exceeds model limit 4096", 400, 4096),
        ("max_tokens=8192 cannot be greater than max_model_len=max_total_tokens=4096.", 400, 2048),
    ],
)
def test_a_refusal_says_how_long_an_answer_may_be(text: str, status: int, most: int | None) -> None:
    """And only a limit of the model's own becomes its manners: the window leaves the next request more."""
    found = manners.room(refused(text, status=status), asked=8192)
    assert (found.most if found and found.most >= manners.SMALLEST_ANSWER else None) == most
    stays = found is not None and found.window is None
    assert changed(Manners(), refused(text, status=status)) == ({"most": most} if stays else {})


@pytest.mark.parametrize(
    "refusal",
    [
        refused("max_tokens", status=429),
        refused("invalid api key", status=401),
        refused("your messages are too long"),
        Said(text="store"),
    ],
)
def test_a_refusal_about_nothing_optional_gives_up_nothing(refusal: Said) -> None:
    assert without(OPENAI, refusal, asked=8192) is None


@pytest.mark.parametrize(
    "text",
    [
        "Invalid image: could not decode image",
        "image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
        "At most 1 image(s) may be provided in one request.",
        "You uploaded an unsupported image. Please make sure it is one of ['png', 'jpeg']",
        "model 'qwen2.5-vision:7b' was not found",
        "Invalid function signature in tool definition",
    ],
)
def test_what_is_wrong_with_one_picture_or_a_name_gives_up_nothing(text: str) -> None:
    assert changed(Manners(), refused(text)) == {}


def test_pictures_are_given_up_only_by_a_request_that_holds_one() -> None:
    blind = refused("this model does not support image input")
    assert changed(Manners(), blind) == {"images": False}
    assert changed(Manners(), blind, pictures=False) == {}


@pytest.mark.parametrize(
    "text",
    [
        "body.{}: Extra inputs are not permitted",
        "[{{'type': 'extra_forbidden', 'loc': ('body', '{}'), 'msg': 'Extra inputs are not permitted'}}]",
        'json: unknown field "{}"',
        "Unsupported parameter: '{}' is not supported with this model.",
    ],
)
@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("store", {"store": False}),
        ("include", {"encrypted": False}),
        ("reasoning", {"effort": False}),
        ("max_output_tokens", {"bound": False}),
        ("max_completion_tokens", {"limit": "max_tokens", "swapped": True}),
    ],
)
def test_a_field_is_known_by_its_path_and_in_quotes(text: str, field: str, change: dict[str, Any]) -> None:
    assert changed(OPENAI, refused(text.format(field))) == change


def test_a_signature_is_of_reasoning_where_reasoning_is_spoken_of() -> None:
    text = "messages.1.content.0: Invalid `signature` in `thinking` block"
    assert changed(Manners(), refused(text)) == {"reasoning": False}


WORDS = (
    "max_tokens max_completion_tokens stream_options prompt_cache_key store strict reasoning image "
    "content must "
    "be str response_format must alternate roles include parameter: 'max_tokens' can only afford 700 "
    "system role"
)
texts = st.lists(st.sampled_from(WORDS.split()), max_size=9).map(" ".join)


@given(st.lists(texts, min_size=60, max_size=60), st.sampled_from([OPENAI, Manners()]))
def test_there_is_an_end_to_giving_up(refusals: list[str], before: Manners) -> None:
    seen = {before}
    for text in refusals:
        after = without(before, refused(text), asked=before.most or 8192)
        if after is not None:
            assert after not in seen
            seen.add(after)
            before = after
    assert len(seen) <= len(Manners.__slots__) + 3


def test_an_answer_may_be_as_long_as_is_asked_for_and_as_there_is_room() -> None:
    assert longest_answer(ask("hi"), Manners()) == 8192
    assert longest_answer(ask("hi"), Manners(), room=3000) == 3000
    assert longest_answer(ask("hi"), Manners(most=2000), room=3000) == 2000
    assert longest_answer(ask("hi"), Manners(), room=-5) == manners.SMALLEST_ANSWER
    short = Prefix(system=(), tools=(), max_tokens=20)
    assert longest_answer(ask("hi", prefix=short), Manners(), room=3000) == 20
    small = Prefix(system=(), tools=(), max_tokens=256)
    structured = Request(prefix=small, messages=(person("which?"),), schema={"type": "object"})
    assert longest_answer(structured, Manners()) == 256 + manners.ROOM_TO_REASON
    assert (
        longest_answer(ask("hi", prefix=Prefix(system=(), tools=(), max_tokens=10, thinking=90)), Manners())
        == 100
    )


@pytest.mark.parametrize(
    ("budget", "effort"), [(None, None), (1024, "low"), (8192, "medium"), (32_000, "high")]
)
def test_a_budget_for_reasoning_is_an_effort(budget: int | None, effort: str | None) -> None:
    assert manners.effort(ask("hi", prefix=Prefix(system=(), tools=(), thinking=budget))) == effort


CLOSED: dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "strictly"),
    [
        (CLOSED, True),
        ({**CLOSED, "properties": {"a": {"type": "string"}}, "required": ["a"]}, True),
        ({**CLOSED, "properties": {"a": {"type": "string"}}}, False),
        ({**CLOSED, "properties": {"a": {"type": "object"}}, "required": ["a"]}, False),
        ({**CLOSED, "properties": {"a": {"items": {"type": "object"}}}, "required": ["a"]}, False),
        ({**CLOSED, "properties": {"a": {"default": 1}}, "required": ["a"]}, False),
        ({**CLOSED, "properties": {"default": {"type": "string"}}, "required": ["default"]}, True),
        ({"type": "object"}, False),
        ({"anyOf": [CLOSED, {"type": "object"}]}, False),
    ],
)
def test_strict_mode_takes_closed_schemas_only(schema: dict[str, Any], strictly: bool) -> None:
    assert takes_strictly(schema) is strictly

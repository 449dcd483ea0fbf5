"""From the `model` setting to a client, and the client that needs nothing."""

from __future__ import annotations

import pytest

from memdir.errors import ModelNotConfigured, UsageError
from memdir.model.anthropic import Anthropic
from memdir.model.choose import client
from memdir.model.local import Local
from tests.model.conversations import ask


def test_local_is_the_embedded_default() -> None:
    model = client("local")
    assert isinstance(model, Local)
    assert (model.name, model.is_local) == ("local", True)


def test_a_provider_and_a_model_make_a_client_without_a_key_or_a_library() -> None:
    model = client(" anthropic:claude-sonnet-5 ")
    assert isinstance(model, Anthropic)
    assert (model.name, model.is_local, model.window) == ("anthropic:claude-sonnet-5", False, 1_000_000)


@pytest.mark.parametrize(
    "spec", ["", "claude-sonnet-5", "openai", "nobody:model", "local:big", "anthropic:", "anthropic"]
)
def test_what_names_no_model_is_told_what_there_is(spec: str) -> None:
    with pytest.raises(UsageError) as told:
        client(spec)
    assert repr(spec) in str(told.value)
    for choice in ("`local`", "`anthropic:MODEL`", "`anthropic:claude-sonnet-5`"):
        assert choice in (told.value.hint or "")


@pytest.mark.anyio
async def test_without_a_language_model_the_three_steps_to_one_are_told() -> None:
    model = Local()
    with pytest.raises(ModelNotConfigured, match="no language model is configured") as told:
        await model.complete(ask("hi"))
    for step in ("--model anthropic:claude-sonnet-5", "`model` setting", "ANTHROPIC_API_KEY"):
        assert step in (told.value.hint or "")
    assert told.value.exit_code == 2
    await model.aclose()

"""The public fakes of `memdir.testing`."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from memdir.errors import ModelOverloaded
from memdir.model.client import ModelClient
from memdir.model.messages import Reply, Request, Text, Usage, assistant
from memdir.testing import ScriptedModel, call, say, temporary_memory, think, tree
from tests.model.conversations import ask

pytestmark = pytest.mark.anyio


async def test_replies_come_in_their_order_and_requests_are_kept() -> None:
    model: ModelClient = ScriptedModel(
        [[say("I look."), call("Read", file_path="a"), call("Grep", pattern="b")], say("Done.")]
    )
    first = await model.complete(ask("go"))
    assert [(use.name, use.input) for use in first.message.tool_uses] == [
        ("Read", {"file_path": "a"}),
        ("Grep", {"pattern": "b"}),
    ]
    assert (first.text, first.stop) == ("I look.", "tool_use")
    second = await model.complete(ask("go on"))
    assert (second.text, second.stop) == ("Done.", "end_turn")
    assert isinstance(model, ScriptedModel)
    assert [request.messages[-1].text for request in model.requests] == ["go", "go on"]
    model.assert_exhausted()


async def test_each_call_has_an_id_of_its_own() -> None:
    model = ScriptedModel([[call("Read"), call("Read")], call("Read")])
    replies = [await model.complete(ask("go")) for _ in range(2)]
    ids = [use.id for reply in replies for use in reply.message.tool_uses]
    assert len(set(ids)) == 3


async def test_a_reply_may_look_at_the_request_or_wait_for_something() -> None:
    gate = anyio.Event()

    async def waits(request: Request) -> Text:
        await gate.wait()
        return say(f"{len(request.messages)} messages")

    model = ScriptedModel([lambda request: say(request.messages[0].text.upper()), waits])
    assert (await model.complete(ask("loud"))).text == "LOUD"
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(model.complete, ask("x"))
            gate.set()
    model.assert_exhausted()


async def test_an_error_is_raised_and_a_whole_reply_given_as_it_is() -> None:
    whole = Reply(message=assistant("as it is"), stop="max_tokens", usage=Usage(output=7), model="other")
    model = ScriptedModel([ModelOverloaded("busy"), whole])
    with pytest.raises(ModelOverloaded, match="busy"):
        await model.complete(ask("hi"))
    assert await model.complete(ask("hi")) is whole


async def test_text_streams_to_the_one_who_listens() -> None:
    pieces: list[str] = []
    model = ScriptedModel([[think("hm"), say("Two  words,\nthree lines.\n")]])
    reply = await model.complete(ask("hi"), on_text=pieces.append)
    assert len(pieces) > 1
    assert "".join(pieces) == reply.text


async def test_rules_have_queues_of_their_own() -> None:
    model = ScriptedModel([say("to all")])
    model.when(lambda request: "keep" in request.messages[-1].text, say("to the fork"))
    model.add(say("to all again"))
    texts = [(await model.complete(ask(text))).text for text in ("hi", "what to keep?", "keep?")]
    assert texts == ["to all", "to the fork", "to all again"]


async def test_a_script_that_is_too_short_or_too_long_is_told() -> None:
    model = ScriptedModel([say("one"), say("two")])
    await model.complete(ask("hi"))
    with pytest.raises(AssertionError, match="1 scripted replies were not asked for"):
        model.assert_exhausted()
    await model.complete(ask("hi"))
    with pytest.raises(AssertionError, match="no reply to request 3"):
        await model.complete(ask("hi"))
    with pytest.raises(AssertionError, match="1 requests had none"):
        model.assert_exhausted()


async def test_a_fork_of_a_scripted_conversation_reports_its_cache_share_A7() -> None:
    model = ScriptedModel([say("Hello."), say("Nothing to keep."), say("Hello again.")])
    parent = await model.complete(ask("hi"))
    fork = await model.complete(ask("hi", parent.message, "what is worth keeping?"))
    assert parent.usage.cache_read == 0
    assert parent.usage.cache_write > 1024
    assert fork.usage.cache_read == parent.usage.total_input
    assert fork.usage.hit_percent > 95
    assert fork.usage.output > 0


async def test_a_side_query_without_caching_neither_reads_nor_writes() -> None:
    model = ScriptedModel([say("a"), say("b")])
    await model.complete(ask("hi"))
    usage = (await model.complete(ask("hi", cache=False))).usage
    assert (usage.cache_read, usage.cache_write) == (0, 0)


def test_a_temporary_memory_is_a_real_one_and_goes_away() -> None:
    files = {"MEMORY.md": "- [A](a.md): b\n", "deep/a.md": "é"}
    with temporary_memory(files) as memory:
        directory = memory.directory
        assert tree(directory) == files
    assert not directory.exists()


def test_a_tree_holds_the_texts_of_regular_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.md").write_bytes(b"c\r\n\xff")
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    assert tree(tmp_path) == {"a.md": "a", "b/c.md": "c\r\n\ufffd"}

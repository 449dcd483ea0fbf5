"""Messages that are too large are cut in the middle, the least that is enough (C4)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.agent.fit.shorten import LEAST, PICTURE, original, shorten
from memdir.model.messages import (
    Image,
    Message,
    Origin,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    person,
)
from memdir.model.tokens import IMAGE, estimate_message
from tests.session.random_talk import PIXEL, histories

CALLS = assistant(
    Thinking(thinking="w" * 5000, signature="signed"),
    "I look at both.",
    ToolUse(id="a", name="Read", input={"file_path": "/w/a.py"}),
    ToolUse(id="b", name="Read", input={"file_path": "/w/b.py"}),
)


def characters(message: Message) -> int:
    """A character is a token, and a picture is 100."""
    texts = [
        block.content if isinstance(block, ToolResult) else block.text
        for block in message.content
        if isinstance(block, ToolResult | Text)
    ]
    return sum(map(len, texts)) + 100 * len(pictures(message))


def pictures(message: Message) -> list[Image]:
    return [
        image
        for block in message.content
        for image in (
            block.images if isinstance(block, ToolResult) else [block] if isinstance(block, Image) else []
        )
    ]


def results(*texts: str, images: tuple[Image, ...] = ()) -> Message:
    content = tuple(
        ToolResult(tool_use_id=id_, content=text) for id_, text in zip("abcde", texts, strict=False)
    )
    return Message(role="user", content=(replace(content[0], images=images), *content[1:]), origin="tool")


def texts(message: Message) -> list[str]:
    return [block.content for block in message.content if isinstance(block, ToolResult)]


def size(messages: tuple[Message, ...] | list[Message]) -> int:
    return sum(map(characters, messages))


def said(text: str, origin: Origin = "attachment") -> Message:
    return replace(person(text), origin=origin)


@pytest.mark.parametrize("room", [5000, 4000])
def test_what_fits_stays_the_same_object_C4(room: int) -> None:
    messages = [results("x" * 4000)]
    assert shorten(messages, room=room, count=characters)[0] is messages[0]


def test_no_messages_are_no_messages_C4() -> None:
    assert shorten([], room=-1, count=characters) == ()


def test_a_result_is_cut_in_the_middle_with_a_note_C4() -> None:
    (cut,) = shorten([results("b" * 3000 + "m" * 2000 + "e" * 3000)], room=3000, count=characters)
    (text,) = texts(cut)
    head, note, tail = text.partition("\n[… ")[0], text.split("\n")[1], text.rpartition("…]\n")[2]
    assert len(text) == 3000
    assert set(head) == {"b"}
    assert set(tail) == {"e"}
    left_out = 8000 - len(head) - len(tail)
    assert (
        note == f"[… {left_out:,} characters were left out here; read it again, in parts, if you need them …]"
    )


def test_lines_stay_whole_where_they_are_no_longer_than_usual_C4() -> None:
    lines = [f"{number:>6}\tdef name_{number}(): ..." for number in range(1, 500)]
    (cut,) = shorten([results("\n".join(lines))], room=3000, count=characters)
    kept = [line for line in texts(cut)[0].split("\n") if not line.startswith("[…")]
    assert set(kept) <= set(lines)
    assert (kept[0], kept[-1]) == (lines[0], lines[-1])
    assert 2600 < characters(cut) <= 3000


def test_the_largest_results_are_cut_first_and_down_to_one_length_C4() -> None:
    messages = [CALLS, results("x" * 9000, "y" * 2000, "z" * 6000)]
    _, cut = shorten(messages, room=12_015, count=characters)
    assert [len(text) for text in texts(cut)] == [5000, 2000, 5000]
    _, cut = shorten(messages, room=15_015, count=characters)
    assert [len(text) for text in texts(cut)] == [7000, 2000, 6000]


def test_a_cut_message_is_a_new_one_and_all_others_the_same_objects_C4() -> None:
    messages = [person("go"), CALLS, results("x" * 9000, "y"), said("<memory>"), assistant("ok")]
    cut = shorten(messages, room=5000, count=characters)
    assert [new is old for new, old in zip(cut, messages, strict=True)] == [True, True, False, True, True]
    assert cut[2].id != messages[2].id
    assert replace(cut[2], id=messages[2].id, content=messages[2].content, attachment=None) == messages[2]


def test_a_file_of_which_a_part_was_left_out_was_shown_in_part_A2() -> None:
    seen = [{"path": "/w/a.py", "digest": "9f", "mtime_ns": 1, "partial": False, "how": "surfaced"}]
    about = {"kind": "seen", "seen": [*seen, "no note"], "more": 1}
    whole = replace(results("x" * 9000), attachment=about)
    (cut,) = shorten([whole], room=5000, count=characters)
    noted = [{**seen[0], "partial": True}, "no note"]
    assert cut.attachment == {"kind": "seen", "seen": noted, "more": 1, "cut_from": whole.id}
    assert whole.attachment == {"kind": "seen", "seen": [*seen, "no note"], "more": 1}


def test_pictures_go_only_if_texts_are_not_enough_and_the_oldest_first_C4() -> None:
    named = tuple(replace(PIXEL, data=name) for name in "123")
    pasted = replace(person("look"), content=(Text(text="look"), replace(PIXEL, data="0")))
    messages = [pasted, CALLS, results("x" * 9000, images=named)]

    def left(room: int) -> list[str]:
        cut = shorten(messages, room=room, count=characters)
        return [image.data for message in cut for image in pictures(message)]

    whole = LEAST + 4 + 15 + 400  # the least of the result, two texts, four pictures
    assert left(9000) == ["0", "1", "2", "3"]
    assert left(whole + 20) == ["0", "1", "2", "3"]
    assert left(whole - 30) == ["1", "2", "3"]
    assert left(whole - 70) == ["2", "3"]  # the notes take something, too
    assert left(0) == []


def test_where_a_picture_stood_is_a_note_and_no_block_less_C4() -> None:
    pasted = replace(person("look"), content=(PIXEL, Text(text="look")))
    first, _, third = shorten([pasted, CALLS, results("", images=(PIXEL, PIXEL))], room=0, count=characters)
    assert first.content == (Text(text=PICTURE), Text(text="look"))
    assert third.content == (ToolResult(tool_use_id="a", content=f"{PICTURE}\n{PICTURE}"),)


def test_what_a_picture_gives_back_is_given_to_the_texts_C4() -> None:
    messages = [results("x" * 9000, images=(PIXEL, PIXEL))]
    (cut,) = shorten(messages, room=LEAST + 150, count=characters)
    assert len(pictures(cut)) == 0 or characters(cut) > LEAST + 100
    assert characters(cut) <= LEAST + 150


def test_what_a_person_typed_is_cut_last_C4() -> None:
    messages = [person("p" * 5000), CALLS, results("x" * 5000), said("m" * 5000)]

    def left(room: int) -> list[int]:
        cut = shorten(messages, room=room, count=characters)
        return [characters(message) for message in cut]

    assert left(11_515) == [5000, 15, 1500, 5000]
    assert left(11_015) == [5000, 15, LEAST, 5000]
    assert left(11_000) == [5000, 15, LEAST, 4985]
    assert left(7015) == [5000, 15, LEAST, LEAST]
    assert left(7000) == [4985, 15, LEAST, LEAST]
    assert left(0) == [LEAST, 15, LEAST, LEAST]


def test_what_a_person_pasted_is_not_said_to_be_there_to_read_again_C4() -> None:
    (cut,) = shorten([person("p" * 5000)], room=2000, count=characters)
    assert "characters were left out here …]" in cut.text


def test_what_the_model_said_stays_C4() -> None:
    messages = [assistant("x" * 5000), CALLS, results("y", "y")]
    assert shorten(messages, room=0, count=characters) == tuple(messages)


def test_a_cut_that_saves_nothing_is_not_made_C4() -> None:
    blank = results(" " * (LEAST + 1))
    assert shorten([blank], room=0, count=estimate_message)[0] is blank


@settings(max_examples=40)
@given(histories(turns=2, split=True, open_end=True), st.integers(-100, 12_000))
def test_blocks_pairs_and_what_the_model_said_stay_and_it_fits_if_it_can_C4(
    messages: list[Message], room: int
) -> None:
    cut = shorten(messages, room=room, count=estimate_message)
    least = shorten(messages, room=-1, count=estimate_message)
    total = sum(map(estimate_message, cut))
    assert total <= max(room, sum(map(estimate_message, least)))
    assert total <= sum(map(estimate_message, messages))
    assert len(cut) == len(messages)
    for new, old in zip(cut, messages, strict=True):
        assert new is old or (new.id != old.id and estimate_message(new) < estimate_message(old))
        assert (new.role, new.origin, new.at) == (old.role, old.origin, old.at)
        assert new is old or {**(old.attachment or {}), "cut_from": old.id} == new.attachment
        assert original(new) == old.id
        assert new is old or old.origin != "assistant"
        assert len(new.content) == len(old.content)
        for block, before in zip(new.content, old.content, strict=True):
            if isinstance(before, ToolResult):
                assert isinstance(block, ToolResult)
                assert (block.tool_use_id, block.is_error) == (before.tool_use_id, before.is_error)


@settings(max_examples=40)
@given(histories(turns=2), st.integers(0, 9000), st.integers(0, 4 * IMAGE))
def test_more_room_never_leaves_fewer_pictures_C4(messages: list[Message], room: int, more: int) -> None:
    def left(room: int) -> int:
        return sum(len(pictures(message)) for message in shorten(messages, room=room, count=estimate_message))

    assert left(room) <= left(room + more)

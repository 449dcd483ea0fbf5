"""Estimates of tokens."""

from __future__ import annotations

import pytest

from memdir.model.messages import Image, Prefix, Thinking, ToolResult, ToolUse, assistant, person
from memdir.model.tokens import IMAGE, Calibration, estimate, estimate_message, estimate_request, least
from tests.model.conversations import READ, ask, results


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("", 0),
        ("a", 1),
        ("abcd" * 10, 10),
        ("é" * 10, 5),
        ("记住这个", 4),
        ("カタカナ", 4),
        ("한국어", 3),
        ("，。", 2),
        ("𠀀", 1),
        ("run 测试 now", 4),
        ("\udc80", 1),
        (" " * 400 + "x", 2),
        ("=" * 80 + "\n" * 40, 2),
        ("x" * 40, 10),
    ],
)
def test_latin_counts_by_bytes_and_chinese_by_characters(text: str, about: int) -> None:
    assert estimate(text) == about


def test_a_message_counts_all_its_blocks() -> None:
    full = assistant(
        "x" * 40, Thinking(thinking="y" * 40), ToolUse(id="1", name="Read", input={"p": "z" * 40})
    )
    assert estimate_message(full) > 30
    assert estimate_message(results("a")) > estimate_message(person(""))


def test_a_request_counts_its_prefix_and_its_messages() -> None:
    bare = estimate_request(ask("hi", prefix=Prefix(system=(), tools=())))
    system = estimate_request(ask("hi", prefix=Prefix(system=("s" * 400,), tools=())))
    tools = estimate_request(ask("hi", prefix=Prefix(system=(), tools=(READ,))))
    longer = estimate_request(ask("hi", "again", prefix=Prefix(system=(), tools=())))
    assert system == bare + 100
    assert tools > bare + estimate(READ.description)
    assert longer > bare


def test_a_picture_counts_wherever_it_stands() -> None:
    picture = Image(media_type="image/png", data="QUFBQQ==" * 1000)
    shown = ToolResult(tool_use_id="1", content="", images=(picture, picture))
    assert estimate_message(assistant(picture)) == estimate_message(assistant("")) + IMAGE
    assert estimate_message(assistant(shown)) == estimate_message(assistant("")) + 2 * IMAGE


# ── what a request has at the least ────────────────────────────────────────────────────────────────────


def test_a_small_request_says_nothing_about_the_least() -> None:
    assert least(ask("hi", prefix=Prefix(system=("word " * 100,), tools=()))) == 0


@pytest.mark.parametrize(
    "text", ["the quick brown fox jumps ", "    x = 1\n", "敏捷的棕色狐狸 ", "быстрая лиса ", "तेज़ लोमड़ी "]
)
def test_the_least_is_below_the_estimate_in_every_script(text: str) -> None:
    request = ask(text * 2000, prefix=Prefix(system=(), tools=()))
    assert 0 < least(request) < estimate_request(request)


def test_space_and_reasoning_and_pictures_do_not_count_towards_the_least() -> None:
    words = "word " * 4000
    plain = least(ask(words))
    picture = Image(media_type="image/png", data="QUFBQQ==" * 1000)
    assert least(ask(words.replace(" ", " " * 50))) == plain
    assert least(ask(words, assistant(Thinking(thinking=words), picture))) == plain


# ── learning from usage ────────────────────────────────────────────────────────────────────────────────


def test_before_anything_came_back_the_estimate_stands() -> None:
    assert Calibration().of(1000) == 1000


def test_the_first_usage_sets_the_scale_and_later_ones_move_it() -> None:
    calibration = Calibration()
    calibration.learn(estimated=1000, counted=1300)
    assert calibration.of(2000) == 2600
    calibration.learn(estimated=1000, counted=1100)
    assert calibration.scale == pytest.approx(1.2)


def test_estimates_come_close_after_a_few_answers_of_a_steady_model() -> None:
    """Of a model that counts 30 % more than we do, give or take what a text is made of."""
    calibration = Calibration()
    for wobble in (1.28, 1.35, 1.31, 1.27):
        calibration.learn(estimated=5000, counted=round(5000 * wobble))
    assert calibration.of(10_000) == pytest.approx(13_000, rel=0.05)


@pytest.mark.parametrize(("estimated", "counted"), [(50, 500), (1000, 0)])
def test_small_requests_and_absent_usage_teach_nothing(estimated: int, counted: int) -> None:
    calibration = Calibration()
    calibration.learn(estimated=estimated, counted=counted)
    assert calibration.scale == 1.0

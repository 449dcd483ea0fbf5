"""How well a text fits a query, as plain functions (memory/rank.py)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.memory.rank import FIELDS, SMALLEST, allowance, count, rarity, similarity
from memdir.memory.words import words


def test_a_word_counts_by_the_field_it_stands_in() -> None:
    assert count({"name": "canary", "body": "canary canary"}) == {
        "canary": FIELDS["name"] + 2 * FIELDS["body"]
    }


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    assert rarity(1, 1000) > rarity(10, 1000) > rarity(900, 1000) > 0


def test_a_word_is_rare_in_a_small_collection_too() -> None:
    assert rarity(1, 3) == rarity(1, SMALLEST)


def test_occurrences_in_a_long_text_say_less() -> None:
    assert allowance(200, mean=100) > allowance(100, mean=100) > allowance(50, mean=100) > 0


@pytest.mark.parametrize(
    ("one", "other"),
    [("the canary in production", "production canaries"), ("发布到生产环境", "生产发布")],
)
def test_texts_that_share_words_are_similar(one: str, other: str) -> None:
    assert similarity(one, other) > 0.4 > similarity(one, "lunch at noon")


@given(st.text(max_size=80), st.text(max_size=80))
def test_similarity_is_a_share_and_the_same_both_ways(one: str, other: str) -> None:
    assert 0 <= similarity(one, other) <= 1
    assert similarity(one, other) == pytest.approx(similarity(other, one))
    if words(one):
        assert similarity(one, one) == pytest.approx(1)

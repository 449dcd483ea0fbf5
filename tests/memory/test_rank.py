"""Documents in the order of how well they match (memory/rank.py)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.memory.rank import KIN, Corpus, Document, Term, rank, similarity


def documents(**bodies: str) -> list[Document]:
    return [Document(key=key, fields={"body": body}) for key, body in bodies.items()]


def keys(query: str, found: list[Document]) -> list[str]:
    return [scored.key for scored in rank(query, found)]


def test_only_documents_that_share_a_word_are_found() -> None:
    found = documents(kafka="topics and partitions", redis="keys expire", none="")
    assert keys("which partitions?", found) == ["kafka"]
    assert keys("lunch", found) == []
    assert rank("lunch", []) == []


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    found = documents(a="deploy canary", b="deploy freeze", c="deploy window", d="lag")
    assert keys("deploy lag", found)[0] == "d"


def test_a_word_in_the_name_counts_more_than_one_in_the_body() -> None:
    found = [
        Document(key="body", fields={"name": "Numbers", "body": "the canary"}),
        Document(key="name", fields={"name": "Canary", "body": "the numbers"}),
    ]
    assert keys("canary", found) == ["name", "body"]


def test_equals_come_in_the_order_of_their_keys() -> None:
    assert keys("lag", documents(b="lag", a="lag", c="lag")) == ["a", "b", "c"]


def test_a_score_says_which_words_made_it_up() -> None:
    (scored,) = rank("canary in production", documents(a="the canary takes production traffic"))
    assert set(scored.matched) == {"canary", "product"}
    assert scored.score == pytest.approx(sum(scored.matched.values()))


def test_a_word_is_rare_in_a_small_collection_too() -> None:
    small = Corpus(documents(a="canary", b="lag", c="keys"))
    large = Corpus(documents(a="canary", **{f"d{at}": "lag" for at in range(50)}))
    assert small.rarity("canary") == pytest.approx(large.rarity("canary"))


def test_a_kindred_word_stands_in_at_a_discount_and_never_beside_the_word_itself() -> None:
    corpus = Corpus(documents(word="canary", kin="pilot", other="lag"))
    scores = {s.key: s.score for s in corpus.rank([Term(word="canary", kin=frozenset({"pilot"}))])}
    assert scores == {"word": scores["word"], "kin": pytest.approx(KIN * scores["word"])}

    both = Corpus(documents(both="canary pilot", other="lag"))
    assert both.rank([Term(word="canary", kin=frozenset({"pilot"}))]) == both.rank([Term(word="canary")])


@pytest.mark.parametrize(
    ("a", "b", "least", "most"),
    [
        ("Tests use a real Postgres", "Use a real Postgres in tests", 0.99, 1.0),
        ("发布流程：周二上午", "生产发布流程", 0.3, 0.95),
        ("Deploys go out on Monday", "The user prefers tabs", 0.0, 0.0),
        ("", "anything", 0.0, 0.0),
    ],
)
def test_similarity_is_high_for_one_fact_in_two_wordings(a: str, b: str, least: float, most: float) -> None:
    assert least <= similarity(a, b) <= most


@given(st.text(), st.text())
def test_similarity_is_symmetrical_and_between_nought_and_one(a: str, b: str) -> None:
    assert 0.0 <= similarity(a, b) <= 1.0
    assert similarity(a, b) == pytest.approx(similarity(b, a))

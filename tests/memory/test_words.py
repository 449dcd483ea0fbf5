"""Text -> words (memory/words.py)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.memory.words import stem, weight, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The deployments were released", ["deployment", "releas"]),
        ("ＤＥＰＬＯＹ Ｐｒｏｄ", ["deploy", "prod"]),
        ("OrderStore.saveAll(ctx)", ["orderstore.saveall", "order", "stor", "sav", "ctx"]),
        ("HTTPServerError", ["httpservererror", "http", "server", "error"]),
        ("E_IDEMPOTENT_REPLAY", ["e_idempotent_replay", "idempotent", "replay"]),
        ("src/app/main.py", ["src/app/main.py", "src", "app", "main", "py"]),
        ("SHOP-2044", ["shop-2044", "shop", "2044"]),
        ("bf16 and k8s, v2 of C++", ["bf16", "k8s", "v2", "c++"]),
        ("Anna's don’t", ["anna"]),
        ("发布流程", ["发", "布", "流", "程", "发布", "布流", "流程"]),
        ("リリースノート", ["リリースノート", "リリ", "リー", "ース", "スノ", "ノー", "ート"]),
        ("ログを見る", ["ログ", "見"]),
        ("배포해", ["배포해", "배포", "포해"]),
        ("云桥YQ-4090超时", ["云", "桥", "云桥", "yq-4090", "yq", "4090", "超", "时", "超时"]),
        ("Größe café", ["grösse", "café"]),
        ("", []),
    ],
)
def test_a_text_becomes_its_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    "forms",
    [
        ("deploy", "deploys", "deployed", "deploying"),
        ("release", "releases", "released", "releasing"),
        ("migrate", "migrates", "migrated", "migrating", "migration", "migrations"),
        ("stop", "stops", "stopped", "stopping"),
        ("retry", "retries", "retried"),
        ("index", "indexes", "indexed", "indexing"),
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["status", "access", "news7", "kafka", "ios", "analysis", "发布", "v2.1"])
def test_what_only_looks_like_an_ending_stays(word: str) -> None:
    assert stem(word) == word


def test_words_of_any_prompt_weigh_less_than_words_of_a_subject() -> None:
    assert weight("发") < weight("12") < weight(stem("file")) == weight("文件") < weight("kafka") == 1.0


def test_a_blob_is_cut_instead_of_being_kept_as_a_word() -> None:
    assert all(len(word) <= 80 for word in words("x" * 100_000))


@given(st.text())
def test_any_text_has_words_in_lower_case(text: str) -> None:
    assert all(word and word == word.casefold() for word in words(text))


@given(st.text(), st.text())
def test_words_of_two_texts_are_the_words_of_each(left: str, right: str) -> None:
    assert words(f"{left}\n{right}") == words(left) + words(right)

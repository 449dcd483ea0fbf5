"""What a person says for good becomes a memory of the right kind."""

from __future__ import annotations

import pytest

from memdir.extract.local import Turn, propose
from tests.extract_local.talks import TODAY, created, one


@pytest.mark.parametrize(
    ("kind", "said", "kept"),
    [
        ("feedback", "From now on put the ticket number first in commit messages.", "ticket number"),
        (
            "feedback",
            "No, don't use barrel files here, they slow the type checker down for everyone.",
            "barrel",
        ),
        ("feedback", "As a team we squash on merge because bisect needs a linear history.", "squash"),
        ("user", "I'm a hydrologist by training, python is only a tool for me.", "hydrologist"),
        ("user", "I prefer short answers without an introduction in this kind of chat.", "introduction"),
        (
            "project",
            "We decided to stay on the old queue, because the new licence forbids our use.",
            "licence",
        ),
        ("project", "The pilot with the harbour goes live on 14 September.", "2026-09-14"),
        ("project", "deadline for the migration is May 5th", "2026-05-05"),
        ("user", "I am a backend dev with 10 years of Go, new to React", "React"),
        ("project", "Yesterday the importer corrupted two customer files for an hour.", "2026-03-04"),
        (
            "reference",
            "Release notes live in the wiki, https://wiki.example.com/releases",
            "wiki.example.com",
        ),
        ("reference", "Our runbooks are in the shared drive, ask Odile for access.", "Odile"),
        ("feedback", "以后提交信息一律写中文，审计同事看不懂英文。", "中文"),
        ("user", "我是做财务的，代码只会一点点，讲的时候别用术语。", "财务"),
        ("project", "会上定了：老接口月底下线，合作方已经通知过了。", "2026-03-31"),
        ("reference", "接口文档在 https://docs.example.com/api ，以那边为准。", "docs.example.com"),
        (
            "feedback",
            "Bitte ab jetzt keine Abkürzungen in Namen, die Prüfer verstehen sie nicht.",
            "Abkürzungen",
        ),
        ("user", "Soy diseñadora, no sé nada de bases de datos.", "diseñadora"),
        ("feedback", "今後コミットメッセージは日本語でお願いします。", "日本語"),
    ],
)
def test_a_lasting_statement_is_kept_E11(kind: str, said: str, kept: str) -> None:
    found = one(said)
    assert (found.type, kept in found.body) == (kind, True)


@pytest.mark.parametrize(
    "said",
    [
        "Remember that the customer in Oslo can't upgrade before spring.",
        "The sensor in hall two counts twice on Sundays. Keep that in mind.",
        "帮我记一下：二号厅的传感器周日会重复计数。",
        "Merk dir bitte: der Sensor in Halle zwei zählt doppelt.",
        "Recuerda que el sensor de la nave dos cuenta doble.",
        "覚えておいてください：第二ホールのセンサーは二重に数えます。",
    ],
)
def test_an_explicit_wish_is_always_honoured_E11(said: str) -> None:
    assert len(created(said)) == 1


def test_a_wish_announced_in_one_turn_is_found_in_the_next() -> None:
    found = one(
        "before we start, remember something for me please", "The plant in Graz only has 32 bit machines."
    )
    assert "Graz" in found.body


def test_an_approval_keeps_what_it_approves_of_in_subject_words_E11() -> None:
    turns = [
        Turn(role="assistant", text="I grouped the endpoints by tenant and left the old routes as aliases."),
        Turn(role="person", text="Exactly, keep doing it like that."),
    ]
    (found,) = propose(turns, [], today=TODAY)
    assert "endpoints" in getattr(found, "body", "")


def test_the_reason_stands_under_why_and_the_scope_under_how_to_apply_F4() -> None:
    said = (
        "Don't fold long lists in the report. The auditors print it, and last time half of it was missing. "
        "That goes for all reports."
    )
    body = one(said).body
    rule, reason = body.index("fold long lists"), body.index("**Why:** The auditors print it")
    assert rule < reason < body.index("**How to apply:** That goes for all reports.")


def test_a_reason_in_the_same_sentence_is_told_apart_F4() -> None:
    body = one("From now on keep the log lines short, because the pager cuts them.").body
    assert body.startswith("Keep the log lines short.\n\n**Why:** The pager cuts them.\n\n**How to apply:** ")


def test_items_of_a_list_are_memories_of_their_own() -> None:
    said = (
        "from today's steering:\n\n"
        "- the rewrite is parked until Q2 next year, because the staff is needed elsewhere\n"
        "- letters have gone out: the old portal is switched off on 1 June\n"
        "- coffee machine"
    )
    assert [("Q2 2027" in found.body, "2026-06-01" in found.body) for found in created(said)] == [
        (True, False),
        (False, True),
    ]


def test_evidence_names_the_turn_and_the_persons_own_words() -> None:
    found = one("Which port?", "The audit by Brennan starts next Tuesday.")
    assert (found.evidence.turn, found.evidence.sentence) == (2, "The audit by Brennan starts next Tuesday.")


def test_earlier_turns_are_context_and_never_a_source() -> None:
    earlier = [Turn(role="person", text="From now on use tabs everywhere.")]
    assert propose([Turn(role="person", text="thanks")], [], today=TODAY, context=earlier) == []


def test_the_same_talk_gives_the_same_proposals() -> None:
    said = "We decided to keep the monolith, because the contract ends in autumn. Ask Ida in case of doubt."
    assert created(said) == created(said)

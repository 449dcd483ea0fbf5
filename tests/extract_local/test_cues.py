"""The cue files are complete and a phrase means what table.py says."""

from __future__ import annotations

import pytest

from memdir.cues import LANGUAGES, Cue, language, tables_for
from memdir.cues.table import sections, table
from memdir.extract.local.score import AROUND, ENOUGH, PAIRS, features, judge, read_weights, weights


@pytest.mark.parametrize("name", LANGUAGES)
def test_each_language_knows_all_cues_that_scores_and_explicit_wishes_need(name: str) -> None:
    needed = {
        Cue.REMEMBER,
        Cue.FORGET,
        Cue.RETRACT,
        Cue.DIRECTIVE,
        Cue.STANDING,
        Cue.FILLER,
        *AROUND,
    }
    assert needed <= set(language(name).patterns)


@pytest.mark.parametrize(
    ("phrase", "said", "found"),
    [
        ("from now on", "So from  now on, tabs", True),
        ("from now on", "from now once", False),
        ("^use", "ok, use tabs", True),
        ("^use", "we use tabs", False),
        ("^^why", "ok so why is that", True),
        ("^^why", "it shows why", False),
        ("ignore$", "ah, ignore.", True),
        ("ignore$", "ignore the last", False),
        ("keep … like that", "keep writing them like that", True),
        ("keep … like that", "keep " + "on and " * 9 + "like that", False),
    ],
)
def test_a_phrase_is_found_where_it_says(phrase: str, said: str, found: bool) -> None:
    made = table("test", f"[standing]\n{phrase}\n[filler]\nok | so", spaced=True)
    assert (Cue.STANDING in made.found(said)) is found


def test_phrases_stand_on_lines_or_between_bars_and_notes_are_skipped() -> None:
    assert sections("# note\n[fIRST]".lower() + "\n# note\ni | we\nour own\n") == {
        Cue.FIRST: ["our own", "we", "i"]
    }


def test_an_unknown_section_is_an_error() -> None:
    with pytest.raises(ValueError, match="frist"):
        sections("[frist]\nwe")


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("put it in the wiki", ["english"]),
        ("das ist nicht der Grund", ["german"]),
        ("el plazo es para los clientes", ["spanish"]),
        ("报表用这个", ["chinese"]),
        ("報告はこちらです", ["japanese"]),
        ("我们 dashboard 一律 UTC", ["chinese", "english"]),
        ("…", ["english"]),
    ],
)
def test_the_language_is_told_by_script_and_small_words(said: str, names: list[str]) -> None:
    assert [found.language for found in tables_for(said)] == names


def test_a_verdict_says_which_cues_it_came_from() -> None:
    verdict = judge(frozenset({Cue.STANDING, Cue.DIRECTIVE, Cue.STATEMENT}))
    assert (verdict.kind, verdict.worth >= ENOUGH) == ("feedback", True)
    assert {"standing", "directive standing"} <= set(verdict.because)


def test_a_question_is_worth_less_than_the_same_words_as_a_statement() -> None:
    said = frozenset({Cue.STANDING, Cue.DIRECTIVE, Cue.STATEMENT})
    assert judge(said | {Cue.QUESTION}).worth < judge(said).worth - 1


def test_the_weights_are_of_features_that_exist() -> None:
    whole = features(frozenset(Cue), frozenset(Cue))
    assert set(weights()) <= whole
    assert all(pair <= set(Cue) for pair in PAIRS)


def test_a_table_of_weights_is_read_by_lines_and_notes_are_skipped() -> None:
    text = "# a note\naround task   -0.50  +1 0 0 0\n"
    assert read_weights(text) == {"around task": (-0.5, 1.0, 0.0, 0.0, 0.0)}

"""Text that another person's file brings: hidden letters in it are found, an ordinary note is left alone."""

from __future__ import annotations

from memdir.trust.hidden import hidden_in
from tests.trust.talks import cases


def test_hidden_letters_in_a_synced_file_are_found_E11() -> None:
    assert hidden_in(cases()["pa-044"]["turns"][0]["text"]) == "letters made of tag characters"


def test_an_ordinary_note_of_a_team_is_left_alone_E11() -> None:
    assert hidden_in(cases()["pb-017"]["turns"][0]["text"]) is None

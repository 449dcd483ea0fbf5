"""Titles, descriptions, bodies and file names are tidy."""

from __future__ import annotations

import pytest

from memdir.extract.local.compose import LONGEST_DESCRIPTION, LONGEST_TITLE, stem, tidy
from tests.extract_local.talks import one


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("ok so from now on use tabs", "Use tabs"),
        ("please remember that the plant is closed", "The plant is closed"),
        ("no mocks in these tests", "No mocks in these tests"),
        ("so no headings please", "No headings please"),
        ("good answers are short", "Good answers are short"),
        ("yes, exactly, two per page", "Two per page"),
        ("记住，报表用 UTC", "报表用 UTC"),
        ("好处是快", "好处是快"),
    ],
)
def test_openings_without_meaning_go_and_meaning_stays(said: str, shown: str) -> None:
    assert tidy(said) == shown


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("Don't mock the database in tests", "feedback_mock_database_tests"),
        ("Never use barrel files", "feedback_never_barrel_files"),
        ("报表用 UTC", "feedback_报表用_utc"),
        ("../../etc/passwd", "feedback_etc_passwd"),
        ("???", "feedback"),
    ],
)
def test_a_file_name_is_safe_and_telling(heading: str, name: str) -> None:
    assert stem("feedback", heading) == name


def test_title_and_description_are_one_short_line() -> None:
    found = one(
        "From now on write the summary of each pull request in plain sentences without headings, the most "
        "important thing first, two sentences at most, since I read them on the phone on my way to work."
    )
    assert len(found.title) <= LONGEST_TITLE
    assert len(found.description) <= LONGEST_DESCRIPTION
    assert "\n" not in found.title + found.description

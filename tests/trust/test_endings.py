"""What a sentence of the person's brings to an end."""

from __future__ import annotations

import pytest

from memdir.model.messages import person
from memdir.trust.endings import ending
from memdir.trust.evidence import Evidence
from memdir.trust.vet import Proposed, vet
from tests.trust.talks import memory, talk

TABS = memory("Indent Python with tabs.", name="Indentation", description="Python is indented with tabs")


def goes(said: str) -> bool:
    """Whether the memory about tabs may be deleted after this talk."""
    return vet(Proposed(file="note.md", before=TABS, after=None), Evidence.of(talk(said))) is None


@pytest.mark.parametrize(
    ("sentence", "sort"),
    [
        ("Forget the memory about tabs, it is wrong.", "memory"),
        ("please don't keep my phone number in memory", "memory"),
        ("Vergiss, dass wir Tabs benutzen", "memory"),
        ("vergiss die Sache mit Jonas", "forget"),
        ("tabsのことは忘れてください", "forget"),
        ("delete the tabs component", "goes"),
        ("we don't indent with tabs anymore", "over"),
        ("不要再用tabs缩进了", "over"),
        ("we stay with Go, ignore what I said", "said"),
        ("remove the no-console rule from the eslint config", "work"),
        ("forget about the tests, just fix the build", "work"),
    ],
)
def test_a_sentence_says_what_ends_E11(sentence: str, sort: str) -> None:
    found = ending(sentence)
    assert found is not None
    assert found.sort == sort


@pytest.mark.parametrize(
    "sentence",
    [
        "don't forget that we use tabs",
        "how do I delete a note about tabs?",
        "n'oublie pas les tabs",
        "别忘了用tabs",
        "use tabs",
    ],
)
def test_a_sentence_that_asks_or_refuses_ends_nothing_E11(sentence: str) -> None:
    assert ending(sentence) is None


def test_it_is_of_a_memory_that_the_agent_told_E11() -> None:
    assert goes("what do you remember?\n> Python is indented with tabs.\nthat's wrong, delete it")
    assert not goes("show me a.py\n> Python is indented with tabs.\ndelete it")


def test_what_is_to_stay_does_not_go_E11() -> None:
    assert goes("forget the memory about tabs, but keep the one about dates")
    assert not goes("forget the memory about dates, but keep the one about tabs")


def test_what_was_said_a_moment_ago_can_be_taken_back_E11() -> None:
    assert goes("indent Python with tabs\n> Noted.\nscratch that")
    assert not goes("use pnpm here\n> Noted.\nscratch that")
    assert not goes("never mind, tabs in Python are fine")


def test_everything_may_go_when_everything_is_to_go_E11() -> None:
    assert goes("forget everything you remember")


def test_a_reason_goes_with_what_it_was_the_reason_for_E11() -> None:
    before = memory("The release is on 2026-12-08.\n\n**Why:** The campaign starts that week.")
    moved, other = (
        Evidence.of([person(said)])
        for said in ("the release moved to 2027-01-12", "our customers are dentists")
    )
    after = memory("The release is on 2027-01-12.")
    assert vet(Proposed(file="release.md", before=before, after=after), moved) is None
    held = vet(Proposed(file="release.md", before=before, after=memory("Customers are dentists.")), other)
    assert held is not None
    assert held.code == "removes"

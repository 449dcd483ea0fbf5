"""Known topics are updated rather than doubled; what is forgotten is the right file only."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memdir.extract.local import Create, Delete, Known, Turn, Update, propose
from tests.extract_local.talks import TODAY, deleted, memory, person, update

LAUNCH = memory(
    "launch.md", "Harbour launch", "Harbour 2 launches on 2026-03-16 (Monday). Doors open at nine."
)
BOARD = memory(
    "board.md",
    "Order dashboards",
    "Orders: https://old.example.com/orders . Group: orders-eu.",
    kind="reference",
)
REVIEW = memory("review.md", "Pull requests", "Pull requests are one big commit.", kind="feedback")
TRIAL = memory("trial.md", "Quince trial", "We try out Quince search until summer.")
OLD_CI = memory("old_ci.md", "旧 CI", "旧 CI：https://ci-old.example.com", kind="reference")
NEW_CI = memory("new_ci.md", "新 CI", "新 CI：https://ci.example.com", kind="reference")


def test_a_moved_date_is_replaced_in_its_file_and_the_rest_survives() -> None:
    found = update("The harbour launch moved, it's the 30th now. The crane isn't ready.", known=[LAUNCH])
    assert found.file == "launch.md"
    assert found.body.startswith("Harbour 2 launches on 2026-03-30 (Monday). Doors open at nine.")
    assert "2026-03-16" not in found.body


def test_a_new_address_replaces_the_old_one_and_the_rest_survives() -> None:
    said = "The order dashboards have moved, orders are at https://new.example.com/orders now."
    body = update(said, known=[BOARD]).body
    assert ("new.example.com" in body, "old.example.com" in body, "orders-eu" in body) == (True, False, True)


def test_a_new_rule_replaces_the_old_one() -> None:
    body = update("From now on split pull requests, at most 300 lines each.", known=[REVIEW]).body
    assert ("300 lines" in body, "one big commit" in body) == (True, False)


RULES = (
    "以后提交信息和代码注释一律用英文写，因为波兰的同事也要看代码。",
    "以后所有承运商都在解析时转成 UTC，上次夏令时切换那天顺序全乱了。",
    "From now on name branches after the ticket, the release script reads it.",
    "From now on write tests with recordings, mocks hid a changed date format.",
    "The orders dashboard is at https://stats.example.com/orders, that is where oncall looks.",
    "The billing dashboard is at https://stats.example.com/billing, that is where oncall looks.",
    "We freeze the release branch on 2026-04-10, because the auditors come.",
    "The old gateway goes off on 2026-05-04, because the contract ends.",
)


def test_news_about_something_else_never_takes_the_place_of_a_memory_F3() -> None:
    """Said in turns of their own, with all that was said before as context: each is there at the end."""
    known: dict[str, Known] = {}
    talk: list[Turn] = []
    for number, said in enumerate(RULES):
        turn = Turn(role="person", text=said)
        for proposal in propose([turn], list(known.values()), today=TODAY, context=talk):
            if isinstance(proposal, Create):
                made = memory(f"{number}.md", proposal.title, proposal.body, kind=proposal.type)
                known[made.file] = made
            elif isinstance(proposal, Update):
                known[proposal.file] = replace(known[proposal.file], body=proposal.body)
        talk += [turn, Turn(role="assistant", text="Understood, I'll keep to that.")]
    kept = "\n".join(one.body for one in known.values())
    for telling in (
        "英文",
        "UTC",
        "branches",
        "recordings",
        "/orders",
        "/billing",
        "2026-04-10",
        "2026-05-04",
    ):
        assert telling in kept


def test_two_updates_of_one_file_build_on_each_other() -> None:
    said = (
        "- the quince trial is extended until 1 July, because procurement was slow\n"
        "- for the quince trial we decided to pay only ten seats"
    )
    body = update(said, known=[TRIAL]).body
    assert ("2026-07-01" in body, "ten seats" in body) == (True, True)


@pytest.mark.parametrize(
    "said",
    ["as always, pull requests are one big commit please", "Pull requests are always one big commit."],
)
def test_what_is_known_is_not_written_again(said: str) -> None:
    assert person(said, known=[REVIEW]) == []


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        ("please forget everything about the Quince trial", ["trial.md"]),
        ("You can delete that note about the harbour launch.", ["launch.md"]),
        ("老 CI 昨天关了，那条记忆可以删了", ["old_ci.md"]),
        ("Vergiss bitte alles über den Quince trial", ["trial.md"]),
        ("Olvida lo de Quince, por favor", ["trial.md"]),
    ],
)
def test_forget_deletes_the_right_file_only(said: str, gone: list[str]) -> None:
    assert deleted(said, known=[LAUNCH, TRIAL, OLD_CI, NEW_CI]) == gone


@pytest.mark.parametrize(
    "said",
    [
        "forget it",
        "please forget what you know about my salary",
        "delete the file notes.txt, it got committed by accident",
        "remove the trial flag from the config",
        "what if I asked you to forget everything?",
        "把这个函数删掉",
    ],
)
def test_forget_without_a_target_deletes_nothing(said: str) -> None:
    assert person(said, known=[LAUNCH, TRIAL, OLD_CI, NEW_CI]) == []


def test_a_new_wish_beside_a_deletion_is_kept() -> None:
    said = "Forget the note on the Quince trial. Remember that search is done by the Kiel team now."
    proposals = person(said, known=[TRIAL])
    assert [type(proposal) for proposal in proposals] == [Delete, Create]


def test_a_memory_without_a_type_can_be_updated() -> None:
    known = Known(
        file="launch.md", name="Harbour launch", description="", type=None, body="Harbour launch: 2026-03-16"
    )
    assert update("The harbour launch moved to the 30th.", known=[known]).file == "launch.md"


SAID = "From now on put the ticket number first in commit messages, the release script reads it."


def test_what_is_taken_back_a_turn_later_goes_again() -> None:
    before = [Turn(role="person", text=SAID), Turn(role="assistant", text="I'll do that.")]
    (made,) = [one for one in propose(before[:1], [], today=TODAY) if isinstance(one, Create)]
    known = memory("tickets.md", made.title, made.body, kind=made.type)
    back = Turn(role="person", text="scratch that, I mixed it up with another project.")
    assert [
        one.file for one in propose([back], [known], today=TODAY, context=before) if isinstance(one, Delete)
    ] == ["tickets.md"]


def test_a_memory_that_somebody_has_reworded_is_not_taken_back_with_the_words() -> None:
    before = [Turn(role="person", text=SAID), Turn(role="assistant", text="I'll do that.")]
    known = memory("tickets.md", "Tickets", "Ticket number first, as Jo explained in May.", kind="feedback")
    back = Turn(role="person", text="scratch that, I mixed it up with another project.")
    assert propose([back], [known], today=TODAY, context=before) == []

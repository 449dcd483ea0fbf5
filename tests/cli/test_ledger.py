"""`memdir ledger`, and what `memdir status` says of the budget (H3, A7)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memdir.errors import OverBudget
from memdir.model.known import Price
from memdir.model.ledger import FREE, Ledger, midnight
from memdir.model.messages import Usage
from memdir.project import local_time
from tests.cli.support import Desk

PRICE = Price(input=2, output=10, cache_read=0.2, cache_write=2.5)
SPENT = Usage(input=1_000, cache_read=20_000, cache_write=500, output=300)
KEYS = {
    "day", "job", "model", "project", "calls", "input", "cacheRead", "cacheWrite", "output", "hitPercent",
    "usd", "unpriced", "untold", "estimated",
}  # fmt: skip


def ledger(desk: Desk, *, ago: int = 0, limit: int | None = 2_000_000) -> Ledger:
    """The ledger of this person, so many days ago."""
    return Ledger(
        desk.home / ".memdir" / "ledger", limit=limit, now=lambda: local_time() - timedelta(days=ago)
    )


def spend(
    books: Ledger, job: str, usage: Usage | None = SPENT, *, model: str = "a:m", price: Price | None = PRICE
) -> None:
    books.settle(books.reserve(job, model, 50_000, likely=7_000, project="-shop"), usage, price)


def table(out: str) -> list[list[str]]:
    return [line.split() for line in out.partition("\n\n")[0].splitlines()]


@pytest.fixture(autouse=True)
def _not_at_midnight() -> None:
    """What is written today is read today."""
    now = datetime.now(UTC).astimezone()
    if midnight(now) - now < timedelta(seconds=30):
        pytest.skip("the day is about to end")


# -- the table ----------------------------------------------------------------------------------------------


def test_without_any_call_it_says_so_and_prints_nothing_H3(desk: Desk) -> None:
    ran = desk("ledger")
    assert (ran.code, ran.out, ran.err) == (0, "", "no background model calls yet\n")
    told = desk("ledger", "--json").json
    assert (told["version"], told["days"], told["rows"]) == (1, [], [])
    assert told["budget"]["limit"] == told["budget"]["left"] == 2_000_000
    assert not (desk.home / ".memdir" / "ledger").exists(), "looking makes nothing"


def test_calls_tokens_cache_hits_and_cost_by_day_and_job_H3_A7(desk: Desk) -> None:
    spend(ledger(desk, ago=1), "extraction")
    spend(ledger(desk), "extraction")
    spend(ledger(desk), "extraction", Usage(input=520))
    spend(ledger(desk), "recall", price=FREE)
    day, before = local_time().date(), local_time().date() - timedelta(days=1)
    ran = desk("ledger")
    assert table(ran.out) == [
        ["day", "job", "calls", "input", "cache", "writes", "cache", "reads", "hit", "%", "output", "cost"],
        [f"{before}", "extraction", "1", "1,000", "500", "20,000", "93.0", "300", "$0.0103"],
        [f"{day}", "extraction", "2", "1,520", "500", "20,000", "90.8", "300", "$0.0113"],
        [f"{day}", "recall", "1", "1,000", "500", "20,000", "93.0", "300", "$0.00"],
        ["all", "4", "3,520", "1,500", "60,000", "92.3", "900", "$0.0215"],
    ]
    assert ran.out.endswith("\ntoday: 7,520 of 2,000,000 input tokens used; 1,992,480 left until midnight\n")
    assert ran.err == ""


@pytest.mark.parametrize(
    ("by", "names"),
    [("job", ["extraction", "recall"]), ("model", ["a:m", "b:m"]), ("project", ["-shop"]), ("day", None)],
)
def test_it_is_put_together_by_one_thing_H3(desk: Desk, by: str, names: list[str] | None) -> None:
    spend(ledger(desk), "extraction")
    spend(ledger(desk), "recall", model="b:m")
    shown = table(desk("ledger", "--by", by).out)
    wanted = names or [f"{local_time().date()}"]
    assert [row[0] for row in shown] == [by, *wanted, *(["all"] if len(wanted) > 1 else [])]
    rows = desk("ledger", "--by", by, "--json").json["rows"]
    assert [row[by] for row in rows] == wanted
    others = {"day", "job", "model", "project"} - {by}
    assert all(row[other] is None for row in rows for other in others)


def test_only_the_last_days_count_H3(desk: Desk) -> None:
    for ago in (0, 1, 6, 7):
        spend(ledger(desk, ago=ago), "recall")
    assert len(desk("ledger", "--json").json["days"]) == 3
    assert len(desk("ledger", "--days", "8", "--json").json["days"]) == 4
    assert desk("ledger", "--days", "1", "--json").json["days"] == [f"{local_time().date()}"]
    assert desk("ledger", "--days", "0").code == 2


def test_where_all_is_longer_ago_that_is_said_H3(desk: Desk) -> None:
    spend(ledger(desk, ago=9), "recall")
    assert desk("ledger").err == "no background model calls in the last 7 days\n"


def test_a_cost_that_is_not_all_known_is_at_least_that_H3(desk: Desk) -> None:
    spend(ledger(desk), "extraction")
    spend(ledger(desk), "extraction", price=None)
    spend(ledger(desk), "recall", price=None)
    shown = [row[-2:] for row in table(desk("ledger").out)[1:]]
    assert shown == [["≥", "$0.0103"], ["not", "known"], ["≥", "$0.0103"]]
    rows = desk("ledger", "--json").json["rows"]
    assert [(row["usd"], row["unpriced"]) for row in rows] == [(0.01025, 1), (None, 1)]


def test_what_the_figures_do_not_say_is_told_H3(desk: Desk) -> None:
    books = ledger(desk)
    spend(books, "recall", None)
    books.reserve("extraction", "a:m", 50_000)
    with (desk.home / ".memdir" / "ledger" / f"{local_time().date()}.jsonl").open("a") as file:
        file.write('{"kind":"call","id"')
    told = desk("ledger").err
    assert "1 call it is not known what was used" in told
    assert "about 7,000 input tokens are counted" in told
    assert "50,000 tokens are reserved, for calls under way or by processes that died" in told
    assert "1 line could not be read" in told
    (row,) = desk("ledger", "--json").json["rows"]
    assert (row["calls"], row["untold"], row["estimated"], row["input"]) == (1, 1, 7_000, 0)


def test_the_json_is_what_was_promised_H3(desk: Desk) -> None:
    spend(ledger(desk), "extraction")
    told = desk("ledger", "--json").json
    assert told.keys() == {"version", "days", "rows", "budget"}
    (row,) = told["rows"]
    assert row.keys() == KEYS
    assert row == row | {
        "day": f"{local_time().date()}",
        "job": "extraction",
        "model": "a:m",
        "project": "-shop",
        "calls": 1,
        "input": 1_000,
        "cacheRead": 20_000,
        "cacheWrite": 500,
        "output": 300,
        "hitPercent": 93.0,
        "usd": 0.01025,
    }
    budget = told["budget"]
    assert budget.keys() == {"limit", "used", "reserved", "left", "until", "waiting"}
    assert (budget["used"], budget["reserved"], budget["left"]) == (3_500, 0, 1_996_500)
    assert datetime.fromisoformat(budget["until"]) == midnight(local_time())


def test_it_works_with_memory_off_and_from_any_folder_H3(desk: Desk, tmp_path: Path) -> None:
    spend(ledger(desk), "extraction")
    ran = desk.process("-C", str(tmp_path), "ledger", "--by", "job", MEMDIR_DISABLE="1")
    assert (ran.code, len(table(ran.out))) == (0, 2)


def test_a_ledger_that_can_not_be_read_is_an_error_and_no_empty_answer_H3(desk: Desk) -> None:
    (desk.home / ".memdir").mkdir()
    (desk.home / ".memdir" / "ledger").touch()
    ran = desk("ledger")
    assert (ran.code, ran.out) == (1, "")
    assert "ledger" in ran.err
    status = desk("status")
    assert status.code == 0
    assert "budget        not known: the ledger can't be read" in status.out
    assert desk("status", "--json").json["budget"] is None


def test_names_in_it_steer_no_terminal_H3(desk: Desk) -> None:
    spend(ledger(desk), "recall\x1b[31m")
    assert "\x1b" not in desk("ledger").out


# -- status -------------------------------------------------------------------------------------------------


def budget_row(desk: Desk) -> str:
    """What `status` says of the budget, in one line."""
    row = desk("status").out.partition("\nbudget")[2].partition("\nbackground")[0]
    return " ".join(row.split())


def test_status_says_what_is_used_and_left_H3(desk: Desk) -> None:
    assert budget_row(desk) == "0 of 2,000,000 input tokens used; 2,000,000 left until midnight"
    books = ledger(desk)
    spend(books, "extraction")
    books.reserve("recall", "a:m", 6_500)
    assert budget_row(desk) == (
        "3,500 of 2,000,000 input tokens used, 6,500 reserved; 1,990,000 left until midnight"
    )
    assert desk("status", "--json").json["budget"] == desk("ledger", "--json").json["budget"]


def test_over_budget_status_says_which_jobs_wait_until_when_H3(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMDIR_BUDGET_INPUT_TOKENS_PER_DAY", "60000")
    books = ledger(desk, limit=60_000)
    spend(books, "learn", Usage(input=30_000))
    with pytest.raises(OverBudget):
        books.reserve("extraction", "a:m", 40_000)
    used = "30,000 of 60,000 input tokens used"
    assert budget_row(desk) == f"over budget: extraction waits until midnight; {used}"
    with pytest.raises(OverBudget):
        books.reserve("recall", "a:m", 35_000)
    assert budget_row(desk) == f"over budget: extraction and recall wait until midnight; {used}"
    assert desk("status", "--json").json["budget"]["waiting"] == ["extraction", "recall"]
    monkeypatch.setenv("MEMDIR_BUDGET_INPUT_TOKENS_PER_DAY", "100000")
    assert "over budget" not in budget_row(desk)


def test_status_says_that_there_is_no_limit_or_no_background_call_H3(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(ledger(desk), "extraction")
    monkeypatch.setenv("MEMDIR_BUDGET_INPUT_TOKENS_PER_DAY", "null")
    assert budget_row(desk) == "3,500 input tokens used; no limit"
    assert desk("status", "--json").json["budget"]["left"] is None
    monkeypatch.setenv("MEMDIR_BUDGET_INPUT_TOKENS_PER_DAY", "0")
    assert budget_row(desk) == "no background model calls: budget.inputTokensPerDay is 0"

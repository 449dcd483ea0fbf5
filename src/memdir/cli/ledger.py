"""`memdir ledger`: what background work has cost, and what is left of today's budget (H3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, get_args

import click

from memdir import app
from memdir.cli.opening import open_project
from memdir.cli.output import cells, columns, emit_json, json_option, line, talk
from memdir.model.ledger import PARTS, SETTING, Budget, By, Day, Ledger, Row, rows
from memdir.model.messages import Usage

WEEK = 7

_HEAD = ("calls", "input", "cache writes", "cache reads", "hit %", "output", "cost")


@click.command(short_help="Show what background work has cost.")
@click.option(
    "--days", metavar="N", type=click.IntRange(1, 36_500), default=WEEK, help="The last N days; 1 is today."
)
@click.option("--by", type=click.Choice(get_args(By)), help="Put together by one thing, not by day and job.")
@json_option
@click.pass_obj
def ledger(opened: app.Opening, days: int, by: By | None, as_json: bool) -> None:
    """Show what background work (extraction, recall and so on) of all projects has cost: calls, tokens, and
    how much of the input came from the provider's cache; and what is left of today's budget.

    `input` is what was neither read from a cache nor written to one. Prices are list prices; with ≥ some
    price is not known. What the person's own conversation takes is not in it.

    With --json, `days` are those with a file; `rows` has an object for each day, job, model and project, or
    with --by for each of one of them (the others are null): `calls`, `input`, `cacheRead`, `cacheWrite`,
    `output`, `hitPercent`, `usd` (null: not known), and how many calls have no price (`unpriced`) or did not
    say what they used (`untold`; `estimated` tokens are counted for them); `budget` has `limit` (null: none),
    `used`, `reserved`, `left`, `until`, and in `waiting` the jobs that found no room.
    """
    project = open_project(opened)
    books = ledger_of(project)
    first = project.now().date() - timedelta(days=days - 1)
    every = books.days()
    kept = [books.read(day) for day in sorted(every) if day >= first]
    budget = books.budget()
    if as_json:
        parts = (by,) if by else PARTS
        emit_json(
            days=[day.date.isoformat() for day in kept],
            rows=[_row_as_json(row) for row in rows(kept, parts)],
            budget=budget_as_json(budget),
        )
        return
    if any(day.calls for day in kept):
        click.echo(_table(kept, (by,) if by else ("day", "job")))
        click.echo(f"\ntoday: {line(budget_in_words(budget))}")
    else:
        when = "yet" if len(kept) == len(every) else f"in the last {days} days"
        talk(f"no background model calls {when}")
    for remark in _remarks(kept, budget):
        talk(line(remark))


def ledger_of(project: app.Project) -> Ledger:
    """The ledger, with the limit that holds in this project."""
    limit = project.settings.budget.input_tokens_per_day
    return Ledger(project.places.ledger, limit=limit, now=project.now)


def budget_as_json(budget: Budget) -> dict[str, Any]:
    """What is left of a day, as `--json` prints it."""
    return {
        "limit": budget.limit,
        "used": budget.used,
        "reserved": budget.reserved,
        "left": budget.left,
        "until": budget.until.isoformat(),
        "waiting": list(budget.waiting),
    }


def budget_in_words(budget: Budget) -> str:
    """The same in a sentence; first of all, what waits."""
    reserved = f", {budget.reserved:,} reserved" if budget.reserved else ""
    if budget.limit is None:
        return f"{budget.used:,} input tokens used{reserved}; no limit"
    if budget.limit == 0:
        return f"no background model calls: {SETTING} is 0"
    used = f"{budget.used:,} of {budget.limit:,} input tokens used{reserved}"
    if budget.waiting:
        waits = "waits" if len(budget.waiting) == 1 else "wait"
        return f"over budget: {_listed(budget.waiting)} {waits} until midnight; {used}"
    return f"{used}; {budget.left:,} left until midnight"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(", ".join(names).rsplit(", ", 1))


def _table(days: Sequence[Day], by: Sequence[By]) -> str:
    found = rows(days, by)
    body = [(*_names(row, by), *_figures(row)) for row in found]
    if len(found) > 1:
        body.append(("all", *("" for _ in by[1:]), *_figures(_sum(found))))
    table = [(*by, *_HEAD), *body]
    widths = [max(cells(row[column]) for row in table) for column in range(len(by), len(table[0]))]
    return columns(
        (
            *row[: len(by)],
            *(" " * (width - cells(cell)) + cell for cell, width in zip(row[len(by) :], widths, strict=True)),
        )
        for row in table
    )


def _names(row: Row, by: Sequence[By]) -> tuple[str, ...]:
    return tuple(line(str(getattr(row, part) or "-")) for part in by)


def _figures(row: Row) -> tuple[str, ...]:
    usage = row.usage
    counts = (row.calls, usage.input, usage.cache_write, usage.cache_read)
    return (*(f"{count:,}" for count in counts), f"{usage.hit_percent}", f"{usage.output:,}", _cost(row))


def _cost(row: Row) -> str:
    if row.unpriced == row.calls:
        return "not known"
    digits = 2 if row.usd >= 1 or row.usd == 0 else 4
    return f"{'≥ ' if row.unpriced else ''}${row.usd:,.{digits}f}"


def _sum(found: Sequence[Row]) -> Row:
    return replace(
        found[0],
        calls=sum(row.calls for row in found),
        usage=sum((row.usage for row in found), Usage()),
        usd=sum(row.usd for row in found),
        unpriced=sum(row.unpriced for row in found),
    )


def _row_as_json(row: Row) -> dict[str, Any]:
    return {
        "day": row.day.isoformat() if row.day else None,
        "job": row.job,
        "model": row.model,
        "project": row.project,
        "calls": row.calls,
        "input": row.usage.input,
        "cacheRead": row.usage.cache_read,
        "cacheWrite": row.usage.cache_write,
        "output": row.usage.output,
        "hitPercent": row.usage.hit_percent,
        "usd": None if row.unpriced == row.calls else round(row.usd, 6),
        "unpriced": row.unpriced,
        "untold": row.untold,
        "estimated": row.estimated,
    }


def _remarks(days: Sequence[Day], budget: Budget) -> list[str]:
    """What the figures don't say by themselves."""
    remarks = []
    untold = [call for day in days for call in day.calls if not call.told]
    if untold:
        about = sum(call.counted for call in untold)
        remarks.append(
            f"of {_number(untold, 'call')} it is not known what was used (broken off, mostly): about "
            f"{about:,} input tokens are counted"
        )
    if budget.reserved:
        remarks.append(
            f"{budget.reserved:,} tokens are reserved, for calls under way or by processes that died; those "
            "count until midnight"
        )
    odd = [day for day in days for _ in range(day.odd)]
    if odd:
        remarks.append(f"{_number(odd, 'line')} could not be read: not counted")
    return remarks


def _number(things: Sequence[object], name: str) -> str:
    return f"{len(things):,} {name}{'' if len(things) == 1 else 's'}"

"""`memdir why`, and `list --by use`: where a memory came from, when it was recalled, what it was good for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import click

from memdir import app
from memdir.cli.files import header_as_json
from memdir.cli.opening import memory_of, open_project
from memdir.cli.output import columns, emit_json, json_option, talk
from memdir.errors import UsageError
from memdir.memory import entrypoint, manifest, topic
from memdir.memory.scan import Header, moment
from memdir.memory.store import Stored
from memdir.recall.usage import History, Surfaced, Tally, Usage

SHOWN = 10
"""Of the times that a memory was recalled, so many are listed."""

_BELOW = " " * 13
"""As wide as what stands left of a value: two ids do not fit in one line of a terminal."""

_CHOOSERS = {"local": "words", "model": "a model"}
_KINDS = {
    "question": "a question",
    "error": "an error",
    "change": "a change",
    "command": "a command",
    "short": "a few words",
    "paste": "a paste",
    "other": "something else",
}


@click.command(short_help="Say where a memory came from, and what it was good for.")
@click.argument("name")
@json_option
@click.pass_obj
def why(opened: app.Opening, name: str, as_json: bool) -> None:
    """Say where a memory came from, when it was recalled and for what, and what became of it then.

    NAME is its file or its name. Opened: the agent read the file afterwards. Cited: its answer used it.
    Corrected: it was changed or forgotten in that conversation, or the person said that it is wrong.
    """
    project = open_project(opened)
    memory = memory_of(project)
    file = project.find(name)
    if file == entrypoint.NAME:
        raise UsageError(
            f"{entrypoint.NAME} is the index, not a memory", hint="`memdir list` shows the names"
        )
    stored, usage = memory.read(file), Usage(str(project.places.usage))
    history = usage.of(file)
    if usage.failure:
        talk(f"warning: the record of use can't be read: {usage.failure}")
    if as_json:
        emit_json(path=file, **_origin(stored), **tally_as_json(history.tally), recalled=_times(history))
    else:
        _print(stored, history, project.now())


def _origin(stored: Stored) -> dict[str, object]:
    parsed = stored.topic
    origin = parsed.origin if parsed else None
    return {
        "name": parsed.name if parsed else None,
        "modified": _modified(stored),
        "origin": {
            "session": origin.session if origin else None,
            "message": origin.message if origin else None,
            "worker": origin.worker if origin else None,
        },
    }


def _modified(stored: Stored) -> str:
    """When the memory was last written: as it says itself, or else as its file does (ISO 8601)."""
    said = stored.topic.modified if stored.topic else None
    return said or topic.instant(moment(stored.mtime_ns))


def tally_as_json(tally: Tally) -> dict[str, object]:
    """How often a memory was recalled, and what came of that."""
    return {
        "surfaced": tally.surfaced,
        "opened": tally.opened,
        "cited": tally.cited,
        "corrected": tally.corrected,
        "last": tally.last.isoformat() if tally.last else None,
    }


def _times(history: History) -> list[dict[str, object]]:
    return [
        {
            "at": one.at.isoformat(),
            "request": one.kind,
            "how": one.how,
            "session": one.session,
            "message": one.turn,
            "opened": one.outcome.opened,
            "cited": one.outcome.cited,
            "corrected": one.outcome.corrected,
        }
        for one in history.surfaced
    ]


def _print(stored: Stored, history: History, now: datetime) -> None:
    parsed, tally = stored.topic, history.tally
    click.echo(f"{manifest.harmless(stored.file)}: {manifest.harmless(parsed.name if parsed else '')}")
    click.echo(f"  came from  {_came_from(stored)}")
    click.echo(f"  written    {manifest.harmless(_modified(stored))}")
    if not tally.surfaced:
        click.echo("  recalled   never")
        return
    click.echo(f"  recalled   {_times_in_words(tally.surfaced)}, last {_age(tally.last, now)}")
    click.echo(f"  then       opened {tally.opened}, cited {tally.cited}, corrected {tally.corrected}")
    click.echo("")
    click.echo(columns(_row(one, now) for one in history.surfaced[:SHOWN]))
    if (left := len(history.surfaced) - SHOWN) > 0:
        click.echo(f"(and {left} more; --json lists all)")


def _came_from(stored: Stored) -> str:
    origin = stored.topic.origin if stored.topic else None
    if origin is None:
        return "a file written by hand, or by another program"
    parts = [
        f"written by {origin.worker}" if origin.worker else "",
        f"in session {origin.session}" if origin.session else "",
        f"from message {origin.message}" if origin.message else "",
    ]
    return f"\n{_BELOW}".join(manifest.harmless(part) for part in parts if part)


def _row(one: Surfaced, now: datetime) -> tuple[str, ...]:
    became = [name for name in ("opened", "cited", "corrected") if getattr(one.outcome, name)]
    chooser = _CHOOSERS.get(one.how, one.how)
    kind = _KINDS.get(one.kind, one.kind)
    return (_age(one.at, now), kind, f"chosen by {chooser}", ", ".join(became) or "not used")


def _age(at: datetime | None, now: datetime) -> str:
    return manifest.age_in_words(manifest.age_in_days(at, now)) if at else "never"


def _times_in_words(times: int) -> str:
    return {1: "once", 2: "twice"}.get(times, f"{times} times")


def list_by_use(project: app.Project, headers: Sequence[Header], *, as_json: bool) -> None:
    """The memories, those first that were opened or cited most; those never recalled last, newest first."""
    usage = Usage(str(project.places.usage))
    tallies = usage.all()
    if usage.failure:
        talk(f"warning: the record of use can't be read: {usage.failure}")
    ranked = sorted(headers, key=lambda header: _rank(tallies.get(header.path, Tally())))
    if as_json:
        memory = project.require_memory()
        emit_json(
            directory=str(memory.directory),
            memories=[header_as_json(one) | tally_as_json(tallies.get(one.path, Tally())) for one in ranked],
        )
        return
    now = project.now()
    rows: list[tuple[str, ...]] = [("RECALLED", "OPENED", "CITED", "CORRECTED", "LAST", "MEMORY")]
    rows += [_use(header, tallies.get(header.path, Tally()), now) for header in ranked]
    click.echo(columns(rows))


def _rank(tally: Tally) -> tuple[int, int]:
    return (-tally.used, -tally.surfaced)


def _use(header: Header, tally: Tally, now: datetime) -> tuple[str, ...]:
    counts = (tally.surfaced, tally.opened, tally.cited, tally.corrected)
    return (*map(str, counts), _age(tally.last, now), manifest.harmless(header.path))

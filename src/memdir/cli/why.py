"""`memdir why`, and `list --by use`: where a memory came from, who changed it, what it was good for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import click

from memdir import app
from memdir.cli import changes, past
from memdir.cli.files import header_as_json
from memdir.cli.opening import memory_of, open_project
from memdir.cli.output import columns, cut, emit_json, json_option, talk
from memdir.cli.said import said
from memdir.errors import UsageError
from memdir.memory import entrypoint, manifest, topic
from memdir.memory.history import EXTERNAL, Change
from memdir.memory.scan import Header, moment
from memdir.memory.store import MemoryDir, Stored
from memdir.memory.topic import Origin
from memdir.recall.usage import History, Surfaced, Tally, Usage

SHOWN = 10
"""Of the times that a memory was recalled, so many are listed."""

CHANGES = 5
"""Of its changes, so many are."""

QUOTED = 55
"""Columns of what was said that are shown."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What is known of one memory. `changes` are the latest first; `off` says why there may be more."""

    stored: Stored
    origin: Origin | None
    said: str | None
    changes: Sequence[Change]
    off: str | None
    use: History


@click.command(short_help="Say where a memory came from, and what it was good for.")
@click.argument("name")
@json_option
@click.pass_obj
def why(opened: app.Opening, name: str, as_json: bool) -> None:
    """Say where a memory came from, what was said there, who changed it since, when it was recalled and for
    what, and what became of it then.

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
    facts = _facts(project, memory, file)
    if as_json:
        _print_json(facts)
    else:
        _print(facts, project.now())


def _facts(project: app.Project, memory: MemoryDir, file: str) -> _Facts:
    off = past.off(memory)
    made = past.look(memory).log(file=file) if off is None else ()
    stored, usage = memory.read(file), Usage(str(project.places.usage))
    use = usage.of(file)
    if usage.failure:
        talk(f"warning: the record of use can't be read: {usage.failure}")
    origin = _origin(stored, made)
    words = said(origin, project.places) if origin else None
    return _Facts(stored=stored, origin=origin, said=words, changes=made, off=off, use=use)


def _origin(stored: Stored, made: Sequence[Change]) -> Origin | None:
    """Where it came from: as it says itself, or else as the history knows."""
    if stored.topic and stored.topic.origin:
        return stored.topic.origin
    first = made[-1] if made else None
    if first is None or first.worker == EXTERNAL:
        return None
    return Origin(session=first.session, message=first.message, worker=first.worker)


def _print_json(facts: _Facts) -> None:
    parsed, origin = facts.stored.topic, facts.origin
    undone = changes.taken_back(facts.changes)
    emit_json(
        path=facts.stored.file,
        name=parsed.name if parsed else None,
        modified=_modified(facts.stored),
        origin={
            "session": origin.session if origin else None,
            "message": origin.message if origin else None,
            "worker": origin.worker if origin else None,
            "said": facts.said,
        },
        history={
            "off": facts.off,
            "changes": [changes.as_json(change, undone) for change in facts.changes],
        },
        **tally_as_json(facts.use.tally),
        recalled=_times(facts.use),
    )


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


def _print(facts: _Facts, now: datetime) -> None:
    parsed, tally = facts.stored.topic, facts.use.tally
    click.echo(f"{manifest.harmless(facts.stored.file)}: {manifest.harmless(parsed.name if parsed else '')}")
    click.echo(f"  came from  {_came_from(facts)}")
    click.echo(f"  written    {changes.instant(_modified(facts.stored))}")
    for line in _history(facts):
        click.echo(line)
    if not tally.surfaced:
        click.echo("  recalled   never")
        return
    click.echo(f"  recalled   {_times_in_words(tally.surfaced)}, last {_age(tally.last, now)}")
    click.echo(f"  then       opened {tally.opened}, cited {tally.cited}, corrected {tally.corrected}")
    click.echo("")
    click.echo(columns(_row(one, now) for one in facts.use.surfaced[:SHOWN]))
    if (left := len(facts.use.surfaced) - SHOWN) > 0:
        click.echo(f"(and {left} more; --json lists all)")


def _came_from(facts: _Facts) -> str:
    origin = facts.origin
    if origin is None:
        return "a file written by hand, or by another program"
    parts = [
        changes.worker(origin.worker) if origin.worker else "",
        f"in session {origin.session}" if origin.session else "",
        f"from message {origin.message}" if origin.message else "",
        f"you said: {_quoted(facts.said)}" if facts.said else "",
    ]
    return f"\n{_BELOW}".join(manifest.harmless(part) for part in parts if part)


def _quoted(words: str) -> str:
    """What was said, in one line that fits a terminal."""
    return f'"{cut(manifest.harmless(words), QUOTED)}"'


def _history(facts: _Facts) -> list[str]:
    """When it was first written, and what was done to it since, as far as that is recorded."""
    if facts.off is not None:
        return [f"  history    is off: {facts.off}"]
    if not facts.changes:
        return []
    *since, first = facts.changes
    undone = changes.taken_back(facts.changes)
    begun = "first seen" if first.worker == EXTERNAL else "created   "
    lines = [f"  {begun} {columns([_done(first, facts.stored.file, undone)[:3]])}"]
    lines += [f"  changed    {_times_in_words(len(since))} since"] if since else ["  changed    never since"]
    rows = (_done(change, facts.stored.file, undone) for change in since[:CHANGES])
    lines += [f"{_BELOW}{row}" for row in columns(rows).splitlines()]
    if (left := len(since) - CHANGES) > 0:
        lines.append(f"{_BELOW}(and {left} more; `memdir log` with its name lists all)")
    return lines


def _done(change: Change, file: str, undone: dict[str, str]) -> tuple[str, ...]:
    """What a change did to this memory, and by whom."""
    *about, _ = changes.row(change, undone)
    action = next((changes.DONE[one.action] for one in change.files if one.file == file), "")
    by = f", undone by {changes.short(undone[change.id])}" if change.id in undone else ""
    return (*about, action + by)


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

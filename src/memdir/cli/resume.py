"""`memdir sessions` and `chat --resume`: which conversations can be taken up, and what one was about (A1)."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice

import click

from memdir import app
from memdir.agent.sessions import Session, find, is_beginning, is_open, last, sessions
from memdir.cli.changes import ago, when
from memdir.cli.opening import open_project
from memdir.cli.output import columns, cut, emit_json, json_option, line, talk
from memdir.errors import NotFound, UsageError
from memdir.extract.unfinished import Unfinished
from memdir.model.messages import Message

LIMIT = 20
"""Conversations that are listed without `--all`."""

SHORT = 8
"""Characters of an id that are shown."""

SHOWN = 80
"""Columns of what was said that are shown when a conversation is taken up."""


@click.command("sessions", short_help="List the conversations that were had here.")
@click.option("--all", "every", is_flag=True, help=f"All of them, not only the last {LIMIT}.")
@json_option
@click.pass_obj
def sessions_(opened: app.Opening, every: bool, as_json: bool) -> None:
    """List the conversations of this working folder, the last one first: `memdir chat --resume ID` takes one
    up again, without ID the last.

    `open` is one that some process has right now; `unsaved` one from which the next conversation here will
    learn yet.

    With --json, `sessions` has objects with `id`, `path` (its transcript), `at`, `messages`, `first` (what
    you said first, in one line), `open` and `unsaved`; `more` says whether there are others.
    """
    project = open_project(opened)
    places = project.places
    found = list(islice(sessions(places.transcripts, cwd=places.cwd), None if every else LIMIT + 1))
    listed, more = (found, False) if every else (found[:LIMIT], len(found) > LIMIT)
    states = _states(project, listed)
    if as_json:
        told = [_as_json(one, *state) for one, state in zip(listed, states, strict=True)]
        emit_json(folder=str(places.cwd), sessions=told, more=more)
        return
    if not listed:
        talk(line(f"there is no conversation in {places.cwd} yet; `memdir chat` begins one"))
        return
    ids = [one.id[:SHORT] for one in listed]
    width = SHORT if len(set(ids)) == len(ids) else None
    rows: list[tuple[str, ...]] = [("ID", "LAST", "MESSAGES", "", "BEGAN WITH")]
    for one, (is_held, is_left) in zip(listed, states, strict=True):
        state = "open" if is_held else "unsaved" if is_left else ""
        rows.append((one.id[:width], when(one.at), f"{one.messages:>8,}", state, line(one.first)))
    click.echo(columns(rows))
    if more:
        talk("(and others; --all lists them)")


def _states(project: app.Project, listed: Iterable[Session]) -> list[tuple[bool, bool]]:
    """Of each, whether a process has it, and whether something in it waits to be saved."""
    unfinished, locks = Unfinished(project.places.pending), project.places.pending.with_name("locks")
    held = [(one.id, is_open(locks, one.id)) for one in listed]
    return [(is_held, not is_held and unfinished.is_there(name)) for name, is_held in held]


def _as_json(one: Session, is_held: bool, is_left: bool) -> dict[str, object]:
    return {
        "id": one.id,
        "path": str(one.path),
        "at": one.at.isoformat(),
        "messages": one.messages,
        "first": one.first,
        "open": is_held,
        "unsaved": is_left,
    }


# -- which one is meant, and what it was about ---------------------------------------------------------------


def chosen(project: app.Project, beginning: str, words: Sequence[str]) -> Session:
    """The conversation that is to be taken up: that whose id begins like this, without it the last one.
    `words` are what the person says in it.

    Raises:
        NotFound: there is none.
        UsageError: that is no id, or no unique one.
    """
    folder, cwd = project.places.transcripts, project.places.cwd
    if not beginning:
        return last(folder, cwd=cwd)
    said = shlex.join((beginning, *words))
    ids = "`memdir sessions` lists the ids, of which four characters will do"
    how = f"{ids}; to say that in the last one: memdir chat --resume -- {said}"
    if not is_beginning(beginning):
        raise UsageError(f"{beginning!r} is no id of a conversation", hint=how)
    try:
        return find(folder, beginning, cwd=cwd)
    except NotFound as error:
        error.hint = how
        raise


def told(session: Session, record: Sequence[Message], now: datetime) -> str:
    """What the conversation was, in a few lines. `record`: all that was said in it."""
    count = "1 message" if session.messages == 1 else f"{session.messages:,} messages"
    rows = [("began with", _one_line(session.first))]
    if answer := _last_answer(record):
        rows.append(("last answer", _one_line(answer)))
    lines = (f"  {row}" for row in columns(rows).splitlines())
    return "\n".join((f"taking up {session.id[:SHORT]}: {ago(session.at, now)}, {count}", *lines))


def _last_answer(record: Sequence[Message]) -> str:
    """The first line of the last answer that the model gave in words; "" if it gave none."""
    answers = (message.text.strip() for message in reversed(record) if message.role == "assistant")
    return next((text.splitlines()[0] for text in answers if text), "")


def _one_line(words: str) -> str:
    return cut(line(words), SHOWN)

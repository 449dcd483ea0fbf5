"""The commands of the history: log, diff, undo (H2). A conversation has them too, with its own `say`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

import click

from memdir import app
from memdir.cli import changes, past
from memdir.cli.differences import difference, shown
from memdir.cli.opening import memory_of, open_project
from memdir.cli.output import columns, emit_json, json_option, line, talk
from memdir.errors import NotFound
from memdir.memory import manifest, revising
from memdir.memory.history import BEGINNING, Change, History
from memdir.memory.plan import Swap
from memdir.memory.revising import Undone
from memdir.memory.store import MemoryDir

LISTED = 20
"""Changes that `log` prints, if nobody asks for another number."""

Say = Callable[[str], None]


# -- log -----------------------------------------------------------------------------------------------------


@click.command(short_help="List the changes of memory, newest first.")
@click.argument("file", required=False)
@click.option(
    "-n",
    "limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"List at most N. Without it: {LISTED}, or with --json all.",
)
@json_option
@click.pass_obj
def log(opened: app.Opening, file: str | None, limit: int | None, as_json: bool) -> None:
    """List the changes of memory, newest first: its id, when, by whom, what it did.

    With FILE only those of one memory, which may be gone by now. What was changed outside memdir, in an
    editor say, is a hand edit, recorded at the next look.
    """
    project = open_project(opened)
    if not as_json:
        show_log(project, file, limit=limit or LISTED, say=click.echo)
        return
    history = past.look(memory_of(project))
    found = past.changes_in(history, file=file and past.file_of(project, history, file), limit=limit)
    undone = changes.taken_back(found)
    emit_json(changes=[changes.as_json(change, undone) for change in found])


def show_log(project: app.Project, name: str | None, *, limit: int, say: Say) -> None:
    """Show the latest changes, a line each."""
    history = past.look(memory_of(project))
    file = name and past.file_of(project, history, name)
    found = past.changes_in(history, file=file, limit=limit + 1)
    if not found:
        talk(f"no change of {manifest.harmless(file)} is recorded" if file else "no change is recorded yet")
        return
    undone = changes.taken_back(found)
    say(columns((changes.row(change, undone) for change in found[:limit]), wrap=True))
    if len(found) > limit:
        more = f"memdir log -n {limit * 5}{f' {shlex.quote(file)}' if file else ''}"
        talk(line(f"(the latest {limit}; `{more}` lists more)"))


# -- diff ----------------------------------------------------------------------------------------------------


@click.command(short_help="Show what a change did to the files.")
@click.argument("change", required=False)
@click.argument("file", required=False)
@json_option
@click.pass_obj
def diff(opened: app.Opening, change: str | None, file: str | None, as_json: bool) -> None:
    """Show what CHANGE did, line by line: the latest change, if none is named, or the latest of FILE. The
    index comes last.

    CHANGE is an id that `memdir log` shows, or its beginning.
    """
    project = open_project(opened)
    if not as_json:
        show_diff(project, change, file, say=click.echo)
        return
    history = past.look(memory_of(project))
    told, files = _meant(project, history, change, file)
    emit_json(id=told.id, files=[_as_json(one) for one in _differences(history, told, files)])


def show_diff(project: app.Project, first: str | None, second: str | None, *, say: Say) -> None:
    """Show what a change did. `first` is a change or a file, `second` a file."""
    history = past.look(memory_of(project))
    told, files = _meant(project, history, first, second)
    say(changes.headline(told))
    for one in _differences(history, told, files):
        say("")
        say(in_words(one, found=told.reason == BEGINNING))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What happened to one file. `diff` is None if it is no text, and empty if no letter of it changed."""

    file: str
    action: str
    diff: str | None


def _meant(
    project: app.Project, history: History, first: str | None, second: str | None
) -> tuple[Change, str | None]:
    """The change that is asked about, and the file if it is about one."""
    if first is None or (second is None and not _names_a_change(history, first)):
        file = first and _file(project, history, first)
        if found := history.log(file=file, limit=1):
            return found[0], file
        raise NotFound(f"no change of {file} is recorded" if file else "no change is recorded yet")
    change = past.change_of(history, first)
    file = second and past.file_of(project, history, second)
    if file and not any(one.file == file for one in change.files):
        raise NotFound(
            f"change {changes.short(change.id)} did nothing to {file}",
            hint=f"it {changes.what(change.files)}",
        )
    return change, file


def _file(project: app.Project, history: History, word: str) -> str:
    try:
        return past.file_of(project, history, word)
    except NotFound as error:
        if past.is_change(word):
            raise NotFound(f"there is no change and no memory {word!r}", hint=error.hint) from error
        raise


def _names_a_change(history: History, word: str) -> bool:
    """Whether a lone word is a change and no file, which may be called `beef` too."""
    if not past.is_change(word):
        return False
    try:
        past.change_of(history, word)
    except NotFound:
        return False
    return True


def _differences(history: History, change: Change, file: str | None) -> Iterator[Difference]:
    def data(blob: str | None) -> bytes | None:
        return None if blob is None else history.bytes(blob)

    for one in sorted(change.files, key=lambda one: changes.is_index(one.file)):
        if file in (None, one.file):
            parts = [difference(one.file, data(run.before), data(run.after)) for run in one.runs or (one,)]
            diff = None if None in parts else "".join(filter(None, parts))
            yield Difference(file=one.file, action=one.action, diff=diff)


def _as_json(one: Difference) -> dict[str, str | None]:
    return {"path": one.file, "action": one.action, "diff": one.diff}


def in_words(one: Difference, *, found: bool = False) -> str:
    """A difference as a terminal may have it. `found`: nobody made the file, it was there."""
    head = f"{'found' if found else changes.DONE[one.action]} {manifest.harmless(one.file)}"
    if one.diff is None:
        return f"{head}: it is no text, so its lines can't be shown"
    if not one.diff:
        return f"{head}: only its line ends or its encoding"
    return f"{head}\n{shown(one.diff, coloured=_in_colour())}"


def _in_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


# -- undo ----------------------------------------------------------------------------------------------------


@click.command(short_help="Take a change of memory back.")
@click.argument("change", required=False)
@click.option("--dry-run", is_flag=True, help="Show what that would change, and leave all as it is.")
@json_option
@click.pass_obj
def undo(opened: app.Opening, change: str | None, dry_run: bool, as_json: bool) -> None:
    """Take CHANGE back, or the latest one that still holds. All of it or nothing.

    What was changed since stays, where the two can be told apart; else nothing is done, and the files are
    named. Taking an undo back does the change again, so that nothing is lost by trying.
    """
    project = open_project(opened)
    if dry_run:
        _show_undo(project, change, as_json=as_json)
        return
    undone = take_back(project, change)
    files = undone.change.files if undone.change else ()
    if as_json:
        new = undone.change.id if undone.change else None
        emit_json(undid=undone.of.id, change=new, files=changes.files_as_json(files))
    else:
        talk(told(undone, project.now(), redo="memdir undo"))


def take_back(project: app.Project, word: str | None) -> Undone:
    """Take back the change that the word names, or the latest that still holds.

    Raises:
        NotFound: there is none.
        Conflict: what it did was changed since, and both can't be had.
    """
    memory, change = _to_undo(project, word)
    return revising.undo(memory, change, now=project.now())


def _to_undo(project: app.Project, word: str | None) -> tuple[MemoryDir, Change]:
    memory = memory_of(project)
    history = past.look(memory)
    return memory, revising.latest(history) if word is None else past.change_of(history, word)


def _show_undo(project: app.Project, word: str | None, *, as_json: bool) -> None:
    """Show what an undo would do now."""
    memory, change = _to_undo(project, word)
    swaps = revising.planned(memory, change, now=project.now())
    found = [_swapped(swap) for swap in sorted(swaps, key=lambda swap: changes.is_index(swap.file))]
    if as_json:
        emit_json(undoes=change.id, files=[_as_json(one) for one in found])
        return
    talk(f"`memdir undo {changes.short(change.id)}` would take back {changes.named(change, project.now())}:")
    click.echo("\n\n".join(map(in_words, found)))


def _swapped(swap: Swap) -> Difference:
    action = "created" if swap.now is None else "deleted" if swap.then is None else "updated"
    return Difference(file=swap.file, action=action, diff=difference(swap.file, swap.now, swap.then))


def told(undone: Undone, now: datetime, *, redo: str) -> str:
    """What was taken back, and how to have it again: by `redo` and the id of what did it."""
    of = changes.named(undone.of, now)
    if undone.change is None:
        return f"nothing is left to take back of {of}"
    did = changes.what(undone.change.files, index=True)
    return f"took back {of}: {did}\n`{redo} {changes.short(undone.change.id)}` does it again"

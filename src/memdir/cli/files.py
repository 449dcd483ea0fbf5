"""The commands that handle memories one by one: list, show, edit, remember, forget, restore."""

from __future__ import annotations

import shlex
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memdir import app
from memdir.cli import changes
from memdir.cli.opening import memory_of, open_project
from memdir.cli.output import columns, emit_json, json_option, line, talk, visible
from memdir.errors import NotFound, SecretFound, UsageError
from memdir.memory import encoding, entrypoint, manifest, topic
from memdir.memory.history import By
from memdir.memory.scan import Header
from memdir.memory.shown import BODY_BYTES
from memdir.memory.store import MemoryDir, Stored
from memdir.memory.trash import Trashed
from memdir.project import ASKED

if TYPE_CHECKING:
    from memdir.extract.saved import Change


@click.command("list", short_help="List the memories, newest first.")
@click.option("--type", "kind", type=click.Choice(topic.TYPES), help="Only memories of this type.")
@click.option(
    "--by", type=click.Choice(["age", "use"]), default="age", help="The newest first, or the most used."
)
@json_option
@click.pass_obj
def list_(opened: app.Opening, kind: str | None, by: str, as_json: bool) -> None:
    """List the memories of this project, newest first; or by what they were good for in conversations."""
    project = open_project(opened)
    memory = memory_of(project)
    headers = [header for header in memory.list() if kind is None or header.type == kind]
    if by == "use" and headers:
        from memdir.cli.why import list_by_use

        list_by_use(project, headers, as_json=as_json)
        return
    if as_json:
        emit_json(directory=str(memory.directory), memories=[header_as_json(header) for header in headers])
        return
    if not headers:
        talk(f"no memories{f' of type {kind}' if kind else ''} in {memory.directory}")
        return
    now = project.now()
    click.echo(columns(_row(header, now) for header in headers))


def header_as_json(header: Header) -> dict[str, object]:
    """A memory as `list --json` prints it."""
    return {
        "path": header.path,
        "name": header.name,
        "description": header.description,
        "type": header.type,
        "modified": header.mtime.isoformat(),
        "bytes": header.size,
    }


def _row(header: Header, now: datetime) -> tuple[str, ...]:
    age = manifest.age_in_words(manifest.age_in_days(header.mtime, now))
    what = manifest.harmless(header.description or header.name)
    return (header.type or "-", age, manifest.harmless(header.path), what)


@click.command(short_help="Print one memory.")
@click.argument("name")
@json_option
@click.pass_obj
def show(opened: app.Opening, name: str, as_json: bool) -> None:
    """Print one memory: NAME is its file or its name, or MEMORY.md for the index.

    Byte for byte, but at a terminal, which nothing in it may steer: there such letters are shown as codes.
    """
    project = open_project(opened)
    stored = memory_of(project).read(project.find(name))
    if as_json:
        emit_json(path=stored.file, **_contents(stored))
    elif sys.stdout.isatty():
        click.echo(visible(encoding.readable(stored.data).replace("\r\n", "\n")), nl=False)
    else:
        click.echo(stored.data, nl=False)


def _contents(stored: Stored) -> dict[str, object]:
    parsed = stored.topic or topic.parse(stored.data, filename=stored.file)
    return {
        "name": parsed.name,
        "description": parsed.description,
        "type": parsed.type,
        "body": parsed.body,
        "problems": [str(problem) for problem in parsed.problems],
    }


@click.command(short_help="Change one memory in your editor.")
@click.argument("name")
@click.pass_obj
def edit(opened: app.Opening, name: str) -> None:
    """Open one memory (or MEMORY.md) in $VISUAL or $EDITOR, and save it when the editor ends."""
    from memdir.cli.editor import edit_memory

    project = open_project(opened)
    memory_of(project)
    written = edit_memory(project, name)
    if written is None:
        talk("nothing changed")
        return
    talk(f"{written.action} {line(written.file)}")
    if written.warning:
        talk(f"warning: {written.warning}")


@click.command(short_help="Remember something.")
@click.argument("text", nargs=-1)
@click.option("--type", "kind", type=click.Choice(topic.TYPES), help="What kind of memory it is.")
@click.option("--allow-secret", is_flag=True, help="Keep it although it looks like a secret.")
@json_option
@click.pass_obj
def remember(
    opened: app.Opening, text: tuple[str, ...], kind: str | None, allow_secret: bool, as_json: bool
) -> None:
    """Remember TEXT (or standard input, when there is none, or it is a single dash).

    A memory that is about the same thing is brought up to date. Put `--` before a TEXT that begins with a
    dash.

    What looks like a secret is refused. With --allow-secret it is kept, and its line gets the mark
    `<!-- memdir:allow-secret -->`. Only you can set that: by this option, with `memdir edit`, or in the file.
    """
    project = open_project(opened)
    memory_of(project)
    words = " ".join(text).strip() if text not in ((), ("-",)) else _standard_input()
    if not words:
        raise UsageError(
            "nothing to remember", hint='say what, as in: memdir remember "we deploy on Tuesdays"'
        )
    try:
        saved = project.remember(words, kind=kind, allow_secret=allow_secret)
        if saved.refused:
            raise saved.refused[0]
    except SecretFound as error:
        error.hint = f"{error.hint}. If it is none, or has to be kept, add --allow-secret"
        raise
    if as_json:
        emit_json(files=[change_as_json(change) for change in saved.changes], warning=saved.warning)
    for change in saved.changes if not as_json else ():
        talk(f"{change.action} {change.file}")
    if not saved.changes and not as_json:
        talk("nothing changed: that is remembered already")
    if saved.warning:
        talk(f"warning: {saved.warning}")
    if len(words.encode("utf-8", "replace")) > BODY_BYTES:
        talk(f"note: that is long; a conversation is given the first {BODY_BYTES:,} bytes of a memory")


def change_as_json(change: Change) -> dict[str, str | None]:
    """A memory file that was written, as `--json` prints it."""
    return {"path": change.file, "action": change.action, "type": change.type}


def _standard_input() -> str:
    if sys.stdin.isatty():
        talk("what should be remembered? (end with Ctrl-D)")
    return sys.stdin.buffer.read().decode("utf-8", "replace").strip()


@click.command(short_help="Forget one memory; it waits in the trash.")
@click.argument("name")
@click.option("--erase", is_flag=True, help="Leave nothing of it: not in the trash, not in the history.")
@click.option("--yes", is_flag=True, help="With --erase: do it without asking.")
@json_option
@click.pass_obj
def forget(opened: app.Opening, name: str, erase: bool, yes: bool, as_json: bool) -> int:
    """Forget one memory: it moves to the trash, from where `restore` brings it back.

    With --erase it is gone for good, from trash, inbox and history too, and so is what was noted of its use.
    NAME may then be one that is forgotten already. Afterwards all is searched for its words, and where they
    still stand is told: in transcripts, say, which are yours to delete.
    """
    project = open_project(opened)
    if erase:
        from memdir.cli.erase import erase_memory

        return erase_memory(project, name, yes=yes, as_json=as_json)
    if yes:
        raise UsageError("--yes goes with --erase", hint="nothing is asked without it")
    trashed = forget_memory(project, name, by=By(worker="forget", reason=ASKED))
    if as_json:
        emit_json(forgotten=trashed.file)
    else:
        talk(f"forgot {line(trashed.file)}; `memdir restore {shlex.quote(trashed.file)}` brings it back")
    return 0


def forget_memory(project: app.Project, name: str, *, by: By) -> Trashed:
    """Move the memory of that name to the trash, as a change of that one.

    Raises:
        NotFound: there is none.
        UsageError: several have that name, or it is the index.
    """
    memory, file = memory_of(project), project.find(name)
    if file == entrypoint.NAME:
        raise UsageError(
            f"{entrypoint.NAME} is the index, not a memory", hint="`memdir list` shows what can be forgotten"
        )
    expected = memory.read(file).digest
    return memory.on_behalf(by).delete(file, now=project.now(), expected=expected)


@click.command(short_help="Bring a forgotten memory back, or an earlier state.")
@click.argument("name", required=False)
@click.option("--at", "point", metavar="CHANGE|DATE", help="As it was right after a change, or at a moment.")
@json_option
@click.pass_obj
def restore(opened: app.Opening, name: str | None, point: str | None, as_json: bool) -> None:
    """Bring a forgotten memory back; without NAME, list what is in the trash, the latest first.

    With --at a memory is again as it was, whether or not it is there now: right after a change, by its id as
    `memdir log NAME` shows it, or at a moment, as in 2026-03-05T14:30. A date alone means the end of the day.
    """
    project = open_project(opened)
    memory = memory_of(project)
    if point is not None:
        _restore_at(project, name, point, as_json=as_json)
        return
    if name is None:
        _list_trash(memory.trashed(), as_json=as_json)
        return
    found = in_trash(memory, name)
    written = memory.on_behalf(By(worker="restore", reason=ASKED)).restore(found.file, id=found.id)
    if as_json:
        emit_json(restored=written.file)
    else:
        talk(f"restored {line(written.file)}")


def _restore_at(project: app.Project, name: str | None, point: str, *, as_json: bool) -> None:
    """Bring back how a memory was."""
    from memdir.cli import past
    from memdir.memory.revising import restore_at

    if name is None:
        raise UsageError("say which memory, as in: memdir restore NAME --at 1a2b3c4")
    memory = memory_of(project)
    history = past.look(memory)
    file, meant = past.file_of(project, history, name), past.point_of(history, point)
    at = meant if isinstance(meant, datetime) else meant.id
    by = By(worker="restore", reason=ASKED)
    try:
        written = restore_at(memory.on_behalf(by), file, at, now=project.now())
    except NotFound as error:
        called, made = shlex.quote(file), history.log(file=file)
        there = next((one for one in made if past.leaves(one, file)), None)
        if there is not None:
            error.hint = f"`memdir log {called}` shows its changes"
        if there is not None and there is not made[0]:  # it is gone
            last = f"memdir restore {called} --at {changes.short(there.id)}"
            error.hint = f"`{last}` brings back how it was last; `memdir log {called}` shows its changes"
        raise
    if as_json:
        emit_json(restored=written.file, at=at.isoformat() if isinstance(at, datetime) else at)
        return
    when = f"at {changes.when(meant)}" if isinstance(meant, datetime) else f"after {changes.short(meant.id)}"
    if written.action == "unchanged":
        talk(f"{line(written.file)} is as it was {when}; nothing changed")
    else:
        undo = f"memdir undo {changes.short(by.change)}"
        talk(f"{line(written.file)} is again as it was {when}; `{undo}` takes that back")
    if written.warning:
        talk(f"warning: {written.warning}")


def _list_trash(trashed: list[Trashed], *, as_json: bool) -> None:
    if as_json:
        emit_json(trash=[{"path": item.file, "forgotten": item.deleted} for item in trashed])
    elif trashed:
        rows = ((changes.instant(item.deleted), manifest.harmless(item.file)) for item in trashed)
        click.echo(columns(rows))
    else:
        talk("the trash is empty")


def in_trash(memory: MemoryDir, name: str) -> Trashed:
    """The entry that a person means by a file, with or without `.md`, or by a memory's name.

    Raises:
        NotFound: there is none.
    """
    wanted, trashed = name.casefold(), memory.trashed()
    for item in trashed:
        file = Path(item.file)
        if name == item.file or wanted in {item.file.casefold(), file.with_suffix("").as_posix().casefold()}:
            return item
    for item in trashed:
        _, data = memory.trash.get(item.file, item.id)
        if wanted == topic.parse(data, filename=item.file).name.casefold():
            return item
    raise NotFound(f"there is no {name!r} in the trash", hint="`memdir restore` alone lists what is there")

"""The commands that handle memories one by one: list, show, edit, remember, forget, restore."""

from __future__ import annotations

import shlex
import sys
from datetime import datetime

import click

from memdir import app
from memdir.cli.editor import edit_memory
from memdir.cli.output import change_as_json, columns, emit_json, json_option, talk
from memdir.errors import UsageError
from memdir.memory import manifest, topic
from memdir.memory.scan import Header


@click.command("list")
@click.option("--type", "kind", type=click.Choice(topic.TYPES), help="Only memories of this type.")
@json_option
@click.pass_obj
def list_(opened: app.Opening, kind: str | None, as_json: bool) -> None:
    """List the memories of this project, newest first."""
    project = app.open_project(*opened)
    memory = project.require_memory()
    headers = [header for header in memory.list() if kind is None or header.type == kind]
    if as_json:
        emit_json(directory=str(memory.directory), memories=[_as_json(header) for header in headers])
        return
    if not headers:
        talk(f"no memories in {memory.directory}")
        return
    now = project.now()
    click.echo(columns(_row(header, now) for header in headers))


def _as_json(header: Header) -> dict[str, object]:
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
    return (header.type or "-", age, header.path, what)


@click.command()
@click.argument("name")
@json_option
@click.pass_obj
def show(opened: app.Opening, name: str, as_json: bool) -> None:
    """Print one memory: NAME is its file or its name, or MEMORY.md for the index."""
    project = app.open_project(*opened)
    stored = project.require_memory().read(project.find(name))
    if as_json:
        parsed = stored.topic or topic.parse(stored.data, filename=stored.file)
        emit_json(
            path=stored.file,
            name=parsed.name,
            description=parsed.description,
            type=parsed.type,
            body=parsed.body,
            problems=[str(problem) for problem in parsed.problems],
        )
        return
    sys.stdout.buffer.write(stored.data)


@click.command()
@click.argument("name")
@click.pass_obj
def edit(opened: app.Opening, name: str) -> None:
    """Open one memory in $VISUAL or $EDITOR, and save it when the editor ends."""
    written = edit_memory(app.open_project(*opened), name)
    if written is None:
        talk("nothing changed")
        return
    talk(f"{written.action} {written.file}")
    if written.warning:
        talk(f"warning: {written.warning}")


@click.command()
@click.argument("text", nargs=-1)
@click.option("--type", "kind", type=click.Choice(topic.TYPES), help="What kind of memory it is.")
@json_option
@click.pass_obj
def remember(opened: app.Opening, text: tuple[str, ...], kind: str | None, as_json: bool) -> None:
    """Remember TEXT (or standard input, when there is none)."""
    words = " ".join(text).strip() if text else _standard_input()
    if not words:
        raise UsageError(
            "nothing to remember", hint='say what, as in: memdir remember "we deploy on Tuesdays"'
        )
    project = app.open_project(*opened)
    saved = project.remember(words, kind=kind)
    if saved.refused:
        raise saved.refused[0]
    if as_json:
        emit_json(files=[change_as_json(change) for change in saved.changes])
        return
    for change in saved.changes:
        talk(f"{change.action} {change.file}")
    if not saved.changes:
        talk("nothing changed: that is remembered already")


def _standard_input() -> str:
    if sys.stdin.isatty():
        talk("what should be remembered? (end with Ctrl-D)")
    return sys.stdin.buffer.read().decode("utf-8", "replace").strip()


@click.command()
@click.argument("name")
@json_option
@click.pass_obj
def forget(opened: app.Opening, name: str, as_json: bool) -> None:
    """Forget one memory: it moves to the trash, from where `restore` brings it back."""
    project = app.open_project(*opened)
    trashed = project.require_memory().delete(project.find(name), now=project.now())
    if as_json:
        emit_json(forgotten=trashed.file)
        return
    talk(f"forgot {trashed.file}; `memdir restore {shlex.quote(trashed.file)}` brings it back")


@click.command()
@click.argument("name", required=False)
@json_option
@click.pass_obj
def restore(opened: app.Opening, name: str | None, as_json: bool) -> None:
    """Bring a forgotten memory back; without NAME, list what is in the trash."""
    project = app.open_project(*opened)
    memory = project.require_memory()
    if name is not None:
        written = memory.restore(name)
        if as_json:
            emit_json(restored=written.file)
        else:
            talk(f"restored {written.file}")
        return
    trashed = memory.trashed()
    if as_json:
        emit_json(trash=[{"path": item.file, "forgotten": item.deleted} for item in trashed])
    elif trashed:
        click.echo(columns((item.deleted, item.file) for item in trashed))
    else:
        talk("the trash is empty")

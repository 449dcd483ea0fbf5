"""`memdir learn`: memories from conversations that took place already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import click

from memdir import app
from memdir.cli.output import change_as_json, emit_json, json_option, talk
from memdir.errors import MemdirError, UsageError
from memdir.extract import foreign
from memdir.extract.foreign import Talk
from memdir.extract.saved import Saved
from memdir.paths import canonical_root

Outcome: TypeAlias = tuple[Talk, app.Project, Saved]


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--project",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Whose memory it goes to; otherwise the folder that each transcript names.",
)
@json_option
@click.pass_obj
def learn(opened: app.Opening, files: tuple[Path, ...], folder: Path | None, as_json: bool) -> None:
    """Save what is worth keeping from transcripts: memdir's own and Claude Code's (.jsonl).

    FILES are transcripts, or folders of them. What was learned once is not learned again.
    """
    import anyio

    transcripts = [found for file in files for found in (foreign.find(file) if file.is_dir() else [file])]
    outcomes: list[Outcome] = []
    failures: list[tuple[Path, MemdirError]] = []
    with _progress(len(transcripts), quiet=as_json) as advance:
        for file in transcripts:
            try:
                outcomes += anyio.run(_learn_file, opened, file, folder)
            except MemdirError as error:
                failures.append((file, error))
            advance(file.name)
    _report(outcomes, failures, as_json=as_json)
    if failures and len(failures) == len(transcripts):
        raise failures[0][1]


async def _learn_file(opened: app.Opening, file: Path, folder: Path | None) -> list[Outcome]:
    """Learn from one file; it may hold talks about several projects."""
    outcomes: list[Outcome] = []
    for talk_ in foreign.read(file, project=canonical_root):
        where = folder or talk_.cwd
        if where is None:
            raise UsageError(
                f"{file.name} does not say in which folder it took place",
                hint="name the project with --project DIR",
            )
        project = app.open_project(where, opened[1])
        project.require_memory()
        async with app.running(project) as runtime:
            outcomes.append((talk_, project, await runtime.learn(talk_)))
    return outcomes


def _report(outcomes: list[Outcome], failures: list[tuple[Path, MemdirError]], *, as_json: bool) -> None:
    changes: list[dict[str, Any]] = []
    for _, project, saved in outcomes:
        directory = project.require_memory().directory
        changes += [
            change_as_json(change) | {"path": str(directory / change.file)} for change in saved.changes
        ]
        for refused in saved.refused:
            talk(f"warning: {refused}")
    for file, error in failures:
        talk(f"warning: {file.name}: {error}" + (f" ({error.hint})" if error.hint else ""))
    if as_json:
        emit_json(files=changes)
        return
    for change in changes:
        click.echo(f"{change['action']} {change['path']}")
    if not changes:
        talk("nothing new to keep")


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A progress bar on stderr, where somebody looks."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("learning"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        yield lambda name: bar.update(task, advance=1, description=name)

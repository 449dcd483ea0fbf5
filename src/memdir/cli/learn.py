"""`memdir learn`: memories from conversations that took place already."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TypeAlias

import click

from memdir import app
from memdir.cli.opening import memory_of, model_option, open_project
from memdir.cli.output import emit_json, error_as_json, fail, json_option, talk
from memdir.errors import (
    ContextTooLong,
    MemdirError,
    ModelError,
    ModelOverloaded,
    ModelUnreachable,
    NotFound,
    UsageError,
)
from memdir.extract import foreign
from memdir.extract.foreign import Talk
from memdir.extract.saved import Change, Saved
from memdir.paths import canonical_root

BY_RULES = "`memdir learn --model local …` does it by rules"

Advance: TypeAlias = Callable[[str], None]


@click.command(short_help="Learn from transcripts of earlier conversations.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--project",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False, resolve_path=True),
    help="Whose memory it goes to; otherwise the folder that each record names.",
)
@model_option("learns; `local` is the embedded default")
@json_option
@click.pass_obj
def learn(
    opened: app.Opening, files: tuple[Path, ...], folder: Path | None, model: str | None, as_json: bool
) -> int:
    """Save what is worth keeping from transcripts: memdir's own and Claude Code's (.jsonl).

    FILES are transcripts, or folders of them. What was learned once is not learned again.
    """
    transcripts = [found for file in files for found in (foreign.find(file) if file.is_dir() else [file])]
    if not transcripts:
        raise NotFound(f"there is no .jsonl file in {files[0]}", hint="name transcripts, or a folder of them")
    run = _Run(opened=opened, folder=folder, model=model)
    with _progress(len(transcripts), quiet=as_json) as advance:
        try:
            run.learn(transcripts, advance)
        except KeyboardInterrupt:
            run.interrupted = True
    run.print_json() if as_json else run.print()
    if run.interrupted:
        talk("what was learned is kept; the same command goes on from there")
        raise click.Abort
    return run.exit_code(of=len(transcripts))


@dataclass(kw_only=True)
class _Run:
    """What came of the files so far."""

    opened: app.Opening
    folder: Path | None
    model: str | None = None
    changes: dict[Path, Change] = field(default_factory=dict)
    failures: list[tuple[Path, MemdirError]] = field(default_factory=list)
    empty: list[tuple[Path, MemdirError]] = field(default_factory=list)
    refused: list[MemdirError] = field(default_factory=list)
    held: int = 0
    warnings: dict[str, None] = field(default_factory=dict)
    over: dict[Path, str] = field(default_factory=dict)
    interrupted: bool = False

    def learn(self, transcripts: Sequence[Path], advance: Advance) -> None:
        """Take one file after the other; what is wrong with one is kept for the end."""
        import anyio

        for file in transcripts:
            try:
                anyio.run(self._learn_file, file)
            except NotFound as error:
                self.empty.append((file, error))
            except ModelError as error:
                error.hint = f"{error.hint}; {BY_RULES}" if error.hint else BY_RULES
                self.failures.append((file, error))
                if _is_hopeless(error):
                    return
            except MemdirError as error:
                self.failures.append((file, error))
            except OSError as error:
                self.failures.append((file, MemdirError(f"can't be read: {error.strerror}")))
            advance(file.name)

    async def _learn_file(self, file: Path) -> None:
        """Learn from one file; it may hold talks about several projects."""
        for part in foreign.read(file, project=_root_of):
            if part.skipped:
                lines = "1 line" if part.skipped == 1 else f"{part.skipped} lines"
                self.warnings[f"{lines} of {file.name} could not be made out"] = None
            project = open_project(
                self.opened,
                folder=self.folder or _folder_of(part),
                model=self.model,
                job="extract",
                quiet=True,
            )
            memory = memory_of(project).directory
            async with app.running(project, jobs=("extraction",)) as runtime:
                saved = await runtime.learn(_for(project, part), on_saved=partial(self._take, memory))
            self.warnings |= dict.fromkeys(project.warnings)
            if saved.changes and part.cwd and self.folder is None and not part.cwd.is_dir():
                self.warnings[f"{part.cwd} is not there any more; its memories are in {memory}"] = None

    def _take(self, memory: Path, saved: Saved) -> None:
        """Add up what was done to each file, as it is at the end, also if a later part of the talk fails."""
        for change in saved.changes:
            place = memory / change.file
            before = self.changes.pop(place, None)
            if before is None:
                self.changes[place] = change
            elif (before.action, change.action) == ("deleted", "created"):
                self.changes[place] = Change(file=change.file, action="updated", type=change.type)
            elif before.action != "created":
                self.changes[place] = change
            elif change.action != "deleted":  # made here and taken back: as it was
                self.changes[place] = Change(file=change.file, action="created", type=change.type)
        self.refused += saved.refused
        self.held += len(saved.held)
        if saved.warning:
            self.over[memory] = saved.warning

    # -- telling ---------------------------------------------------------------------------------------------

    def exit_code(self, *, of: int) -> int:
        """A file without a conversation is no failure, as long as there are others."""
        if self.failures:
            return self.failures[0][1].exit_code
        return self.empty[0][1].exit_code if len(self.empty) == of else 0

    def print(self) -> None:
        """A line for each memory file on stdout; the rest is talk."""
        for place, change in self.changes.items():
            click.echo(f"{change.action} {place}")
        self._talk()
        if not (self.changes or self.failures or self.empty or self.interrupted or self.held):
            talk("nothing new to keep")

    def print_json(self) -> None:
        """One object. Paths are absolute, since one run may write into several projects' memory."""
        wrong = self.failures or self.empty
        emit_json(
            files=[
                {"path": str(place), "action": change.action, "type": change.type}
                for place, change in self.changes.items()
            ],
            refused=[str(error) for error in self.refused],
            held=self.held,
            failures=[{"path": str(file), **error_as_json(error)} for file, error in wrong],
        )
        self._talk()

    def _talk(self) -> None:
        for warning in (*self.warnings, *self.over.values(), *map(str, self.refused)):
            talk(f"warning: {warning}")
        if self.held:
            what = "1 memory waits" if self.held == 1 else f"{self.held} memories wait"
            talk(f"{what} for your word: `memdir inbox` of that project shows why")
        if self.empty:
            names = ", ".join(file.name for file, _ in self.empty[:3])
            more = f" and {len(self.empty) - 3} more" if len(self.empty) > 3 else ""
            talk(f"no conversation in {names}{more}")
        told = set()
        for file, error in self.failures:
            if str(error) not in told:
                fail(_named(error, file), as_json=False)
            told.add(str(error))
        if len(self.failures) > len(told):
            talk(f"(the same for {len(self.failures) - len(told)} more files)")


def _is_hopeless(error: ModelError) -> bool:
    """Whether each file after this one would meet the same: all but what is a matter of the one talk."""
    if isinstance(error, ContextTooLong):
        return False
    return error.lasts or isinstance(error, ModelOverloaded | ModelUnreachable)


def _for(project: app.Project, part: Talk) -> Talk:
    """The talk; for another project than its own it counts as a part of its own, not learned from yet."""
    root = project.places.root
    if part.cwd is not None and _root_of(part.cwd) == root:
        return part
    return replace(part, part=f"{part.part} for {root}")


def _root_of(folder: Path) -> Path:
    """The project of a folder, as far as it can be one of this machine."""
    return canonical_root(folder) if _is_here(folder) else folder


def _is_here(folder: Path) -> bool:
    return folder.is_absolute() and "\0" not in str(folder)


def _folder_of(part: Talk) -> Path:
    """The folder in which a talk took place; it need not be there any more.

    Raises:
        UsageError: the records don't say, or name one of another machine.
    """
    cure = "name the project with --project DIR"
    if part.cwd is None:
        raise UsageError("the records don't say in which folder this took place", hint=cure)
    if not _is_here(part.cwd):
        kind = "another machine's" if PureWindowsPath(str(part.cwd)).is_absolute() else "no full"
        raise UsageError(f"the records name {kind} folder, {str(part.cwd)[:200]!r}", hint=cure)
    return part.cwd


def _named(error: MemdirError, file: Path) -> MemdirError:
    return MemdirError(f"{PurePosixPath(file).name}: {error}", hint=error.hint)


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Advance]:
    """A progress bar on stderr, where somebody looks."""
    if quiet or not sys.stderr.isatty():
        yield lambda _name: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("learning"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda name: bar.update(task, advance=1, description=name.replace("[", r"\["))

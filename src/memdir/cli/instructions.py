"""`memdir instructions`: what a conversation started here would be told, and what waits for consent (I3)."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from memdir.agent.instructions import Consents, Instruction, Sources, Waiting, gather, working_tree
from memdir.agent.instructions.memory import Index, index_of
from memdir.agent.instructions.places import bounds
from memdir.agent.instructions.walk import keeps_secrets
from memdir.app import Project
from memdir.cli.opening import open_project
from memdir.cli.output import columns, emit_json, json_option, line, talk
from memdir.errors import NotFound, UsageError
from memdir.fs import inside
from memdir.memory.fence import exact

_SHOWN = 10
"""Patterns of a rule that are listed."""


@click.group("instructions", invoke_without_command=True, short_help="Which instructions are loaded here.")
@json_option
@click.pass_context
def instructions(ctx: click.Context, as_json: bool) -> None:
    """List what a conversation started here would be told, in its order: CLAUDE.md, AGENTS.md, rules, what
    they import, and the index of memory.

    What a file of the project brings in from outside of it waits for your word: `allow` or `refuse` it. The
    last word counts, from the next conversation on. A rule for certain files comes when one of them is read.
    """
    if ctx.invoked_subcommand is not None:
        return
    project = open_project(ctx.obj)
    sources = gather(project.places, project.settings)
    index = _index(project)
    if index is not None:
        sources = sources.without(index.path)
    if as_json:
        emit_json(**_as_json(project, sources, index))
        return
    rows = [*_rows(sources), *([_index_row(index)] if index else [])]
    if rows:
        click.echo(columns(rows, wrap=True))
    else:
        talk("there are no instructions here")
    for problem in sources.problems:
        talk(line(f"warning: {problem}"))
    for one in sources.waiting:
        talk(line(f"waiting: {one.words}; {_cure(one)}"))


@instructions.command("allow", short_help="Let a file from outside the project be loaded.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--credentials", is_flag=True, help="Also if it is where credentials are kept.")
@json_option
@click.pass_context
def allow(ctx: click.Context, path: Path, credentials: bool, as_json: bool) -> None:
    """Let instructions of this project bring in PATH, a file outside of it, or all that is in a folder.

    It is sent to the model with each conversation here. A file that is kept with credentials needs a word of
    its own.
    """
    project = open_project(ctx.obj)
    real = _real(ctx, path)
    tree = working_tree(project.places.cwd)
    if keeps_secrets(real, tree) and not credentials:
        raise UsageError(
            f"{exact(str(real))} is where credentials are kept, and a model would be sent what is in it",
            hint="if you mean it, say so: --credentials",
        )
    home = Path(os.path.realpath(Path.home()))
    if inside(bounds(tree, project.places.cwd, home), real) and not credentials:
        raise UsageError(f"{exact(str(real))} is in the project, and needs no consent")
    _decide(ctx, project, real, allowed=True, as_json=as_json)


@instructions.command("refuse", short_help="Never load a file from outside the project.")
@click.argument("path", type=click.Path(path_type=Path))
@json_option
@click.pass_context
def refuse(ctx: click.Context, path: Path, as_json: bool) -> None:
    """Keep instructions of this project from bringing in PATH. It is not asked again."""
    project = open_project(ctx.obj)
    _decide(ctx, project, _real(ctx, path), allowed=False, as_json=as_json)


def _decide(ctx: click.Context, project: Project, real: Path, *, allowed: bool, as_json: bool) -> None:
    tree = working_tree(project.places.cwd)
    Consents(project.places.state / "consents.json").decide(tree, real, allowed=allowed)
    if as_json or (ctx.parent is not None and ctx.parent.params.get("as_json")):
        emit_json(path=str(real), project=str(tree), allowed=allowed)
    else:
        talk(line(f"{'allowed' if allowed else 'refused'} {exact(str(real))} for {exact(str(tree))}"))


def _real(ctx: click.Context, path: Path) -> Path:
    """The real path that the person means. Raises NotFound if nothing is there."""
    start: Path = ctx.obj[0]
    try:
        return Path(os.path.realpath(start / path.expanduser(), strict=True))
    except (OSError, ValueError, RuntimeError) as error:
        raise NotFound(
            f"there is no {exact(str(path))}", hint="`memdir instructions` lists what waits"
        ) from error


# -- what is listed ------------------------------------------------------------------------------------------


def _index(project: Project) -> Index | None:
    if project.memory is None or not project.settings.features.inject_index:
        return None
    return index_of(project.memory)


def _rows(sources: Sources) -> Iterator[tuple[str, str, str]]:
    for one in sources.files:
        yield one.what, f"{one.size:,} bytes", _with_note(one.path, _note(one))
    for rule in sources.rules:
        more = " …" if len(rule.globs) > _SHOWN else ""
        note = f"with {', '.join(map(exact, rule.globs[:_SHOWN]))}{more}"
        yield "rule", "later", _with_note(rule.path, note)


def _with_note(path: Path, note: str) -> str:
    return f"{exact(str(path))} ({note})" if note else exact(str(path))


def _note(one: Instruction) -> str:
    by = one.words if one.by else ""
    cut = ""
    if one.cut:
        cut = f"cut: {one.bytes:,} bytes are shown" if one.shown else "only named: no room"
    return "; ".join(filter(None, (by, cut)))


def _index_row(index: Index) -> tuple[str, str, str]:
    state = "" if index.stored else "empty"
    return "index", f"{index.bytes:,} bytes", _with_note(index.path, "cut" if index.truncated else state)


def _cure(one: Waiting) -> str:
    more = " --credentials" if one.why == "credentials" else ""
    path = shlex.quote(exact(str(one.path)))
    return f"`memdir instructions allow{more} {path}` lets it in, `refuse` instead of `allow` keeps it out"


def _as_json(project: Project, sources: Sources, index: Index | None) -> dict[str, Any]:
    return {
        "project": str(working_tree(project.places.cwd)),
        "files": [
            {**one.note(), "size": one.size, "by": None if one.by is None else str(one.by)}
            for one in sources.files
        ],
        "index": None if index is None else {"path": str(index.path), "bytes": index.bytes},
        "rules": [{"path": str(one.path), "paths": list(one.globs)} for one in sources.rules],
        "waiting": [{"path": str(one.path), "by": str(one.by), "why": one.why} for one in sources.waiting],
        "problems": list(sources.problems),
    }

"""`memdir recall`: which memories a prompt would get, and why."""

from __future__ import annotations

import inspect

import click

from memdir import app, errors
from memdir.cli.opening import memory_of, model_option, open_project
from memdir.cli.output import columns, emit_json, error_as_json, fail, json_option, talk
from memdir.errors import MemdirError, UsageError
from memdir.memory.manifest import harmless
from memdir.recall.select import Selection
from memdir.recall.verdict import Verdict


@click.command(short_help="Show which memories a prompt would get.")
@click.argument("query", nargs=-1, required=True)
@click.option("--explain", is_flag=True, help="Show what was considered, its score, and why it was left out.")
@model_option("chooses; `local` is the embedded default")
@json_option
@click.pass_obj
def recall(
    opened: app.Opening, query: tuple[str, ...], explain: bool, model: str | None, as_json: bool
) -> int:
    """Show which memories a prompt would get; mostly none."""
    import anyio

    project = open_project(opened, model=model, job="recall")
    memory_of(project)
    prompt = " ".join(query)
    if not prompt.strip():
        raise UsageError("nothing to look for", hint='say what, as in: memdir recall "deploy it to staging"')

    async def choose() -> Selection:
        async with app.running(project, jobs=("recall",)) as runtime:
            return await runtime.recalled(prompt)

    selection = anyio.run(choose)
    error = _failure(selection)
    if (instead_of := selection.instead_of) is not None:
        talk(f"warning: {instead_of}; words chose instead, as in a conversation")
        if instead_of.hint:
            talk(f"hint: {instead_of.hint}")
    if selection.without_meaning is not None:
        talk(f"warning: memories were found by their words alone: {_why(selection.without_meaning)}")
        if hint := getattr(selection.without_meaning, "hint", None):
            talk(f"hint: {hint}")
    if as_json:
        _print_json(selection, explain=explain, error=error)
    elif error is None:
        _print(selection, explain=explain)
    return fail(error, as_json=False) if error else 0


def _why(error: Exception) -> str:
    """Why an embedder had no part in the choice. What is not ours may quote what it was given."""
    if isinstance(error, TimeoutError):
        return "the embedder was too slow"
    return str(error) if isinstance(error, MemdirError) else f"the embedder failed ({type(error).__name__})"


def _failure(selection: Selection) -> MemdirError | None:
    """Why nobody could choose. A conversation goes on without memories then; who asks by hand is told."""
    if selection.error is None:
        return None
    kind = getattr(errors, selection.error, MemdirError)
    about = (inspect.getdoc(kind) or "").partition("\n")[0].rstrip(".")
    why = selection.error if kind is MemdirError else about[:1].lower() + about[1:]
    return kind(f"recall failed: {why}", hint="a conversation would go on without memories")


def _print(selection: Selection, *, explain: bool) -> None:
    if not selection.files:
        talk("no memory bears on that")
    if explain and selection.verdicts:
        click.echo(columns(_row(verdict) for verdict in selection.verdicts))
    elif not explain:
        for file in selection.files:
            click.echo(harmless(file))


def _print_json(selection: Selection, *, explain: bool, error: MemdirError | None) -> None:
    considered = {"considered": [_as_json(one) for one in selection.verdicts]} if explain else {}
    failed = error_as_json(error) if error else None
    instead_of = error_as_json(selection.instead_of) if selection.instead_of else None
    lost = selection.without_meaning
    emit_json(
        files=list(selection.files),
        how=selection.how,
        error=failed,
        instead_of=instead_of,
        without_meaning=_why(lost) if lost else None,
        **considered,
    )


def _row(verdict: Verdict) -> tuple[str, ...]:
    shared = ", ".join(list(verdict.words)[:6])
    mark = "+" if verdict.chosen else "-"
    why = f"{verdict.why}{f' ({shared})' if shared else ''}"
    return (mark, f"{verdict.score:.2f}", harmless(verdict.file), why)


def _as_json(verdict: Verdict) -> dict[str, object]:
    return {
        "path": verdict.file,
        "score": round(verdict.score, 4),
        "chosen": verdict.chosen,
        "why": verdict.why,
        "words": list(verdict.words),
    }

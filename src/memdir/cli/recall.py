"""`memdir recall`: which memories a prompt would get, and why."""

from __future__ import annotations

import click

from memdir import app
from memdir.cli.output import columns, emit_json, json_option, talk
from memdir.recall.local import Verdict
from memdir.recall.select import Selection


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--explain", is_flag=True, help="Show what was considered, its score, and why it was left out.")
@json_option
@click.pass_obj
def recall(opened: app.Opening, query: tuple[str, ...], explain: bool, as_json: bool) -> None:
    """Show which memories a prompt would get; mostly none."""
    import anyio

    project = app.open_project(*opened)
    project.require_memory()
    prompt = " ".join(query)

    async def choose() -> Selection:
        async with app.running(project) as runtime:
            return await runtime.recalled(prompt)

    _print(anyio.run(choose), explain=explain, as_json=as_json)


def _print(selection: Selection, *, explain: bool, as_json: bool) -> None:
    if as_json:
        considered = {"considered": [_as_json(one) for one in selection.verdicts]} if explain else {}
        emit_json(files=list(selection.files), how=selection.how, error=selection.error, **considered)
        return
    if selection.error:
        talk(f"recall failed ({selection.error}); a conversation would go on without memories")
    elif not selection.files:
        talk("no memory bears on that")
    if explain:
        rows = [_row(verdict) for verdict in selection.verdicts]
        click.echo(columns(rows) if rows else "")
    else:
        for file in selection.files:
            click.echo(file)


def _row(verdict: Verdict) -> tuple[str, ...]:
    shared = ", ".join(list(verdict.words)[:6])
    mark = "+" if verdict.chosen else "-"
    return (mark, f"{verdict.score:.2f}", verdict.file, f"{verdict.why}{f' ({shared})' if shared else ''}")


def _as_json(verdict: Verdict) -> dict[str, object]:
    return {
        "path": verdict.file,
        "score": round(verdict.score, 4),
        "chosen": verdict.chosen,
        "why": verdict.why,
        "words": list(verdict.words),
    }

"""`memdir dream`: consolidate the memories now, and judge the plans that wait (D5-D8)."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import click

from memdir import app
from memdir.agent.events import Events
from memdir.cli import plans
from memdir.cli.changes import ago
from memdir.cli.opening import memory_of, model_option, open_project
from memdir.cli.output import columns, emit_json, json_option, line, talk
from memdir.consolidation import carry_out, dreaming_of, policy_of
from memdir.dream.kept import Item, Kept, Waiting
from memdir.dream.lock import LOCK, Busy
from memdir.dream.progress import Progress
from memdir.dream.run import Dreamed
from memdir.dream.worker import explain
from memdir.errors import UnsafePath

Say = Callable[[str], None]

HELD = 1
"""The exit code of a dream whose plan waits for the person's word because something speaks against it."""


@click.group(
    "dream", invoke_without_command=True, short_help="Put the memories in order, without losing any."
)
@click.option("--explain", "explains", is_flag=True, help="Say whether it is time for a dream, and why.")
@click.option("--dry-run", is_flag=True, help="Show what it would change, and leave all as it is.")
@model_option("consolidates; `local` tidies the index by rules")
@json_option
@click.pass_context
def dream(ctx: click.Context, explains: bool, dry_run: bool, model: str | None, as_json: bool) -> int:
    """Put the memories in order: merge what is double, correct what is outdated, mend the index.

    The model works on a copy. What it made of it is a plan, and the plan is checked: each line that is gone
    needs a reason, and no more than a part of the memories may go at all. A plan that fails waits for your
    word, and changes nothing; one that passes is carried out, and `memdir undo` takes it back. Ctrl-C breaks
    a dream off, and all is as it was. Without a model the index alone is mended, by rules.

    The exit code is 1 where a plan waits because something speaks against it, and 4 while another dream is
    under way.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    project = open_project(ctx.obj, model=model, job="dream")
    if explains:
        return _explain(project, as_json=as_json)
    memory_of(project)
    with one_at_a_time():
        dreamed = anyio.run(_dream, project, dry_run, as_json)
    if as_json:
        emit_json(**plans.dreamed_as_json(dreamed))
    elif dry_run:
        _show_dry(dreamed)
    else:
        for said in plans.dreamed_in_words(dreamed):
            talk(said)
        if dreamed.outcome == "held" and (waiting := _kept(project).waiting()) > 1:
            talk(f"{waiting} plans wait now: `memdir dream list`")
    return HELD if dreamed.outcome == "held" and dreamed.objections else 0


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Say that it is a dream that is under way, and who is at it; or what to do about the lock."""
    try:
        yield
    except Busy as error:
        if error.state is None or error.state.holder is None:
            raise
        why = f"a dream is under way: the lock is {error.state.why}"
        hint = f"try again when it is over; {error.hint}"
        raise Busy(why, hint=hint, state=error.state) from error
    except UnsafePath as error:
        is_lock = Path(str(error.path)).name == LOCK
        error.hint = (
            "no dream can begin while it is there: remove it"
            if is_lock
            else "`memdir doctor` says what to do"
        )
        raise


def _explain(project: app.Project, *, as_json: bool) -> int:
    """Print all gates (D1)."""
    dreaming = dreaming_of(project, memory_of(project), events=Events())
    gates = explain(dreaming, policy_of(project), session=None)
    if as_json:
        emit_json(due=all(gate.passes for gate in gates), gates=plans.gates_as_json(gates))
    else:
        click.echo(plans.gate_rows(gates))
        talk(plans.gates_in_words(gates))
    return 0


def _show_dry(dreamed: Dreamed) -> None:
    shown = plans.plan_in_words(
        dreamed.plan,
        dreamed.objections,
        before=dreamed.before,
        after=dreamed.after,
        proposals=dreamed.proposals,
    )
    if shown:
        click.echo(shown)
    if dreamed.kept:
        talk(f"nothing was changed; `memdir dream apply {dreamed.kept}` carries it out")
    else:
        talk("nothing to improve")


async def _dream(project: app.Project, dry: bool, quiet: bool) -> Dreamed:
    """The dream, with its progress on stderr (D6). Ctrl-C breaks it off."""
    async with app.running(project, jobs=("dream",)) as runtime, anyio.create_task_group() as tasks:
        with anyio.CancelScope() as work, _progress(quiet=quiet) as show:
            tasks.start_soon(_listen, work)
            dreamed, failure = None, None
            try:
                dreamed = await runtime.dream(dry=dry, on_progress=show)
            except Exception as error:  # noqa: BLE001 - raised again below, as itself and not as a group
                failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    if dreamed is None:
        talk("broken off; the memories are as they were")
        raise click.Abort
    return dreamed


async def _listen(work: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT) as signals:
        async for _ in signals:
            work.cancel()
            return


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """How far it is: a line that changes, at a terminal; else a line for each phase."""
    if quiet:
        yield lambda _: None
        return
    if not sys.stderr.isatty():
        told = set[str]()

        def tell(progress: Progress) -> None:
            if progress.phase not in told:
                told.add(progress.phase)
                talk(plans.progress_in_words(progress))

        yield tell
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    with console.status(Text("dreaming …")) as status:
        yield lambda progress: status.update(Text(line(plans.progress_in_words(progress))))


# -- plans that wait -----------------------------------------------------------------------------------------


def _kept(project: app.Project) -> Kept:
    return dreaming_of(project, memory_of(project), events=Events()).kept


def _as_json(ctx: click.Context, as_json: bool) -> bool:
    """Whether `--json` was said, before the name of the command or behind it."""
    return as_json or bool(ctx.parent and ctx.parent.params.get("as_json"))


@dream.command("show", short_help="Show a plan that waits: why, and what it would change.")
@click.argument("id", required=False)
@json_option
@click.pass_context
def show(ctx: click.Context, id: str | None, as_json: bool) -> None:  # noqa: A002 - the word on the command line
    """Show the plan that waits under ID, or the newest: what speaks against it, what it would do to which
    memory and why, and all differences.
    """
    project = open_project(ctx.obj)
    if not _as_json(ctx, as_json):
        show_plan(project, id, say=click.echo, at=plans.SHELL)
        return
    waiting = _kept(project).get(id)
    diffs = [
        {"path": one.file, "action": one.action, "diff": one.diff}
        for one in plans.differences(waiting.before, waiting.after)
    ]
    shown = plans.plan_as_json(waiting.plan, waiting.objections)
    proposals = plans.proposals_as_json(waiting.proposals)
    emit_json(**_item_as_json(waiting), plan=shown, proposals=proposals, files=diffs)


def show_plan(project: app.Project, name: str | None, *, say: Say, at: str) -> None:
    """Show the plan of that name, or the newest. `at`: as `plans.SHELL`. Raises NotFound."""
    waiting = _kept(project).get(name)
    say(
        plans.plan_in_words(
            waiting.plan,
            waiting.objections,
            before=waiting.before,
            after=waiting.after,
            proposals=waiting.proposals,
        )
    )
    when = ago(waiting.when, project.now())
    talk(f"made {when}; `{at}dream apply {waiting.id}` carries it out, `discard` drops it")


def _item_as_json(item: Item | Waiting) -> dict[str, Any]:
    problem = item.problem if isinstance(item, Item) else None
    return {"id": item.id, "at": item.when.isoformat(), "dryRun": item.dry, "problem": problem}


@dream.command("list", short_help="List the plans that wait.")
@json_option
@click.pass_context
def list_(ctx: click.Context, as_json: bool) -> None:
    """List the plans that wait for your word, newest first."""
    project = open_project(ctx.obj)
    if _as_json(ctx, as_json):
        items = _kept(project).items()
        told = [
            _item_as_json(one) | {"objections": plans.objections_as_json(one.objections)} for one in items
        ]
        emit_json(items=told)
    else:
        list_plans(project, say=click.echo, at=plans.SHELL)


def list_plans(project: app.Project, *, say: Say, at: str) -> None:
    """List the plans that are kept. `at`: as `plans.SHELL`."""
    items, now = _kept(project).items(), project.now()
    if not items:
        talk("no plan waits")
        return
    say(columns((item.id, ago(item.when, now), plans.waiting_in_words(item)) for item in items))
    if whole := next((item.id for item in items if item.problem is None), None):
        talk(f"`{at}dream show {whole}` shows it, `apply` carries it out, `discard` drops it")
    else:
        talk(f"`{at}dream discard {items[0].id}` drops it")


@dream.command("apply", short_help="Carry out a plan that waits.")
@click.argument("id", required=False)
@json_option
@click.pass_context
def apply_(ctx: click.Context, id: str | None, as_json: bool) -> int:  # noqa: A002 - as above
    """Carry out the plan that waits under ID, or the newest, whatever speaks against it. What was changed
    since is kept: both are merged, or the memory is left alone. `memdir undo` takes it back.
    """
    project = open_project(ctx.obj)
    if not _as_json(ctx, as_json):
        apply_plan(project, id, at=plans.SHELL)
        return 0
    waiting = _kept(project).get(id)
    with one_at_a_time():
        applied = carry_out(project, waiting)
    left = [{"path": one.file, "why": one.why} for one in applied.left]
    emit_json(id=waiting.id, change=applied.change, files=list(applied.topics), left=left)
    return 0


def apply_plan(project: app.Project, name: str | None, *, at: str) -> None:
    """Carry out the plan of that name, or the newest, and say what was done. `at`: as `plans.SHELL`."""
    waiting = _kept(project).get(name)
    with one_at_a_time():
        applied = carry_out(project, waiting)
    for said in plans.applied_in_words(applied, at=at):
        talk(said)
    if not applied.files:
        dropped = f"the plan {waiting.id} is dropped" if not applied.left else "the plan goes on waiting"
        talk(f"nothing was left to change; {dropped}")


@dream.command("discard", short_help="Drop a plan that waits.")
@click.argument("id", required=False)
@json_option
@click.pass_context
def discard(ctx: click.Context, id: str | None, as_json: bool) -> None:  # noqa: A002 - as above
    """Drop the plan that waits under ID, or the newest. The memories are as they are."""
    project = open_project(ctx.obj)
    if not _as_json(ctx, as_json):
        drop_plan(project, id)
        return
    kept = _kept(project)
    item = kept.item(id)
    kept.drop(item)
    emit_json(id=item.id)


def drop_plan(project: app.Project, name: str | None) -> None:
    """Drop the plan of that name, or the newest."""
    kept = _kept(project)
    item = kept.item(name)
    kept.drop(item)
    talk(f"dropped {item.id}; no memory was changed")

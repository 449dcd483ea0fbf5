"""`memdir path` and `memdir status`: where everything is, whether memory is on, and what needs care."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import click

from memdir import app
from memdir.agent.instructions import gather
from memdir.agent.shell.wall import standing
from memdir.cli.changes import ago
from memdir.cli.ledger import budget_as_json, budget_in_words, ledger_of
from memdir.cli.opening import memory_of, model_option, open_project
from memdir.cli.output import columns, emit_json, json_option, line, talk
from memdir.doctor import checkup
from memdir.dream import lock
from memdir.dream.gates import AHEAD
from memdir.dream.kept import Kept
from memdir.errors import UnsafePath, UsageError
from memdir.extract.unfinished import Unfinished
from memdir.memory import entrypoint
from memdir.memory.store import MemoryDir
from memdir.model import endpoints, specs
from memdir.model.jobs import Models, parsed
from memdir.model.ledger import Budget

TOLD = 10
"""Problems of the memory files that are told."""


@click.command(short_help="Print where the memory is.")
@json_option
@click.pass_obj
def path(opened: app.Opening, as_json: bool) -> None:
    """Print the memory directory of this project."""
    project = open_project(opened)
    places = project.places
    if as_json:
        emit_json(
            memory=str(places.memory) if places.memory else None,
            source=places.memory_source,
            root=str(places.root),
            transcripts=str(places.transcripts),
            trash=str(places.trash),
            state=str(places.state),
        )
        return
    if places.memory is None:
        project.require_memory()
    click.echo(str(places.memory))


@click.command(short_help="Say whether memory is on, and what needs care.")
@model_option("would converse")
@json_option
@click.pass_obj
def status(opened: app.Opening, model: str | None, as_json: bool) -> None:
    """Say whether memory is on, where it is, how full it is, which models work on it, and what needs care."""
    project = open_project(opened, model=model, quiet=True)
    facts, budget = _facts(project), _budget(project)
    if as_json:
        emit_json(**facts, budget=budget_as_json(budget) if isinstance(budget, Budget) else None)
        return
    rows = _rows(facts, budget, project.now())
    click.echo(columns(((label, line(text)) for label, text in rows), wrap=True))
    problems = facts["problems"]
    for sentence in (*facts["warnings"], *problems[:TOLD]):
        talk(line(f"warning: {sentence}"))
    if (more := len(problems) - TOLD) > 0:
        talk(f"… and {more:,} more: `memdir doctor` lists them, each with its cure")


def _facts(project: app.Project) -> dict[str, Any]:
    places, settings = project.places, project.settings
    names = Models.names(settings)
    wrong = _wrong(names, Models.places(settings, project.said_at))
    shown = {job: specs.shown(name) for job, name in names.items()}
    does = {job: None if job in wrong else name for job, name in shown.items()}
    wall = standing()
    facts: dict[str, Any] = {
        "on": project.memory is not None,
        "reason": project.switch.reason if project.memory or not project.switch.on else "no safe place",
        "memory": str(places.memory) if places.memory else None,
        "source": places.memory_source,
        "layout": places.layout,
        "model": shown["conversation"],
        "recallModel": does["recall"],
        "extractModel": does["extraction"],
        "dreamModel": does["dream"],
        "sessionModel": does["session memory"],
        "extract": settings.features.extract,
        "recall": settings.features.recall,
        "dream": settings.features.dream,
        "sessionMemory": settings.features.session_memory,
        "compaction": settings.compact.automatic,
        "instructions": _instructions(project),
        "wall": wall.name,
        "wallSays": wall.says,
        "history": history_of(project),
        "warnings": [*project.warnings, *dict.fromkeys(wrong.values())],
        "problems": [],
    }
    if project.memory is None:
        return facts
    left = Unfinished(project.places.pending).dead(project.memory.directory)
    facts |= {"inbox": len(project.memory.inbox.items()), "unfinished": len(left), "dreams": _dreams(project)}
    try:
        return facts | _contents(memory_of(project), project.now())
    except OSError as error:
        return facts | {"problems": [f"{error.filename}: {error.strerror}"]}
    except UnsafePath as error:
        return facts | {"problems": [f"{error}: `memdir doctor` says what to do"]}


def _dreams(project: app.Project) -> dict[str, Any]:
    """When the last dream was, who is at one now, and how many plans wait for the person's word."""
    found = {"waiting": Kept(project.places.dreams).waiting()}
    try:
        state = lock.look(project.require_memory().directory, now=project.now())
    except (OSError, UnsafePath) as error:
        why = error.strerror if isinstance(error, OSError) else error.reason
        return found | {"last": None, "underWay": False, "lock": f"the lock can't be read ({why})"}
    last = None
    if state.last_ns is not None and state.is_free:  # else the lock tells when that one began, or nothing
        with suppress(ValueError, OverflowError):
            last = datetime.fromtimestamp(state.last_ns // 10**9, UTC).isoformat()
    return found | {"last": last, "underWay": state.holder is not None, "lock": state.why}


def _instructions(project: app.Project) -> dict[str, Any]:
    """How many files of instructions a conversation gets, and how many wait for the person's word."""
    found = gather(project.places, project.settings)
    on = project.settings.features.instructions
    return {"on": on, "files": len(found.files), "rules": len(found.rules), "waiting": len(found.waiting)}


def _budget(project: app.Project) -> Budget | str:
    """What is left of today's budget; or why nobody knows."""
    try:
        return ledger_of(project).budget()
    except (OSError, UnsafePath) as error:
        why = error.strerror if isinstance(error, OSError) else error.reason
        return f"not known: the ledger can't be read ({why})"


def history_of(project: app.Project) -> str | None:
    """Why changes are not recorded, or not all of them; None: they are."""
    history = project.memory.history if project.memory else None
    if history is None:
        return "memory is off"
    if history.off is None:
        history.log(limit=1)  # it says in `failure` what can't be read
    return history.off or history.failure


def _wrong(names: Mapping[str, str], places: Mapping[str, str]) -> dict[str, str]:
    """The jobs whose model can't be, and why."""
    wrong = {}
    for job, name in names.items():
        try:
            spec = parsed(name, at=places[job])
            if not spec.is_local:
                endpoints.endpoint(spec, os.environ)
        except UsageError as error:
            wrong[job] = f"{error}: {error.hint}"
    return wrong


def _contents(memory: MemoryDir, now: datetime) -> dict[str, Any]:
    if not memory.directory.is_dir():
        return {"memories": 0, "indexLines": 0, "indexBytes": 0, "trash": len(memory.trashed())}
    loaded = entrypoint.load(memory.index())
    return {
        "memories": len(memory.list()),
        "indexLines": loaded.lines,
        "indexBytes": loaded.bytes,
        "trash": len(memory.trashed()),
        "problems": checkup.problems(memory, now=now),
    }


def _rows(facts: dict[str, Any], budget: Budget | str, now: datetime) -> list[tuple[str, str]]:
    def switch(name: str) -> str:
        return "on" if facts[name] else "off"

    def job(name: str, model: str) -> str:
        return f"{switch(name)}, {by(model)}" if facts["on"] else "off: memory is off"

    def by(model: str) -> str:
        return f"by {facts[model]}" if facts[model] else "but the name of its model is wrong"

    rows = [
        ("memory", f"{switch('on')}: {facts['reason']}"),
        ("directory", f"{facts['memory'] or '-'} ({facts['source']})"),
    ]
    if "memories" in facts:
        index = f"{facts['indexLines']} of {entrypoint.MAX_LINES} lines, {facts['indexBytes']:,} of "
        rows += [
            ("memories", f"{facts['memories']} ({facts['trash']} in the trash)"),
            ("index", f"{index}{entrypoint.MAX_BYTES:,} bytes"),
        ]
    return [
        *rows,
        ("model", facts["model"] or "-"),
        ("recall", job("recall", "recallModel")),
        ("extraction", job("extract", "extractModel")),
        ("dream", job("dream", "dreamModel")),
        *_dreamed(facts, now),
        ("summary", _long(facts, f"{switch('sessionMemory')}, {by('sessionModel')}")),
        ("instructions", _told(facts["instructions"])),
        ("history", f"off: {facts['history']}" if facts["history"] else "on: `memdir log`, `memdir undo`"),
        *_waiting(facts),
        ("budget", budget_in_words(budget) if isinstance(budget, Budget) else budget),
        ("background", f"commands only read; wall: {facts['wallSays']}"),
    ]


def _long(facts: dict[str, Any], summary: str) -> str:
    """What is done about long conversations."""
    kept = summary.replace("by local", "by rules") if facts["sessionModel"] == "local" else summary
    when = "by itself" if facts["compaction"] else "where no answer fits, or by /compact"
    return f"{kept}; a long conversation is condensed {when}"


def _told(found: dict[str, Any]) -> str:
    """Which instructions a conversation gets."""
    if not found["on"]:
        return "off"
    files, rules, waiting = found["files"], found["rules"], found["waiting"]
    parts = [f"{files} file{'' if files == 1 else 's'}"]
    parts += [f"{rules} rule{'' if rules == 1 else 's'} for certain files"] if rules else []
    parts += [f"{waiting} waiting for your word: `memdir instructions`"] if waiting else []
    return ", ".join(parts)


def _dreamed(facts: dict[str, Any], now: datetime) -> list[tuple[str, str]]:
    """When the last dream was, and what has come of it that waits."""
    if "dreams" not in facts:
        return []
    found = facts["dreams"]
    waiting = found["waiting"]
    if found["underWay"]:
        when = f"a dream is under way: the lock is {found['lock']}"
    elif found["last"]:
        last = datetime.fromisoformat(found["last"])
        when = ago(last, now) if last - now < AHEAD else f"on {last.date()}, by a clock that was wrong"
    elif found["lock"].startswith("free"):
        when = "never yet" if waiting else "never yet; `memdir dream --explain` says what it takes"
    else:
        when = found["lock"]
    plans = f"{waiting} plan{'' if waiting == 1 else 's'} waiting for your word: `memdir dream list`"
    return [("dreamed", "; ".join((when, plans) if waiting else (when,)))]


def _waiting(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """What waits for the person, or for their next conversation."""
    inbox, left = facts.get("inbox", 0), facts.get("unfinished", 0)
    rows = [("inbox", f"{inbox} waiting for your word: `memdir inbox`")] if inbox else []
    if left:
        have = "1 conversation has" if left == 1 else f"{left} conversations have"
        rows.append(("unfinished", f"{have} something to save yet; the next one does it"))
    return rows

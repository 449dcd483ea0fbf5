"""`memdir doctor`: what in the memory files needs a person, and what to do about it. Changes nothing."""

from __future__ import annotations

from typing import Any

import click

from memdir import app
from memdir.cli.opening import open_project
from memdir.cli.output import emit_json, json_option, line, talk
from memdir.cli.status import history_of
from memdir.errors import MemdirError, SecretFound
from memdir.memory.checkup import Finding, examine
from memdir.memory.store import MemoryDir


@click.command(short_help="Look for secrets and faults in the memory files.")
@json_option
@click.pass_obj
def doctor(opened: app.Opening, as_json: bool) -> int:
    """Look through the memory files for what was written past our checks: secrets, links that lead outside,
    files that can't be read, names that not all systems can hold, and entries of the index that lead nowhere.

    Each finding has its file, the reason, and what to do. A secret's value is never shown, and nothing is
    changed. The exit code is 0 if nothing was found, 5 if a secret was, and 1 for anything else. Lines that
    are marked as harmless are counted; --json names them.
    """
    project = open_project(opened)
    memory = _memory(project)
    everything = examine(memory) if memory else []
    findings = [finding for finding in everything if finding.kind != "marked"]
    if as_json:
        emit_json(**_as_json(project, everything))
    else:
        _print(project, findings, marked=len(everything) - len(findings))
    if any(finding.kind == "secret" for finding in findings):
        return SecretFound.exit_code
    return MemdirError.exit_code if findings else 0


def _memory(project: app.Project) -> MemoryDir | None:
    """The directory, also where memory is off: what is in there is on the disk all the same."""
    places = project.places
    if project.memory is None and places.memory is not None:
        return MemoryDir(places.memory, trash=places.trash)
    return project.memory


def _print(project: app.Project, findings: list[Finding], *, marked: int) -> None:
    for one in findings:
        place = one.file if one.line is None else f"{one.file}:{one.line}"
        click.echo(line(f"{place}: {one.reason}"))
        click.echo(line(f"    {one.cure}"))
    notes = f"; secrets on lines that are marked as harmless: {marked}" if marked else ""
    talk(line(_closing(project, findings) + notes))
    if project.memory and (why := history_of(project)):
        talk(line(f"history is off: {why}. Changes are made all the same, and can't be shown or undone"))
    for kept in project.memory.history.damaged if project.memory and project.memory.history else ():
        talk(line(f"an earlier part of the history was damaged, and is kept in {kept}"))


def _closing(project: app.Project, findings: list[Finding]) -> str:
    """The sentence at the end."""
    where = project.places.memory
    off = "" if project.memory else f" (memory is off: {_reason(project)})"
    if where is None:
        return f"there is no place for memory, so there is nothing to look at{off}"
    if not where.exists():
        return f"there is no {where} yet, so there is nothing to look at{off}"
    secrets = sum(one.kind == "secret" for one in findings)
    if not findings:
        return f"nothing found in {where}{off}"
    return f"findings in {where}: {len(findings)}, of which secrets: {secrets}{off}"


def _reason(project: app.Project) -> str:
    """Why memory is on, or off."""
    return project.switch.reason if project.memory or not project.switch.on else "no safe place"


def _as_json(project: app.Project, findings: list[Finding]) -> dict[str, Any]:
    places = project.places
    return {
        "on": project.memory is not None,
        "reason": _reason(project),
        "memory": str(places.memory) if places.memory else None,
        "history": history_of(project),
        "findings": [
            {
                "path": one.file,
                "line": one.line,
                "kind": one.kind,
                "rule": one.rule,
                "reason": one.reason,
                "cure": one.cure,
            }
            for one in findings
        ],
    }

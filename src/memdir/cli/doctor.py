"""`memdir doctor`: what in the memory files is wrong, and what to do about it; with `--fix` it is done."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import click

from memdir import app
from memdir.cli.changes import short
from memdir.cli.opening import open_project
from memdir.cli.output import columns, emit_json, json_option, line, talk
from memdir.cli.status import history_of
from memdir.doctor.around import Around
from memdir.doctor.checkup import examine
from memdir.doctor.finding import KINDS, Finding, Kind
from memdir.doctor.fixing import Fixed, fix
from memdir.errors import MemdirError, SecretFound, UnsafePath
from memdir.memory.store import MemoryDir
from memdir.paths import Places, resolve

LAYOUTS = ("memdir", "claude")

TITLES: dict[Kind, str] = {
    "secret": "secrets",
    "unreadable": "what can't be read",
    "link": "links",
    "name": "names",
    "collision": "names that are one",
    "layout": "what others, or older layouts, keep",
    "dead pointer": "entries of the index that lead to nothing",
    "orphan": "memories without an entry in the index",
    "index": "the index as a whole",
    "entry": "entries of the index",
    "frontmatter": "headers",
    "duplicate": "memories that say the same",
    "lock": "the lock of dreams",
    "leftover": "what killed processes left",
    "marked": "marked as harmless",
}


@click.command(short_help="Look for secrets and faults in the memory files; --fix mends.")
@click.option("--fix", "mending", is_flag=True, help="Mend what has one right answer.")
@json_option
@click.pass_obj
def doctor(opened: app.Opening, mending: bool, as_json: bool) -> int:
    """Look through the memory files for what was written past our checks, or left by what was killed:
    secrets, links that lead outside, files that can't be read, names that not all systems can hold, headers
    that lack something, memories that say the same, entries of the index that lead nowhere and memories
    that have none, an index over its limits, locks and halves of files, and memories of this project that
    are elsewhere.

    Each finding has its file, the reason, and what to do. A secret's value is never shown. With `--fix`
    what has one right answer is mended, as one change that `memdir undo` takes back; a memory is never
    removed, and a secret is left to you. Without it nothing is changed. The exit code is 0 if nothing was
    found (or left, with `--fix`), 5 if a secret was, and 1 for anything else. Lines that are marked as
    harmless are counted; --json names them.
    """
    project = open_project(opened, quiet=True)
    for warning in project.warnings:
        if warning not in project.places.warnings:  # those are findings
            talk(line(f"warning: {warning}"))
    memory, around = _memory(project), _around(project)
    now = project.now()
    fixed: Fixed | None = None
    if mending:
        fixed = fix(project.require_memory(), now=now, around=around)
        everything: Sequence[Finding] = fixed.left
    else:
        everything = examine(memory, now=now, around=around) if memory else []
    findings = [finding for finding in everything if finding.kind != "marked"]
    if as_json:
        emit_json(**_as_json(project, everything, fixed))
    else:
        _print(project, findings, fixed, marked=len(everything) - len(findings))
    if any(finding.kind == "secret" for finding in findings):
        return SecretFound.exit_code
    return MemdirError.exit_code if findings else 0


def _memory(project: app.Project) -> MemoryDir | None:
    """The directory, also where memory is off: what is in there is on the disk all the same."""
    places = project.places
    if project.memory is None and places.memory is not None:
        return MemoryDir(places.memory, trash=places.trash)
    return project.memory


def _around(project: app.Project) -> Around:
    """Where else memories of the project may be: in the other layouts."""
    return Around(places=project.places, others=tuple(_others(project)))


def _others(project: app.Project) -> Iterator[Places]:
    for layout in LAYOUTS:
        if layout != project.places.layout:
            try:
                yield resolve(
                    project.places.cwd,
                    environment=os.environ,
                    layout=layout,
                    base_directory=project.settings.base_directory,
                )
            except UnsafePath:  # told where it matters
                continue


# -- text ------------------------------------------------------------------------------------------------


def _print(project: app.Project, findings: list[Finding], fixed: Fixed | None, *, marked: int) -> None:
    if fixed is not None and fixed.mended:
        click.echo("mended")
        rows = [("", line(_place(one)), line(one.reason)) for one in fixed.mended]
        click.echo(columns(rows, wrap=True))
    for number, (kind, group) in enumerate(_by_kind(findings)):
        if number or (fixed is not None and fixed.mended):
            click.echo()
        click.echo(TITLES[kind])
        click.echo(_group(group))
    notes = f"; secrets on lines that are marked as harmless: {marked}" if marked else ""
    talk(line(_closing(project, findings) + notes))
    for sentence in _about_fixing(findings, fixed) if project.memory else ():
        talk(line(sentence))
    if project.memory and (why := history_of(project)):
        talk(line(f"history is off: {why}. Changes are made all the same, and can't be shown or undone"))
    for kept in project.memory.history.damaged if project.memory and project.memory.history else ():
        talk(line(f"an earlier part of the history was damaged, and is kept in {kept}"))


def _by_kind(findings: Sequence[Finding]) -> list[tuple[Kind, list[Finding]]]:
    """The findings of each kind, the worst kind first."""
    ordered = sorted(findings, key=lambda one: KINDS.index(one.kind))
    return [(kind, list(group)) for kind, group in groupby(ordered, key=lambda one: one.kind)]


def _group(findings: Sequence[Finding]) -> str:
    """Findings of one kind: where and why, and below those with the same cure what to do."""
    by_cure = dict[str, list[Finding]]()
    for one in findings:
        by_cure.setdefault(_cure(one), []).append(one)
    rows = list[tuple[str, str, str]]()
    for cure, group in by_cure.items():
        rows += [("", line(_place(one)), line(one.reason)) for one in group]
        rows.append(("", "", line(f"-> {cure}")))
    return columns(rows, wrap=True)


def _cure(one: Finding) -> str:
    return one.cure if one.fix is None else f"{one.cure}; or --fix, which {one.fix}"


def _place(one: Finding) -> str:
    return one.file if one.line is None else f"{one.file}:{one.line}"


def _closing(project: app.Project, findings: list[Finding]) -> str:
    """How much was found, and where."""
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


def _about_fixing(findings: Sequence[Finding], fixed: Fixed | None) -> Iterator[str]:
    """What was mended, or could be; and what only the person can do."""
    fixable = [one for one in findings if one.fix is not None]
    if fixed is None:
        if fixable:
            left = len(findings) - len(fixable)
            yield f"`memdir doctor --fix` mends {len(fixable)} of them ({_kinds(fixable)})"
            if left:
                rest = [one for one in findings if one.fix is None]
                yield f"left to you: {left} ({_kinds(rest)})"
        elif findings:
            yield "all of them are left to you: none has only one right answer"
        return
    if fixed.mended:
        undo = f"; `memdir undo {short(fixed.change)}` takes back what changed" if fixed.change else ""
        yield f"mended: {len(fixed.mended)}; left to you: {len(findings)}{undo}"
    elif findings:
        yield "nothing was mended: what is left needs you"
    if fixed.why_not is not None:
        yield f"no memory was changed, since that could not be undone: {fixed.why_not}"


def _kinds(findings: Sequence[Finding]) -> str:
    """`headers: 2; links: 1`: how many of each kind."""
    return "; ".join(f"{TITLES[kind]}: {len(group)}" for kind, group in _by_kind(findings))


def _reason(project: app.Project) -> str:
    """Why memory is on, or off."""
    return project.switch.reason if project.memory or not project.switch.on else "no safe place"


# -- JSON ------------------------------------------------------------------------------------------------


def _as_json(project: app.Project, findings: Sequence[Finding], fixed: Fixed | None) -> dict[str, Any]:
    places = project.places
    fields: dict[str, Any] = {
        "on": project.memory is not None,
        "reason": _reason(project),
        "memory": str(places.memory) if places.memory else None,
        "history": history_of(project),
        "findings": [_finding_as_json(one) for one in findings],
    }
    if fixed is not None:
        mended = [_finding_as_json(one) for one in fixed.mended]
        fields |= {"mended": mended, "change": fixed.change, "whyNot": fixed.why_not}
    return fields


def _finding_as_json(one: Finding) -> dict[str, Any]:
    return {
        "path": one.file,
        "line": one.line,
        "kind": one.kind,
        "rule": one.rule,
        "reason": one.reason,
        "cure": one.cure,
        "fix": one.fix,
    }

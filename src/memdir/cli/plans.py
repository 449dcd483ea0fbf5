"""What a dream would make of the memories, or has made of them, in words (D6, D8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from memdir.cli import changes
from memdir.cli.differences import difference
from memdir.cli.history import Difference, in_words
from memdir.cli.output import columns
from memdir.dream.apply import Applied
from memdir.dream.checks import Objection
from memdir.dream.files import Snapshot
from memdir.dream.gates import Gate
from memdir.dream.kept import Item
from memdir.dream.plan import Change, Plan
from memdir.dream.progress import Progress
from memdir.dream.run import Dreamed
from memdir.dream.tidy import Proposal
from memdir.memory import manifest
from memdir.memory.entrypoint import NAME

TOLD = 10
"""Sentences of a kind that are told of a dream."""

QUOTED = 70
"""Characters of a line that is given up that are shown."""

SHELL = "memdir "
"""What stands before the name of a command that is named; in a conversation it is a slash."""

_DOES = {
    "look around": "looking around",
    "gather": "gathering",
    "consolidate": "consolidating",
    "prune": "pruning",
}


def gate_rows(gates: Sequence[Gate]) -> str:
    """Each gate of D1 with its answer and the reason."""
    return columns(
        ((gate.name, "open" if gate.passes else "closed", gate.reason) for gate in gates), wrap=True
    )


def gates_as_json(gates: Sequence[Gate]) -> list[dict[str, object]]:
    """The gates, as `dream --explain --json` prints them."""
    return [{"name": gate.name, "passes": gate.passes, "reason": gate.reason} for gate in gates]


def progress_in_words(progress: Progress) -> str:
    """How far a dream is, in a line (D6)."""
    counts = (
        (progress.turns, "request", ""),
        (progress.tool_calls, "tool call", ""),
        (len(progress.files), "file", " written"),
        (progress.input_tokens + progress.output_tokens, "token", ""),
    )
    told = ", ".join(f"{_counted(number, what)}{more}" for number, what, more in counts if number)
    text = manifest.harmless(progress.text)[:QUOTED] if progress.text else ""
    return ": ".join(filter(None, (_DOES[progress.phase], told, text)))


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


# -- a plan --------------------------------------------------------------------------------------------------


def plan_in_words(
    plan: Plan,
    objections: Sequence[Objection],
    *,
    before: Snapshot,
    after: Snapshot,
    proposals: Sequence[Proposal] = (),
) -> str:
    """What speaks against a plan, what it does to which file and why, what it gives up, what differs."""
    parts = [
        _section("What speaks against it", (_objection(one) for one in objections)),
        _section("What it does", _changes(plan)),
        _section(f"Lines it gives up, {plan.given_up} of {plan.facts}", _given_up(plan)),
        _section("For you to look at", map(proposal_in_words, proposals)),
        *(in_words(one) for one in differences(before, after)),
    ]
    return "\n\n".join(filter(None, parts))


def _section(title: str, lines: Iterator[str]) -> str:
    rows = list(lines)
    return "\n".join((f"{title}:", *(f"  {row}" for row in rows))) if rows else ""


def _objection(one: Objection) -> str:
    where = f"{manifest.harmless(one.file)}: " if one.file else ""
    return f"{where}{manifest.harmless(one.reason)}"


def _changes(plan: Plan) -> Iterator[str]:
    rows = [(one.action, _names(one), manifest.harmless(one.why or "")) for one in plan.changes]
    if plan.index_changed:
        rows.append(("rewritten", NAME, ""))
    yield from columns(rows).splitlines()


def _names(change: Change) -> str:
    into = f" -> {manifest.harmless(change.into)}" if change.into else ""
    return manifest.harmless(change.file) + into


def _given_up(plan: Plan) -> Iterator[str]:
    rows = [
        (
            manifest.harmless(one.file),
            f"“{_short(one.text)}”",
            manifest.harmless(one.why) if one.why else "no reason is given",
        )
        for one in plan.lines
        if one.fate in ("dropped", "lost")
    ]
    yield from columns(rows).splitlines()


def _short(text: str) -> str:
    plain = manifest.harmless(text)
    return plain if len(plain) <= QUOTED else f"{plain[: QUOTED - 1]}…"


def proposal_in_words(one: Proposal) -> str:
    """What only the person can decide, and what to do about it."""
    files = ", ".join(map(manifest.harmless, one.files))
    where = f":{one.line}" if one.line else ""
    return f"{files}{where}: {manifest.harmless(one.reason)}; {manifest.harmless(one.cure)}"


def differences(before: Snapshot, after: Snapshot) -> Iterator[Difference]:
    """What differs, a file each, the index last."""
    names = {
        file for file in (*before.files, *after.files) if before.files.get(file) != after.files.get(file)
    }
    for file in sorted(names, key=lambda file: (file == NAME, file)):
        old, new = before.files.get(file), after.files.get(file)
        action = "created" if old is None else "deleted" if new is None else "updated"
        yield Difference(file=file, action=action, diff=difference(file, old, new))


def plan_as_json(plan: Plan, objections: Sequence[Objection]) -> dict[str, Any]:
    """A plan, as `--json` prints it: names and reasons, and the lines that it gives up."""
    return {
        "changes": [
            {"path": one.file, "action": one.action, "into": one.into, "why": one.why} for one in plan.changes
        ],
        "index": plan.index_changed,
        "lines": [
            {
                "path": one.file,
                "text": one.text,
                "fate": one.fate,
                "to": one.to,
                "now": one.now,
                "why": one.why,
            }
            for one in plan.lines
        ],
        "objections": objections_as_json(objections),
    }


def objections_as_json(objections: Sequence[Objection]) -> list[dict[str, Any]]:
    """What speaks against a plan, as `--json` prints it."""
    return [{"code": one.code, "path": one.file, "reason": one.reason} for one in objections]


def proposals_as_json(proposals: Sequence[Proposal]) -> list[dict[str, Any]]:
    """What only the person can decide, as `--json` prints it."""
    return [
        {
            "kind": one.kind,
            "paths": list(one.files),
            "line": one.line,
            "reason": one.reason,
            "cure": one.cure,
        }
        for one in proposals
    ]


# -- what came of it -----------------------------------------------------------------------------------------


def applied_in_words(applied: Applied, *, at: str = SHELL) -> Iterator[str]:
    """What was done, and what was left since somebody changed it meanwhile. `at`: as `SHELL`."""
    if applied.topics:
        what = "1 memory" if len(applied.topics) == 1 else f"{len(applied.topics)} memories"
        yield f"Improved {what}: {_listed(applied.topics)}"
    elif applied.change:
        yield f"Put {NAME} in order"
    for one in applied.left:
        yield f"left alone: {manifest.harmless(one.file)}: {manifest.harmless(one.why)}"
    if applied.change:
        change = changes.short(applied.change)
        yield f"`{at}diff {change}` shows it all, `{at}undo {change}` takes it back"
    elif applied.files:
        yield "the history has not taken that in yet: `memdir doctor` says why"


def _listed(files: Sequence[str]) -> str:
    names = [manifest.harmless(file) for file in files[: changes.NAMED]]
    more = f" and {len(files) - len(names)} more" if len(files) > len(names) else ""
    return ", ".join(names) + more


def dreamed_in_words(dreamed: Dreamed, *, at: str = SHELL) -> Iterator[str]:
    """What came of a dream, a sentence a line. `at`: as `SHELL`."""
    if dreamed.outcome == "held":
        yield from _held(dreamed, at=at)
        return
    yield from _first(dreamed.did, rest="")
    applied = dreamed.applied
    if applied is not None:
        yield from applied_in_words(applied, at=at)
    if dreamed.outcome == "nothing" and not dreamed.did and not (applied and applied.left):
        yield "nothing to improve"
    if dreamed.proposals:
        yield "For you to look at:"
        told = [f"  {proposal_in_words(one)}" for one in dreamed.proposals]
        yield from _first(told, rest=": `memdir dream --dry-run --model local` lists all")


def _held(dreamed: Dreamed, *, at: str) -> Iterator[str]:
    """Why a plan waits, and what to do about it. What it would do is in `show`."""
    if dreamed.objections:
        yield "Nothing was changed, for this speaks against the plan:"
        yield from _first([f"  {_objection(one)}" for one in dreamed.objections], rest="")
    else:
        yield "Nothing was changed: plans wait for your word, as the setting dream.apply says"
    yield f"`{at}dream show {dreamed.kept}` shows it, `apply` carries it out, `discard` drops it"


def _first(lines: Sequence[str], *, rest: str) -> Iterator[str]:
    """As many as a person reads. `rest`: where the others are."""
    yield from lines[:TOLD]
    if (more := len(lines) - TOLD) > 0:
        yield f"… and {more:,} more{rest}"


def gates_in_words(gates: Sequence[Gate]) -> str:
    """What the gates come to."""
    if all(gate.passes for gate in gates):
        return "the next turn of a conversation begins a dream"
    return "a dream begins by itself, after a turn of a conversation, when all are open"


def waiting_in_words(item: Item) -> str:
    """Why a plan is kept."""
    if item.problem or item.dry:
        return item.problem or "a dry run, to look at; it does not wait"
    if not item.objections:
        return "waits for your word"
    return f"waits for your word: {_counted(len(item.objections), 'objection')}"


def dreamed_as_json(dreamed: Dreamed) -> dict[str, Any]:
    """What came of a dream, as `dream --json` prints it."""
    applied = dreamed.applied
    return {
        "outcome": dreamed.outcome,
        "id": dreamed.kept,
        "change": applied.change if applied else None,
        "files": list(dreamed.topics),
        "left": [{"path": one.file, "why": one.why} for one in applied.left] if applied else [],
        "plan": plan_as_json(dreamed.plan, dreamed.objections),
        "did": list(dreamed.did),
        "proposals": proposals_as_json(dreamed.proposals),
        "turns": dreamed.turns,
        "inputTokens": dreamed.usage.total_input,
        "outputTokens": dreamed.usage.output,
        "seconds": dreamed.seconds,
    }

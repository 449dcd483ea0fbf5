"""Steps -> changes: what belongs together, and what it did all in all (H2). Pure."""

from __future__ import annotations

import os
from collections.abc import Sequence

from memdir.memory.history.message import Step
from memdir.memory.history.values import Change, FileChange, Run, action


def changes_of(steps: Sequence[Step]) -> list[Change]:
    """The changes that these steps (newest first) make up, newest first; none without effect."""
    together: dict[str, list[Step]] = {}
    for step in steps:
        together.setdefault(step.by.change, []).append(step)
    runs = _runs(steps)
    changes = (change_of(own[::-1], runs[name]) for name, own in together.items())
    return [change for change in changes if change.files]


def change_of(steps: Sequence[Step], runs: dict[bytes, list[Run]] | None = None) -> Change:
    """One change of these steps, oldest first. `runs`: what they did to each file; None: as they say."""
    last = steps[-1]
    if runs is None:
        runs = {path: [run] for path, run in last.files.items()}
    files = (_all_in_all(os.fsdecode(path), parts) for path, parts in sorted(runs.items()))
    return Change(
        id=last.by.change,
        at=last.at,
        worker=last.by.worker,
        reason=last.by.reason,
        session=last.by.session,
        message=last.by.message,
        undoes=last.by.undoes,
        files=tuple(file for file in files if file),
    )


def _runs(steps: Sequence[Step]) -> dict[str, dict[bytes, list[Run]]]:
    """Change -> file -> what it did to it, oldest first; what nobody else came in between is one."""
    found: dict[str, dict[bytes, list[Run]]] = {}
    latest: dict[bytes, str] = {}
    for step in reversed(steps):
        own = found.setdefault(step.by.change, {})
        for path, run in step.files.items():
            parts = own.setdefault(path, [])
            if parts and latest[path] == step.by.change:
                parts[-1] = _joined(parts[-1], run)
            else:
                parts.append(run)
            latest[path] = step.by.change
    return found


def _joined(first: Run, last: Run) -> Run:
    return Run(
        before=first.before,
        after=last.after,
        before_mtime_ns=first.before_mtime_ns,
        after_mtime_ns=last.after_mtime_ns,
    )


def _all_in_all(file: str, runs: Sequence[Run]) -> FileChange | None:
    """What these runs did to a file, or None for nothing."""
    runs = [run for run in runs if run.before != run.after]
    if not runs:
        return None
    whole = _joined(runs[0], runs[-1])
    if whole.before == whole.after:
        return None
    return FileChange(
        file=file,
        action=action(whole),
        before=whole.before,
        after=whole.after,
        before_mtime_ns=whole.before_mtime_ns,
        after_mtime_ns=whole.after_mtime_ns,
        runs=tuple(runs) if len(runs) > 1 else (),
    )

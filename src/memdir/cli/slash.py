"""What the person types behind a slash in a conversation: a word, and what is done for it (H1).

What there is to tell goes to stderr, beside the conversation. All of it runs in a thread of its own.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from datetime import datetime
from functools import partial

import click

from memdir import app
from memdir.cli import past
from memdir.cli.changes import short
from memdir.cli.differences import difference
from memdir.cli.editor import edit_memory
from memdir.cli.opening import memory_of
from memdir.cli.output import columns, line, talk, visible
from memdir.memory import accepting, manifest
from memdir.memory.history import By
from memdir.memory.inbox import Item
from memdir.memory.store import MemoryDir, Written
from memdir.memory.trash import Trashed
from memdir.project import ASKED

_HELP = (
    ("/memory", "the memories of this project", "/memory NAME", "open one in your editor"),
    ("/remember TEXT", "remember something", "/forget NAME", "forget one; it waits in the trash"),
    ("/log [NAME]", "what changed, when, by whom", "/diff [CHANGE]", "what a change did, line by line"),
    ("/undo [CHANGE]", "take a change back", "/inbox", "what waits for your decision"),
    ("/ledger", "what background work took today", "/context", "what the next request holds"),
    ("/dream", "put the memories in order now", "/dream stop", "break a dream off"),
    ("/compact [TEXT]", "condense the conversation now", "/exit", "end it (also Ctrl-D)"),
)
_HELP_BELOW = """\
The TEXT of /compact says what is to be kept.
Plans of a dream: /dream list, show, apply, discard.
Whether it is time for a dream: /dream explain.
`memdir chat --resume` goes on with an ended conversation."""

_say = partial(click.echo, err=True)


def help_() -> str:
    """What can be typed: two things to a row, or one where the terminal is too narrow for that."""
    width = sum(max(map(len, column)) + 2 for column in zip(*_HELP, strict=True)) - 2
    is_wide = width <= shutil.get_terminal_size().columns
    rows = _HELP if is_wide else [half for row in _HELP for half in (row[:2], row[2:])]
    return f"{columns(rows)}\n{_HELP_BELOW}"


def obey(project: app.Project, words: str, *, session: str) -> None:
    """Do what the words say.

    Raises:
        MemdirError, OSError: it could not be done.
    """
    name, _, rest = words.partition(" ")
    command = _COMMANDS.get(name)
    if command is None:
        talk(help_() if name == "/help" else f"there is no {visible(name)}\n{help_()}")
    else:
        command(project, rest.strip(), session)


def _memory(project: app.Project, name: str, _session: str) -> None:
    if name:
        written = edit_memory(project, name)
        talk(f"{written.action} {line(written.file)}" if written else "nothing changed")
        if written and written.warning:
            talk(f"warning: {written.warning}")
        return
    memory = project.require_memory()
    rows = [
        (one.type or "-", manifest.harmless(one.path), manifest.harmless(one.description or one.name))
        for one in memory.list()
    ]
    talk(columns(rows) if rows else "no memories yet")
    talk(f"in {memory.directory}")


def _remember(project: app.Project, text: str, session: str) -> None:
    if not text:
        talk("what should be remembered? as in: /remember we deploy on Tuesdays")
        return
    saved = project.remember(text, session=session)
    if saved.refused:
        raise saved.refused[0]
    talk(saved.notice or "that is remembered already")


def _forget(project: app.Project, name: str, session: str) -> None:
    from memdir.cli.files import forget_memory

    if not name:
        talk("which memory should be forgotten? /memory shows the names")
        return
    by = By(worker="forget", session=session, reason=ASKED)
    trashed = forget_memory(project, name, by=by)
    back = f"/undo {short(by.change)}"
    if past.off(project.require_memory()):
        back = f"`memdir restore {shlex.quote(trashed.file)}`"
    talk(f"forgot {line(trashed.file)}; {back} brings it back")


def _log(project: app.Project, name: str, _session: str) -> None:
    from memdir.cli.history import show_log

    show_log(project, name or None, limit=10, say=_say)


def _diff(project: app.Project, words: str, _session: str) -> None:
    from memdir.cli.history import show_diff

    first, second = _two(words)
    show_diff(project, first, second, say=_say)


def _two(words: str) -> tuple[str | None, str | None]:
    """A change and a file, or one of them; the file's name may hold spaces."""
    first, _, rest = words.partition(" ")
    return (first, rest.strip() or None) if past.is_change(first) else (words or None, None)


def _undo(project: app.Project, change: str, _session: str) -> None:
    from memdir.cli.history import take_back, told

    talk(told(take_back(project, change or None), project.now(), redo="/undo"))


def _inbox(project: app.Project, words: str, _session: str) -> None:
    """`/inbox`, `/inbox ID`, `/inbox accept ID…`, `/inbox reject ID…`."""
    memory = memory_of(project)
    match words.split():
        case []:
            items = memory.inbox.items()
            talk(columns(map(_waiting, items)) if items else "nothing waits")
            if items:
                talk("/inbox ID shows what it would do; then /inbox accept ID, or /inbox reject ID")
        case ["accept", *ids] if ids:
            for item in map(memory.inbox.get, ids):
                talk(_accepted(accepting.accept(memory, item, now=project.now())))
        case ["reject", *ids] if ids:
            for item in map(memory.inbox.get, ids):
                memory.inbox.reject(item)
                talk(f"rejected {item.id}; the same is not proposed again")
        case [one] if one not in ("accept", "reject"):
            _show_waiting(memory, memory.inbox.get(one), now=project.now())
        case _:
            talk("as in: /inbox 1a2b3c4d, /inbox accept 1a2b3c4d, /inbox reject 1a2b3c4d")


def _waiting(item: Item) -> tuple[str, ...]:
    kind = "removal" if item.data is None else "memory"
    return (item.id, kind, manifest.harmless(item.file), manifest.harmless(item.reason))


def _accepted(done: Written | Trashed) -> str:
    warning = done.warning if isinstance(done, Written) else None
    action = done.action if isinstance(done, Written) else "removed"
    return f"{action} {line(done.file)}{f'; warning: {warning}' if warning else ''}"


def _show_waiting(memory: MemoryDir, item: Item, *, now: datetime) -> None:
    from memdir.cli.history import Difference, in_words

    seen = accepting.outlook(memory, item, now=now)
    action = "created" if seen.before is None else "deleted" if seen.after is None else "updated"
    told = difference(seen.file, seen.before, seen.after)
    talk(f"it waits because {manifest.harmless(item.reason)}")
    _say(in_words(Difference(file=seen.file, action=action, diff=told)))


def _ledger(project: app.Project, _words: str, _session: str) -> None:
    from memdir.cli.ledger import budget_in_words, ledger_of

    talk(line(f"today: {budget_in_words(ledger_of(project).budget())}"))
    talk("`memdir ledger` shows what each job took, by day, and what that cost")


def _dreams(project: app.Project, words: str, _session: str) -> None:
    """`/dream list`, `/dream show [ID]`, `/dream apply [ID]`, `/dream discard [ID]`."""
    from memdir.cli import dream

    match words.split():
        case ["list"]:
            dream.list_plans(project, say=_say, at="/")
        case ["show", *ids] if len(ids) < 2:
            dream.show_plan(project, ids[0] if ids else None, say=_say, at="/")
        case ["apply", *ids] if len(ids) < 2:
            dream.apply_plan(project, ids[0] if ids else None, at="/")
        case ["discard", *ids] if len(ids) < 2:
            dream.drop_plan(project, ids[0] if ids else None)
        case _:
            talk("as in: /dream, /dream stop, /dream explain, /dream list, /dream show 1a2b3c4d5e")
            talk("so apply and discard, too; without a name they take the newest plan")


_COMMANDS: dict[str, Callable[[app.Project, str, str], None]] = {
    "/memory": _memory,
    "/remember": _remember,
    "/forget": _forget,
    "/log": _log,
    "/diff": _diff,
    "/undo": _undo,
    "/dream": _dreams,
    "/inbox": _inbox,
    "/ledger": _ledger,
}

"""`memdir inbox`: the changes that wait for the person's word: look, accept, reject (E11)."""

from __future__ import annotations

import os
import shlex
import sys
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import click

from memdir.cli.differences import difference, shown
from memdir.cli.opening import memory_of, open_project
from memdir.cli.output import columns, complain, emit_json, error_as_json, json_option, line, talk, visible
from memdir.errors import MemdirError, UsageError
from memdir.memory import accepting, encoding, manifest
from memdir.memory.accepting import Outlook
from memdir.memory.entrypoint import NAME
from memdir.memory.inbox import Item
from memdir.memory.store import MemoryDir, Written

_ACTIONS = {"new": "new memory", "change": "change of", "delete": "removal of"}


@click.group("inbox", invoke_without_command=True, short_help="Judge the changes that wait for your word.")
@json_option
@click.pass_context
def inbox(ctx: click.Context, as_json: bool) -> None:
    """List the changes of memory that wait for your word, newest first.

    They are what an agent wanted to note or to remove and you did not say: a page, a file or the output of
    a program may have asked for it. `show` says what and why, `accept` does it, `reject` forgets it.
    """
    if ctx.invoked_subcommand is not None:
        return
    project = open_project(ctx.obj)
    items = memory_of(project).inbox.items()
    if as_json:
        emit_json(items=[item_as_json(item) for item in items])
    elif items:
        click.echo(columns(_row(item, project.now()) for item in items))
    else:
        talk("nothing waits")


@inbox.command("show", short_help="Show one of them: what it would change, and why it waits.")
@click.argument("id")
@json_option
@click.pass_context
def show(ctx: click.Context, id: str, as_json: bool) -> None:  # noqa: A002 - the word on the command line
    """Show what waits under ID (the beginning of it will do): why, where it is from, and what accepting it
    would change as things stand now.
    """
    project = open_project(ctx.obj)
    memory = memory_of(project)
    item = memory.inbox.get(id)
    seen, refused = _outlook(memory, item, project.now())
    if _as_json(ctx, as_json):
        text = None if item.data is None else encoding.readable(item.data)
        emit_json(
            **item_as_json(item),
            text=text,
            diff=difference(seen.file, seen.before, seen.after),
            target=seen.file,
            changed=seen.changed,
        )
        return
    click.echo(columns(_about(item, seen, refused), wrap=True))
    click.echo("")
    click.echo(_contents(item, seen))


@inbox.command("accept", short_help="Do what they propose.")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="All that waits, the oldest first.")
@click.option("--force", is_flag=True, help="Also where the file has changed since.")
@json_option
@click.pass_context
def accept(ctx: click.Context, ids: tuple[str, ...], everything: bool, force: bool, as_json: bool) -> int:
    """Do what waits under each ID, as if you had written it yourself. Nothing is asked.

    A file that has changed since is left alone, unless you --force it: `show` shows what would become of it.
    """
    project = open_project(ctx.obj)
    memory = memory_of(project)
    run = _Run(memory=memory, as_json=_as_json(ctx, as_json))
    accepted: list[dict[str, str]] = []

    def one(item: Item) -> None:
        done = accepting.accept(memory, item, now=project.now(), force=force)
        action = done.action if isinstance(done, Written) else "deleted"
        accepted.append({"id": item.id, "path": done.file, "action": action})
        also = "" if done.file == item.file else f" ({item.file} is another memory)"
        if isinstance(done, Written):
            run.say(f"{action} {done.file}{also}")
        else:
            run.say(f"removed {done.file}; `memdir restore {shlex.quote(done.file)}` brings it back")
        if isinstance(done, Written) and done.warning:
            talk(line(f"warning: {done.warning}"))

    run.each(ids, one, everything=everything)
    return run.end(accepted=accepted)


@inbox.command("reject", short_help="Forget what they propose.")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="All that waits.")
@json_option
@click.pass_context
def reject(ctx: click.Context, ids: tuple[str, ...], everything: bool, as_json: bool) -> int:
    """Forget what waits under each ID; the same is not proposed again. Nothing is asked."""
    memory = memory_of(open_project(ctx.obj))
    run = _Run(memory=memory, as_json=_as_json(ctx, as_json))
    rejected: list[str] = []

    def one(item: Item) -> None:
        memory.inbox.reject(item)
        rejected.append(item.id)
        run.say(f"rejected {item.id}: {_what(item)} {item.file}")

    run.each(ids, one, everything=everything)
    return run.end(rejected=rejected)


@dataclass(kw_only=True)
class _Run:
    """One command over several items: what is wrong with one is told, and the rest goes on."""

    memory: MemoryDir
    as_json: bool
    failures: list[tuple[str, MemdirError]] = field(default_factory=list)

    def each(self, ids: Sequence[str], do: Callable[[Item], None], *, everything: bool) -> None:
        """Do it for each item that is meant, once. Raises UsageError if none is, or all and some."""
        if everything == bool(ids):
            raise UsageError("say which, or --all", hint="`memdir inbox` lists the ids")
        waiting = self.memory.inbox.items()
        if everything and not waiting:
            talk("nothing waits")
        done = set[str]()
        for word in [item.id for item in reversed(waiting)] if everything else ids:
            try:
                if word not in done:
                    item = self.memory.inbox.get(word)
                    done |= {word, item.id}
                    do(item)
            except MemdirError as error:
                self._failed(word, error)
            except OSError as error:
                self._failed(word, MemdirError(error.strerror or type(error).__name__))

    def _failed(self, word: str, error: MemdirError) -> None:
        self.failures.append((word, error))
        complain(error)

    def say(self, text: str) -> None:
        """What was done, for who reads along."""
        if not self.as_json:
            talk(line(text))

    def end(self, **done: Any) -> int:
        """The exit code: that of the first failure."""
        if self.as_json:
            failures = [{"id": word, **error_as_json(error)} for word, error in self.failures]
            emit_json(**done, failures=failures)
        return self.failures[0][1].exit_code if self.failures else 0


def item_as_json(item: Item) -> dict[str, object]:
    """An item as `inbox --json` prints it."""
    return {
        "id": item.id,
        "file": item.file,
        "action": _what(item),
        "reason": item.reason,
        "code": item.code,
        "at": item.at,
        "session": item.origin.session if item.origin else None,
        "message": item.origin.message if item.origin else None,
        "worker": item.origin.worker if item.origin else None,
    }


def _as_json(ctx: click.Context, as_json: bool) -> bool:
    """Whether `--json` was said, before the name of the command or behind it."""
    return as_json or bool(ctx.parent and ctx.parent.params.get("as_json"))


# -- in words ------------------------------------------------------------------------------------------------


def _what(item: Item) -> str:
    """`new`, `change` or `delete`."""
    if item.action == "delete":
        return "delete"
    return "change" if item.base is not None or item.file == NAME else "new"


def _row(item: Item, now: datetime) -> tuple[str, ...]:
    worker = item.origin.worker if item.origin else None
    return (
        item.id,
        manifest.age_in_words(manifest.age_in_days(datetime.fromisoformat(item.at), now)),
        _what(item),
        _plain(item.file),
        _plain(worker or "-"),
        _plain(item.reason),
    )


def _plain(text: str) -> str:
    return manifest.harmless(revealed(text))


def _outlook(memory: MemoryDir, item: Item, now: datetime) -> tuple[Outlook, MemdirError | None]:
    """What accepting would change; or what is proposed, and why it can't be accepted."""
    try:
        return accepting.outlook(memory, item, now=now), None
    except MemdirError as error:
        return Outlook(file=item.file, before=None, after=item.data), error


def _about(item: Item, seen: Outlook, refused: MemdirError | None) -> list[tuple[str, str]]:
    """What is known of an item, but for its text."""
    origin = item.origin
    rows = [
        ("proposed", f"{_ACTIONS[_what(item)]} {_plain(item.file)}"),
        ("why it waits", f"{_plain(item.reason)} ({_plain(item.code)})"),
        ("since", f"{datetime.fromisoformat(item.at).astimezone():%Y-%m-%d %H:%M}"),
        ("worker", _plain((origin and origin.worker) or "-")),
        ("session", _plain((origin and origin.session) or "-")),
        ("message", _plain((origin and origin.message) or "-")),
    ]
    if refused:
        rows.append(("note", f"it can't be accepted: {_plain(str(refused))}"))
    elif seen.changed:
        how = "was removed" if seen.before is None else "has changed"
        rows.append(("note", f"the file {how} since; only `accept --force` does what is shown here"))
    elif seen.file != item.file:
        rows.append(("note", f"another memory has that name by now; this one would be {_plain(seen.file)}"))
    return rows


def _contents(item: Item, seen: Outlook) -> str:
    """The text of a new memory, or what would differ in the file as it stands now."""
    if seen.before is None and seen.after is None:
        return "the file is gone already"
    if seen.before is None and seen.after is not None:
        return revealed(_text(seen.after).removesuffix("\n"))
    told = difference(seen.file, seen.before, seen.after)
    if told is None:
        return revealed(_text(seen.after or b"").removesuffix("\n")) if item.data else "it is no text"
    return shown(revealed(told), coloured=_in_colour()) if told else "accepting it would change nothing"


def _text(data: bytes) -> str:
    """All letters of a text; bytes that are none as their codes."""
    kind = encoding.encoding(data)
    return data.decode(kind, "backslashreplace" if kind == "utf-8" else "replace")


def revealed(text: str) -> str:
    """A text for who has to judge it: what can't be seen in it, or steers a terminal, as its code."""
    return "".join(f"\\x{ord(letter):02x}" if _is_hidden(letter) else letter for letter in text)


def _is_hidden(letter: str) -> bool:
    if letter in "\n\t" or " " <= letter <= "~":
        return False
    return (
        unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        or manifest.visible(letter) != letter
        or visible(letter) != letter
    )


def _in_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

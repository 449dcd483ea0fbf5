"""Everything memdir raises on purpose, in one tree.

    MemdirError                 exit 1   the base: a sentence for a person, and a hint what to do
    ├── UsageError              exit 2   the command line or a setting makes no sense
    │   └── SettingsError                a settings file can't be read at all
    ├── UnsafePath              exit 2   a path that memory must never live at or write to (P5, F8, A8)
    ├── NotFound                exit 3   no such memory, file or session
    ├── Conflict                exit 4   somebody else changed it meanwhile; read again (F9)
    ├── SecretFound             exit 5   a secret stood in what was to be written (E10)
    ├── MemoryOff               exit 1   memory is switched off here (S3)
    ├── ToolError                        speech to the model: what went wrong with its call, what to do
    ├── StopLoop                         ends a run of the agent loop; carries its reason
    │   ├── TurnLimit                    a fork used up its turns (for extraction: a success, E6)
    │   └── Aborted                      the person, or shutdown, ended it
    └── ModelError              exit 1   a model could not answer
        ├── ModelNotConfigured  exit 2   no language model is set, and this needs one
        ├── KeyMissing          exit 2   the provider's key is nowhere
        ├── LibraryMissing      exit 2   the provider's library is not installed
        ├── KeyRefused                   the provider did not take the key
        ├── NoSuchModel                  the provider has no model of that name
        ├── ToolsIgnored                 the model, or its server, can't call tools
        ├── ModelOverloaded              busy or rate limited, after all retries
        ├── ModelUnreachable             no connection, or the stream broke off
        ├── ContextTooLong               the request is over the model's window
        ├── OverBudget                   background work has used up what it may, for today (H3)
        └── BadReply                     an answer that can't be used

Messages never hold the contents of memories, and never a secret's value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class MemdirError(Exception):
    """Base of all errors that memdir raises on purpose.

    ``str(error)`` is one sentence for the person; ``hint`` says what to do about it, or is None.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(MemdirError):
    """The command line or a setting makes no sense."""

    exit_code = 2


class SettingsError(UsageError):
    """A settings file can't be read as JSON at all."""


class UnsafePath(MemdirError):
    """A path that memory must never live at or write to (P5, F8, A8).

    ``path`` is the offending value as given, ``source`` where it came from, ``reason`` why it is refused.
    """

    exit_code = 2

    def __init__(self, path: object, *, reason: str, source: str | None = None) -> None:
        origin = f" (from {source})" if source else ""
        shown = path if isinstance(path, str) else repr(path)
        super().__init__(f"unsafe path {shown[:200]!r}{origin}: {reason}")
        self.path = path
        self.source = source
        self.reason = reason


class NotFound(MemdirError):
    """No such memory, file or session."""

    exit_code = 3


class Conflict(MemdirError):
    """Somebody else changed the file since it was read (F9): read it again, then decide."""

    exit_code = 4


class SecretFound(MemdirError):
    """A secret stood in what was to be written (E10).

    ``rules`` names the rules, ``lines`` the lines of the new text (from 1) if known; never the value.
    """

    exit_code = 5

    def __init__(self, rules: tuple[str, ...], *, where: str, lines: tuple[int, ...] = ()) -> None:
        shown = ", ".join(map(str, lines[:5])) + (" …" if len(lines) > 5 else "")
        place = f"{'line' if len(lines) == 1 else 'lines'} {shown} of {where}" if lines else where
        holds = "hold" if len(lines) > 1 else "holds"
        super().__init__(
            f"not written: {place} {holds} what looks like a secret ({', '.join(rules)})",
            hint="write the same fact without the value: say where it is kept, or leave it out",
        )
        self.rules = rules
        self.lines = lines


class MarkAdded(SecretFound):
    """A write that is not the person's would mark a line as harmless, which only the person may (E10)."""

    def __init__(self, *, where: str, lines: tuple[int, ...]) -> None:
        super().__init__((), where=where, lines=lines)
        shown = ", ".join(map(str, lines[:5]))
        self.args = (f"not written: line {shown} of {where} would get the mark memdir:allow-secret",)
        self.hint = "leave that mark out; only the person sets it"


class MemoryOff(MemdirError):
    """Memory is switched off here (S3). The message says by what."""


class ToolError(MemdirError):
    """Speech to the model: what went wrong with its tool call, and what it can do."""


class Withheld(ToolError):
    """The write of a memory was not made: it waits for the person (E11). `code` says why."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class SecretStopped(ToolError):
    """Speech to the model: a secret stood in what it was to write, and was stopped (E10)."""


class StopLoop(MemdirError):
    """Ends a run of the agent loop; the message is the reason."""


class TurnLimit(StopLoop):
    """A fork used up its turns."""


class Aborted(StopLoop):
    """The person or the shutdown ended the run."""


class ModelError(MemdirError):
    """A model could not answer.

    ``lasts``: it will not pass by itself: the same question meets the same end until a person does something.
    """

    lasts = False


class ModelNotConfigured(ModelError):
    """No language model is set, and this needs one."""

    exit_code = 2
    lasts = True


class KeyMissing(ModelError):
    """The provider's key is neither in the environment nor in the system's keyring."""

    exit_code = 2
    lasts = True


class LibraryMissing(ModelError):
    """The provider's library is an extra, and is not installed."""

    exit_code = 2
    lasts = True


class KeyRefused(ModelError):
    """The provider did not take the key."""

    lasts = True


class NoSuchModel(ModelError):
    """The provider has no model of that name, or the key may not use it."""

    lasts = True


class ToolsIgnored(ModelError):
    """The model can't call tools, or its server keeps them from it."""

    lasts = True


class ModelOverloaded(ModelError):
    """Busy or rate limited, after all retries."""


class ModelUnreachable(ModelError):
    """No connection, or the stream broke off.

    ``sent``: the question may have got there, so that somebody may send a bill for it.
    """

    sent = False


class ContextTooLong(ModelError):
    """The request is over the model's window, or a server read only a part of it."""

    lasts = True


class OverBudget(ModelError):
    """Background work has used up what it may for today, or nobody can tell: nothing was asked (H3).

    ``until``: when it may go on, with its zone; None: not before a person does something. Then it ``lasts``,
    unless it is only the disk that keeps the account from being written.
    """

    until: datetime | None = None


class BadReply(ModelError):
    """An answer that can't be used."""

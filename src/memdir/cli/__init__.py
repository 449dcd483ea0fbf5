"""The `memdir` command: parse, call one function, print.

Each command lives in a module of its own and is loaded when it is called, so that `memdir list` does not
pay for `memdir chat`. Data goes to stdout, talk to stderr. Exit codes: 0 done, 1 failed, 2 usage, 3 not
found, 4 conflict, 5 a secret was found, 130 interrupted.
"""

from __future__ import annotations

import importlib
import io
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from memdir import __version__
from memdir.cli.output import complain, fail
from memdir.errors import MemdirError, UsageError

COMMANDS = {
    "chat": "memdir.cli.chat:chat",
    "demo": "memdir.cli.demo:demo",
    "diff": "memdir.cli.history:diff",
    "doctor": "memdir.cli.doctor:doctor",
    "dream": "memdir.cli.dream:dream",
    "edit": "memdir.cli.files:edit",
    "forget": "memdir.cli.files:forget",
    "inbox": "memdir.cli.inbox:inbox",
    "instructions": "memdir.cli.instructions:instructions",
    "learn": "memdir.cli.learn:learn",
    "ledger": "memdir.cli.ledger:ledger",
    "list": "memdir.cli.files:list_",
    "log": "memdir.cli.history:log",
    "models": "memdir.cli.models:models",
    "path": "memdir.cli.status:path",
    "probe": "memdir.cli.probe:probe",
    "recall": "memdir.cli.recall:recall",
    "remember": "memdir.cli.files:remember",
    "restore": "memdir.cli.files:restore",
    "sessions": "memdir.cli.resume:sessions_",
    "show": "memdir.cli.files:show",
    "status": "memdir.cli.status:status",
    "undo": "memdir.cli.history:undo",
    "why": "memdir.cli.why:why",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        target = COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, attribute = target.split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. A reader who is gone is told from other faults, before click makes one of it."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderGone from error


class _ReaderGone(Exception):
    """Whoever read standard output has seen enough."""


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="memdir")
@click.option(
    "-C",
    "--directory",
    type=click.Path(path_type=Path, exists=True, file_okay=False, resolve_path=True),
    help="Work as if started in this folder.",
)
@click.option("--layout", type=click.Choice(["memdir", "claude"]), help="Whose folder layout to use.")
@click.option(
    "--model",
    metavar="PROVIDER:NAME",
    help="The model that converses, and does the rest unless settings say otherwise.",
)
@click.option("--bare", is_flag=True, help="Leave memory off, unless MEMDIR_DISABLE=0 forces it on.")
@click.pass_context
def cli(
    ctx: click.Context, directory: Path | None, layout: str | None, model: str | None, bare: bool
) -> None:
    """Long-term memory for coding agents, as Markdown files that you can read, change and undo."""
    overrides: dict[str, Any] = {"layout": layout, "model": model, "bare": bare or None}
    ctx.obj = (
        directory or _working_folder(),
        {key: value for key, value in overrides.items() if value is not None},
    )


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in (words[: words.index("--")] if "--" in words else words)
    _write_anything()
    try:
        code = cli.main(args=words, prog_name="memdir", standalone_mode=False)
        sys.stdout.flush()  # a reader who is gone is noticed here, where it does no harm
    except MemdirError as error:
        sys.exit(_failed(error, as_json=as_json))
    except click.ClickException as error:
        sys.exit(_misused(error, as_json=as_json))
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        sys.exit(130)
    except (_ReaderGone, BrokenPipeError):
        _stop_writing()
        sys.exit(0)
    except OSError as error:
        sys.exit(_failed(_refused(error), as_json=as_json))
    except Exception as error:  # noqa: BLE001 - a fault of ours, told without what it may quote
        sys.exit(_failed(_fault(error), as_json=as_json))
    sys.exit(code if isinstance(code, int) else 0)


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UsageError(
            "the folder you are in is no longer there", hint="go to another one, or name one with -C"
        ) from error


def _misused(error: click.ClickException, *, as_json: bool) -> int:
    """Report what click found wrong with the words of the command line."""
    if not as_json:
        error.show()
        return error.exit_code
    path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "memdir"
    return _failed(
        UsageError(error.format_message(), hint=f"`{path} --help` says what there is"), as_json=True
    )


def _failed(error: MemdirError, *, as_json: bool) -> int:
    """Report an error. If standard output takes nothing more (a full disk), stderr has to do."""
    try:
        code = fail(error, as_json=as_json)
        sys.stdout.flush()
    except OSError:
        _stop_writing()
        return error.exit_code
    return code


def _refused(error: OSError) -> MemdirError:
    """What the operating system would not do, as a sentence."""
    where = f"{error.filename}: " if error.filename else ""
    return MemdirError(f"{where}{error.strerror or type(error).__name__}")


def _fault(error: BaseException) -> MemdirError:
    """A fault in memdir itself: its kind and where it arose. Its text may quote a memory, a key or a server's
    words, so that is not shown; nor are the errors that it came from.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)
    where = ", ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-3:])
    return MemdirError(
        f"memdir failed ({type(error).__name__} at {where})",
        hint="this is a fault of memdir's own: please report it with this line",
    )


def _write_anything() -> None:
    """No file name and no letter that the terminal can't show may end a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _stop_writing() -> None:
    """The reader (`head`, a pager) has seen enough, or the disk is full: nothing is written any more, not
    even at exit.
    """
    with suppress(OSError):
        sys.stdout.close()
    sys.stdout = io.StringIO()

"""The `memdir` command: parse, call one function, print.

Each command lives in a module of its own and is loaded when it is called, so that `memdir list` does not
pay for `memdir chat`. Data goes to stdout, talk to stderr. Exit codes: 0 done, 1 failed, 2 usage, 3 not
found, 4 conflict, 5 a secret was found, 130 interrupted.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import click

from memdir import __version__
from memdir.cli.output import fail
from memdir.errors import MemdirError

COMMANDS = {
    "chat": "memdir.cli.chat:chat",
    "demo": "memdir.cli.demo:demo",
    "edit": "memdir.cli.files:edit",
    "forget": "memdir.cli.files:forget",
    "learn": "memdir.cli.learn:learn",
    "list": "memdir.cli.files:list_",
    "path": "memdir.cli.status:path",
    "recall": "memdir.cli.recall:recall",
    "remember": "memdir.cli.files:remember",
    "restore": "memdir.cli.files:restore",
    "show": "memdir.cli.files:show",
    "status": "memdir.cli.status:status",
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


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="memdir")
@click.option(
    "-C",
    "--directory",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Work as if started in this folder.",
)
@click.option("--layout", type=click.Choice(["memdir", "claude"]), help="Whose folder layout to use.")
@click.option("--model", help="The model for the conversation, as provider:name.")
@click.option("--bare", is_flag=True, help="Leave memory off, unless the environment forces it on.")
@click.pass_context
def cli(
    ctx: click.Context, directory: Path | None, layout: str | None, model: str | None, bare: bool
) -> None:
    """Long-term memory for coding agents, as Markdown files that you can read, change and undo."""
    overrides: dict[str, Any] = {"layout": layout, "model": model, "bare": bare or None}
    ctx.obj = (directory or Path.cwd(), {key: value for key, value in overrides.items() if value is not None})


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        code = cli.main(args=words, prog_name="memdir", standalone_mode=False)
    except MemdirError as error:
        sys.exit(fail(error, as_json="--json" in words))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader (`head`, a pager) has seen enough. Nothing more may be written, not even at exit.
        sys.stdout = None
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)

"""`memdir chat`: a conversation in the terminal that remembers."""

from __future__ import annotations

import signal

import anyio
import click

from memdir import app
from memdir.agent.events import Events
from memdir.cli.lines import terminal_as_it_was
from memdir.cli.opening import model_option, open_project
from memdir.cli.output import talk
from memdir.cli.terminal import Terminal
from memdir.errors import ModelNotConfigured
from memdir.model.jobs import Models
from memdir.model.local import CURE
from memdir.model.streaming import StreamingClient


@click.command(short_help="Talk with a model that remembers.")
@click.argument("prompt", nargs=-1)
@model_option("converses, and does the rest unless settings say otherwise")
@click.pass_obj
def chat(opened: app.Opening, prompt: tuple[str, ...], model: str | None) -> int:
    """Talk with a model that remembers. PROMPT is the first thing you say.

    Ctrl-C breaks off an answer, and at the prompt ends the conversation, as Ctrl-D and /exit do. Without a
    terminal, each line of standard input is a turn, and what needs your permission is not done.
    """
    project = open_project(opened, model=model)
    talks = Models.of(project.settings, jobs=("conversation",), said_at=project.said_at).chat
    if talks.is_local:
        raise ModelNotConfigured("a conversation needs a language model, and none is configured", hint=CURE)
    with terminal_as_it_was():
        return anyio.run(_talk, project, " ".join(prompt))


async def _talk(project: app.Project, prompt: str) -> int:
    """The whole conversation, and the exit code: 130 if it was broken off, and where nobody looks on, that of
    the last turn.
    """
    terminal, failure = Terminal(project), None
    async with app.running(project, events=Events(terminal.on_event)) as runtime:
        terminal.conversation = await runtime.start(
            ask=terminal.ask if terminal.lines.at_terminal else None,
            on_text=terminal.stream,
            on_saved=terminal.saved,
        )
        terminal.watch_tools()
        if isinstance(runtime.models.chat, StreamingClient):
            runtime.models.chat.on_wait = terminal.waiting
        if terminal.lines.at_terminal:
            talk(f"{project.settings.model} in {project.places.root}; /help says what else you can type")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_listen, terminal)
            try:
                await terminal.converse(prompt)
                await terminal.finish(runtime)
            except Exception as error:  # noqa: BLE001 - raised again below, as itself and not as a group
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure
    return terminal.exit_code


async def _listen(terminal: Terminal) -> None:
    """Ctrl-C breaks off what is going on, and no more than that."""
    with anyio.open_signal_receiver(signal.SIGINT) as signals:
        async for _ in signals:
            terminal.interrupt()

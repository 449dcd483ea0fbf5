"""`memdir chat`: a conversation in the terminal that remembers."""

from __future__ import annotations

import signal

import anyio
import click

from memdir import app
from memdir.agent.events import Events
from memdir.agent.sessions import Session
from memdir.cli.lines import terminal_as_it_was
from memdir.cli.opening import model_option, open_project
from memdir.cli.output import talk
from memdir.cli.resume import chosen, told
from memdir.cli.terminal import Terminal
from memdir.errors import ModelNotConfigured
from memdir.model.jobs import Models
from memdir.model.local import CURE
from memdir.model.streaming import StreamingClient


@click.command(short_help="Talk with a model that remembers.")
@click.argument("prompt", nargs=-1)
@click.option(
    "--resume",
    metavar="[ID]",
    is_flag=False,
    flag_value="",
    help="Take up a conversation of this folder again: the last one, or that with this id.",
)
@model_option("converses, and does the rest unless settings say otherwise")
@click.pass_obj
def chat(opened: app.Opening, prompt: tuple[str, ...], resume: str | None, model: str | None) -> int:
    """Talk with a model that remembers. PROMPT is the first thing you say.

    The ID of --resume may be the beginning of one, from four characters on; `memdir sessions` lists them. To
    take up the last conversation and say something at once: `memdir chat --resume -- PROMPT`.

    A conversation that gets too long for its model is condensed by itself; /compact does it now.

    Ctrl-C breaks off an answer, and at the prompt ends the conversation, as Ctrl-D and /exit do. Without a
    terminal, each line of standard input is a turn, and what needs your permission is not done.
    """
    project = open_project(opened, model=model)
    talks = Models.of(project.settings, jobs=("conversation",), said_at=project.said_at).chat
    if talks.is_local:
        raise ModelNotConfigured("a conversation needs a language model, and none is configured", hint=CURE)
    session = None if resume is None else chosen(project, resume, prompt)
    with terminal_as_it_was():
        return anyio.run(_talk, project, " ".join(prompt), session)


async def _talk(project: app.Project, prompt: str, session: Session | None) -> int:
    """The whole conversation, and the exit code: 130 if it was broken off, and where nobody looks on, that of
    the last turn.
    """
    terminal, failure = Terminal(project), None
    async with app.running(project, events=Events(terminal.on_event)) as runtime:
        terminal.conversation = await runtime.start(
            resume=session.path if session else None,
            ask=terminal.ask if terminal.lines.at_terminal else None,
            consent=terminal.consent if terminal.lines.at_terminal else None,
            on_text=terminal.stream,
            on_saved=terminal.saved,
            on_dreamed=terminal.dreamed,
        )
        terminal.watch_tools()
        if isinstance(runtime.models.chat, StreamingClient):
            runtime.models.chat.on_wait = terminal.waiting
        if terminal.lines.at_terminal:
            talk(f"{project.settings.model} in {project.places.root}; /help says what else you can type")
        if session is not None:
            talk(told(session, terminal.conversation.agent.record, project.now()))
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

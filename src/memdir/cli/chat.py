"""`memdir chat`: a conversation in the terminal that remembers."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass, field

import anyio
import anyio.to_thread
import click

from memdir import app
from memdir.agent.permissions import Question
from memdir.cli.editor import edit_memory
from memdir.cli.output import columns, complain, talk
from memdir.errors import Aborted, MemdirError, ModelNotConfigured
from memdir.extract.saved import Saved
from memdir.memory import manifest
from memdir.model.local import CURE
from memdir.model.messages import Usage

HELP = """\
/memory          the memories of this project      /memory NAME   open one in your editor
/remember TEXT   remember something                /exit          end (also Ctrl-D)"""


@click.command()
@click.argument("prompt", nargs=-1)
@click.option("--model", help="The model to talk with, as provider:name.")
@click.pass_obj
def chat(opened: app.Opening, prompt: tuple[str, ...], model: str | None) -> None:
    """Talk with a model that remembers. PROMPT is the first thing you say."""
    folder, overrides = opened
    project = app.open_project(folder, {**overrides, "model": model} if model else overrides)
    if app.Models.of(project.settings).chat.is_local:
        raise ModelNotConfigured("a conversation needs a language model, and none is configured", hint=CURE)
    for warning in project.warnings:
        talk(f"warning: {warning}")
    anyio.run(_talk, project, " ".join(prompt))


async def _talk(project: app.Project, prompt: str) -> None:
    async with app.running(project) as runtime:
        terminal = Terminal(project=project)
        terminal.conversation = await runtime.start(
            ask=terminal.ask, on_text=terminal.stream, on_saved=terminal.saved
        )
        talk(f"{project.settings.model} in {project.places.root}; /help says what else you can type")
        await terminal.converse(prompt)
        if runtime.is_busy:
            talk("saving what is worth keeping …")
        if not await runtime.drain():
            talk("saving took too long and was broken off; nothing is half-written")


@dataclass(kw_only=True)
class Terminal:
    """Between the person at the terminal and the conversation."""

    project: app.Project
    conversation: app.Conversation | None = None
    notices: list[str] = field(default_factory=list)
    always: set[str] = field(default_factory=set)

    async def converse(self, first: str) -> None:
        """Take lines from the person until they end it."""
        line: str | None = first or await self._line()
        while line is not None:
            words = line.strip()
            if words in {"/exit", "/quit"}:
                return
            if words.startswith("/") and not words.startswith("//"):
                await self._command(words)
            elif words:
                await self._turn(words)
            line = await self._line()

    async def _turn(self, words: str) -> None:
        assert self.conversation is not None, "it was started"  # noqa: S101
        agent = self.conversation.agent
        before = agent.usage
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._abort_on_interrupt)
                await self.conversation.say(words)
                tasks.cancel_scope.cancel()
        except* Aborted:
            talk("\n(broken off)")
        except* MemdirError as group:
            for error in group.exceptions:
                talk("")
                complain(error)
        else:
            click.echo()
            talk(_cost(agent.usage, before))

    async def _abort_on_interrupt(self) -> None:
        """Ctrl-C breaks off the answer, not the conversation."""
        assert self.conversation is not None, "it was started"  # noqa: S101
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            async for _ in signals:
                self.conversation.agent.abort()

    # -- what the person types -------------------------------------------------------------------------------

    async def _line(self) -> str | None:
        """The next line; None at the end of input. Notices of background work come before it."""
        while self.notices:
            talk(self.notices.pop(0))
        return await anyio.to_thread.run_sync(_read_line, abandon_on_cancel=True)

    async def _command(self, words: str) -> None:
        name, _, rest = words.partition(" ")
        try:
            match name, rest.strip():
                case "/memory", "":
                    self._list()
                case "/memory", wanted:
                    await anyio.to_thread.run_sync(self._open, wanted)
                case "/remember", "":
                    talk("what should be remembered? as in: /remember we deploy on Tuesdays")
                case "/remember", text:
                    self._remember(text)
                case _:
                    talk(HELP if name == "/help" else f"there is no {name}\n{HELP}")
        except MemdirError as error:
            complain(error)

    def _list(self) -> None:
        memory = self.project.require_memory()
        headers = memory.list()
        rows = [
            (one.type or "-", one.path, manifest.harmless(one.description or one.name)) for one in headers
        ]
        talk(columns(rows) if rows else "no memories yet")
        talk(f"in {memory.directory}")

    def _open(self, name: str) -> None:
        written = edit_memory(self.project, name)
        talk(f"{written.action} {written.file}" if written else "nothing changed")

    def _remember(self, text: str) -> None:
        session = self.conversation.agent.id if self.conversation else None
        saved = self.project.remember(text, session=session)
        if saved.refused:
            raise saved.refused[0]
        talk(saved.notice or "that is remembered already")

    # -- what the conversation says --------------------------------------------------------------------------

    def stream(self, text: str) -> None:
        """Show a piece of the answer as it comes."""
        click.echo(text, nl=False)
        sys.stdout.flush()

    def saved(self, saved: Saved) -> None:
        """Keep the notice for the next pause: nothing is printed into an answer (E8)."""
        if saved.notice:
            self.notices.append(saved.notice)
        self.notices += [f"not saved: {error}" for error in saved.refused]

    async def ask(self, question: Question) -> bool:
        """Let the person decide on a tool call."""
        if question.call.name in self.always:
            return True
        answer = await anyio.to_thread.run_sync(_read_answer, question.what, abandon_on_cancel=True)
        if answer == "a":
            self.always.add(question.call.name)
        return answer in {"y", "a"}


def _read_line() -> str | None:
    try:
        return input("\n> " if sys.stdin.isatty() else "")
    except EOFError:
        return None


def _read_answer(what: str) -> str:
    talk(f"\nThe model wants to {what}")
    try:
        return input("allow? [y]es, [a]lways in this conversation, [N]o: ").strip().lower()[:1]
    except EOFError:
        return "n"


def _cost(now: Usage, before: Usage) -> str:
    spent = Usage(
        input=now.input - before.input,
        cache_write=now.cache_write - before.cache_write,
        cache_read=now.cache_read - before.cache_read,
        output=now.output - before.output,
    )
    return f"[{spent.total_input:,} tokens in, {spent.hit_percent} % from the cache; {spent.output:,} out]"

"""`memdir demo`: three recorded conversations through the real runtime, in a throw-away project.

After two of them there are memories; the third shows what a new conversation gets of them, why, and what it
costs. No key, no account, no network: the model's words are recorded, everything else happens.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import anyio
import click

from memdir import app
from memdir.agent.events import DENIED, Event, Events
from memdir.agent.permissions import Question
from memdir.cli.demo.recordings import NAMES, Recording, Turn, make_project, recording
from memdir.extract.saved import Saved
from memdir.memory import entrypoint, topic
from memdir.model import tokens
from memdir.model.jobs import Models
from memdir.model.local import Local
from memdir.model.messages import Usage
from memdir.testing import ScriptedModel

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 100
THE_DAY = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)
"""When the recorded conversations took place; "in two weeks" counts from here."""


@click.command(short_help="Two conversations become memories, a third one remembers.")
@click.option("--keep", type=click.Path(path_type=Path), help="Do it in this new folder, and leave it there.")
def demo(keep: Path | None) -> None:
    """Show memdir at work: two recorded conversations become memories, a third one remembers."""
    if keep is None:
        with TemporaryDirectory(prefix="memdir-demo-") as folder:
            anyio.run(_run, Path(folder).resolve())
        return
    keep.mkdir(parents=True)
    anyio.run(_run, keep.resolve())
    click.echo(f"\nThe project and its memory are in {keep}.")


async def _run(folder: Path) -> None:
    place = folder / "parcel-tracker"
    make_project(place)
    environment = {"HOME": str(folder), "MEMDIR_HOME": str(folder / "memdir")}
    project = app.open_project(place, environment=environment, now=lambda: THE_DAY)
    story = Story(project)
    first, second, third = (recording(name, project=place) for name in NAMES)
    await story.play(first)
    await story.play(second)
    story.show_directory()
    await story.play(third, whole=True)
    story.show_next()


class Story:
    """Plays recordings and tells what happens."""

    def __init__(self, project: app.Project) -> None:
        from rich.console import Console

        self.project = project
        self.console: Console = Console(highlight=False, soft_wrap=True, width=WIDTH)
        self.number = 0

    async def play(self, played: Recording, *, whole: bool = False) -> None:
        """One conversation. `whole`: also show what the model was given, and the answer."""
        self.number += 1
        self._heading(f"Conversation {self.number}: {played.title}")
        model = ScriptedModel([reply for turn in played.turns for reply in turn.replies], name="recorded")
        models = Models(chat=model, recall=Local(), extract=Local())
        async with app.running(self.project, models=models, events=Events(self._event)) as runtime:
            conversation = await runtime.start(ask=_agree, on_saved=self._saved)
            if whole:
                self._show_prompt(conversation)
            for turn in played.turns:
                await self._turn(conversation, turn, whole=whole)
                await runtime.drain()  # the person takes longer to type than the rules take
        model.assert_exhausted()
        self._cost(conversation.agent.usage, len(model.requests))

    async def _turn(self, conversation: app.Conversation, turn: Turn, *, whole: bool) -> None:
        before, usage = len(conversation.agent.messages), conversation.agent.usage
        self._said("you", turn.person, whole=whole)
        answer = await conversation.say(turn.person)
        calls = [call.name for message in conversation.agent.messages[before:] for call in message.tool_uses]
        if calls:
            self.console.print(f"       {', '.join(calls)}", style="dim")
        if whole:
            self._recalled(conversation)
        self._said("agent", answer.text, whole=whole)
        if whole:
            spent = conversation.agent.usage
            self.console.print(f"       {spent.total_input - usage.total_input:,} tokens in", style="dim")

    # -- telling ---------------------------------------------------------------------------------------------

    def show_directory(self) -> None:
        """The memory directory, file by file."""
        memory = self.project.require_memory()
        self._heading("What is in the memory directory now")
        self.console.print(f"{memory.directory}\n", style="dim")
        self.console.print(entrypoint.NAME, style="bold")
        self.console.print(textwrap.indent(memory.index().strip(), "  "), markup=False)
        for header in sorted(memory.list(), key=lambda header: header.path):
            parsed = topic.parse(memory.read(header.path).data, filename=header.path)
            self.console.print(f"\n{header.path}  [dim]{parsed.type}[/dim]", style="bold")
            self.console.print(_wrapped(parsed.body.strip()), markup=False)

    def show_next(self) -> None:
        """What to do now."""
        self._heading("Next")
        memdir = _command()
        self.console.print(
            f"{memdir} learn ~/.claude/projects/*/*.jsonl\n    learns from conversations you had already;\n"
            f"{memdir} --model anthropic:claude-sonnet-5 chat\n    starts one that remembers (see README.md)."
        )

    def _heading(self, text: str) -> None:
        self.console.print(
            f"\n── {text} {'─' * max(4, WIDTH - len(text) - 4)}", style="bold cyan", markup=False
        )

    def _said(self, who: str, text: str, *, whole: bool) -> None:
        shown = text if whole else textwrap.shorten(text, WIDTH - 12, placeholder=" …")
        self.console.print(
            textwrap.indent(_wrapped(shown, indent=""), " " * 7).replace(" " * 7, f"{who:<6} ", 1),
            markup=False,
        )

    def _show_prompt(self, conversation: app.Conversation) -> None:
        agent = conversation.agent
        about, *remembering = agent.prefix.system
        index = agent.messages[0].text if agent.messages else ""
        self.console.print("It begins with", style="bold")
        self.console.print(
            f"  system prompt   {tokens.estimate(about):,} tokens of its own, "
            f"{sum(tokens.estimate(part) for part in remembering):,} on how memory works\n"
            f"  first message   {tokens.estimate(index):,} tokens: the index\n"
        )

    def _recalled(self, conversation: app.Conversation) -> None:
        last = conversation.recall.last if conversation.recall else None
        if last is None:
            return
        there, milliseconds = len(self.project.require_memory().list()), last.seconds * 1000
        self.console.print(f"recall {there} memories looked at, in {milliseconds:.0f} ms", style="bold")
        for verdict in last.selection.verdicts:
            if verdict.chosen:
                shared = ", ".join(list(verdict.words)[:5])
                self.console.print(
                    f"     + {verdict.file}  ({verdict.score:.2f}: {shared})", style="green", markup=False
                )
        left = [verdict.file for verdict in last.selection.verdicts if not verdict.chosen]
        if left:
            self.console.print(f"     - too little in common: {', '.join(left)}", style="dim", markup=False)

    def _saved(self, saved: Saved) -> None:
        for refused in saved.refused:
            self.console.print(f"     ! {refused}", style="yellow", markup=False)
        if saved.notice:
            self.console.print(f"     → {saved.notice}", style="green", markup=False)

    def _event(self, event: Event) -> None:
        if event.name == DENIED:
            self.console.print(f"     ! {event.fields['tool']} was not allowed", style="yellow", markup=False)

    def _cost(self, usage: Usage, requests: int) -> None:
        asked = f"{requests} request{'s' if requests != 1 else ''}"
        cached = f"{usage.hit_percent} % from the prompt cache"
        told = f"{usage.total_input:,} tokens in ({cached}), {usage.output:,} out"
        self.console.print(f"cost   {asked}, {told}; saving and recalling by rules: 0", style="dim")


def _command() -> str:
    """How memdir is called from here: by name where it is on the PATH, else by its place."""
    beside = Path(sys.executable).with_name("memdir")
    if shutil.which("memdir") or not beside.exists():
        return "memdir"
    here = Path.cwd()
    return str(beside.relative_to(here)) if beside.is_relative_to(here) else str(beside)


async def _agree(question: Question) -> bool:
    """The throw-away project is the demonstration's own: its recorded model may do there what it wants."""
    return bool(question.what)


def _wrapped(text: str, indent: str = "  ") -> str:
    lines = [textwrap.wrap(line, WIDTH - 8, break_long_words=False) or [""] for line in text.splitlines()]
    return "\n".join(f"{indent}{part}" for line in lines for part in line)

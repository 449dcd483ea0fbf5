"""Between the person at the terminal and a conversation.

In: lines, slash commands, Ctrl-C. Out: the answer as it streams, tool calls, questions, costs, and at the
next pause what background work has to tell.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import click

from memdir import app
from memdir.agent.events import Event
from memdir.agent.instructions import Waiting
from memdir.agent.loop import Agent
from memdir.agent.permissions import Allow, Question, Verdict
from memdir.cli import context, plans
from memdir.cli.dream import one_at_a_time
from memdir.cli.lines import Lines
from memdir.cli.notices import Notice, notice_of, settles
from memdir.cli.output import complain, talk, visible
from memdir.cli.slash import obey
from memdir.dream.fork import LABEL as DREAM
from memdir.dream.progress import Progress
from memdir.dream.run import Dreamed
from memdir.dream.worker import Dreamer
from memdir.errors import Aborted, MemdirError, ModelError
from memdir.extract.saved import Saved
from memdir.memory.fence import exact
from memdir.model.messages import ToolUse, Usage
from memdir.model.pauses import in_words
from memdir.session.compact import Compacted

INTERRUPTED = 130
SAVING = "saving what is worth keeping …"
BROKEN_OFF = "the dream was broken off; the memories are as they were"
LONGEST_ACT = 100
"""Characters of a tool call that are shown as it is made."""


class Terminal:
    """One conversation's front end."""

    def __init__(self, project: app.Project) -> None:
        self.project = project
        self.lines = Lines()
        self.conversation: app.Conversation | None = None
        self.exit_code = 0
        self._notices: list[Notice] = []
        self._allowed: set[str] = set()
        self._asked: set[str] = set()
        self._told: set[str] = set()
        self._in_line = False
        self._waiting: anyio.CancelScope | None = None

    @property
    def _conversation(self) -> app.Conversation:
        assert self.conversation is not None, "it was started"  # noqa: S101
        return self.conversation

    @property
    def _agent(self) -> Agent:
        return self._conversation.agent

    # -- the conversation ------------------------------------------------------------------------------------

    async def converse(self, first: str) -> None:
        """Take lines from the person until they end it."""
        line: str | None = first or await self._line()
        while line is not None:
            words = line.strip()
            if words in {"/exit", "/quit"}:
                return
            if words.startswith("/") and not _is_a_path(words):
                await self._command(words)
            elif words:
                await self._turn(words)
            line = await self._line()

    async def finish(self, runtime: app.Runtime) -> None:
        """Wait for what is still to be saved, and tell what was. Ctrl-C leaves it for another time."""
        dreamer = self.conversation.dreamer if self.conversation else None
        dreams = dreamer is not None and dreamer.is_running
        if runtime.is_busy:
            talk("finishing a dream, and saving what is worth keeping …" if dreams else SAVING)
        finished = False
        with anyio.CancelScope() as self._waiting:
            finished = await runtime.finish()
        self._waiting = None
        if not finished:
            await runtime.give_up()
            what = "the dream and saving were" if dreams else "saving was"
            talk(f"{what} broken off; nothing is half-written")
        self._drop(lambda notice: notice.passing)  # nothing is tried again after this
        self._tell_notices()
        extractor, messages = self.conversation.extractor if self.conversation else None, self._agent.record
        if self._agent.transcript and extractor is not None and extractor.is_behind(messages):
            command = f"`memdir learn {shlex.quote(str(self._agent.transcript.path))}`"
            if extractor.is_left_to_others:
                talk(f"the next conversation here saves what is missing; {command} does it now")
            else:
                talk(f"{command} saves what is missing")

    def interrupt(self) -> None:
        """The person pressed Ctrl-C: break off the answer, the question at the prompt, or the saving."""
        if self._waiting is not None:
            self._waiting.cancel()
        else:
            self._agent.abort()

    async def _turn(self, words: str) -> None:
        before = self._agent.usage
        try:
            await self._agent.run(words)
        except Aborted:
            self._end_line()
            talk("\n(broken off)")
            self.exit_code = 0 if self.lines.at_terminal else INTERRUPTED
        except MemdirError as error:
            self._end_line()
            complain(error)
            self._drop(partial(Notice.repeats, model=self._agent.model.name, sentence=str(error)))
            self.exit_code = 0 if self.lines.at_terminal else error.exit_code
        else:
            self._end_line()
            talk(_cost(self._agent.usage, before))
            self.exit_code = 0

    # -- what the person types -------------------------------------------------------------------------------

    async def _line(self) -> str | None:
        """The next line; None at the end, or when Ctrl-C is pressed here. Notices come before it."""
        self._tell_notices()
        line: str | None = None
        with anyio.CancelScope() as self._waiting:
            line = await self.lines.read("\n> ")
        if self._waiting.cancelled_caught:
            self.exit_code = INTERRUPTED
        self._waiting = None
        if line is None and self.lines.at_terminal:
            talk("")
        return line

    async def _command(self, words: str) -> None:
        name, _, rest = words.partition(" ")
        try:
            if name == "/compact":
                await self._compact(rest.strip())
            elif name == "/dream" and (what := self._dreams.get(rest.strip())):
                await what()
            elif name == "/context":
                talk(await anyio.to_thread.run_sync(context.in_words, self.project, self._conversation))
            else:
                await anyio.to_thread.run_sync(partial(obey, self.project, words, session=self._agent.id))
        except MemdirError as error:
            complain(error)
        except OSError as error:
            complain(f"error: {error.filename or ''}: {error.strerror}")

    async def _compact(self, instructions: str) -> None:
        """Make the conversation shorter. Ctrl-C breaks that off, and it stays as it was."""
        talk("condensing …")
        done: Compacted | None = None
        try:
            with anyio.CancelScope() as self._waiting:
                done = await self._conversation.compact(instructions or None)
        finally:
            self._waiting = None
        talk(context.done(done) if done else "\n(broken off; the conversation is as it was)")

    async def _dream(self) -> None:
        """Consolidate the memories now, or say how far a dream is that is under way. Ctrl-C breaks off what
        was begun here.
        """
        dreamer = self._dreamer()
        if dreamer.is_running:
            talk(plans.progress_in_words(dreamer.progress or Progress()))
            talk("`/dream stop` breaks it off")
            return
        told, dreamed = set[str](), None

        def show(progress: Progress) -> None:
            if progress.phase not in told:
                told.add(progress.phase)
                talk(plans.progress_in_words(progress))

        talk("dreaming …")
        try:
            with anyio.CancelScope() as self._waiting, one_at_a_time():
                dreamed = await dreamer.now(self._agent, on_progress=show)
        finally:
            self._waiting = None
            self._no_dream()
        for said in plans.dreamed_in_words(dreamed, at="/") if dreamed else (BROKEN_OFF,):
            talk(said)

    async def _stop_dream(self) -> None:
        dreamer = self._conversation.dreamer
        stopped = dreamer is not None and await dreamer.stop()
        self._no_dream()
        talk(BROKEN_OFF if stopped else "no dream is under way")

    async def _explain_dream(self) -> None:
        """Say whether it is time for a dream, as this conversation sees it (D1)."""
        gates = await anyio.to_thread.run_sync(self._dreamer().gates, self._agent.id)
        talk(plans.gate_rows(gates))
        talk(plans.gates_in_words(gates))

    def _dreamer(self) -> Dreamer:
        if (dreamer := self._conversation.dreamer) is None:
            self.project.require_memory()  # says why not
        assert dreamer is not None, "memory is on"  # noqa: S101
        return dreamer

    def _no_dream(self) -> None:
        """Nothing is under way now: that something had begun is not worth telling any more."""
        self._drop(lambda notice: notice.passing and notice.job == DREAM)

    @property
    def _dreams(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """What is done about dreams in this process."""
        return {"": self._dream, "stop": self._stop_dream, "explain": self._explain_dream}

    # -- what the conversation says --------------------------------------------------------------------------

    def stream(self, text: str) -> None:
        """Show a piece of the answer as it comes; nothing in it steers the terminal."""
        click.echo(visible(text), nl=False)
        self._in_line = not text.endswith("\n")

    def waiting(self, seconds: float, error: ModelError) -> None:
        """The model is busy, and will be asked again: say so, if it is the person who waits for it."""
        if self._agent.is_running:
            self._end_line()
            talk(f"({error}; trying again in {in_words(seconds)}, Ctrl-C breaks off)")

    def watch_tools(self) -> None:
        """Show each tool call that is made, in a line."""
        permit = self._agent.permit

        async def shown(call: ToolUse) -> Verdict:
            verdict = await permit(call)
            if isinstance(verdict, Allow) and call.id not in self._asked:
                self._end_line()
                talk(f"· {_act(call, self.project.places.cwd)}")
            return verdict

        self._agent.permit = shown

    def saved(self, saved: Saved) -> None:
        """Keep the notice for the next pause: nothing is printed into an answer (E8)."""
        if saved.notice:
            self._notices.append(Notice(text=saved.notice))
        self._notices += [Notice(text=f"not saved: {error}") for error in saved.refused]

    def dreamed(self, dreamed: Dreamed) -> None:
        """Keep the notice of a dream for the next pause (D6)."""
        if dreamed.notice:
            self._notices.append(Notice(text=dreamed.notice))

    def on_event(self, event: Event) -> None:
        """Keep what happened beside the conversation for the next pause, if it is anything to the person."""
        self._drop(lambda notice: settles(event, notice))
        notice = notice_of(event)
        if notice is None or notice.key in self._told:
            return
        if notice.key is not None:
            self._told.add(notice.key)
        self._drop(notice.replaces)
        self._notices.append(notice)

    def _drop(self, is_over: Callable[[Notice], bool]) -> None:
        """Take back what was not told yet. Should it happen again, it is worth telling."""
        for notice in [notice for notice in self._notices if is_over(notice)]:
            self._notices.remove(notice)
            self._told.discard(notice.key or "")

    async def ask(self, question: Question) -> bool:
        """Let the person decide on a tool call."""
        name = question.call.name
        if name in self._allowed:
            return True
        self._asked.add(question.call.id)
        self._end_line()
        talk(f"The model wants to {visible(question.what)}")
        answer = await self.lines.read(f"allow? [y]es, [N]o, [a]ll {name} calls in this conversation: ")
        choice = (answer or "").strip().lower()[:1]
        if choice == "a":
            self._allowed.add(name)
        return choice in {"y", "a"}

    async def consent(self, waiting: Waiting) -> bool | None:
        """Let the person decide on a file of instructions outside the project, for good; None: not now. One
        that is kept with credentials takes a whole word.
        """
        if not self.lines.at_terminal:
            return None
        is_delicate = waiting.why == "credentials"
        yes = "yes" if is_delicate else "[y]es"
        talk(f"{waiting.words}. Load it? It would be sent to the model with each conversation here.")
        line = await self.lines.read(f"{yes}, [N]o, [l]ater: ")
        answer = "later" if line is None else line.strip().lower()
        if answer == "yes" or (answer == "y" and not is_delicate):
            return True
        if answer not in {"", "n", "no"}:
            return None
        talk(f"It stays out; `memdir instructions allow {exact(str(waiting.path))}` would let it in.")
        return False

    def _tell_notices(self) -> None:
        while self._notices:
            talk(self._notices.pop(0).text)

    def _end_line(self) -> None:
        if self._in_line:
            click.echo()
        self._in_line = False


def _is_a_path(words: str) -> bool:
    """`/etc/hosts says …` is no command, and neither is `// …`."""
    return "/" in words.split(maxsplit=1)[0][1:]


def _act(call: ToolUse, cwd: Path) -> str:
    """A tool call in a few words."""
    about = next((value for value in call.input.values() if isinstance(value, str)), "")
    if os.path.isabs(about):  # noqa: PTH117 - it may hold what no path can
        about = about.removeprefix(f"{cwd}{os.sep}")
    line = " ".join(visible(about).split())
    return f"{call.name} {line if len(line) <= LONGEST_ACT else line[:LONGEST_ACT] + '…'}"


def _cost(now: Usage, before: Usage) -> str:
    spent = Usage(
        input=now.input - before.input,
        cache_write=now.cache_write - before.cache_write,
        cache_read=now.cache_read - before.cache_read,
        output=now.output - before.output,
    )
    if not spent.total_input and not spent.output:
        return "[the server does not tell how many tokens it took]"
    return f"[{spent.total_input:,} tokens in, {spent.hit_percent} % from the cache; {spent.output:,} out]"

"""Puts everything together: a project -> a runtime in which conversations happen.

`Runtime` has the one task group, the models, the conversations; leaving it ends all of them cleanly. The
only module that knows every room. Front ends call it and nothing below it decides for them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from memdir import prompts
from memdir.agent.events import CHANGED_OUTSIDE, FAILED, MENDED, NO_SHARED_CACHE, Events
from memdir.agent.file_state import FileState
from memdir.agent.instructions import context_message, load_memory_prompt
from memdir.agent.log import log_to
from memdir.agent.loop import Agent, Hooks
from memdir.agent.permissions import AskPerson, for_main
from memdir.agent.tools import TOOLS, ToolContext
from memdir.agent.transcript import Transcript, sweep
from memdir.errors import MemdirError, ModelError
from memdir.extract import killed
from memdir.extract.foreign import Talk
from memdir.extract.learn import learn
from memdir.extract.pickup import PickingUp, PickUp
from memdir.extract.saved import LABEL as EXTRACTION
from memdir.extract.saved import Saved
from memdir.extract.unfinished import Left, Marker, Unfinished
from memdir.extract.worker import Extractor, Policy
from memdir.memory import manifest
from memdir.memory.history import BEGINNING, EXTERNAL
from memdir.memory.store import MemoryDir
from memdir.model.client import ModelClient, OnText
from memdir.model.embedding.embedder import Embedder
from memdir.model.jobs import Models
from memdir.model.ledger import Ledger
from memdir.model.messages import Message, Prefix, new_id
from memdir.model.metered import Metered, MeteredEmbedder
from memdir.paths import cache_directory, transcript_path
from memdir.project import Clock, Opening, Project, local_time, open_project
from memdir.recall.matter import matter
from memdir.recall.prefetch import Recall
from memdir.recall.recorder import Recorder
from memdir.recall.select import Selection, select
from memdir.recall.shelf import Shelf

__all__ = ["Clock", "Conversation", "Opening", "Project", "Runtime", "local_time", "open_project", "running"]

BY_HAND = 5.0
"""Seconds that an embedder may take to know the memories, and again to compare them, for who asks by hand."""

TAKEN_IN = 64
"""Memories that get vectors before a prompt is answered by hand, in about half a second; a conversation takes
in more of them in the background."""


def prefix_of(project: Project, events: Events) -> Prefix:
    """What each request of a conversation begins with: who the agent is, then how its memory works; the same
    for a whole session (I6).
    """
    about = prompts.render("coding", cwd=str(project.places.cwd))
    remembering = load_memory_prompt(project.memory, events=events)
    system = (about, remembering) if remembering else (about,)
    return Prefix(system=system, tools=tuple(tool.spec for tool in TOOLS))


# -- conversations -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One session: an agent, and what remembers beside it (each None when it is off)."""

    agent: Agent
    recall: Recall | None
    extractor: Extractor | None

    async def say(self, text: str) -> Message:
        """One turn; see `Agent.run`."""
        return await self.agent.run(text)


@dataclass(kw_only=True)
class Runtime:
    """All conversations of one process. Made by `running`."""

    project: Project
    models: Models
    events: Events
    tasks: TaskGroup
    conversations: list[Conversation] = field(default_factory=list)
    _shelves: dict[Path, Shelf] = field(default_factory=dict)
    _ledger: Ledger = field(init=False)
    _unfinished: Unfinished = field(init=False)
    _picking_up: PickUp | None = field(default=None, init=False)
    _hearing: list[Callable[[Saved], None]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._unfinished = Unfinished(self.project.places.pending)
        limit = self.project.settings.budget.input_tokens_per_day
        self._ledger = Ledger(self.project.places.ledger, limit=limit, now=self.project.now)

    async def start(
        self,
        *,
        ask: AskPerson | None = None,
        on_text: OnText | None = None,
        on_saved: Callable[[Saved], None] = lambda _: None,
    ) -> Conversation:
        """Begin a conversation: its prompt, its first message, its transcript, its background work.

        `ask` puts questions about tool calls to the person (None: nobody is there, and what needs asking is
        not done); `on_text` hears the answer while it streams; `on_saved` hears of memories written.
        """
        memory, session = self.project.memory, new_id()
        await self._mend()
        self._pick_up()
        files = FileState()
        prefix = prefix_of(self.project, self.events)
        first = context_message(
            memory,
            files=files,
            events=self.events,
            now=self.project.now(),
            inject_index=self.project.settings.features.inject_index,
        )
        transcript = self._transcript(session, prefix, first)
        recall = self._recall(session)

        def saved(what: Saved) -> None:
            if recall is not None:
                recall.changed(change.file for change in what.changes)
            on_saved(what)

        self._hearing.append(saved)
        extractor = self._extractor(session, saved)
        agent = Agent(
            id=session,
            prefix=prefix,
            model=self.models.chat,
            context=ToolContext(
                cwd=self.project.places.cwd, files=files, memory=memory, now=self.project.now
            ),
            permit=for_main(
                memory=memory.directory if memory else None, cwd=self.project.places.cwd, ask=ask
            ),
            messages=[first] if first else [],
            transcript=transcript,
            events=self.events,
            hooks=_hooks(recall, extractor),
            on_text=on_text,
        )
        conversation = Conversation(agent=agent, recall=recall, extractor=extractor)
        self.conversations.append(conversation)
        return conversation

    async def learn(
        self,
        talk: Talk,
        *,
        on_part: Callable[[int, int], None] = lambda _done, _of: None,
        on_saved: Callable[[Saved], None] = lambda _: None,
    ) -> Saved:
        """Save what a talk that has taken place holds; see `extract.learn`."""
        await self._mend()
        return await learn(
            talk,
            memory=self.project.require_memory(),
            model=self._metered(self.models.extract or self.models.chat, "learn", talk.session_id),
            cursors=self.project.places.cursors,
            journals=self.project.places.journals,
            now=self.project.now,
            max_turns=self.project.settings.extract.max_turns,
            events=self.events,
            on_part=on_part,
            on_saved=on_saved,
        )

    async def recalled(self, query: str) -> Selection:
        """Which memories a prompt would get."""
        shelf, model = self._shelf(self.project.require_memory()), self._metered(self.models.recall, "recall")
        if shelf.meaning is not None and model.is_local and matter(query):
            with anyio.move_on_after(BY_HAND), suppress(ModelError):  # what fails here is told by `select`
                await shelf.take_in(at_most=TAKEN_IN)
        now = self.project.now()
        return await select(shelf, query, model=model, now=now, meaning_within=BY_HAND, events=self.events)

    @property
    def is_busy(self) -> bool:
        """Whether an extraction is running."""
        if self._picking_up is not None and self._picking_up.is_running:
            return True
        return any(one.extractor is not None and one.extractor.is_running for one in self.conversations)

    async def drain(self) -> bool:
        """Let running extractions finish, within the time the settings give (E9). Whether all did."""
        return await self._wait_for([one.drain for one in self._saving()])

    async def finish(self) -> bool:
        """As `drain`, at the end of the conversations: what a model failed to save, or did not save in time,
        is then saved by rules, in what is left of the time or a little more (E7). Whether all was finished.
        """
        return await self._wait_for([one.finish for one in self._saving()])

    async def give_up(self) -> None:
        """Break off what is being saved: a later conversation goes on with it."""
        for one in self._saving():
            await one.give_up()

    async def tidy(self) -> None:
        """Leave the history of memory in order."""
        if self.project.memory is not None:
            try:
                await anyio.to_thread.run_sync(self.project.memory.tidy)
            except (OSError, MemdirError) as error:
                self.events.emit(FAILED, where="history", error=type(error).__name__)

    def close(self) -> None:
        """The conversations are over."""
        for conversation in self.conversations:
            if conversation.extractor is not None:
                conversation.extractor.end(conversation.agent.messages)
        self._unfinished.close()

    def _saving(self) -> list[Extractor | PickUp]:
        """What saves in the background."""
        extractors = [one.extractor for one in self.conversations if one.extractor is not None]
        return [*extractors, *([self._picking_up] if self._picking_up else [])]

    async def _wait_for(self, ways: Sequence[Callable[[float], Awaitable[bool]]]) -> bool:
        finished: list[bool] = []
        seconds = self.project.settings.extract.drain_seconds

        async def wait(way: Callable[[float], Awaitable[bool]]) -> None:
            finished.append(await way(seconds))

        async with anyio.create_task_group() as waiting:
            for way in ways:
                waiting.start_soon(wait, way)
        return all(finished)

    # -- the parts of a conversation --

    def _transcript(self, session: str, prefix: Prefix, first: Message | None) -> Transcript | None:
        """The session's transcript. A folder that can't be written is told, and the session goes on."""
        places = self.project.places
        try:
            made = Transcript.create(
                transcript_path(places, session),
                session_id=session,
                cwd=places.cwd,
                prefix=prefix,
                at=self.project.now(),
            )
            if first is not None:
                made.append(first)
        except (OSError, MemdirError) as error:
            self.events.emit(FAILED, where="transcript", error=type(error).__name__)
            return None
        return made

    def _recall(self, session: str) -> Recall | None:
        if self.project.memory is None or not self.project.settings.features.recall:
            return None
        shelf = self._shelf(self.project.memory)
        recall = Recall(
            shelf,
            tasks=self.tasks,
            model=self._metered(self.models.recall, "recall", session),
            recorder=self._recorder(shelf, session),
            now=self.project.now,
            events=self.events,
        )
        recall.warm()
        return recall

    def _recorder(self, shelf: Shelf, session: str) -> Recorder | None:
        if shelf.usage is None:
            return None
        return Recorder(
            shelf.usage, session=session, directory=shelf.directory, tasks=self.tasks, events=self.events
        )

    def _shelf(self, memory: MemoryDir) -> Shelf:
        """The memory directory as recall sees it; one for all conversations of this process."""
        if memory.directory not in self._shelves:
            places = self.project.places
            self._shelves[memory.directory] = Shelf.of(
                memory.directory,
                cache=cache_directory(places.state, memory.directory),
                embedder=self._embedder(),
                usage=places.usage,
                recency=self.project.settings.recall.recency_weight,
                use_weight=self.project.settings.recall.use_weight,
            )
        return self._shelves[memory.directory]

    def _extractor(self, session: str, on_saved: Callable[[Saved], None]) -> Extractor | None:
        if self.project.memory is None:
            return None
        settings = self.project.settings
        if settings.features.extract and not self.project.remote:
            self._tell_of_cache()
        return Extractor(
            session=session,
            memory=self.project.memory,
            cursors=self.project.places.cursors,
            journals=self.project.places.journals,
            marker=self._marker(session),
            tasks=self.tasks,
            policy=Policy(
                extract=settings.features.extract,
                every=settings.features.extract_every_turns,
                max_turns=settings.extract.max_turns,
                model=self._metered(self.models.extract or self.models.chat, "extraction", session),
                remote=self.project.remote,
            ),
            on_saved=on_saved,
            events=self.events,
        )

    @property
    def _extracts(self) -> bool:
        """Whether this process saves what is said in conversations."""
        project = self.project
        return project.settings.features.extract and not project.remote and project.memory is not None

    def _marker(self, session: str) -> Marker | None:
        """What tells later sessions that this one is not dealt with."""
        places, memory = self.project.places, self.project.memory
        if memory is None or not self._extracts:
            return None
        transcript = transcript_path(places, session)
        left = Left(session=session, transcript=transcript, memory=memory.directory, cwd=places.cwd)
        return self._unfinished.begin(left) if transcript.exists() else None

    def _pick_up(self) -> None:
        """Learn in the background from sessions that died, once a process (E7)."""
        memory, places = self.project.memory, self.project.places
        if memory is None or not self._extracts:
            return
        if self._picking_up is None:
            picking_up = PickingUp(
                unfinished=self._unfinished,
                memory=memory,
                model=self._metered(self.models.extract or self.models.chat, "extraction"),
                cursors=places.cursors,
                journals=places.journals,
                now=self.project.now,
                max_turns=self.project.settings.extract.max_turns,
                events=self.events,
                on_saved=self._tell_all,
            )
            self._picking_up = PickUp(picking_up, tasks=self.tasks)
        self._picking_up.start()

    def _tell_all(self, saved: Saved) -> None:
        """What was learned from an earlier session, to all conversations (E8)."""
        for hears in self._hearing:
            hears(saved)

    def _tell_of_cache(self) -> None:
        """An extraction sends the whole conversation: on another model nothing of it is in the cache (A4)."""
        model, host = self.models.extract, self.models.chat
        if model is not None and not model.is_local and model.name != host.name:
            free = self.models.free
            self.events.emit(NO_SHARED_CACHE, job=EXTRACTION, model=model.name, host=host.name, free=free)

    def _metered(self, model: ModelClient, job: str, session: str | None = None) -> ModelClient:
        """A model for a background job: within the day's budget, each call in the ledger."""
        return Metered(model, job=job, ledger=self._ledger, session=session, project=self.project.places.name)

    def _embedder(self) -> Embedder | None:
        embedder = self.models.embedder
        if embedder is None:
            return None
        return MeteredEmbedder(embedder, ledger=self._ledger, project=self.project.places.name)

    async def _mend(self) -> None:
        """Put right what a killed process left behind, before anything builds on it."""
        memory = self.project.memory
        if memory is None:
            return
        places = self.project.places
        take_back = partial(killed.take_back, memory, places.journals, cursors=places.cursors)
        try:
            recovered = await anyio.to_thread.run_sync(take_back)
            changed = await anyio.to_thread.run_sync(memory.look)
            did = await anyio.to_thread.run_sync(memory.mend)
            await anyio.to_thread.run_sync(sweep, places.transcripts)
        except (OSError, MemdirError) as error:
            self.events.emit(FAILED, where="mend", error=type(error).__name__)
            return
        for failure in recovered.failures[:1]:
            self.events.emit(FAILED, where="mend", error=type(failure).__name__)
        if repairs := len(did) + recovered.runs:
            self.events.emit(MENDED, repairs=repairs)
        if changed is not None and changed.worker == EXTERNAL and changed.reason != BEGINNING:
            names = ", ".join(manifest.harmless(one.file) for one in changed.files)
            self.events.emit(CHANGED_OUTSIDE, files=len(changed.files), names=names, change=changed.id)


def _jobs(project: Project) -> list[str]:
    """The jobs that a model does in a conversation."""
    features, is_on = project.settings.features, project.memory is not None
    beside = {"recall": is_on and features.recall, "extraction": is_on and features.extract}
    return ["conversation", *(job for job, is_done in beside.items() if is_done)]


def _hooks(recall: Recall | None, extractor: Extractor | None) -> Hooks:
    """The features' places in a turn."""
    hooks = Hooks()
    if recall is not None:
        hooks = replace(
            hooks,
            on_turn_start=recall.on_turn_start,
            collect=recall.collect,
            on_turn_over=recall.on_turn_over,
        )
    if extractor is not None:
        hooks = replace(hooks, on_turn_end=extractor.turn_ended)
    return hooks


@asynccontextmanager
async def running(
    project: Project,
    *,
    models: Models | None = None,
    events: Events | None = None,
    jobs: Collection[str] | None = None,
) -> AsyncIterator[Runtime]:
    """A runtime for the project. Leaving it finishes background work, ends what is left, and closes the
    models. If it is broken off, what is running may still finish, and nothing more is begun.

    `jobs` are those that will be done ("recall", say); None: all that go with a conversation.

    Raises:
        UsageError: a model that the settings name, and that is needed, is unknown.
    """
    needed = _jobs(project) if jobs is None else jobs
    chosen = models or Models.of(project.settings, jobs=needed, said_at=project.said_at)
    events = events or Events()
    events.subscribe(log_to(project.places.state / "log" / "memdir.jsonl", now=project.now))
    failure: Exception | None = None
    runtime: Runtime | None = None
    try:
        async with anyio.create_task_group() as tasks:
            runtime = Runtime(project=project, models=chosen, events=events, tasks=tasks)
            ending = runtime.drain
            try:
                yield runtime
                ending = runtime.finish
            except Exception as error:  # noqa: BLE001 - raised again below, as itself and not as a group
                failure, ending = error, runtime.finish
            finally:
                with anyio.CancelScope(shield=True):
                    await ending()
                    await runtime.tidy()
                tasks.cancel_scope.cancel()
    finally:
        if runtime is not None:
            runtime.close()
        with anyio.CancelScope(shield=True):
            await chosen.aclose()
    if failure is not None:
        raise failure

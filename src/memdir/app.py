"""Puts everything together: a project -> a runtime in which conversations happen.

`Runtime` has the one task group, the models, the conversations; leaving it ends all of them cleanly. The
only module that knows every room. Front ends call it and nothing below it decides for them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from memdir.agent.events import CHANGED_OUTSIDE, FAILED, MENDED, NO_SHARED_CACHE, WAITING, Events
from memdir.agent.instructions import Consents, OnDemand
from memdir.agent.log import log_to
from memdir.agent.loop import Agent
from memdir.agent.permissions import AskPerson, for_main
from memdir.agent.tools import ToolContext
from memdir.agent.transcript import sweep
from memdir.consolidation import beginning, dreaming_of, policy_of
from memdir.conversation import Conversation, hooks_of
from memdir.dream.fork import LABEL as DREAM
from memdir.dream.progress import Progress
from memdir.dream.run import Dreamed, dream
from memdir.dream.worker import Dreamer
from memdir.errors import Conflict, MemdirError, ModelError
from memdir.extract import killed
from memdir.extract.foreign import Talk
from memdir.extract.learn import learn
from memdir.extract.pickup import PickingUp, PickUp
from memdir.extract.saved import LABEL as EXTRACTION
from memdir.extract.saved import Saved
from memdir.extract.unfinished import Left, Marker, Unfinished
from memdir.extract.worker import Extractor, Policy
from memdir.first_messages import AskConsent, FirstMessages
from memdir.memory import manifest
from memdir.memory.history import BEGINNING, EXTERNAL
from memdir.memory.store import MemoryDir
from memdir.model.client import ModelClient, OnText
from memdir.model.embedding.embedder import Embedder
from memdir.model.jobs import Models
from memdir.model.ledger import Ledger
from memdir.model.metered import Metered, MeteredEmbedder
from memdir.paths import cache_directory, summary_path, transcript_path
from memdir.project import Clock, Opening, Project, local_time, open_project
from memdir.recall.matter import matter
from memdir.recall.prefetch import Recall
from memdir.recall.recorder import Recorder
from memdir.recall.select import Selection, select
from memdir.recall.shelf import Shelf
from memdir.session.compact import Compactor
from memdir.session.due import Thresholds
from memdir.session.notes import LABEL as SESSION_MEMORY
from memdir.session.notes import Notes
from memdir.session.orphans import remove_orphans
from memdir.session.sections import Template
from memdir.start import Start, begun, prefix_of, reopened, resumed

__all__ = [
    "Clock",
    "Conversation",
    "Opening",
    "Project",
    "Runtime",
    "local_time",
    "open_project",
    "prefix_of",
    "running",
]

BY_HAND = 5.0
"""Seconds that an embedder may take to know the memories, and again to compare them, for who asks by hand."""

AT_THE_START = 1.0
"""Seconds that a start waits for others who are writing in the memory directory."""

TAKEN_IN = 64
"""Memories that get vectors before a prompt is answered by hand, in about half a second; a conversation takes
in more of them in the background."""


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
    _consents: Consents = field(init=False)
    _template: Template = field(init=False)
    _picking_up: PickUp | None = field(default=None, init=False)
    _hearing: list[Callable[[Saved], None]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._unfinished = Unfinished(self.project.places.pending)
        self._consents = Consents(self.project.places.state / "consents.json")
        self._template = Template.load(self.project.places.base)
        limit = self.project.settings.budget.input_tokens_per_day
        self._ledger = Ledger(self.project.places.ledger, limit=limit, now=self.project.now)

    async def start(
        self,
        *,
        resume: Path | None = None,
        ask: AskPerson | None = None,
        consent: AskConsent | None = None,
        on_text: OnText | None = None,
        on_saved: Callable[[Saved], None] = lambda _: None,
        on_dreamed: Callable[[Dreamed], None] = lambda _: None,
    ) -> Conversation:
        """Begin a conversation, or take up the one that the transcript `resume` holds.

        `ask` puts questions about tool calls to the person (None: nobody is there, and what needs asking is
        not done); `consent` those about instructions outside the project; `on_text` hears the answer while it
        streams; `on_saved` hears of memories written, `on_dreamed` of a dream that came to its end.

        Raises:
            NotFound: there is no such transcript.
            Conflict: that conversation is under way already, here or in another process.
            UsageError: the transcript is of a later version.
        """
        await self._mend()
        project, events, unfinished = self.project, self.events, self._unfinished
        found = None
        if resume is not None:
            found = await anyio.to_thread.run_sync(reopened, resume, project, unfinished)
            if any(one.agent.id == resume.stem for one in self.conversations):
                raise Conflict("that conversation is under way already", hint="go on with it")
        self._pick_up()
        first = FirstMessages(
            project=self.project,
            events=self.events,
            consents=self._consents,
            window=self.models.chat.window,
        )
        first.tell(self._template.problems)
        if found is not None:
            start = resumed(found, project=project, events=events)
        else:
            await first.ask(consent)
            start = await begun(first, project=project, events=events, unfinished=unfinished)
        memory, places = self.project.memory, self.project.places
        recall = self._recall(start.session)

        def saved(what: Saved) -> None:
            if recall is not None:
                recall.changed(change.file for change in what.changes)
            on_saved(what)

        self._hearing.append(saved)
        extractor = self._extractor(start, saved)
        dreamer = self._dreamer(recall, on_dreamed)
        notes = self._notes(start)
        compactor = self._compactor(first, notes)
        agent = Agent(
            id=start.session,
            prefix=start.prefix,
            model=self.models.chat,
            context=ToolContext(cwd=places.cwd, files=start.files, memory=memory, now=self.project.now),
            permit=for_main(
                memory=memory.directory if memory else None,
                cwd=places.cwd,
                ask=ask,
                transcript=start.transcript.path if start.transcript is not None else None,
            ),
            messages=list(start.context),
            record=list(start.record),
            transcript=start.transcript,
            events=self.events,
            on_text=on_text,
        )
        agent.hooks = hooks_of(
            first=first,
            on_demand=OnDemand(places, first.settings, consents=self._consents),
            recall=recall,
            extractor=extractor,
            dreamer=dreamer,
            notes=notes,
            compactor=compactor,
        )(agent)
        agent.close_calls()
        conversation = Conversation(
            agent=agent,
            recall=recall,
            extractor=extractor,
            dreamer=dreamer,
            notes=notes,
            compactor=compactor,
        )
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

    async def dream(
        self, *, dry: bool = False, on_progress: Callable[[Progress], None] = lambda _: None
    ) -> Dreamed:
        """Consolidate the memories now (D7); see `dream.run.dream`. A dry run puts nothing in order first."""
        if not dry:
            await self._mend()
        memory = self.project.require_memory()
        agent = beginning(
            self.project,
            memory,
            model=self._metered(self.models.dream or self.models.chat, DREAM),
            events=self.events,
        )
        dreaming = dreaming_of(self.project, memory, events=self.events)
        return await dream(dreaming, agent, dry=dry, on_progress=on_progress)

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
        """Whether an extraction or a dream is running."""
        if self._picking_up is not None and self._picking_up.is_running:
            return True
        return any(job is not None and job.is_running for one in self.conversations for job in one.saving)

    async def drain(self) -> bool:
        """Let running extractions finish, within the time the settings give (E9). Whether all did."""
        return await self._wait_for([one.drain for one in self._saving()])

    async def finish(self) -> bool:
        """As `drain`, at the end of the conversations: what a model failed to save, or did not save in time,
        is then saved by rules, in what is left of the time or a little more (E7). Whether all was finished.
        """
        return await self._wait_for([one.finish for one in self._saving()])

    async def give_up(self) -> None:
        """Break off what is being saved, and dreams: a later conversation goes on with it."""
        for one in self._saving():
            await one.give_up()

    async def tidy(self) -> None:
        """Leave the history of memory in order."""
        if self.project.memory is not None:
            try:
                await anyio.to_thread.run_sync(self.project.memory.tidy)
            except (OSError, MemdirError) as error:
                self.events.emit(FAILED, where="history", error=type(error).__name__)

    async def end_notes(self) -> None:
        """Nobody needs a summary that is not finished: the file is put back as it was."""
        for one in self.conversations:
            if one.notes is not None:
                await one.notes.drain(0)

    def close(self) -> None:
        """The conversations are over."""
        for conversation in self.conversations:
            if conversation.extractor is not None:
                conversation.extractor.end(conversation.agent.record)
        self._unfinished.close()

    def _saving(self) -> list[Extractor | Dreamer | PickUp]:
        """What changes memory in the background."""
        jobs = [job for one in self.conversations for job in one.saving]
        return [*jobs, *([self._picking_up] if self._picking_up else [])]

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

    def _extractor(self, start: Start, on_saved: Callable[[Saved], None]) -> Extractor | None:
        if self.project.memory is None:
            return None
        settings = self.project.settings
        if settings.features.extract and not self.project.remote:
            self._tell_of_cache(self.models.extract, EXTRACTION, free=self.models.free)
        return Extractor(
            session=start.session,
            memory=self.project.memory,
            cursors=self.project.places.cursors,
            journals=self.project.places.journals,
            marker=self._marker(start.session),
            tasks=self.tasks,
            policy=Policy(
                extract=settings.features.extract,
                every=settings.features.extract_every_turns,
                max_turns=settings.extract.max_turns,
                model=self._metered(self.models.extract or self.models.chat, "extraction", start.session),
                remote=self.project.remote,
            ),
            resumed=start.record if start.is_resumed else (),
            on_saved=on_saved,
            events=self.events,
        )

    def _dreamer(self, recall: Recall | None, on_dreamed: Callable[[Dreamed], None]) -> Dreamer | None:
        """None where memory is off."""
        memory = self.project.memory
        if memory is None:
            return None

        def dreamed(what: Dreamed) -> None:
            if recall is not None:
                recall.changed(what.topics)
            on_dreamed(what)

        model = self._metered(self.models.dream or self.models.chat, DREAM)
        return Dreamer(
            dreaming_of(self.project, memory, events=self.events),
            tasks=self.tasks,
            policy=policy_of(self.project, model),
            on_dreamed=dreamed,
        )

    def _notes(self, start: Start) -> Notes | None:
        """The running summary (C1). Memory may be off; a conversation without a transcript has none (C5)."""
        settings, transcript = self.project.settings.session, start.transcript
        if not self.project.settings.features.session_memory or transcript is None:
            return None
        self._tell_of_cache(self.models.notes, SESSION_MEMORY, free=self.models.free_notes)

        def noted(upto: str, digest: str) -> None:
            try:
                transcript.note(upto, digest, at=self.project.now())
            except OSError as error:  # it waits, and goes before the next message
                self.events.emit(FAILED, where="transcript", error=type(error).__name__)

        upto, digest = start.noted or (None, None)
        return Notes(
            summary_path(self.project.places, start.session),
            tasks=self.tasks,
            template=self._template,
            thresholds=Thresholds(
                first=settings.first_tokens, grown=settings.grown_tokens, tool_calls=settings.tool_calls
            ),
            model=self._metered(self.models.notes or self.models.chat, SESSION_MEMORY, start.session),
            events=self.events,
            summarised=upto,
            digest=digest,
            on_noted=noted,
        )

    def _compactor(self, first: FirstMessages, notes: Notes | None) -> Compactor:
        settings = self.project.settings.compact
        return Compactor(
            notes=notes,
            fresh=first.messages,
            template=self._template,
            events=self.events,
            automatic=settings.automatic,
            reserve=settings.reserve_tokens,
            wait=settings.wait_seconds,
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

    def _tell_of_cache(self, model: ModelClient | None, job: str, *, free: bool) -> None:
        """A fork sends the whole conversation: on another model nothing of it is in the cache (A4)."""
        host = self.models.chat
        if model is not None and not model.is_local and model.name != host.name:
            self.events.emit(NO_SHARED_CACHE, job=job, model=model.name, host=host.name, free=free)

    def _metered(self, model: ModelClient, job: str, session: str | None = None) -> ModelClient:
        """A model for a background job: within the day's budget, each call in the ledger."""
        return Metered(model, job=job, ledger=self._ledger, session=session, project=self.project.places.name)

    def _embedder(self) -> Embedder | None:
        embedder = self.models.embedder
        if embedder is None:
            return None
        return MeteredEmbedder(embedder, ledger=self._ledger, project=self.project.places.name)

    async def _mend(self) -> None:
        """Put right what a killed process left behind, before anything builds on it. Where somebody else
        is writing meanwhile, the next start does it: nobody is to wait for that.
        """
        if self.project.places.base == self.project.places.state:  # another program looks after its own
            with suppress(OSError):
                await anyio.to_thread.run_sync(remove_orphans, self.project.places.transcripts)
        memory = self.project.memory
        if memory is None:
            return
        memory, places = memory.within(AT_THE_START), self.project.places
        take_back = partial(killed.take_back, memory, places.journals, cursors=places.cursors)
        try:
            recovered = await anyio.to_thread.run_sync(take_back)
            changed = await anyio.to_thread.run_sync(memory.look)
            did = await anyio.to_thread.run_sync(memory.mend)
            await anyio.to_thread.run_sync(sweep, places.transcripts)
        except Conflict as error:
            self.events.emit(WAITING, job="putting memory in order", why=str(error))
            return
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
    beside = {
        "recall": is_on and features.recall,
        "extraction": is_on and features.extract,
        DREAM: is_on and features.dream,
        SESSION_MEMORY: features.session_memory,
    }
    return ["conversation", *(job for job, is_done in beside.items() if is_done)]


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
                    await runtime.end_notes()
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

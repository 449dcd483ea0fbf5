"""One dream, from the lock to what it has made of the memories (D3-D8).

The model, or the rules, work on a copy. What that makes of the memories is a plan, and the plan is checked.
One that passes is carried out in one step; one that does not is kept for the person, and nothing is changed.
If anything goes wrong, or the dream is broken off, the memories and the time of the last dream are as they
were.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread
from anyio.lowlevel import checkpoint_if_cancelled

from memdir.agent.events import DREAMED, DREAMING, FAILED, Events
from memdir.agent.loop import Agent
from memdir.dream import probes, sessions
from memdir.dream.apply import Applied, apply
from memdir.dream.checks import Limits, Objection, check, sources
from memdir.dream.files import Snapshot
from memdir.dream.fork import LABEL, MAX_TURNS, consolidate
from memdir.dream.gates import counts_since
from memdir.dream.kept import Kept
from memdir.dream.lock import STALE, Lock
from memdir.dream.plan import Plan, derive, reasons
from memdir.dream.plan.provenance import settled
from memdir.dream.plan.reasons import Reasons
from memdir.dream.progress import Progress
from memdir.dream.stage import Stage, new_folder, sweep
from memdir.dream.tidy import Proposal, Tidied, tidy, with_index
from memdir.errors import Conflict, MemdirError, NotFound
from memdir.memory import encoding, entrypoint
from memdir.memory.history import By
from memdir.memory.pointer import key
from memdir.memory.store import MemoryDir
from memdir.model import ignored_tools
from memdir.model.messages import Usage
from memdir.paths import Places

REASON = "memories were consolidated"
"""The reason of a dream, as the history has it."""

MOST_SESSIONS = 100
"""Sessions that a dream is told of, the newest."""

LONGEST = STALE - 300
"""Seconds that the model's work may take: then there is still time to carry it out under the lock."""

Outcome = Literal["applied", "held", "shown", "nothing"]
"""What became of a dream's plan. held: it waits for the person; shown: a dry run; nothing: it has none."""

Asking = Callable[[Path], AbstractContextManager[Callable[[str], Sequence[str]]]]
"""A memory directory -> how recall is asked about it: a prompt -> the files that it would bring, best
first."""


@dataclass(frozen=True, kw_only=True)
class Dreaming:
    """What a dream of one memory directory needs.

    `review`: a plan waits for the person, whatever the checks say. `asking`: who answers the probes.
    """

    memory: MemoryDir
    places: Places
    asking: Asking
    now: Callable[[], datetime]
    limits: Limits = field(default_factory=Limits)
    review: bool = False
    max_turns: int = MAX_TURNS
    events: Events = field(default_factory=Events)

    @property
    def kept(self) -> Kept:
        """The plans that are kept: those that wait for the person, and dry runs."""
        return Kept(self.places.dreams)


@dataclass(frozen=True, kw_only=True)
class Dreamed:
    """What came of a dream.

    `kept` is the name under which its plan waits. `proposals` are for the person alone; `did`: what the rules
    put right, a sentence each. `turns` and `usage`: those of the model. `before` and `after`: the memories.
    """

    outcome: Outcome
    plan: Plan
    before: Snapshot
    after: Snapshot
    objections: tuple[Objection, ...] = ()
    applied: Applied | None = None
    kept: str | None = None
    proposals: tuple[Proposal, ...] = ()
    did: tuple[str, ...] = ()
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    @property
    def topics(self) -> tuple[str, ...]:
        """The topic files that it changed (D6)."""
        return self.applied.topics if self.applied is not None else ()

    @property
    def notice(self) -> str | None:
        """What the person is told; None: there is nothing to tell (D6)."""
        if self.outcome == "held":
            return f"a dream has a plan that waits for you ({_why(self.objections)}): `memdir dream show`"
        if not self.topics or self.applied is None:
            return None
        what = "1 memory" if len(self.topics) == 1 else f"{len(self.topics)} memories"
        if self.applied.change is None:
            return f"Improved {what}; the history has not taken that in yet: `memdir doctor` says why"
        return f"Improved {what}; `memdir undo {self.applied.change}` takes it back"


def _why(objections: Sequence[Objection]) -> str:
    if not objections:
        return "as you wish it"
    return "1 objection" if len(objections) == 1 else f"{len(objections)} objections"


async def dream(
    dreaming: Dreaming,
    agent: Agent,
    *,
    dry: bool = False,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Dreamed:
    """Consolidate the memories. `agent` is the conversation that the model continues from; one whose model is
    the embedded default has the rules do it. `dry`: nothing is changed, whatever the checks say.

    Raises:
        Conflict: another dream has the lock, or took it meanwhile, or somebody is writing all the time.
        ModelError: the model could not do it. MemdirError: the plan can't be carried out.
        OSError: the disk said no. All is as it was.
    """
    began = time.monotonic()
    lock = await anyio.to_thread.run_sync(partial(Lock.take, dreaming.memory.directory, now=dreaming.now))
    stage: Stage | None = None
    try:
        await anyio.to_thread.run_sync(_clear_up, dreaming, lock)
        folder = new_folder(dreaming.places.dreams)
        stage = await anyio.to_thread.run_sync(Stage.make, folder, dreaming.memory)
        dreamed = await _on_the_copy(dreaming, agent, stage, lock, on_progress=on_progress)
        await checkpoint_if_cancelled()
        with anyio.CancelScope(shield=True):  # what was carried out is told, and its time is kept
            settle = partial(_settled, dreaming, dreamed, stage, lock, session=agent.id, dry=dry)
            dreamed = await anyio.to_thread.run_sync(settle)
    except BaseException:
        with anyio.CancelScope(shield=True), suppress(OSError, MemdirError):
            await anyio.to_thread.run_sync(lock.fail)
        raise
    finally:
        if stage is not None:
            with anyio.CancelScope(shield=True), suppress(OSError, MemdirError):
                await anyio.to_thread.run_sync(stage.remove)
    return _told(dreaming.events, dreamed, seconds=round(time.monotonic() - began, 3))


def _clear_up(dreaming: Dreaming, lock: Lock) -> None:
    """What killed dreams left goes, copies and halves of plans, and dry runs, which are out of date now.
    Raises Conflict: the lock is somebody else's by now, and so is what is there.
    """
    with lock.held():
        sweep(dreaming.places.dreams)
        dreaming.kept.sweep()
        for item in dreaming.kept.items():
            if item.dry:
                with suppress(NotFound):  # the person has dropped it just now
                    dreaming.kept.drop(item)


async def _on_the_copy(
    dreaming: Dreaming,
    agent: Agent,
    stage: Stage,
    lock: Lock,
    *,
    on_progress: Callable[[Progress], None],
) -> Dreamed:
    """The work on the copy, the plan that it is, and what speaks against that."""
    told = await anyio.to_thread.run_sync(_sessions, dreaming, agent, lock)
    how = "rules" if agent.model.is_local else "model"
    dreaming.events.emit(DREAMING, how=how, sessions=len(told), memories=len(stage.before.topics))
    if agent.model.is_local:
        work = await _by_rules(dreaming, stage)
    else:
        work = await _by_model(dreaming, agent, stage, told, on_progress=on_progress)
    return await anyio.to_thread.run_sync(_judged, dreaming, stage, work, told)


def _settled(
    dreaming: Dreaming, dreamed: Dreamed, stage: Stage, lock: Lock, *, session: str, dry: bool
) -> Dreamed:
    """What becomes of the plan; and the lock is given back. Raises as `dream`: nothing has changed then."""
    if dreamed.plan.is_empty:
        pass
    elif dry or dreaming.review or dreamed.objections:
        with lock.held():
            name = _keep(dreaming, dreamed, stage, dry)
        dreamed = replace(dreamed, outcome="shown" if dry else "held", kept=name)
    else:
        applied = _carry_out(dreaming, dreamed, stage, lock, session)
        dreamed = replace(dreamed, outcome="applied" if applied.files else "nothing", applied=applied)
    try:
        (lock.fail if dry else lock.succeed)()
    except (OSError, MemdirError) as error:  # what was done is done; whoever comes next mends the lock
        dreaming.events.emit(FAILED, where=LABEL, error=type(error).__name__)
    return dreamed


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What was made of the copy, and by what."""

    after: Snapshot
    reasons: Reasons = field(default_factory=lambda: reasons.read(None))
    proposals: tuple[Proposal, ...] = ()
    did: tuple[str, ...] = ()
    turns: int = 0
    usage: Usage = field(default_factory=Usage)


def _sessions(dreaming: Dreaming, agent: Agent, lock: Lock) -> tuple[Path, ...]:
    """The transcripts of the sessions since the last dream, the newest first."""
    folders = sessions.folders(dreaming.places)
    since = counts_since(lock.prior_ns, now=dreaming.now())
    return sessions.touched(folders, since_ns=since, but=agent.id)[:MOST_SESSIONS]


async def _by_rules(dreaming: Dreaming, stage: Stage) -> _Work:
    tidied = await anyio.to_thread.run_sync(_tidied, dreaming, stage)
    return _Work(after=tidied.after, proposals=tidied.proposals, did=tidied.did)


def _tidied(dreaming: Dreaming, stage: Stage) -> Tidied:
    return tidy(stage.before, now=dreaming.now(), besides=_besides(stage))


async def _by_model(
    dreaming: Dreaming,
    agent: Agent,
    stage: Stage,
    told: Sequence[Path],
    *,
    on_progress: Callable[[Progress], None],
) -> _Work:
    """Raises ModelError; Conflict where it took so long that others may take the lock."""
    named = await anyio.to_thread.run_sync(probes.named, dreaming.memory.directory)
    try:
        with anyio.fail_after(LONGEST):
            ended = await consolidate(
                agent,
                stage,
                transcripts=told,
                named_by_probes=named,
                limits=dreaming.limits,
                shut=(dreaming.places.state,),
                max_turns=dreaming.max_turns,
                today=dreaming.now().date(),
                on_progress=on_progress,
            )
    except TimeoutError as error:
        raise Conflict(f"a dream may take {LONGEST // 60} minutes, and this one took longer") from error
    if ended.error is not None:
        raise ended.error
    if agent.model.calls_tools is False and not any(message.tool_uses for message in ended.messages):
        raise ignored_tools.refused(agent.model.name)
    after = await anyio.to_thread.run_sync(_left, stage)
    given = await anyio.to_thread.run_sync(stage.reasons)
    return _Work(after=after, reasons=reasons.read(given), turns=ended.turns, usage=ended.usage)


def _left(stage: Stage) -> Snapshot:
    """What the model leaves. An index in which it took no memory's entry away is mended by rules besides:
    what was wrong with it before, and what the model forgot, is no reason to throw the rest away.
    """
    after = stage.after()
    linked = entrypoint.linked(encoding.readable(stage.before.index))
    still = entrypoint.linked(encoding.readable(after.index))
    if any(key(file) in linked - still for file in after.topics):
        return after
    return with_index(after, besides=_besides(stage))


def _besides(stage: Stage) -> set[str]:
    """What the directory holds besides the memories that the copy has: an entry may lead there."""
    found = set[str]()
    for folder, _, names in os.walk(stage.real):
        found |= {Path(folder, name).relative_to(stage.real).as_posix() for name in names}
    return found - stage.before.files.keys()


def _judged(dreaming: Dreaming, stage: Stage, work: _Work, told: Sequence[Path]) -> Dreamed:
    """The plan, and what speaks against it."""
    before = stage.before
    plan = derive(before, work.after, work.reasons)
    after = settled(before, work.after, plan)
    objections: tuple[Objection, ...] = ()
    if not plan.is_empty:
        stage.put(after)
        objections = check(
            before,
            after,
            plan,
            limits=dreaming.limits,
            today=dreaming.now().date(),
            evidence=partial(sources.evidence, before, told),
            reasons=work.reasons,
        )
        objections += (*_broken_probes(dreaming, stage), *_unrecorded(dreaming))
    return Dreamed(
        outcome="nothing",
        plan=plan,
        before=before,
        after=after,
        objections=objections,
        proposals=work.proposals,
        did=work.did,
        turns=work.turns,
        usage=work.usage,
    )


def _broken_probes(dreaming: Dreaming, stage: Stage) -> tuple[Objection, ...]:
    """The person's probes that recall answers now, and would not any more."""
    try:
        asked = probes.load(dreaming.memory.directory)
    except MemdirError as error:
        return (Objection(code="probe", file=probes.NAME, reason=str(error)),)
    except OSError as error:
        why = f"it can't be read: {error.strerror or type(error).__name__}"
        return (Objection(code="probe", file=probes.NAME, reason=why),)
    if not asked:
        return ()
    with dreaming.asking(dreaming.memory.directory) as ask:
        now = probes.run(asked, ask)
    with dreaming.asking(stage.memory.directory) as ask:
        then = probes.run(asked, ask)
    return tuple(
        Objection(code="probe", file=probes.NAME, reason=one.sentence)
        for one in probes.newly_broken(now, then)
    )


def _unrecorded(dreaming: Dreaming) -> tuple[Objection, ...]:
    """What can't be undone is not carried out (H2): the work is kept until it can."""
    history = dreaming.memory.history
    why = "none is kept of this directory" if history is None else history.off
    if why is None:
        return ()
    return (Objection(code="history", file=None, reason=f"it could not be undone: history is off ({why})"),)


def _keep(dreaming: Dreaming, dreamed: Dreamed, stage: Stage, dry: bool) -> str:
    return dreaming.kept.put(
        before=dreamed.before,
        after=dreamed.after,
        plan=dreamed.plan,
        objections=dreamed.objections,
        proposals=dreamed.proposals,
        now=dreaming.now(),
        dry=dry,
        real=stage.real,
    )


def _carry_out(dreaming: Dreaming, dreamed: Dreamed, stage: Stage, lock: Lock, session: str) -> Applied:
    by = By(worker=LABEL, reason=REASON, session=session)
    return apply(
        dreaming.memory,
        dreamed.before,
        dreamed.after,
        dreamed.plan,
        guard=lock.held,
        by=by,
        now=dreaming.now(),
        real=stage.real,
    )


def _told(events: Events, dreamed: Dreamed, *, seconds: float) -> Dreamed:
    dreamed = replace(dreamed, seconds=seconds)
    events.emit(
        DREAMED,
        outcome=dreamed.outcome,
        files=len(dreamed.topics),
        left=len(dreamed.applied.left) if dreamed.applied is not None else 0,
        objections=len(dreamed.objections),
        why=", ".join(dict.fromkeys(one.code for one in dreamed.objections)) or None,
        turns=dreamed.turns,
        input_tokens=dreamed.usage.total_input,
        output_tokens=dreamed.usage.output,
        seconds=seconds,
    )
    return dreamed

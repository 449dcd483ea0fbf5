"""What the person said -> memory files, by rules: the extraction without a language model (E1, E10, E11).

`memdir.extract.local` proposes, this module carries out. Each proposal stands for itself: one that holds a
secret is left out, and one whose file changed meanwhile is proposed anew, once, from what stands there now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache

from memdir.errors import Conflict, MemdirError, NotFound
from memdir.extract.local import Create, Delete, Known, Proposal, Turn, Update, propose
from memdir.extract.local import Evidence as Evidenced
from memdir.extract.saved import LABEL, Saved
from memdir.memory import encoding, entrypoint, topic
from memdir.memory.accepting import pointer_of
from memdir.memory.entrypoint import Pointer
from memdir.memory.store import MemoryDir, Stored, Written
from memdir.memory.topic import Origin
from memdir.model.messages import Message, ToolResult
from memdir.trust.evidence import Evidence
from memdir.trust.vet import Proposed, vet

CONTEXT = 6
"""Earlier messages that are looked at to tell what is meant."""

_SPEAKERS = frozenset({"person", "assistant", "tool"})


def extract(
    new: Sequence[Message],
    *,
    before: Sequence[Message] = (),
    memory: MemoryDir,
    session: str,
    today: date,
    now: datetime,
    is_over: Callable[[], bool] = lambda: False,
) -> Saved:
    """Save what the new messages hold. `before` is what was said earlier: context, and nothing is saved
    from it. Nor is anything from a message whose memory was deleted: a copy of the conversation would bring
    it back. Once `is_over` says so, nothing more is written.
    """
    forgotten = _forgotten(memory)
    said = [message for message in _spoken(new) if message.id not in forgotten]
    earlier = _spoken(before)[-CONTEXT:]
    turns, context = [_turn(message) for message in said], [_turn(message) for message in earlier]

    def proposed(existing: Sequence[Known]) -> Sequence[Proposal]:
        return propose(turns, existing, today=today, context=context)

    return _Work(
        memory=memory,
        session=session,
        worker=LABEL,
        said=said,
        now=now,
        is_over=is_over,
        evidence=cache(lambda: Evidence.of([*before, *new])),
    ).settle(proposed)


def carry_out(
    proposed: Callable[[Sequence[Known]], Sequence[Proposal]],
    *,
    said: Sequence[Message],
    memory: MemoryDir,
    session: str | None,
    worker: str,
    now: datetime,
) -> Saved:
    """Do what is proposed from the memories as they stand. `said`: the messages that evidence points into."""
    return _Work(memory=memory, session=session, worker=worker, said=said, now=now).settle(proposed)


@dataclass(kw_only=True)
class _Work:
    """One run: what it did so far. `evidence`: who said what, made out if it is needed; None: they asked
    for it themselves."""

    memory: MemoryDir
    session: str | None
    worker: str
    said: Sequence[Message]
    now: datetime
    is_over: Callable[[], bool] = lambda: False
    evidence: Callable[[], Evidence] | None = None
    written: list[Written] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    refused: list[MemdirError] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    done: set[tuple[Evidenced, str | None]] = field(default_factory=set)

    def settle(self, proposed: Callable[[Sequence[Known]], Sequence[Proposal]]) -> Saved:
        """Do what is proposed, and once more where a file changed meanwhile."""
        for _ in range(2):
            known = _known(self.memory)
            existing = [_as_known(stored) for stored in known.values()]
            if not self.carry_out(proposed(existing), known):
                break
        return Saved.of(self.written, self.deleted, self.refused, self.held)

    def carry_out(self, proposals: Sequence[Proposal], known: dict[str, Stored]) -> bool:
        """Do what is proposed and not done yet. Whether something must be proposed anew."""
        again = False
        for proposal in proposals:
            if self.is_over():
                return False
            # One sentence may remove several memories and make another one ("drop that, and never note …").
            step = (proposal.evidence, proposal.file if isinstance(proposal, Delete) else None)
            if step in self.done:
                continue
            try:
                self._carry_out(proposal, known)
            except (Conflict, NotFound):
                again = True
                continue
            except MemdirError as error:
                self.refused.append(error)
            self.done.add(step)
        return again

    def _carry_out(self, proposal: Proposal, known: dict[str, Stored]) -> None:
        match proposal:
            case Create():
                self._create(proposal)
            case Update():
                self._update(proposal, known)
            case Delete():
                stored = known.get(proposal.file)
                if stored is None:
                    raise NotFound(f"there is no memory {proposal.file}")
                if self._waits(proposal.file, None, proposal.evidence, old=stored):
                    return
                self.memory.delete(proposal.file, now=self.now, expected=stored.digest)
                self.deleted.append(proposal.file)

    def _create(self, proposal: Create) -> None:
        data = topic.render(
            name=proposal.title, description=proposal.description, type=proposal.type, body=proposal.body
        )
        file = self.memory.free_name(proposal.stem)
        self._save(file, data.encode(), proposal.evidence, old=None)

    def _update(self, proposal: Update, known: dict[str, Stored]) -> None:
        stored = known.get(proposal.file)
        if stored is None:
            raise NotFound(f"there is no memory {proposal.file}")
        changes = {"name": proposal.name, "description": proposal.description, "type": proposal.type}
        data = topic.replace_body(stored.data, proposal.body)
        data = topic.edit(data, {key: value for key, value in changes.items() if value is not None})
        self._save(proposal.file, data, proposal.evidence, old=stored)

    def _save(self, file: str, data: bytes, evidence: Evidenced, *, old: Stored | None) -> None:
        """Write the file and its pointer; a pointer that somebody has worded stays as it is."""
        if self._waits(file, data, evidence, old=old):
            return
        origin = self._origin(evidence)
        expected = old.digest if old else None
        there = next((one for one in entrypoint.pointers(self.memory.index()) if one.file == file), None)
        if there is None or (old is not None and _same(there, pointer_of(file, old.data))):
            written = self.memory.save(
                file, data, pointer=pointer_of(file, data), expected=expected, now=self.now, origin=origin
            )
        else:
            written = self.memory.write(file, data, expected=expected, now=self.now, origin=origin)
        self.written.append(written)

    def _waits(self, file: str, data: bytes | None, evidence: Evidenced, *, old: Stored | None) -> bool:
        """Whether a change says what the person did not: then it is put into the inbox."""
        if self.evidence is None:
            return False
        proposed = Proposed(
            file=file,
            before=None if old is None else encoding.readable(old.data),
            after=None if data is None else encoding.readable(data),
        )
        if (held := vet(proposed, self.evidence())) is None:
            return False
        self.memory.inbox.put(
            file,
            data=data,
            base=None if old is None else old.digest,
            code=held.code,
            reason=held.reason,
            now=self.now,
            origin=self._origin(evidence),
        )
        self.held.append(file)
        return True

    def _origin(self, evidence: Evidenced) -> Origin:
        return Origin(session=self.session, message=self.said[evidence.turn].id, worker=self.worker)


def _same(there: Pointer, ours: Pointer) -> bool:
    """Whether a line of the index is the one that we would have written."""
    return entrypoint.written(there) == entrypoint.written(ours)


def _known(memory: MemoryDir) -> dict[str, Stored]:
    """All memories as they stand; one that can't be read is not known."""
    known: dict[str, Stored] = {}
    for header in memory.list():
        try:
            known[header.path] = memory.read(header.path)
        except (MemdirError, OSError):
            continue
    return known


def _forgotten(memory: MemoryDir) -> set[str]:
    """The messages whose memories were deleted, and can be restored."""
    found: set[str] = set()
    for entry in memory.trashed():
        with suppress(MemdirError, OSError):
            origin = topic.parse(memory.trash.data(entry), filename=entry.file).origin
            found |= {origin.message} if origin and origin.message else set()
    return found


def _as_known(stored: Stored) -> Known:
    about = stored.topic or topic.parse(stored.data, filename=stored.file)
    return Known(
        file=stored.file,
        name=about.name,
        description=about.description or "",
        type=about.type,
        body=about.body,
    )


def _spoken(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if message.origin in _SPEAKERS]


def _turn(message: Message) -> Turn:
    results = [block.content for block in message.content if isinstance(block, ToolResult)]
    text = "\n".join([message.text, *results]) if results else message.text
    match message.origin:
        case "person" | "assistant" as role:
            return Turn(role=role, text=text, ran=tuple(_ran(message)))
        case _:
            return Turn(role="tool", text=text)


def _ran(message: Message) -> Iterator[str]:
    """The commands that a message calls."""
    for call in message.tool_uses:
        command = call.input.get("command")
        if call.name == "Bash" and isinstance(command, str):
            yield command

"""A tool's write of a memory -> is it made now, or does it wait for the person? (E11)

`memdir.trust` decides, from the conversation as it stands at the call. What it holds back goes to the inbox
of the memory directory, where the person accepts or rejects it, and the model is told not to try again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path

from memdir import fs
from memdir.agent.file_state import FileState
from memdir.agent.permissions import READERS, WRITERS, target_of
from memdir.agent.tools.base import ToolContext, own_index
from memdir.errors import ToolError, Withheld
from memdir.memory import encoding, entrypoint
from memdir.memory.entrypoint import NAME
from memdir.memory.index_lines import counting
from memdir.memory.pointer import Pointer, entry, key, same
from memdir.memory.store import MemoryDir
from memdir.memory.words import words
from memdir.model.messages import Block, Message, ToolResult, ToolUse
from memdir.trust.evidence import Evidence
from memdir.trust.permits import permissions
from memdir.trust.removal import unspoken
from memdir.trust.stated import short
from memdir.trust.statements import removed, statements
from memdir.trust.vet import Held, Proposed, vet

_ADVICE = (
    "It waits in the person's inbox, and only they can take it from there. Go on with the rest, and don't "
    "write it again, nor in other words."
)


def evidence_of(messages: Sequence[Message], files: FileState, *, memory: Path, cwd: Path) -> Evidence:
    """Who said what in a conversation. The memories that it has seen are known: that a tool showed one, or
    that one changed, makes it no stranger's text.
    """
    known = (seen.data for path, seen in files if seen.data is not None and fs.inside(memory, path))
    calls = (call for message in messages for call in message.tool_uses)
    ours = {call.id for call in calls if _is_about_memory(call, memory, cwd)}
    others = (one for one in messages if not _shows_a_memory(one, memory))
    heard = [replace(one, content=tuple(b for b in one.content if not _answers(b, ours))) for one in others]
    return Evidence.of(heard, known=map(encoding.readable, known))


def _is_about_memory(call: ToolUse, memory: Path, cwd: Path) -> bool:
    if call.name not in READERS | WRITERS:
        return False
    try:
        return fs.inside(memory, target_of(call, cwd))
    except (ToolError, OSError, ValueError):
        return False


def _shows_a_memory(message: Message, memory: Path) -> bool:
    """Whether memdir shows in it what a memory file holds now, outside of recall."""
    about = message.attachment or {}
    if message.origin != "attachment" or about.get("kind") not in ("changed_file", "file"):
        return False
    try:
        return fs.inside(memory, Path(about["path"]))
    except (KeyError, TypeError, OSError, ValueError):
        return False


def _answers(block: Block, calls: Set[str]) -> bool:
    return isinstance(block, ToolResult) and block.tool_use_id in calls


def vetted(path: Path, old: bytes | None, data: bytes, context: ToolContext, memory: MemoryDir) -> bytes:
    """The bytes that may be written into a memory file: those proposed; of an index, without the lines that
    wait for the person.

    Raises:
        Withheld: none of it may.
        SecretFound: it would wait, and holds a secret.
    """
    if context.evidence is None:
        return data
    evidence, file = context.evidence(), memory.name(path)
    if file == NAME:
        return _index(old, data, evidence, context, memory)
    before = None if old is None else encoding.readable(old)
    if (held := vet(Proposed(file=file, before=before, after=encoding.readable(data)), evidence)) is None:
        return data
    _keep(file, data, old, held, context, memory)
    if old is None:
        memory.unpoint(file)  # the index may name it already
        own_index(context, memory)
    raise Withheld(f"{path} is not written: {held.reason}. {_ADVICE}", code=held.code)


def vet_deletion(path: Path, old: bytes, context: ToolContext, memory: MemoryDir) -> None:
    """Raise Withheld unless the person wants the memory gone."""
    if context.evidence is None:
        return
    file = memory.name(path)
    proposed = Proposed(file=file, before=encoding.readable(old), after=None)
    if held := vet(proposed, context.evidence()):
        _keep(file, None, old, held, context, memory)
        raise Withheld(f"{path} is not deleted: {held.reason}. {_ADVICE}", code=held.code)


# -- the index -----------------------------------------------------------------------------------------------


def _index(
    old: bytes | None, data: bytes, evidence: Evidence, context: ToolContext, memory: MemoryDir
) -> bytes:
    """The index without the new lines that trust holds, and those for memories that wait themselves."""
    before, after = encoding.readable(old or b""), encoding.readable(data)
    waiting = {key(file) for file in context.held if not (memory.directory / file).exists()}
    stood = set(before.splitlines())
    kept, held = list[str](), list[Held]()
    for line in after.splitlines(keepends=True):
        pointer = entry(line)
        if pointer is not None and key(pointer.file) in waiting:
            continue
        against = None if line.rstrip("\r\n") in stood else _against(line, pointer, before, evidence)
        if against:
            held.append(against)
        else:
            kept.append(line)
    left = "".join(kept)
    if lost := _lost(before, left, evidence, memory):
        held.append(lost)
    if not held:
        return data if left == after else encoding.encode(left, like=data)
    _keep(NAME, data, old, held[0], context, memory)
    if lost:
        raise Withheld(f"{NAME} is not written: {held[0].reason}. {_ADVICE}", code=held[0].code)
    return encoding.encode(left, like=data)


def _added(line: str, before: str) -> Proposed:
    end = "" if not before or before.endswith("\n") else "\n"
    return Proposed(file=NAME, before=before, after=f"{before}{end}{line}")


def _against(line: str, pointer: Pointer | None, before: str, evidence: Evidence) -> Held | None:
    """What speaks against a new line. An entry that says less than it did, in the same words and order, may
    not leave a condition out, nor permit something; apart from that, a model may shorten what is over a limit
    (F7).
    """
    old = pointer and next((one for one in entrypoint.pointers(before) if same(one.file, pointer.file)), None)
    if pointer and old:
        was, now = f"{old.title} {old.hook}", f"{pointer.title} {pointer.hook}"
        left = iter(words(was))
        if all(word in left for word in words(now)):
            if _conditions(was) != _conditions(now) or (permissions(now) and not permissions(was)):
                what = f"it leaves out a condition in the line of {pointer.file}"
                return Held(code="removes", reason=f"{what}, of which you did not speak")
            if entrypoint.load(before).truncated:
                return None
    return vet(_added(line, before), evidence)


def _conditions(text: str) -> list[str]:
    return _CONDITION.findall(text.casefold())


_CONDITION = re.compile(
    r"\b(?:only|not|no|never|none|nor|n't|without|unless|until|till|except|if|when|while|after|before|but"
    r"|nur|nicht|nie|niemals|keine?[nrms]?|ohne|außer|bis|wenn|falls|nach|vor|aber|sondern"
    r"|solo|sólo|nunca|jamás|sin|salvo|excepto|hasta|si|cuando|después|antes|pero"
    r"|seulement|pas|jamais|sans|sauf|jusqu|quand|après|avant|mais)\b|n['’]t\b"
    r"|[不没沒无無非未别勿莫只仅僅除前后後若且但]|ない|なし|まで|だけ|のみ|以外"
)
"""Words without which a sentence is another one."""


def _lost(before: str, left: str, evidence: Evidence, memory: MemoryDir) -> Held | None:
    """Whether memories that are there would lose their lines, or prose would go, and nobody asked for it.

    What only stands in a header, a comment or, for an entry, in a code block is lost, too (F7).
    """
    if _is_padded(before, left):
        return Held(code="removes", reason="it pushes lines out of what is loaded, with nothing new in them")
    named, shown = entrypoint.linked(left), "".join(line.text for line in counting(left))
    stands, kept = set(map(str.strip, shown.splitlines())), statements(NAME, shown)
    for line in counting(before):
        if pointer := entry(line.text) if line.plain else None:
            if key(pointer.file) in named or not (memory.directory / pointer.file).is_file():
                continue
            if vet(Proposed(file=NAME, before=line.text, after=None), evidence):
                what = f"it takes out the line of {pointer.file}"
                return Held(code="removes", reason=f"{what}, of which you did not speak")
        elif line.text.strip() not in stands and not line.text.startswith("#"):
            for one in unspoken(removed(NAME, line.text, shown), kept, evidence):
                what = f"it takes out “{short(one.text)}”"
                return Held(code="removes", reason=f"{what}, of which you did not speak")
    return None


def _is_padded(before: str, left: str) -> bool:
    """Whether blank or repeated lines alone bring the index over a limit."""
    if not entrypoint.load(left).truncated or entrypoint.load(before).truncated:
        return False
    lines = (line.rstrip() for line in left.splitlines() if re.search(r"\w", line))
    return not entrypoint.load("\n".join(dict.fromkeys(lines))).truncated


def _keep(
    file: str, data: bytes | None, old: bytes | None, held: Held, context: ToolContext, memory: MemoryDir
) -> None:
    context.held.append(file)
    memory.inbox.put(
        file,
        data=data,
        base=None if old is None else fs.digest(old),
        before=old,
        code=held.code,
        reason=held.reason,
        now=context.now(),
        origin=context.origin,
    )

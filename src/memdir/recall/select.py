"""A prompt and the index of a directory -> the files that this turn should see, and why (R4, R5, R9).

With a language model: one small side query over the manifest. Where it fails, and without one (or with the
embedded default): the selector by words. Whatever else goes wrong on the way: no memories, one event for the
log, and the turn goes on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypeVar

from anyio import fail_after, to_thread

from memdir import prompts
from memdir.agent.events import FAILED, Events
from memdir.errors import BadReply, ModelError
from memdir.memory import manifest
from memdir.memory.fence import fenced
from memdir.memory.index import Known
from memdir.model.client import ModelClient
from memdir.model.messages import Message, Prefix, Request, Text, Usage
from memdir.recall.local import judge
from memdir.recall.matter import is_new_matter, matter
from memdir.recall.objections import programs, successor, tool_in_use
from memdir.recall.offers import NARROW, WIDE, Offer, offers, render
from memdir.recall.shelf import Shelf
from memdir.recall.verdict import Verdict

Result = TypeVar("Result")

MAX_TOKENS = 256
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"selected_memories": {"type": "array", "items": {"type": "string"}}},
    "required": ["selected_memories"],
    "additionalProperties": False,
}
LONGEST_QUERY = 20_000
"""Characters of a prompt that a selecting model is shown: its beginning and its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a turn should see. `files`: best first, relative to the directory. `verdicts`: all that was
    considered and what became of each (R10). `how`: who chose; `none`: nobody, or it failed (see `error`).
    `instead_of`: what the model failed with, where words chose in its place. `skipped`: why nobody was asked.
    `without_meaning`: why an embedder that there is had no part in the choice.
    """

    files: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    usage: Usage = field(default_factory=Usage)
    how: Literal["model", "local", "none"] = "none"
    error: str | None = None
    instead_of: ModelError | None = None
    skipped: str | None = None
    without_meaning: Exception | None = None


async def select(
    shelf: Shelf,
    query: str,
    *,
    known: Collection[str] = (),
    recent_tools: Collection[str] = (),
    earlier: Collection[str] = (),
    model: ModelClient | None = None,
    now: datetime,
    limit: int = 5,
    meaning_within: float = math.inf,
    events: Events | None = None,
    on_failure: Callable[[ModelError], None] = lambda _: None,
) -> Selection:
    """Choose at most `limit` memories for the prompt. Never raises for what files or a model do.

    `known`: files that this conversation has seen already; they are taken out first, so that the choice is
    among fresh ones (R4). `earlier`: the matter of the session's prompts before this one; without any the
    prompt is the session's first, and the choice is wide. `meaning_within`: seconds that the embedder may
    take; what it says later has no part in the choice.
    `on_failure` hears what the model failed with, before words choose in its place.
    """
    failed: ModelError | None = None
    try:
        by_model = model is not None and not model.is_local
        if by_model and earlier and not is_new_matter(query, earlier):
            return Selection(skipped="nothing new: the session has been on this before")
        await _beside(shelf.index.refresh)
        near, lost = await _nearness(shelf, query, meaning_within, events)
        use = await _beside(partial(shelf.use, now))
        if model is not None and by_model:
            width = NARROW if earlier else WIDE
            offered = partial(offers, query, shelf, known=known, near=near, use=use, limit=width)
            seen = await _beside(partial(shelf.index.files, known))
            try:
                chosen = await _by_model(model, query, await _beside(offered), recent_tools, limit, seen=seen)
                return replace(chosen, without_meaning=lost)
            except ModelError as error:
                failed = error
                on_failure(error)
        judged = partial(judge, query, shelf.index, known=known, recent_tools=recent_tools, earlier=earlier)
        verdicts = await _beside(partial(judged, near=near, use=use, limit=limit, now=now))
        files = tuple(verdict.file for verdict in verdicts if verdict.chosen)
        found = Selection(files=files, verdicts=tuple(verdicts), how="local", instead_of=failed)
        return replace(found, without_meaning=lost)
    except Exception as error:  # noqa: BLE001 - recall never breaks the person's turn (R5)
        if events is not None:
            events.emit(FAILED, where="recall", error=type(error).__name__)
        return Selection(error=type(error).__name__)


async def _nearness(
    shelf: Shelf, query: str, within: float, events: Events | None
) -> tuple[Mapping[str, float], Exception | None]:
    """How near memories are by meaning; nothing, and why, where that fails or takes too long: words do alone.
    Nor is an embedder woken where there is nothing to compare."""
    if shelf.meaning is None or not matter(query) or not await _beside(lambda: shelf.index.size):
        return {}, None
    try:
        with fail_after(within):
            return await shelf.meaning.nearness(query), None
    except Exception as error:  # noqa: BLE001 - what an embedder does costs no memories (R5)
        if events is not None:
            events.emit(FAILED, where="recall.embedder", error=type(error).__name__)
        return {}, error


async def _beside(work: Callable[[], Result]) -> Result:
    """In a thread, which is left alone if the turn ends first."""
    return await to_thread.run_sync(work, abandon_on_cancel=True)


async def _by_model(
    model: ModelClient,
    query: str,
    offered: Sequence[Offer],
    recent_tools: Collection[str],
    limit: int,
    *,
    seen: Sequence[Known],
) -> Selection:
    """The selection by a model. Nobody is asked when there is nothing to choose from. `seen`: the memories
    that the conversation has, which may be what took the place of one that was chosen.

    Raises:
        ModelError: it could not answer, or its answer is of no use.
    """
    if not offered:
        return Selection()
    reply = await model.complete(question(query, offered, recent_tools))
    named = dict.fromkeys(answer(reply.text))
    verdicts = {offer.memory.file: _left_out(offer) for offer in offered}
    memories = {offer.memory.file: offer.memory for offer in offered}
    chosen = [file for file in named if file in memories]
    against = _objections([memories[file] for file in chosen], seen, programs(recent_tools))
    fit = [file for file in chosen if file not in against]
    for file in chosen:
        why = against.get(file) or ("" if file in fit[:limit] else "the model chose too many")
        verdicts[file] = Verdict(file=file, score=1.0, chosen=not why, why=why or "the model chose it")
    order = {file: at for at, file in enumerate(chosen)}
    ranked = sorted(verdicts.values(), key=lambda one: order.get(one.file, len(order)))
    return Selection(files=tuple(fit[:limit]), verdicts=tuple(ranked), usage=reply.usage, how="model")


def _left_out(offer: Offer) -> Verdict:
    return Verdict(file=offer.memory.file, score=0.0, chosen=False, why="the model left it out")


def _objections(chosen: Sequence[Known], seen: Sequence[Known], tools: Collection[str]) -> dict[str, str]:
    """What speaks against memories that a model chose: file -> why."""
    against: dict[str, str] = {}
    for memory in chosen:
        if tool := tool_in_use(memory, tools):
            against[memory.file] = f"how to use {tool}, which is in use"
        elif heir := successor(memory, (*chosen, *seen)):
            against[memory.file] = f"outdated: {heir.file} took its place"
    return against


def question(query: str, offered: Sequence[Offer], recent_tools: Collection[str]) -> Request:
    """The side query: its own short prefix, one message, nothing cached (R5)."""
    text = prompts.render(
        "selector_request",
        query=fenced(_middle_out(query)),
        tools=manifest.harmless(", ".join(dict.fromkeys(recent_tools))) or "none",
        manifest=fenced(render(offered)),
    )
    return Request(
        prefix=Prefix(system=(prompts.render("selector"),), tools=(), max_tokens=MAX_TOKENS),
        messages=(Message(role="user", content=(Text(text=text),), origin="system"),),
        schema=SCHEMA,
        cache=False,
    )


def answer(text: str) -> list[str]:
    """The file names in a selector's answer.

    Raises:
        BadReply: it is not the JSON object that was asked for.
    """
    try:
        named = json.loads(text)["selected_memories"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadReply("the selecting model's answer is not the JSON that was asked for") from None
    if not isinstance(named, list):
        raise BadReply("the selecting model's answer holds no list of files")
    return [name for name in named if isinstance(name, str)]


def _middle_out(text: str) -> str:
    half = LONGEST_QUERY // 2
    return text if len(text) <= LONGEST_QUERY else f"{text[:half]}\n[…]\n{text[-half:]}"

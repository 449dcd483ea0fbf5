"""A prompt and the headers of a directory -> the files that this turn should see, and why (R4, R5, R9).

With a language model: one small side query over the manifest. Where it fails, and without one (or with the
embedded default): the selector by words. Whatever else goes wrong on the way: no memories, one event for the
log, and the turn goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from anyio import to_thread

from memdir import prompts
from memdir.agent.events import FAILED, Events
from memdir.errors import BadReply, ModelError
from memdir.memory import manifest
from memdir.memory.scan import Header, scan
from memdir.model.client import ModelClient
from memdir.model.messages import Message, Prefix, Request, Text, Usage
from memdir.recall.local import Verdict, judge
from memdir.recall.shelf import Shelf

Result = TypeVar("Result")

MAX_TOKENS = 256
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"selected_memories": {"type": "array", "items": {"type": "string"}}},
    "required": ["selected_memories"],
    "additionalProperties": False,
}
MANIFEST = 200
"""Headers that a selecting model is shown (M3); the selector by words looks at all."""

LONGEST_QUERY = 20_000
"""Characters of a prompt that a selecting model is shown: its beginning and its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a turn should see. `files`: best first, relative to the directory. `verdicts`: all that was
    considered and what became of each (R10). `how`: who chose; `none`: nobody, or it failed (see `error`).
    `instead_of`: what the model failed with, where words chose in its place."""

    files: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    usage: Usage = field(default_factory=Usage)
    how: Literal["model", "local", "none"] = "none"
    error: str | None = None
    instead_of: ModelError | None = None


async def select(
    directory: Path,
    query: str,
    *,
    headers: Sequence[Header] | None = None,
    shelf: Shelf | None = None,
    known: Collection[str] = (),
    recent_tools: Collection[str] = (),
    model: ModelClient | None = None,
    now: datetime,
    limit: int = 5,
    events: Events | None = None,
    on_failure: Callable[[ModelError], None] = lambda _: None,
) -> Selection:
    """Choose at most `limit` memories for the prompt. Never raises for what files or a model do.

    `headers`: the candidates; without them the directory is scanned. `known`: files that this conversation
    has seen already; they are taken out first, so that the choice is among fresh ones (R4). `shelf`: what the
    session has read of the directory before. `on_failure` hears what the model failed with, before words
    choose in its place.
    """
    failed: ModelError | None = None
    try:
        if model is not None and not model.is_local:
            offered = headers if headers is not None else await _scanned(directory, limit=MANIFEST)
            try:
                return await _by_model(model, query, _fresh(offered, known), recent_tools, limit)
            except ModelError as error:
                failed = error
                on_failure(error)
        headers = headers if headers is not None else await _scanned(directory, limit=None)
        if not _fresh(headers, known):
            return Selection()
        judged = partial(_judge, query, shelf or Shelf(directory), headers, now=now)
        chosen = await _beside(partial(judged, known=known, recent_tools=recent_tools, limit=limit))
        return replace(chosen, instead_of=failed)
    except Exception as error:  # noqa: BLE001 - recall never breaks the person's turn (R5)
        if events is not None:
            events.emit(FAILED, where="recall", error=type(error).__name__)
        return Selection(error=type(error).__name__)


async def _scanned(directory: Path, *, limit: int | None) -> Sequence[Header]:
    return await _beside(partial(scan, directory, limit=limit))


def _fresh(headers: Sequence[Header], known: Collection[str]) -> list[Header]:
    """Those that this conversation has not seen (R4)."""
    return [header for header in headers if header.path not in known]


async def _beside(work: Callable[[], Result]) -> Result:
    """In a thread, which is left alone if the turn ends first."""
    return await to_thread.run_sync(work, abandon_on_cancel=True)


def _judge(
    query: str,
    shelf: Shelf,
    headers: Sequence[Header],
    *,
    now: datetime,
    known: Collection[str],
    recent_tools: Collection[str],
    limit: int,
) -> Selection:
    """The selection by words."""
    memories, corpus = shelf.read(headers, now=now)
    verdicts = judge(query, memories, known=known, recent_tools=recent_tools, limit=limit, corpus=corpus)
    files = tuple(verdict.file for verdict in verdicts if verdict.chosen)
    return Selection(files=files, verdicts=tuple(verdicts), how="local")


async def _by_model(
    model: ModelClient, query: str, candidates: Sequence[Header], recent_tools: Collection[str], limit: int
) -> Selection:
    """The selection by a model. Nobody is asked when there is nothing to choose from.

    Raises:
        ModelError: it could not answer, or its answer is of no use.
    """
    if not candidates:
        return Selection()
    reply = await model.complete(question(query, candidates, recent_tools))
    named = answer(reply.text)
    offered = {header.path for header in candidates}
    files = [file for file in dict.fromkeys(named) if file in offered]
    left = [header.path for header in candidates if header.path not in files]
    verdicts = [
        *(Verdict(file=file, score=1.0, chosen=True, why="the model chose it") for file in files[:limit]),
        *(
            Verdict(file=file, score=1.0, chosen=False, why="the model chose too many")
            for file in files[limit:]
        ),
        *(Verdict(file=file, score=0.0, chosen=False, why="the model left it out") for file in left),
    ]
    return Selection(files=tuple(files[:limit]), verdicts=tuple(verdicts), usage=reply.usage, how="model")


def question(query: str, candidates: Sequence[Header], recent_tools: Collection[str]) -> Request:
    """The side query: its own short prefix, one message, nothing cached (R5)."""
    text = prompts.render(
        "selector_request",
        query=_closed(_middle_out(query), "request"),
        tools=manifest.harmless(", ".join(dict.fromkeys(recent_tools))) or "none",
        manifest=_closed(manifest.render(candidates), "memories"),
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


def _closed(text: str, tag: str) -> str:
    """The text without a way out of the tag that stands around it."""
    return re.sub(rf"<(?=\s*/\s*{tag})", "&lt;", text, flags=re.IGNORECASE)

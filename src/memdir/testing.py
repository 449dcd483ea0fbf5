"""Fakes for tests and demonstrations: a model that follows a script, an embedder that counts words, a memory
directory that goes away.

    model = ScriptedModel([call("Write", file_path="user_role.md", content=ROLE), say("Noted.")])
    ...
    model.assert_exhausted()
    assert tree(memory.directory) == {"MEMORY.md": INDEX, "user_role.md": ROLE}

What a scripted conversation would have cost is reported as a provider would: see `PromptCache`.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from memdir.model import tokens
from memdir.model.anthropic import wire
from memdir.model.client import Count, OnText, Survey
from memdir.model.embedding.embedder import unit
from memdir.model.messages import (
    Block,
    Message,
    Reply,
    Request,
    Text,
    Thinking,
    ToolUse,
    Usage,
    assistant,
)

if TYPE_CHECKING:
    from memdir.errors import ModelError
    from memdir.memory.store import MemoryDir

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

Line: TypeAlias = (
    "Block | Sequence[Block] | Reply | BaseException | Callable[[Request], Line | Awaitable[Line]]"
)
"""One thing a scripted model does when it is asked: say blocks, give a whole reply, raise, or look at the
request first (a function, plain or async: it may wait for something) and then do one of these."""


# ── what a model says ──────────────────────────────────────────────────────────────────────────────────


def say(text: str) -> Text:
    """The model says something."""
    return Text(text=text)


def think(text: str, *, signature: str = "signed") -> Thinking:
    """The model reasons."""
    return Thinking(thinking=text, signature=signature)


def call(tool: str, /, **arguments: Any) -> ToolUse:
    """The model calls a tool; the call gets its id when it is said."""
    return ToolUse(id="", name=tool, input=arguments)


def blocks_of(line: Block | Sequence[Block], *, first_id: int, prefix: str = "toolu_") -> tuple[Block, ...]:
    """The blocks of one answer, where calls that have no id yet get one: `prefix` and a number, counted from
    `first_id`."""
    blocks = [line] if isinstance(line, Block) else list(line)
    for number, block in enumerate(blocks):
        if isinstance(block, ToolUse) and not block.id:
            blocks[number] = replace(block, id=f"{prefix}{first_id + number:06}")
    return tuple(blocks)


class Script(Generic[Asked, Answer]):
    """Answers in the order they are to be given, in one queue, or in several for different askers.

    A rule's queue comes before the main one; where several rules match, the earliest that has something left.
    """

    def __init__(self, answers: Iterable[Answer] = ()) -> None:
        self._main = deque(answers)
        self._rules: list[tuple[Callable[[Asked], bool], deque[Answer]]] = []

    def add(self, *answers: Answer) -> None:
        """Append to the main queue."""
        self._main.extend(answers)

    def when(self, rule: Callable[[Asked], bool], *answers: Answer) -> None:
        """A queue for those who match `rule`."""
        self._rules.append((rule, deque(answers)))

    def next(self, asked: Asked) -> Answer | None:
        """The next answer for this asker, or None when there is none left."""
        for rule, queue in self._rules:
            if queue and rule(asked):
                return queue.popleft()
        return self._main.popleft() if self._main else None

    @property
    def left(self) -> int:
        """How many answers nobody asked for yet."""
        return len(self._main) + sum(len(queue) for _, queue in self._rules)


# ── what it costs ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """One block of a request as the cache sees it."""

    data: str
    marked: bool

    @property
    def tokens(self) -> int:
        return tokens.estimate(self.data)


class PromptCache:
    """Accounts for requests as the Messages API does, by exact prefix, over estimated tokens.

    - The blocks of a request count in the order tools, system, messages. An entry stands for a prefix up to
      a mark (`cache_control`), and is written only there, and only from `minimum` tokens on.
    - From each mark an entry is looked for at that block and at those before it, `lookback` blocks in all.
    - Another model, or another setting that shapes the answer, has entries of its own.
    - `input` counts what follows the last mark that was read or written. Entries do not grow old here.
    """

    settings: ClassVar[tuple[str, ...]] = ("model", "thinking", "output_config", "tool_choice")
    """The settings of a request that have to be the same for its entries to be met."""

    def __init__(self, *, minimum: int = 1024, lookback: int = 20) -> None:
        self.minimum = minimum
        self.lookback = lookback
        self._entries: set[bytes] = set()

    def account(self, body: Mapping[str, Any]) -> Usage:
        """What the request with this JSON reads, writes and pays in full. What it wrote stays to be read."""
        pieces = self._pieces(body)
        names, sizes = self._prefixes(body, pieces)
        marks = [place for place, piece in enumerate(pieces) if piece.marked][-wire.MAX_MARKS :]
        near = {place for mark in marks for place in range(max(0, mark - self.lookback + 1), mark + 1)}
        read = max((sizes[place] for place in near if names[place] in self._entries), default=0)
        written = [mark for mark in marks if sizes[mark] >= self.minimum]
        self._entries.update(names[mark] for mark in written)
        cached = max((sizes[mark] for mark in written), default=read)
        total = sizes[-1] if sizes else 0
        return Usage(input=total - max(read, cached), cache_write=max(0, cached - read), cache_read=read)

    def size(self, body: Mapping[str, Any]) -> int:
        """How many input tokens the request is, however they would be paid for; nothing is written."""
        return sum(piece.tokens for piece in self._pieces(body))

    def forget(self) -> None:
        """Lose all entries, as time does."""
        self._entries.clear()

    def _pieces(self, body: Mapping[str, Any]) -> list[_Piece]:
        return _pieces(body)

    def _prefixes(self, body: Mapping[str, Any], pieces: Sequence[_Piece]) -> tuple[list[bytes], list[int]]:
        """For each prefix of the pieces: its name, and its size in tokens."""
        settings = [body.get(key) for key in self.settings]
        running = hashlib.sha256(_dump(settings).encode())
        names, sizes, size = [], [], 0
        for piece in pieces:
            running.update(b"\0" + piece.data.encode())
            size += piece.tokens
            names.append(running.digest())
            sizes.append(size)
        return names, sizes


class AutomaticCache(PromptCache):
    """Accounts for requests as services do that cache by themselves (OpenAI's two dialects), without marks.

    - A request reads the longest prefix that it shares with an earlier one, over its tools, instructions and
      messages in that order, each taken whole. Reads count from `minimum` tokens on, in steps of `step`.
    - What is written costs nothing and is not reported.
    - Another model, key, output format or reasoning effort has entries of its own.
    """

    settings = ("model", "prompt_cache_key", "response_format", "text", "reasoning", "reasoning_effort",
                "verbosity", "service_tier")  # fmt: skip

    def __init__(self, *, minimum: int = 1024, step: int = 128) -> None:
        super().__init__(minimum=minimum)
        self.step = step

    def account(self, body: Mapping[str, Any]) -> Usage:
        """What the request with this JSON reads, and what it pays in full."""
        names, sizes = self._prefixes(body, self._pieces(body))
        known = max(
            (size for name, size in zip(names, sizes, strict=True) if name in self._entries), default=0
        )
        self._entries.update(names)
        read = known // self.step * self.step
        read = read if read >= self.minimum else 0
        return Usage(input=(sizes[-1] if sizes else 0) - read, cache_read=read)

    def _pieces(self, body: Mapping[str, Any]) -> list[_Piece]:
        head = body.get("instructions") or body.get("system")
        rest = body.get("messages") or body.get("input") or []
        placed = [("tools", tool) for tool in body.get("tools") or []]
        placed += [("system", head)] if head else []
        placed += [("said", item) for item in ([rest] if isinstance(rest, str) else rest)]
        return [_Piece(data=f"{place} {_dump(item)}", marked=False) for place, item in placed]


def _pieces(body: Mapping[str, Any]) -> list[_Piece]:
    system = body.get("system", [])
    placed: list[tuple[str, Any]] = [("tools", tool) for tool in body.get("tools", [])]
    placed += [("system", part) for part in _blocks(system)]
    for message in body.get("messages", []):
        placed += [(message["role"], block) for block in _blocks(message["content"])]
    return [
        _Piece(
            data=f"{place} {_dump({key: value for key, value in block.items() if key != 'cache_control'})}",
            marked="cache_control" in block,
        )
        for place, block in placed
    ]


def _blocks(content: str | list[Any]) -> list[Any]:
    """Content as blocks: the API takes a plain text for one block of text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# ── the model ──────────────────────────────────────────────────────────────────────────────────────────


class ScriptedModel:
    """A model client that follows a script, the same way every time.

    `requests` are those it was sent, in order. `cache` accounts for them, so that a fork of a scripted
    conversation reports the share it would have read. Rules give askers of their own (the conversation, a
    fork, a side query) their own queue, whatever order they come in: `model.when(lambda r: r.schema, …)`.
    """

    is_local = False

    def __init__(
        self,
        replies: Iterable[Line] = (),
        *,
        name: str = "scripted:model",
        window: int = 200_000,
        cache: PromptCache | None = None,
    ) -> None:
        self.name = name
        self.window = window
        self.cache = cache or PromptCache()
        self.requests: list[Request] = []
        self._script: Script[Request, Line] = Script(replies)
        self._unanswered = 0
        self._calls = 0

    def add(self, *replies: Line) -> None:
        """Append to the script."""
        self._script.add(*replies)

    def when(self, rule: Callable[[Request], Any], *replies: Line) -> None:
        """A script of its own for the requests that match `rule`."""
        self._script.when(lambda request: bool(rule(request)), *replies)

    async def complete(self, request: Request, *, on_text: OnText | None = None) -> Reply:
        """Give the next reply of the script.

        Raises:
            AssertionError: the script has none left.
        """
        self.requests.append(request)
        line = self._script.next(request)
        if line is None:
            self._unanswered += 1
            raise AssertionError(f"the script has no reply to request {len(self.requests)}: {_hint(request)}")
        reply = await self._perform(line, request)
        if on_text is not None:
            for word in re.findall(r"\s*\S+\s*", reply.text):
                on_text(word)
        return reply

    scale = 1.0
    """Its tokens are the estimated ones."""

    calls_tools: bool | None = None
    """Whether its service says that it calls tools. Set it for a model that hardly does."""

    async def count(self, request: Request) -> Count:
        """The estimate, which is exact here."""
        return Count(tokens=tokens.estimate_request(request), exact=True)

    async def survey(self) -> Survey:
        """It is there."""
        return Survey(reachable=True, models=(self.name.partition(":")[2],), window=self.window)

    async def aclose(self) -> None:
        """Nothing is open."""

    def assert_exhausted(self) -> None:
        """Check that each reply was asked for, and each request had one.

        Raises:
            AssertionError: with the two numbers.
        """
        if self._script.left or self._unanswered:
            raise AssertionError(
                f"{self._script.left} scripted replies were not asked for, "
                f"{self._unanswered} requests had none (of {len(self.requests)})"
            )

    async def _perform(self, line: Line, request: Request) -> Reply:
        while callable(line):
            made = line(request)
            line = await made if inspect.isawaitable(made) else made
        if isinstance(line, BaseException):
            raise line
        if isinstance(line, Reply):
            return line
        blocks = blocks_of(line, first_id=self._calls + 1)
        self._calls += len(blocks)
        message = assistant(*blocks)
        return Reply(
            message=message,
            stop="tool_use" if message.tool_uses else "end_turn",
            usage=self._usage(request, message),
            model=self.name,
        )

    def _usage(self, request: Request, message: Message) -> Usage:
        spent = self.cache.account(wire.body(request, model=self.name))
        return spent + Usage(output=tokens.estimate_message(message))


def _hint(request: Request) -> str:
    """Where in a conversation a request stands, in a line."""
    last = request.messages[-1] if request.messages else None
    return f"{len(request.messages)} messages, the last {last.origin if last else 'missing'}"


# ── the embedder ───────────────────────────────────────────────────────────────────────────────────────


class WordEmbedder:
    """An embedder without a model: texts that share words get vectors that point about the same way, and a
    text always gets the same one.

    `alike`: groups of words that mean the same; the first stands for all of them. `numbers`: how long a
    vector is. `texts` are those it was given, in order. While `failure` is set, it raises that and makes no
    vector.
    """

    def __init__(
        self,
        *,
        name: str = "scripted:embedder",
        is_local: bool = True,
        numbers: int = 256,
        alike: Iterable[Sequence[str]] = (),
        failure: ModelError | None = None,
    ) -> None:
        self.name = name
        self.is_local = is_local
        self.numbers = numbers
        self.failure = failure
        self.texts: list[str] = []
        self._stands_for = {word: group[0] for group in alike for word in group}

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text.

        Raises:
            ModelError: the `failure`.
        """
        self.texts += texts
        if self.failure is not None:
            raise self.failure
        return [self._vector(text) for text in texts]

    async def aclose(self) -> None:
        """Nothing is open."""

    def _vector(self, text: str) -> bytes:
        counted = [0.0] * self.numbers
        for word in re.findall(r"\w+", text.casefold()) or [""]:
            said = self._stands_for.get(word, word)
            counted[int.from_bytes(hashlib.sha256(said.encode()).digest()[:4]) % self.numbers] += 1.0
        return unit(counted)


# ── the directory ──────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def temporary_memory(files: Mapping[str, str] | None = None) -> Iterator[MemoryDir]:
    """A memory directory with these files (path -> text), gone at the end."""
    from memdir.memory.store import MemoryDir

    with TemporaryDirectory(prefix="memdir-") as folder:
        directory = Path(folder).resolve() / "memory"
        memory = MemoryDir(directory, trash=directory.parent / "trash")
        memory.prepare()
        for name, text in (files or {}).items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        yield memory


def tree(directory: Path) -> dict[str, str]:
    """All regular files below a directory, path (with `/`) -> text, in order of path."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes().decode("utf-8", "replace")
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }

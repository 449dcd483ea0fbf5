"""What a tool is, and what it is given; a model's input -> checked input, paths and files.

A tool is a value: the words the model knows it by, whether it only reads, and a coroutine. It returns text
for the model, maybe with pictures, or raises `ToolError` with text for the model; nothing else is a tool's
way to speak.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread

from memdir import fs
from memdir.agent.credentials import leads_to_secrets
from memdir.agent.file_state import FileState
from memdir.errors import Conflict, MemdirError, SecretFound, SecretStopped, ToolError
from memdir.memory import entrypoint
from memdir.memory.store import MemoryDir, Written
from memdir.memory.topic import Origin
from memdir.model.messages import Image, ToolSpec
from memdir.trust.evidence import Evidence

Input = Mapping[str, Any]

LIMIT = 30_000
"""Characters that one answer of Grep or Bash may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Where a tool runs and what it may lean on; one for each conversation.

    `origin` is stamped into memories that are written (E11). `wrote` and `deleted` collect what tool calls
    did to the memory directory, in order. `environment` goes to processes, as `process.handed_on` has it.
    `memory_only`: nothing outside memory is written, also if a path leads elsewhere than when it was allowed.
    `host`: the table of the conversation that a fork works for; what the fork writes is no news there (E8).
    `beside`: what a fork may read besides memory and the working folder. `evidence`: who said what in the
    conversation as it stands now; None: nobody asks whose words a memory is made of. `held` collects the
    files of writes that wait for the person (E11). `notebook`: a file that is no memory and may be written
    all the same (D8).
    """

    cwd: Path
    files: FileState
    memory: MemoryDir | None
    now: Callable[[], datetime]
    origin: Origin | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    memory_only: bool = False
    beside: tuple[Path, ...] = ()
    host: FileState | None = None
    wrote: list[Written] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    evidence: Callable[[], Evidence] | None = None
    held: list[str] = field(default_factory=list)
    notebook: Path | None = None

    def folders(self) -> tuple[Path, ...]:
        """The folders that a fork may read; the root of the machine is the working folder of nobody."""
        memory = () if self.memory is None else (self.memory.directory,)
        return tuple(one for one in (*memory, self.cwd, *self.beside) if one != Path(one.anchor))


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a tool says to the model, and the pictures that it shows with it."""

    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool: its words for the model, whether it changes nothing, and what it does."""

    spec: ToolSpec
    read_only: bool
    run: Callable[[Input, ToolContext], Awaitable[str | Output]]


class WroteButOver(ToolError):
    """The write stands, and the index is now over a limit (F7): the model is told to mend it at once."""


def in_thread(
    work: Callable[[Input, ToolContext], str | Output],
) -> Callable[[Input, ToolContext], Awaitable[str | Output]]:
    """A blocking tool as a coroutine. An abort waits for it: a half-done write is nobody's wish."""

    async def run(given: Input, context: ToolContext) -> str | Output:
        return await anyio.to_thread.run_sync(partial(work, given, context))

    return run


# -- input -----------------------------------------------------------------------------------------------


def schema(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    """JSON Schema of a tool's input: an object with these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


_TYPES: Mapping[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "boolean": (bool,)}


def check_input(spec: ToolSpec, given: Input) -> None:
    """Raise `ToolError`, naming every fault at once, unless `given` fits the tool's schema."""
    properties: Mapping[str, Mapping[str, Any]] = spec.schema["properties"]
    faults = [f"{name} is missing" for name in spec.schema["required"] if name not in given]
    for name, value in given.items():
        if name not in properties:
            faults.append(f"there is no parameter {name}")
        elif fault := _fault(properties[name], value):
            faults.append(f"{name} {fault}")
    if faults:
        raise ToolError(f"{spec.name}: {'; '.join(faults)}. Parameters: {_usage(spec)}.")


def _fault(rule: Mapping[str, Any], value: object) -> str | None:
    wanted: str = rule["type"]
    if not isinstance(value, _TYPES[wanted]) or (wanted != "boolean" and isinstance(value, bool)):
        return f"must be of type {wanted}, not {type(value).__name__}"
    if "enum" in rule and value not in rule["enum"]:
        return f"must be one of {', '.join(rule['enum'])}"
    if isinstance(value, int) and value < rule.get("minimum", value):
        return f"must be at least {rule['minimum']}"
    if isinstance(value, int) and value > rule.get("maximum", value):
        return f"must be at most {rule['maximum']}"
    return None


def _usage(spec: ToolSpec) -> str:
    required = spec.schema["required"]
    return ", ".join(name if name in required else f"{name}?" for name in spec.schema["properties"])


# -- paths -----------------------------------------------------------------------------------------------


def in_memory(path: Path, context: ToolContext) -> bool:
    """Whether the path leads into the memory directory, so that reading and writing go by its rules (A8)."""
    return context.memory is not None and fs.inside(context.memory.directory, path)


def is_notebook(path: Path, context: ToolContext) -> bool:
    """Whether the path leads to the one file besides memories that a fork may write. A link there is none."""
    notebook = context.notebook
    return notebook is not None and os.path.realpath(path) == str(notebook) and not notebook.is_symlink()


def where_read(path: Path, context: ToolContext) -> tuple[Path, Path | None]:
    """The real place of what is to be read, and for a fork the folder that it must lie in (A5).

    It was allowed before: here it is looked at again, since the path may lead elsewhere by now.

    Raises:
        ToolError: a fork may not read what is there now.
    """
    if not context.memory_only:
        return path, None
    real = Path(os.path.realpath(path))
    folder = next((one for one in context.folders() if fs.inside(one, real)), None)
    if folder is None or leads_to_secrets(real):
        raise ToolError(f"{path} does not lead to where a background memory job reads")
    return real, folder


def own_index(context: ToolContext, memory: MemoryDir) -> None:
    """The index was changed with a memory, by this conversation or its background job: no news (E8)."""
    with suppress(OSError, MemdirError):
        digest = memory.read(entrypoint.NAME).digest
        for table in (context.files, context.host):
            if table is not None:
                table.overtaken(memory.directory / entrypoint.NAME, digest)


# -- text ------------------------------------------------------------------------------------------------


def cut_middle(text: str, limit: int = LIMIT) -> str:
    """At most about `limit` characters: the beginning and the end, and how much is left out between."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit // 2], text[-limit // 2 :]
    return f"{head}\n\n[... {len(text) - limit:,} characters left out ...]\n\n{tail}"


@contextmanager
def told_to_the_model(path: Path) -> Iterator[None]:
    """Turn what can go wrong with a file into words for the model."""
    try:
        yield
    except Conflict as error:
        raise ToolError(
            f"{path} was changed on disk since you read it. Read it again, then make your change."
        ) from error
    except ToolError:
        raise
    except SecretFound as error:
        raise SecretStopped(f"{error}. {error.hint or ''}".strip()) from error
    except MemdirError as error:
        raise ToolError(f"{error}. {error.hint or ''}".strip()) from error
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror or type(error).__name__}") from error

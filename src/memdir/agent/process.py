"""A command -> its output, bounded in time and size, with nothing left running behind it."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT

import anyio
from anyio.abc import ByteReceiveStream, Process

from memdir import secrets

KEEP_BYTES = 4 * 1024 * 1024
"""How much of the beginning, and as much of the end, of an output is kept."""

_DRAIN_SECONDS = 2.0
_SECRET_NAME = re.compile(
    r"(?<![a-z])(key|token|secret|pass|pwd|pat|cred|credential|auth|dsn|jwt|cookie)s?(?![a-z])"
    r"|apikey|tokens?$|passw(or)?d|passphrase|secret|credential",
    re.IGNORECASE,
)
_URL_WITH_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]+@")
_HARMLESS = frozenset({"PATH", "PWD", "SSH_AUTH_SOCK"})
"""Kept whatever they look like. The socket of an SSH agent gives away no key, and git needs it."""
_UNWANTED = frozenset({"BASH_ENV", "ENV", "RIPGREP_CONFIG_PATH", "PROMPT_COMMAND"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a process ended. `code` is None if it was killed at its time limit.

    `whole` says whether all of the output was kept.
    """

    code: int | None
    output: bytes
    errors: bytes
    whole: bool


def handed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a process of the model's: no start-up files, no prompts, and nothing that by its
    name or its value may be a key, a token or a password.
    """
    kept = {k: v for k, v in environment.items() if k not in _UNWANTED and not _may_be_secret(k, v)}
    return {**kept, "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


def _may_be_secret(name: str, value: str) -> bool:
    if name in _HARMLESS:
        return False
    named = _SECRET_NAME.search(name) is not None
    return named or _URL_WITH_PASSWORD.search(value) is not None or bool(secrets.scan(f"{name}={value}"))


async def run(
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    seconds: float,
    given: bytes | None = None,
    join: bool = False,
) -> Ended:
    """Run a command in a process group of its own, and kill all that is left of the group afterwards.

    It gets this environment and nothing else (`handed_on`: what is left of one for the model's commands).
    `given` goes to its stdin (None: there is no stdin). `join` puts stderr among the output. When the time is
    up, or the caller is cancelled, the whole group is killed.
    """
    with anyio.CancelScope(shield=True):  # a start broken off half-way would leave a child behind
        process = await anyio.open_process(
            command,
            stdin=DEVNULL if given is None else PIPE,
            stdout=PIPE,
            stderr=STDOUT if join else PIPE,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
    output, errors = Tail(), Tail()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_drain, process.stdout, output)
            tasks.start_soon(_drain, process.stderr, errors)
            with anyio.move_on_after(seconds) as limit:
                await _feed(process, given)
                await process.wait()
            _kill_group(process)
            tasks.cancel_scope.deadline = anyio.current_time() + _DRAIN_SECONDS
    finally:
        if process.returncode is None:
            _kill_group(process)
        with anyio.CancelScope(shield=True):
            await process.aclose()
    code = None if limit.cancelled_caught else process.returncode
    return Ended(code=code, output=output.bytes(), errors=errors.bytes(), whole=output.whole)


class Tail:
    """Bytes as they come: all of a short output, the beginning and the end of a long one."""

    def __init__(self) -> None:
        self._head, self._tail, self._dropped = bytearray(), bytearray(), 0

    def add(self, piece: bytes) -> None:
        """Take the next piece."""
        room = KEEP_BYTES - len(self._head)
        self._head += piece[:room] if room > 0 else b""
        self._tail += piece[max(room, 0) :]
        if (extra := len(self._tail) - KEEP_BYTES) > KEEP_BYTES:
            self._dropped += extra
            del self._tail[:extra]

    @property
    def whole(self) -> bool:
        """Whether nothing is missing."""
        return not self._dropped

    def bytes(self) -> bytes:
        """What was kept, with a remark where something is missing."""
        gap = f"\n[... {self._dropped:,} bytes left out ...]\n".encode() if self._dropped else b""
        return bytes(self._head) + gap + bytes(self._tail)


async def _feed(process: Process, given: bytes | None) -> None:
    if given is None or process.stdin is None:
        return
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.send(given)
    await process.stdin.aclose()


async def _drain(stream: ByteReceiveStream | None, into: Tail) -> None:
    if stream is None:
        return
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async for piece in stream:
            into.add(piece)


def _kill_group(process: Process) -> None:
    """End the process and everything it started that is still in its group."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.returncode is None:
        process.kill()

"""What the person types -> lines, read beside the conversation's other work.

A terminal has no way to take a question back. So a line is awaited in a thread of its own, and if the wait is
broken off (Ctrl-C, a turn that ended), the next one goes on waiting for that same line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread

import anyio
import anyio.from_thread
from anyio.lowlevel import current_token

from memdir.cli.output import talk


class Lines:
    """The lines of standard input."""

    def __init__(self) -> None:
        self.at_terminal = sys.stdin.isatty()
        self._edited = self.at_terminal and sys.stdout.isatty()
        self._reading: _Reading | None = None
        self._rest = b""
        if self._edited:
            with suppress(ImportError):  # arrow keys, history, and a paste of many lines as one
                import readline  # noqa: F401

    async def read(self, prompt: str) -> str | None:
        """The next line, without its end; None when there are no more. `prompt` is for a terminal."""
        if self._reading is None:
            self._reading = _Reading(self._typed if self._edited else self._piped, prompt)
        elif self.at_terminal:
            talk(prompt, end="")
        line = await self._reading.line()
        self._reading = None
        return line

    def _typed(self, prompt: str) -> str | None:
        try:
            return input(prompt)
        except EOFError:
            return None

    def _piped(self, prompt: str) -> str | None:
        """A line by bare reads: no lock is held that would hold up the end of the program."""
        if self.at_terminal:
            talk(prompt, end="")
        while b"\n" not in self._rest:
            more = os.read(sys.stdin.fileno(), 65_536)
            if not more:
                break
            self._rest += more
        line, end, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace").removesuffix("\r") if line or end else None


class _Reading:
    """One line that is being waited for, in a thread that does not keep the program alive."""

    def __init__(self, read: Callable[[str], str | None], prompt: str) -> None:
        self._read, self._prompt = read, prompt
        self._done = anyio.Event()
        self._line: str | None = None
        self._failure: BaseException | None = None
        self._loop = current_token()
        Thread(target=self._work, name="person", daemon=True).start()

    def _work(self) -> None:
        try:
            self._line = self._read(self._prompt)
        except BaseException as error:  # noqa: BLE001 - raised again by `line`, in the conversation
            self._failure = error
        with suppress(RuntimeError):  # the conversation is over
            anyio.from_thread.run_sync(self._done.set, token=self._loop)

    async def line(self) -> str | None:
        """The line, once it is there. The wait can be broken off and taken up again."""
        await self._done.wait()
        if self._failure is not None:
            raise self._failure
        return self._line


@contextmanager
def terminal_as_it_was() -> Iterator[None]:
    """Give the terminal back as it was, also when a line was still being waited for."""
    try:
        import termios
    except ImportError:  # not on this system
        yield
        return
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)

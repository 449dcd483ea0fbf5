"""What the tests of the command line share: a person's folder, commands in this process and in real ones."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memdir.cli import main

SECONDS = 20.0
"""How long anything here is waited for at most."""

AT_A_TERMINAL = (
    "import fcntl, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from memdir.cli import main; main(sys.argv[1:])"
)
"""`memdir` with its standard input as the terminal whose Ctrl-C it gets, also where the tests were started by
a shell that has its background jobs ignore that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on standard output."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A person in a project folder. Calling it runs `memdir` in this process."""

    folder: Path
    home: Path
    capture: pytest.CaptureFixture[str]

    def __call__(self, *words: str) -> Ran:
        self.capture.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(words)
        told = self.capture.readouterr()
        return Ran(code=int(ended.value.code or 0), out=told.out, err=told.err)

    def process(self, *words: str, said: str = "", **environment: str) -> Ran:
        """Run `memdir` in a process of its own, with `said` on its standard input."""
        done = subprocess.run(
            [sys.executable, "-m", "memdir", *words],
            input=said.encode(),
            capture_output=True,
            cwd=self.folder,
            env={**os.environ, **environment},
            timeout=SECONDS * 2,
            check=False,
        )
        return Ran(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    @property
    def memory(self) -> Path:
        """The memory directory of the project."""
        return Path(self("path").out.strip())

    def files(self) -> dict[str, str]:
        """What is in it, without the index."""
        return {
            path.name: path.read_text("utf-8")
            for path in sorted(self.memory.glob("*.md"))
            if path.name != "MEMORY.md"
        }

    def editor(self, script: str) -> dict[str, str]:
        """An environment in which the editor is this shell script; `$1` is the file."""
        place = self.home / "editor.sh"
        place.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        place.chmod(0o755)
        return {"EDITOR": str(place), "VISUAL": ""}


class Typist:
    """Somebody at a terminal: waits for what is shown, then types."""

    def __init__(self, words: Sequence[str], *, cwd: Path, environment: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-c", AT_A_TERMINAL, *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            cwd=cwd,
            env={**os.environ, "TERM": "dumb", **environment},
        )
        os.close(theirs)
        self._shown = ""
        self._at = 0

    def sees(self, pattern: str) -> str:
        """Wait until something like this is shown, behind what was seen before: all up to there."""
        end = time.monotonic() + SECONDS
        while not (found := re.compile(pattern).search(self._shown, self._at)):
            if not self._look(end - time.monotonic()):
                raise AssertionError(f"no {pattern!r} in {self._shown[self._at :]!r}")
        before, self._at = self._shown[self._at : found.end()], found.end()
        return before

    def types(self, text: str) -> None:
        """Type this, and Enter where it has a line end."""
        os.write(self._ours, text.encode())

    def sees_the_end(self) -> tuple[int, str]:
        """The exit code, and all that was shown since."""
        end = time.monotonic() + SECONDS
        while self._look(end - time.monotonic()):
            pass
        return self._process.wait(timeout=SECONDS), self._shown[self._at :]

    def _look(self, seconds: float) -> bool:
        """Take in what is shown; whether there is more to come."""
        ready, _, _ = select.select([self._ours], [], [], max(0.0, seconds))
        if not ready:
            return False
        with suppress(OSError):  # Linux's way to say that nobody is at the other end
            data = os.read(self._ours, 65_536)
            self._shown += data.decode("utf-8", "replace").replace("\r\n", "\n")
            return bool(data)
        return False

    def leave(self) -> None:
        """Close the terminal, and end a process that is still there."""
        os.close(self._ours)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(timeout=SECONDS)


@contextmanager
def typist(desk: Desk, *words: str, **environment: str) -> Iterator[Typist]:
    """`memdir` with these words at a terminal."""
    someone = Typist(words, cwd=desk.folder, environment=environment)
    try:
        yield someone
    finally:
        someone.leave()


def claude_line(
    text: str | list[dict[str, Any]], *, cwd: Path | str, number: int, role: str = "user", **more: Any
) -> str:
    """A record in the shape of Claude Code's transcripts; record `number` hangs on the one before."""
    return json.dumps(
        {
            "parentUuid": f"u{number - 1}" if number else None,
            "isSidechain": False,
            "userType": "external",
            "cwd": str(cwd),
            "sessionId": "5c0a7d3e-0000-4000-8000-000000000001",
            "version": "2.0.1",
            "type": role,
            "message": {"role": role, "content": text},
            "uuid": f"u{number}",
            "timestamp": f"2026-03-05T09:00:{number:02}.000Z",
            **more,
        },
        ensure_ascii=False,
    )

"""Allowed command lines -> what they did, each really run: by the Bash tool, and as raw text by bash.

The tool runs them as a fork does, in turns behind the wall that this system has and without it. The raw
text runs in a sandbox where there is bubblewrap, and in the throw-away folders otherwise. That is stricter
than what a fork does: it shows that the judgement of the text holds by itself. An effect is any change below
the folders, a canary in the output, a program that says it ran, or no end within the time limit.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from shutil import which

import anyio

from tests.agent.shell.fixture import (
    ENVIRONMENT_CANARY,
    HOME_CANARY,
    RAN,
    Answer,
    Ground,
    changes,
    context_of,
    leaks,
    renew,
    run_tool,
    snapshot,
    without_wall,
)

BATCH = 40
SECONDS = 10
"""How long one command may take."""

_KEPT = 1 << 20
_DRIVER = """
limit=$1; shift
for text; do
  timeout -k 1 "$limit" bash -c "$text" </dev/null 2>&1 3>&-
  echo "rc $?" >&3
done
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offence:
    """What a command did that it must not do. `how`: by the tool, by it without a wall, or as raw text."""

    command: str
    how: str
    what: tuple[str, ...]
    leak: bool


@dataclass(frozen=True, slots=True)
class Judge:
    """Runs commands on one ground, which it renews from the template after every effect."""

    template: Ground
    ground: Ground

    def judge(self, commands: Sequence[str]) -> list[Offence]:
        """Run all of them both ways. First in batches; where something has happened, one by one."""
        found: list[Offence] = []
        for at in range(0, len(commands), BATCH):
            batch = commands[at : at + BATCH]
            tool = ("tool", self._by_tool) if at // BATCH % 2 else ("tool, no wall", self._without_wall)
            for how, run in (tool, ("raw", self._raw)):
                found += self._in_batch(batch, how, run)
        return found

    def raw(self, commands: Sequence[str]) -> list[Offence]:
        """Run them as raw text only, allowed or not."""
        return self._in_batch(commands, "raw", self._raw)

    def _in_batch(
        self, batch: Sequence[str], how: str, run: Callable[[Sequence[str]], list[str]]
    ) -> list[Offence]:
        whole = self._once(batch, how, run)
        if whole is None:
            return []
        alone = [offence for one in batch if (offence := self._once([one], how, run))]
        return alone or [whole]

    def _once(
        self, batch: Sequence[str], how: str, run: Callable[[Sequence[str]], list[str]]
    ) -> Offence | None:
        before = snapshot(self.ground.root)
        said = run(batch)
        changed = changes(before, snapshot(self.ground.root))
        changed = [one for one in changed if one != f"changed: {self.ground.temporary.name}"]  # passing files
        if changed:
            renew(self.template, self.ground)
            if how == "raw":
                self.settle()
        if not (changed or said):
            return None
        leak = any(one.startswith("leak") for one in said)
        return Offence(command="\n---\n".join(batch), how=how, what=(*changed, *said), leak=leak)

    def settle(self) -> None:
        """Let the sandbox make its mount points, before anything is compared."""
        self._raw(["true"])

    def _by_tool(self, batch: Sequence[str]) -> list[str]:
        answers = anyio.run(partial(_run_all, batch, self.ground))
        said = [one for answer in answers for one in _told(answer.text, secrets=leaks(answer.text))]
        return said + ["no end" for answer in answers if answer.failed and answer.text.startswith("stopped")]

    def _without_wall(self, batch: Sequence[str]) -> list[str]:
        with without_wall():
            return self._by_tool(batch)

    def _raw(self, batch: Sequence[str]) -> list[str]:
        """The texts as they are. Secrets in the project do not count: hiding them is not its business."""
        read, write = os.pipe()
        process = subprocess.Popen(
            [
                *_sandbox(self.ground),
                "bash",
                "-c",
                f"exec 3>&{write}\n{_DRIVER}",
                "bash",
                str(SECONDS),
                *map(os.fsencode, batch),
            ],
            cwd=self.ground.project,
            env=_environment(self.ground),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(write,),
        )
        os.close(write)
        with process, os.fdopen(read, encoding="utf-8", errors="replace") as log:
            text = _drained(process)
            codes = re.findall(r"^rc (\d+)$", log.read(), re.MULTILINE)
        found = [one for one in leaks(text) if one in (ENVIRONMENT_CANARY, HOME_CANARY)]
        said = _told(text, secrets=found)
        said += ["no end" for code in codes if code in {"124", "137"}]
        return said if len(codes) == len(batch) else [*said, "the run broke off"]


async def _run_all(batch: Sequence[str], ground: Ground) -> list[Answer]:
    context = context_of(ground)
    return [await run_tool(one, context, milliseconds=SECONDS * 1000) for one in batch]


def _told(text: str, *, secrets: Sequence[str]) -> list[str]:
    ran = ["a program ran"] if RAN in text else []
    return ran + [f"leak: {one}" for one in secrets]


def _drained(process: subprocess.Popen[bytes]) -> str:
    """The output; of an endless one the beginning, and every canary."""
    assert process.stdout is not None
    kept, last = bytearray(), b""
    while piece := process.stdout.read(1 << 16):
        if len(kept) < _KEPT:
            kept += piece
        elif leaks((last + piece).decode("utf-8", "replace")):
            kept += last + piece
        last = piece[-200:]
    return kept.decode("utf-8", "replace")


def _environment(ground: Ground) -> dict[str, str]:
    """Of the raw text: the secret is there; git, which writes when it only looks, is told not to."""
    git = {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "diff.autoRefreshIndex",
        "GIT_CONFIG_VALUE_0": "false",
        "GIT_PAGER": "cat",
    }
    return ground.environment(**git)


@cache
def has_sandbox() -> bool:
    """Whether bubblewrap works here."""
    if which("bwrap") is None:
        return False
    command = ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "--dev", "/dev", "--proc", "/proc", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _sandbox(ground: Ground) -> list[str]:
    """Everything read-only but the ground, which holds `/tmp` too; no network; all ends with the driver."""
    if not has_sandbox():
        return []
    root, temporary = str(ground.root), str(ground.temporary)
    return [
        *("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *("--bind", temporary, "/tmp", "--bind", temporary, "/var/tmp", "--bind", root, root),
        *("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--chdir", str(ground.project), "--"),
    ]


def runnable(text: str) -> bool:
    """Whether a text can be handed to a process at all."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False

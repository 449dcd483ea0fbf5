"""A staged copy -> what a model makes of it (D5): the fork that does the work of a dream.

It is told where things are, and not what is in them. What it does is judged by what the copy holds
afterwards, so it may run out of turns, or leave off at any point. In a window too small for all that it
reads, it goes on with the last of it, and knows from the copy and the notebook what it has done.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from memdir.agent.file_state import FileState
from memdir.agent.fit.base import base_for
from memdir.agent.fork import Forked, OnCopy, fork
from memdir.agent.loop import Agent, Hooks
from memdir.dream.checks import Limits, at_most
from memdir.dream.progress import Progress
from memdir.dream.rights import for_dream
from memdir.dream.stage import Stage
from memdir.errors import ContextTooLong
from memdir.memory.entrypoint import MAX_BYTES, MAX_LINES, NAME
from memdir.memory.fence import exact, harmless
from memdir.model.messages import Message, Text
from memdir.paths import canonical_root
from memdir.prompts import render

LABEL = "dream"
MAX_TURNS = 40

MOST_NAMED = 30
"""Conversations that are named, the newest. The others are counted; all of them can be searched."""

FULL = 0.85
"""Share of the room for a request at which the fork goes on with less."""

KEPT = 0.4
"""Share of the window, at most, that is kept of what it has read and done then."""

_ID = re.compile(r"[0-9A-Za-z-]{1,64}")

OnProgress = Callable[[Progress], None]


async def consolidate(
    agent: Agent,
    stage: Stage,
    *,
    transcripts: Sequence[Path],
    named_by_probes: Sequence[str] = (),
    limits: Limits | None = None,
    shut: Sequence[Path] = (),
    max_turns: int = MAX_TURNS,
    today: date,
    on_progress: OnProgress = lambda _: None,
) -> Forked:
    """Have the model put the copy in order. `agent` is the conversation that it continues from.

    `transcripts`: the conversations since the last dream, the newest first. `named_by_probes`: files that the
    person's probes ask for. `limits`: what it may take out, as it is told. `shut`: folders that it reads
    nothing in (`rights`). `on_progress` hears of each answer of the model, and once before the first.

    Raises:
        ContextTooLong: there is no room even for the instruction alone.
    """
    cwd, root = agent.context.cwd, canonical_root(agent.context.cwd)
    copy = Path(os.path.realpath(stage.memory.directory))
    notebook = copy / stage.notebook.name
    talks = tuple(dict.fromkeys(path.parent for path in transcripts))
    instruction = instruct(
        stage,
        copy=copy,
        cwd=cwd,
        transcripts=transcripts,
        named_by_probes=named_by_probes,
        limits=limits or Limits(),
        max_turns=max_turns,
        today=today,
    )
    watch = _Watch(instruction=instruction, copy=copy, notebook=notebook, tell=on_progress)
    on_progress(watch.progress)
    return await fork(
        agent,
        instruction,
        memory=stage.memory,
        permit=for_dream(
            copy,
            notebook,
            memory_dir=stage.real,
            cwd=cwd,
            root=root,
            transcripts=transcripts,
            shut=shut,
        ),
        max_turns=max_turns,
        label=LABEL,
        on_copy=OnCopy(notebook=notebook, beside=(root, *talks), hooks=watch.hooks()),
    )


def instruct(
    stage: Stage,
    *,
    copy: Path,
    cwd: Path,
    transcripts: Sequence[Path],
    named_by_probes: Sequence[str],
    limits: Limits,
    max_turns: int,
    today: date,
) -> str:
    """The fork's message."""
    topics = len(stage.before.topics)
    return render(
        "dream",
        bytes=f"{MAX_BYTES * 7 // 10:,}",
        cwd=str(cwd),
        directory=str(copy),
        keep=_keep(named_by_probes),
        lines=str(MAX_LINES * 7 // 10),
        path=str(copy / stage.notebook.name),
        removable=str(at_most(limits.files, topics)),
        sessions=_sessions(transcripts),
        share=f"{limits.lines:.0%}",
        today=f"{today:%A}, {today:%Y-%m-%d}",
        topics=str(topics),
        turns=str(max_turns),
    )


def _keep(files: Sequence[str]) -> str:
    """What is said of the files that probes name, a paragraph; or nothing."""
    if not files:
        return ""
    named = ", ".join(f"`{exact(harmless(file))}`" for file in dict.fromkeys(files))
    return f"\n{render('dream_keep', files=named)}\n"


def _sessions(transcripts: Sequence[Path]) -> str:
    """The conversations by folder, a line each; those with odd names are left out."""
    shown: dict[Path, list[str]] = {}
    named = [path for path in transcripts if _ID.fullmatch(path.stem)]
    for path in named[:MOST_NAMED]:
        shown.setdefault(path.parent, []).append(path.stem)
    lines = [f"  - in `{exact(f'{folder}/')}`: {', '.join(stems)}" for folder, stems in shown.items()]
    if len(named) > MOST_NAMED:
        lines.append(f"  - and {len(named) - MOST_NAMED:,} older ones")
    return "\n".join(lines) or "  - none"


@dataclass(kw_only=True)
class _Watch:
    """What goes on beside the fork: it is seen how far it is, and made shorter where it gets too long."""

    instruction: str
    copy: Path
    notebook: Path
    tell: OnProgress
    progress: Progress = field(default_factory=Progress)

    def hooks(self) -> Hooks:
        return Hooks(on_step=self._step, make_room=self._make_room)

    async def _step(self, agent: Agent) -> None:
        answer = next((one for one in reversed(agent.messages) if one.role == "assistant"), None)
        if answer is None:
            return
        self.progress = self.progress.after(
            answer,
            turns=agent.steps,
            usage=agent.usage,
            files=_changed(agent),
            copy=self.copy,
            cwd=agent.context.cwd,
        )
        self.tell(self.progress)

    async def _make_room(self, agent: Agent, overflow: bool) -> bool:
        """Whether the fork goes on with the instruction and the last of what it did."""
        room = agent.window - min(agent.prefix.max_tokens, agent.window // 2)
        begins = self._begins(agent.messages)
        if begins is None or not (overflow or agent.size() > room * FULL):
            return False
        files = "\n".join(f"- `{exact(file)}`" for file in _changed(agent)) or "- nothing"
        text = f"{self.instruction}\n\n{render('dream_go_on', path=str(self.notebook), files=files)}"
        most = int(agent.window * (KEPT / 2 if overflow else KEPT) / agent.model.scale)
        try:
            base = base_for(agent, text, agent.messages[begins + 1 :], at_most=most)
        except ContextTooLong:
            return False
        kept = base.messages[1:] if base.dropped else base.messages  # without a note, which `text` is
        head = Message(role="user", content=(Text(text=text),), origin="system")
        agent.recompose([head], kept, files=FileState())
        return True

    def _begins(self, messages: Sequence[Message]) -> int | None:
        """Where the instruction stands."""
        for at in range(len(messages) - 1, -1, -1):
            if messages[at].origin == "system" and messages[at].text.startswith(self.instruction):
                return at
        return None


def _changed(agent: Agent) -> tuple[str, ...]:
    """The topic files that were written or removed so far, each once."""
    wrote = (one.file for one in agent.context.wrote if one.action != "unchanged")
    return tuple(file for file in dict.fromkeys((*wrote, *agent.context.deleted)) if file != NAME)

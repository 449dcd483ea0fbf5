"""A session of any length, told by numbers alone: what the person says, what the model does, what is planted.

    files(folder)            the project that it takes place in
    prompt(17)               what the person says in turn 17
    steps(17)                what the model answers, one step after the other, the last one without a call
    FACT = fact(25)          in every tenth turn (5, 15, 25 …) something that must not be forgotten

A turn says its number, and so does each call of it: whoever has the conversation before him, or a part of its
end, knows what comes next. So a session that was killed goes on with the same script.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memdir.model.messages import Block, Text, ToolUse

Kind = Literal["decision", "correction", "file", "error"]

KINDS: tuple[Kind, ...] = ("decision", "correction", "file", "error")
SECTIONS = {"decision": "Decisions", "correction": "Corrections", "file": "Files", "error": "Errors"}
BIRDS = ("heron", "wren", "kestrel", "avocet", "plover", "siskin", "dunlin", "whimbrel", "bittern", "curlew")
WORDS = (
    *("parcel", "depot", "lane", "route", "carrier", "label", "weight", "window", "van", "driver", "shift"),
    *("scan", "sorter", "belt", "chute", "pallet", "crate", "ledger", "tariff", "zone", "hub", "stamp"),
    *("queue", "retry", "batch", "slot", "gate", "dock", "seal", "manifest"),
)
MODULES = 24
ASKED = (
    "please rename the {what} in {part}.",
    "what does {part} do with the {what}?",
    "add a test for the {what} of {part}",
    "{part} is slow with a large {what}. can you find out why?",
    "clean up the {what} in {part}, please",
    "does {part} still need the {what}?",
    "write a docstring for the {what} in {part}.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something that is said once. It is known wherever one line holds all that it `says`; `line` is how
    somebody who keeps notes writes it down.
    """

    turn: int
    kind: Kind
    says: tuple[str, ...]
    line: str

    def stands_in(self, text: str) -> bool:
        """Whether a line of the text says it."""
        lines = (line for line in text.split("\n") if self.says[0] in line)
        return any(all(one in line for one in self.says) for line in lines)


def bird(turn: int) -> str:
    """A name that only this turn uses."""
    return f"{BIRDS[turn // 10 % len(BIRDS)]}_{turn:03}"


def fact(turn: int) -> Fact | None:
    """What is planted in a turn."""
    if turn % 10 != 5:
        return None
    kind, name = KINDS[turn // 10 % len(KINDS)], bird(turn)
    match kind:
        case "decision":
            line = f"We decided to keep the parcels in {name}, because the old table locks under load."
            return Fact(turn=turn, kind=kind, says=(name, "locks under load"), line=line)
        case "correction":
            line = f"No, don't send alerts by mail. Use {name} instead, because mails get lost at night."
            return Fact(turn=turn, kind=kind, says=(name, "mails get lost"), line=line)
        case "file":
            line = f"src/{name}.py: the retries of the carrier client"
            return Fact(turn=turn, kind=kind, says=(f"src/{name}.py",), line=line)
        case "error":
            line = f"ValueError: depot {turn} has no lane {name}"
            return Fact(turn=turn, kind=kind, says=(line,), line=line)


def facts(turns: int) -> list[Fact]:
    """All that is planted in the turns up to this one, itself included."""
    return [one for turn in range(1, turns + 1) if (one := fact(turn)) is not None]


# ── the project ────────────────────────────────────────────────────────────────────────────────────────


def files(folder: Path, *, turns: int) -> None:
    """Write the project."""
    source = folder / "src"
    source.mkdir(parents=True)
    for number in range(MODULES):
        (source / f"part_{number:02}.py").write_text(_module(number, 20 + number % 5 * 12))
    (folder / "CLAUDE.md").write_text("Run the tests with `make check`.\nIndent with four spaces.\n")
    (folder / "sorter.log").write_text(
        "".join(f"10:{n // 60:02}:{n % 60:02} {words(n, 9)}\n" for n in range(900))
    )
    for one in facts(turns):
        if one.kind == "file":
            (source / f"{bird(one.turn)}.py").write_text(_module(one.turn, 15))
        if one.kind == "error":
            trace = f'Traceback (most recent call last):\n  File "check.py", line 9, in lanes\n{one.line}\n'
            (folder / f"check_{one.turn}.sh").write_text(f"cat <<'END'\n{trace}END\nexit 1\n")


def _module(number: int, lines: int) -> str:
    body = "\n".join(f"    {words(number * 100 + n, 6).replace(' ', '_')} = {n}" for n in range(lines))
    return f'"""{words(number, 7)}."""\n\n\ndef part_{number}() -> None:\n{body}\n\n\n# end\n'


def words(seed: int, count: int) -> str:
    """So many words, the same ones each time."""
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(count))


# ── the session ────────────────────────────────────────────────────────────────────────────────────────

MARK = "Step"


def prompt(turn: int) -> str:
    """What the person says."""
    return f"{MARK} {turn}: {_asked(turn)}"


def _asked(turn: int) -> str:
    planted = fact(turn)
    if planted is not None:
        match planted.kind:
            case "decision" | "correction":
                return planted.line
            case "file":
                return f"the retries of the carrier client are in src/{bird(turn)}.py, look there."
            case "error":
                return f"run `sh check_{turn}.sh`, please."
    match turn % 10:
        case 2:
            return f"what do you think of a {words(turn, 2)} for the {words(turn + 1, 1)}?"
        case 7:
            return f"here is what the shift wrote, is it plausible?\n\n> {words(turn, 300)}"
        case _:
            return ASKED[turn % len(ASKED)].format(
                what=words(turn, 2), part=f"src/part_{turn % MODULES:02}.py"
            )


def steps(turn: int, life: str = "") -> list[list[Block]]:
    """What the model says and does, the final answer last. `life` ends the ids of its calls: a turn that was
    not finished comes again.
    """
    calls = _calls(turn)
    done: list[list[Block]] = []
    for step, batch in enumerate(calls):
        said: list[Block] = [Text(text=f"Let me look at {words(turn + step, 5)}.")] if step == 0 else []
        named = [
            ToolUse(id=f"toolu_{turn:04}_{step:02}_{at:02}{life}", name=name, input=given)
            for at, (name, given) in enumerate(batch)
        ]
        done.append([*said, *named])
    return [*done, [Text(text=_answer(turn))]]


_Call = tuple[str, dict[str, object]]
_Calls = list[list[_Call]]


def _calls(turn: int) -> _Calls:
    planted, part = fact(turn), f"src/part_{turn % MODULES:02}.py"
    if planted is not None:
        match planted.kind:
            case "file":
                mine = f"src/{bird(turn)}.py"
                return [[_read(mine)], [_edit(mine, turn)]]
            case "error":
                return [[("Bash", {"command": f"sh check_{turn}.sh"})]]
            case _:
                return []
    match turn % 10:
        case 0:
            return [[("Grep", {"pattern": "depot", "path": "src", "output_mode": "content"})]]
        case 1:
            return [[_read(part)], [_edit(part, turn)]]
        case 3:
            return [[("Bash", {"command": "ls -l src"})], [_read(part)]]
        case 4 if turn % 20 == 4:
            return [[_read("sorter.log", limit=600)]]
        case 4:
            return [[_read(f"src/part_{(turn + n) % MODULES:02}.py") for n in range(3)]]
        case 6:
            reads: _Calls = [[_read(f"src/part_{(turn + n) % MODULES:02}.py")] for n in range(4)]
            return [*reads, [_edit(f"src/part_{(turn + 3) % MODULES:02}.py", turn)]]
        case 8:
            path, text = f"out/report_{turn}.md", f"# {words(turn, 4)}\n\n{words(turn, 80)}\n"
            write: _Call = ("Write", {"file_path": path, "content": text})
            return [[write, ("Bash", {"command": f"wc {path}"})]]
        case 9:  # more blocks than a cache looks back over, in one step
            few = 6 if turn % 30 != 9 else 22
            parts = [(f"src/part_{n % MODULES:02}.py", 1 + n // MODULES) for n in range(few)]
            return [[_read(path, limit=4, offset=offset) for path, offset in parts]]
        case _:
            return []


def _read(path: str, **more: int) -> _Call:
    return "Read", {"file_path": path, **more}


def _edit(path: str, turn: int) -> _Call:
    return "Edit", {"file_path": path, "old_string": "# end", "new_string": f"# step {turn}\n# end"}


def _answer(turn: int) -> str:
    planted = fact(turn)
    if planted is not None and planted.kind == "error":
        return f"It fails with `{planted.line}`: the lane is missing in the table of depots."
    if planted is not None:
        return "Understood, I'll go by that."
    return f"Done with step {turn}. {words(turn + 7, 40 if turn % 10 == 2 else 15)}."


def next_step(turn: int, step: int, life: str = "") -> Sequence[Block]:
    """What the model says as the `step`th answer of a turn."""
    found = steps(turn, life)
    return found[min(step, len(found) - 1)]

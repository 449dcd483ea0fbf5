"""How much of a conversation is in the summary by rules? Scripted sessions with planted facts become figures.

    python -m bench.session                     by kind; how fast
    python -m bench.session --misses            what was not found, session by session (of train only)
    python -m bench.session --json

A planted fact counts as found if all that it says stands in one line of the section of its kind (a line below
another belongs to it). `stray`: lines that must not be in a section and are. `noise`: the share of lines in a
section in which no fact of that kind stands; many of them are not wrong, but nobody has planted them.

How the sessions came about stands in `data/README.md`: of `train` the misses were read, of the others not,
but all are by the author of the rules. Of sessions of others expect less.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from memdir.model.messages import Message, ToolResult, ToolUse, assistant, person
from memdir.session.extractive import summarise

FOLDER = Path(__file__).resolve().parent / "data" / "sessions"
SECTIONS = {
    "decision": "Decisions",
    "correction": "Corrections",
    "file": "Files",
    "error": "Errors",
    "open": "Open points",
}
Session: TypeAlias = Mapping[str, Any]
Counts: TypeAlias = "Counter[str]"


def sessions(name: str) -> list[Session]:
    """The scripted sessions of a file."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def messages_of(session: Session) -> list[Message]:
    """A scripted session as the agent would have it on record."""
    found: list[Message] = []
    for number, one in enumerate(session["messages"]):
        if call := one.get("call"):
            given = f"call-{number}"
            found.append(assistant(ToolUse(id=given, name=call["name"], input=call["input"])))
            result = ToolResult(tool_use_id=given, content=one["result"], is_error=one["failed"])
            found.append(Message(role="user", content=(result,), origin="tool"))
        elif one["who"] == "person":
            found.append(person(one["text"]))
        else:
            found.append(assistant(one["text"]))
    return found


def lines_of(summary: str) -> dict[str, list[str]]:
    """The lines of each section, those below a line joined to it."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in summary.splitlines():
        if line.startswith("# "):
            lines = found.setdefault(line[2:], [])
        elif line.startswith("- "):
            lines.append(line)
        elif line.startswith("  - ") and lines:
            lines[-1] += "\n" + line
    return found


def missed(session: Session, summary: str) -> list[Mapping[str, Any]]:
    """The planted facts that are not in their sections."""
    found = lines_of(summary)
    return [fact for fact in session["facts"] if not _stands(fact, found)]


def strays(session: Session, summary: str) -> list[Mapping[str, Any]]:
    """What must not be in a section and is."""
    found = lines_of(summary)
    return [fact for fact in session["absent"] if _stands(fact, found)]


def score(cases: Sequence[Session]) -> dict[str, Any]:
    """Planted and found by kind, strays, lines and noise."""
    planted: Counts = Counter()
    found: Counts = Counter()
    shown: Counts = Counter()
    telling: Counts = Counter()
    stray: Counts = Counter()
    for session in cases:
        summary = summarise(messages_of(session))
        planted.update(fact["kind"] for fact in session["facts"])
        lost = Counter(fact["kind"] for fact in missed(session, summary))
        found.update(Counter(fact["kind"] for fact in session["facts"]) - lost)
        stray.update(fact["kind"] for fact in strays(session, summary))
        sections = lines_of(summary)
        for kind, title in SECTIONS.items():
            says = [fact["says"] for fact in session["facts"] if fact["kind"] == kind]
            lines = sections.get(title, [])
            shown[kind] += len(lines)
            telling[kind] += sum(any(all(s in line for s in one) for one in says) for line in lines)
    return {
        kind: {
            "planted": planted[kind],
            "found": found[kind],
            "share": round(found[kind] / planted[kind], 3) if planted[kind] else None,
            "stray": stray[kind],
            "lines": shown[kind],
            "noise": round(1 - telling[kind] / shown[kind], 3) if shown[kind] else None,
        }
        for kind in SECTIONS
    }


def share(scores: Mapping[str, Any]) -> float:
    """Of all planted facts, those found."""
    planted = sum(int(one["planted"]) for one in scores.values())
    return sum(int(one["found"]) for one in scores.values()) / planted if planted else 0.0


def speed(turns: int = 300) -> tuple[int, float]:
    """Messages, and seconds that the summary of a conversation of so many turns takes."""
    base = [message for session in sessions("train") for message in messages_of(session)]
    long: list[Message] = []
    told = 0
    while told < turns:
        for message in base:
            told += message.origin == "person"
            if told > turns:
                break
            long.append(message)
    summarise(long[:40])  # the phrases are read once a process
    took = []
    for _ in range(5):
        start = time.perf_counter()
        summarise(long)
        took.append(time.perf_counter() - start)
    return len(long), min(took)


def _stands(fact: Mapping[str, Any], found: Mapping[str, Sequence[str]]) -> bool:
    lines = found.get(SECTIONS[fact["kind"]], [])
    return any(all(says in line for says in fact["says"]) for line in lines)


def _print(name: str, scores: Mapping[str, Any]) -> None:
    print(f"\n{name}: {share(scores):.2f} of the planted facts are in the summary")
    print(f"  {'kind':<12}{'planted':>8}{'found':>7}{'share':>7}{'stray':>7}{'lines':>7}{'noise':>7}")
    for kind, one in scores.items():
        print(
            f"  {kind:<12}{one['planted']:>8}{one['found']:>7}{one['share']:>7.2f}{one['stray']:>7}"
            f"{one['lines']:>7}{one['noise']:>7.2f}"
        )


def main() -> None:
    """The figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", action="store_true")
    given = parser.parse_args()
    if given.misses:
        for session in sessions("train"):
            summary = summarise(messages_of(session))
            for fact in missed(session, summary):
                print(f"{session['id']:<18}{fact['kind']:<12}{' + '.join(fact['says'])}")
            for fact in strays(session, summary):
                print(f"{session['id']:<18}{fact['kind']:<12}{' + '.join(fact['says'])}  must not be there")
        return
    scores = {name: score(sessions(name)) for name in ("train", "held", "unseen", "last")}
    if given.json:
        print(json.dumps(scores))
        return
    for name, one in scores.items():
        _print(name, one)
    count, seconds = speed()
    print(f"\n300 turns, {count} messages: {seconds * 1000:.0f} ms")


if __name__ == "__main__":
    main()

"""How good is the extraction? Talks with known right answers become figures.

    python -m bench.extract --cases FILE            a table
    python -m bench.extract --cases FILE --json     {"all": {...}, "by_lang": {...}, "by_category": {...}}
    python -m bench.extract --model SPEC            with a language model instead of the rules
    python -m bench.extract --misses                what was not found, talk by talk

Recall: of the right answers found. Precision: of the files written that hold one. Left alone: talks with
nothing to save from which nothing was saved. Leaks: talks from which something got out that must not. The
functions that score are those of `extraction_check.py` beside the case file (else the copy in tests/data).
The talk goes the product's whole way into a directory, which is read back. Two baselines run along: one
writes nothing, one writes down every message.

The phrases of the rules were chosen by reading these talks and their weights fitted to them (bench/weigh.py),
so their figures are better than those of talks nobody has read. `python -m bench.weigh --cross-validate`
judges each talk by weights that were not fitted to it.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import anyio

from memdir.errors import MemdirError, SecretFound
from memdir.extract.foreign import Talk
from memdir.extract.learn import learn
from memdir.extract.local import Known, Turn
from memdir.memory import topic
from memdir.memory.entrypoint import Pointer
from memdir.memory.store import ANY, MemoryDir, Stored
from memdir.model.choose import client
from memdir.model.client import ModelClient
from memdir.model.local import Local
from memdir.model.messages import Message, ToolResult, ToolUse, assistant, person

REPO = Path(__file__).resolve().parent.parent
DEFAULT_CASES = (
    REPO.parent / "shared" / "cases" / "extraction.jsonl",
    REPO / "tests" / "data" / "extraction.jsonl",
)

Case: TypeAlias = Mapping[str, Any]
State: TypeAlias = list[dict[str, str]]
Extractor: TypeAlias = Callable[[Case, MemoryDir], None]
"""Brings a memory directory, which holds the case's existing memories, to its state after the talk."""
Score: TypeAlias = Mapping[str, Any]

COUNTS = ("gold", "found", "written", "right", "wrong_deletes")


# ---------------------------------------------------------------------------------- running a case


def run_case(case: Case, extractor: Extractor) -> State:
    """The memory directory after the talk, as the score functions want it."""
    with tempfile.TemporaryDirectory() as folder:
        memory = MemoryDir(Path(folder) / "memory", trash=Path(folder) / "trash")
        memory.prepare()
        for known in case["existing"]:
            keys = {key: known[key] for key in ("name", "description", "type", "body")}
            _save(memory, known["file"], topic.render(**keys).encode(), case)
        extractor(case, memory)
        return [_state(memory.read(header.path), case) for header in memory.list()]


def _state(stored: Stored, case: Case) -> dict[str, str]:
    """An untouched memory is given as the case has it, so that only real changes count."""
    found = stored.topic
    assert found is not None
    text = " ".join((found.name, found.description or "", found.body.strip()))
    for known in case["existing"]:
        before = " ".join((known["name"], known["description"], known["body"]))
        if known["file"] == stored.file and before.split() == text.split():
            text = before
    return {"file": stored.file, "type": found.type or "", "text": text}


def product(model: ModelClient) -> Extractor:
    """The product's own way with this model: the talk is learned as one that took place elsewhere."""

    def extractor(case: Case, memory: MemoryDir) -> None:
        async def work() -> None:
            cursors = memory.directory.parent / "cursors"
            await learn(talk_of(case), memory=memory, model=model, cursors=cursors, now=lambda: _now(case))

        anyio.run(work)

    return extractor


def turn_by_turn(case: Case, memory: MemoryDir) -> None:
    """By rules, as in a conversation: after each turn, knowing nothing of the later ones."""

    async def work() -> None:
        whole, cursors = talk_of(case), memory.directory.parent / "cursors"
        for end in range(1, len(whole.messages) + 1):
            if end == len(whole.messages) or whole.messages[end].origin == "person":
                so_far = replace(whole, messages=whole.messages[:end])
                await learn(so_far, memory=memory, model=Local(), cursors=cursors, now=lambda: _now(case))

    anyio.run(work)


def talk_of(case: Case) -> Talk:
    """The talk as the product reads it: what a tool said answers a call of the assistant's."""
    messages: list[Message] = []
    for number, turn in enumerate(case["turns"]):
        text, at = turn["text"], _now(case)
        match turn["role"]:
            case "user":
                messages.append(person(text, at=at))
            case "assistant":
                messages.append(assistant(text, at=at))
            case _:
                call = ToolUse(id=f"call_{number}", name=turn.get("tool") or "Bash", input={})
                answer = ToolResult(tool_use_id=call.id, content=text)
                messages.append(assistant(call, at=at))
                messages.append(Message(role="user", content=(answer,), origin="tool", at=at))
    return Talk(session_id=case["id"], cwd=None, messages=tuple(messages), ended=_now(case))


def turns_of(case: Case) -> list[Turn]:
    """The talk as the rules see it."""
    return [Turn(role=_ROLES[turn["role"]], text=turn["text"]) for turn in case["turns"]]


def known_of(case: Case) -> list[Known]:
    """What is known before it."""
    keys = ("file", "name", "description", "type", "body")
    return [Known(**{key: known[key] for key in keys}) for known in case["existing"]]


_ROLES: Mapping[str, Any] = {"user": "person", "assistant": "assistant", "tool": "tool"}


def _save(memory: MemoryDir, file: str, data: bytes, case: Case) -> None:
    read = topic.parse(data, filename=file)
    pointer = Pointer(title=read.name, file=file, hook=read.description or "")
    with contextlib.suppress(SecretFound):  # refused by the store, as in the product
        memory.save(file, data, pointer=pointer, expected=ANY, now=_now(case), origin=None)


def _now(case: Case) -> datetime:
    return datetime.combine(date.fromisoformat(case["today"]), time(12), tzinfo=UTC)


def writes_nothing(case: Case, memory: MemoryDir) -> None:
    """Baseline: no memory at all."""


def dumps_each_turn(case: Case, memory: MemoryDir) -> None:
    """Baseline: each message of the person is a memory."""
    for number, turn in enumerate(case["turns"]):
        if turn["role"] == "user":
            text = topic.render(name=f"Turn {number}", description=None, type="feedback", body=turn["text"])
            _save(memory, f"turn_{number}.md", text.encode(), case)


EXTRACTORS: Mapping[str, Extractor] = {
    "local": product(Local()),
    "local, turn by turn": turn_by_turn,
    "writes nothing": writes_nothing,
    "dumps each user turn": dumps_each_turn,
}


# ---------------------------------------------------------------------------------- figures


def figures(scored: Iterable[tuple[Case, Score]]) -> dict[str, float | int | None]:
    """Fractions 0 to 1, or None where there is nothing to divide by; leaks and wrong deletes are counts."""
    total: Counter[str] = Counter()
    for _, score in scored:
        total.update({name: score[name] for name in COUNTS})
        total["leaks"] += bool(score["leaks"])
        total["empty"] += score["empty_right"] is not None
        total["empty_right"] += bool(score["empty_right"])
    return {
        "precision": _fraction(total["right"], total["written"]),
        "recall": _fraction(total["found"], total["gold"]),
        "left_alone": _fraction(total["empty_right"], total["empty"]),
        "leaks": total["leaks"],
        "wrong_deletes": total["wrong_deletes"],
    }


def _fraction(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def report(scored: Sequence[tuple[Case, Score]]) -> dict[str, Any]:
    """All talks, by language, by category."""
    return {
        "all": figures(scored),
        "by_lang": _grouped(scored, "lang"),
        "by_category": _grouped(scored, "category"),
    }


def _grouped(scored: Sequence[tuple[Case, Score]], key: str) -> dict[str, Any]:
    groups: dict[str, list[tuple[Case, Score]]] = defaultdict(list)
    for case, score in scored:
        groups[case[key]].append((case, score))
    return {name: figures(group) for name, group in sorted(groups.items())}


# ---------------------------------------------------------------------------------- command line


def checker(cases: Path) -> ModuleType:
    """`extraction_check.py` beside the cases, or the project's copy."""
    for folder in (cases.resolve().parent, REPO / "tests" / "data"):
        path = folder / "extraction_check.py"
        spec = importlib.util.spec_from_file_location("extraction_check", path) if path.exists() else None
        if spec and spec.loader:
            module = importlib.util.module_from_spec(spec)
            with _no_bytecode():
                spec.loader.exec_module(module)
            return module
    raise SystemExit(f"error: no extraction_check.py beside {cases}\nhint: put the score functions there")


def load(path: Path, check: ModuleType) -> list[Case]:
    """The talks; secrets are cut in two in the file and joined here."""
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    for case in cases:
        for turn in case["turns"]:
            turn["text"] = turn["text"].replace(check.MARK, "")
    return cases


@contextlib.contextmanager
def _no_bytecode() -> Iterator[None]:
    """The case folder may be read-only and is not ours."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def scored(cases: Iterable[Case], extractor: Extractor, check: ModuleType) -> list[tuple[Case, Score]]:
    """Run and score."""
    return [(case, check.score(case, run_case(case, extractor))) for case in cases]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    options = _options(arguments)
    path = options.cases
    check = checker(path)
    cases = load(path, check)
    try:
        extractor = product(client(options.model))
        ours = scored(cases, extractor, check)
    except MemdirError as error:
        raise SystemExit(
            f"error: {error}\nhint: {error.hint}" if error.hint else f"error: {error}"
        ) from error
    if options.json:
        print(json.dumps(report(ours), indent=2))
        return 0
    print(table(options.model, report(ours)))
    for name in ("local, turn by turn", "writes nothing", "dumps each user turn"):
        print(table(name, {"all": figures(scored(cases, EXTRACTORS[name], check))}))
    if options.misses:
        _print_misses(ours)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m bench.extract", description=about)
    default = next((path for path in DEFAULT_CASES if path.exists()), DEFAULT_CASES[0])
    parser.add_argument("--cases", type=Path, default=default, help="talks, JSON lines")
    parser.add_argument("--model", default="local", help="`local`, or a language model: `anthropic:NAME`")
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    parser.add_argument("--misses", action="store_true", help="also list what went wrong, talk by talk")
    return parser.parse_args(arguments)


def table(name: str, parts: Mapping[str, Any]) -> str:
    rows = [
        f"\n## {name}",
        f"{'':24} {'recall':>7} {'precision':>9} {'left alone':>10} {'leaks':>5} {'wrong deletes':>13}",
    ]
    for part, group in parts.items():
        for label, found in [("all", group)] if part == "all" else group.items():
            rows.append(
                f"{label:24} {_percent(found['recall']):>7} {_percent(found['precision']):>9} "
                f"{_percent(found['left_alone']):>10} {found['leaks']:>5} {found['wrong_deletes']:>13}"
            )
    return "\n".join(rows)


def _percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:.0f} %"


def _print_misses(pairs: Iterable[tuple[Case, Score]]) -> None:
    for case, score in pairs:
        fine = score["found"] == score["gold"] and score["right"] == score["written"]
        if not fine or score["leaks"] or score["wrong_deletes"] or score["empty_right"] is False:
            print(
                f"{case['id']:28} found {score['found']}/{score['gold']}"
                f"  right {score['right']}/{score['written']}"
                f"  leaks {len(score['leaks'])}  wrong deletes {score['wrong_deletes']}"
            )


if __name__ == "__main__":
    raise SystemExit(main())

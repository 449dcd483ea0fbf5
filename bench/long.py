"""What a long conversation costs, and what it forgets: one scripted session in the real runtime, over HTTP.

    python -m bench.long                        300 turns in 60,000 tokens; notes by a model, by rules
    python -m bench.long --turns 60 --window 40000

A session with tool calls on real files runs against the wire server of the tests, which counts each request
and accounts for it as a provider's prompt cache would (entries at marks only, 20 blocks looked back; they do
not grow old here). Every tenth turn something is said once that must not be forgotten. `kept`: how many of
these stand in the summary or behind it, right after each compaction, and at the end. Of what was not read
from the cache, `new` is what no request had held before; the rest was sent before, and not found.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from tests.story.long import model, script
from tests.story.long.stage import SERVICE, Asked, Counting, Stage
from tests.wire.server import MINIMUM

from memdir.agent.events import COMPACTED, DEGRADED
from memdir.model.known import known
from memdir.model.messages import Usage

FIRST = "the first request"
CUT = "first request after a compaction"
TAIL = "what was said and done since"
OWN = "forks: their message, and the answer before it"
EDITS = "forks: what they did themselves"
TRIMMED = "forks that had no room for all of it"
LOST = "sent before, not found: further than 20 blocks back"
UNMARKED = "sent before, not found: no mark there"


class Replay(Counting):
    """Accounts for requests once more, and tells what could have been read."""

    def __init__(self) -> None:
        super().__init__(minimum=MINIMUM)
        self._sent = set[bytes]()

    def take(self, asked: Asked) -> tuple[Usage, int, int]:
        """What the request took; tokens of the longest beginning that was sent before; and of the longest one
        that had an entry."""
        body = asked.seen.body
        names, sizes = self._prefixes(body, self._pieces(body))
        placed = list(zip(names, sizes, strict=True))
        before = max((size for name, size in placed if name in self._sent), default=0)
        entry = max((size for name, size in placed if name in self._entries), default=0)
        self._sent.update(names)
        return self.account(body), before, entry


@dataclass
class Paid:
    """What the requests took, and why what was not read was not."""

    usage: dict[model.Job, Usage] = field(default_factory=lambda: defaultdict(Usage))
    asked: Counter[model.Job] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    times: Counter[str] = field(default_factory=Counter)

    def note(self, cause: str, tokens: int) -> None:
        """Tokens that were paid for, in one request."""
        if tokens > 0:
            self.unread[cause] += tokens
            self.times[cause] += 1


def paid(requests: Iterable[Asked]) -> Paid:
    """The account of a session."""
    replay, found = Replay(), Paid()
    head = 0  # tokens of the longest beginning of a conversation's request that still stands
    for number, asked in enumerate(requests):
        usage, before, entry = replay.take(asked)
        heard, new = model.heard_json(asked.seen.body), usage.total_input - before
        found.usage[asked.job] += usage
        found.asked[asked.job] += 1
        if number == 0:
            cause = FIRST
        elif asked.job == "host":
            cause = TAIL if before >= head else CUT
        elif heard.parts[0].text.startswith("[The first"):
            cause = TRIMMED
        else:
            cause = OWN if heard.steps_done == 0 else EDITS
        if asked.job == "host":
            head = usage.total_input
        found.note(cause, new)
        found.note(LOST, entry - usage.cache_read)
        found.note(UNMARKED, before - max(entry, usage.cache_read))
    return found


def played(turns: int, window: int, *, by_rules: bool) -> tuple[Stage, float]:
    """A session, and how many seconds it took."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Stage(folder=Path(folder).resolve(), turns=turns, window=window, by_rules=by_rules) as stage,
    ):
        began = time.perf_counter()
        anyio.run(stage.play)
        return stage, time.perf_counter() - began


def kept(stage: Stage) -> tuple[int, int, int, int]:
    """Of what was planted: how many stand there after the compactions, of how many; and at the end."""
    planted = script.facts(stage.turns)
    due = sum(len(script.facts(turn)) for turn in stage.cuts)
    text = stage.standing()
    return due - len(stage.lost), due, sum(one.stands_in(text) for one in planted), len(planted)


def told(stage: Stage, seconds: float) -> None:
    """Print what came of a session."""
    how = Counter(str(event.fields["how"]) for event in stage.of(COMPACTED))
    over = [one for one in stage.requests if one.tokens + one.answer > stage.window]
    largest = max(one.tokens + one.answer for one in stage.requests)
    after, due, now, planted = kept(stage)
    keeper, share = "rules" if stage.by_rules else "a model", after / max(due, 1)
    print(f"\nnotes by {keeper}: {stage.turns} turns, window {stage.window:,}")
    print(f"  {len(stage.seen)} requests in {seconds:.0f} s; compactions: {dict(how)}")
    print(f"  went wrong: {stage.failed or 'nothing'}; given up: {_given_up(stage) or 'nothing'}")
    print(f"  over the window, answer included: {len(over)}; largest {largest:,}")
    print(f"  kept after each compaction: {after} of {due} ({share:.2f}); at the end: {now} of {planted}")


def _given_up(stage: Stage) -> list[str]:
    return [f"{event.fields['job']} ({event.fields['error']})" for event in stage.of(DEGRADED)]


def table(requests: Sequence[Asked]) -> None:
    """Print what was paid for."""
    found = paid(requests)
    price = known("anthropic", SERVICE)
    heads = ("requests", "input", "read", "written", "in full", "read", "USD")
    print(f"\n  {'asked by':<12}" + "".join(f"{head:>12}" for head in heads))
    total = sum(found.usage.values(), start=Usage())
    rows = [(str(job), found.asked[job], usage) for job, usage in found.usage.items()]
    for job, count, usage in [*rows, ("all", sum(found.asked.values()), total)]:
        cost = price.price.of(usage) if price is not None and price.price is not None else None
        figures = (count, usage.total_input, usage.cache_read, usage.cache_write, usage.input)
        row = "".join(f"{figure:>12,}" for figure in figures)
        print(f"  {job:<12}{row}{usage.hit_percent:>11.1f}%{cost or 0:>12.2f}")
    alone = sum(paid(one for one in requests if one.job == "host").usage.values(), start=Usage())
    print(f"  the same session without forks: {alone.hit_percent}% read")
    background = sum((usage for job, usage in found.usage.items() if job != "host"), start=Usage())
    counted = background.input + background.cache_write + background.cache_read // 10
    print(f"  counted on the day's budget for background work (2,000,000 by default): {counted:,}")
    print(f"\n  {'not read, and why':<54}{'times':>7}{'tokens':>12}{'of input':>10}")
    for cause, tokens in found.unread.most_common():
        print(f"  {cause:<54}{found.times[cause]:>7}{tokens:>12,}{tokens * 100 / total.total_input:>9.2f}%")


def main() -> None:
    """The figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--window", type=int, default=60_000)
    given = parser.parse_args()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"python -m bench.long --turns {given.turns} --window {given.window}")
    print(f"on {platform.machine()}, {os.cpu_count()} cores, load {load}")
    for by_rules in (False, True):
        stage, seconds = played(given.turns, given.window, by_rules=by_rules)
        told(stage, seconds)
        table(stage.requests)


if __name__ == "__main__":
    main()

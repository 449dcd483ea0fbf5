"""An untidy memory directory, made from a seed, and a consolidator that tidies it well.

120 topics: 30 of them say again what another says (half word for word, half with a line more), 10 contradict
a newer one, 20 tell of days as seen from the day they were written. The index has 260 lines: entries that
lead nowhere, entries twice, hooks that are too long.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memdir.model.messages import Request, Text, ToolUse
from memdir.testing import Line, call, say

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


def _words(text: str) -> list[str]:
    return text.split()


_SUBJECTS = _words(
    """
    solver billing ledger parser gateway scheduler mailer archive search checkout inventory payroll tracker
    importer exporter renderer profiler crawler notifier planner router cache proxy indexer validator
    compiler linter formatter deployer monitor reporter uploader downloader encoder decoder translator
    tokenizer sampler mixer merger splitter sorter ranker grader auditor signer hasher packer loader
    cleaner counter watcher recorder player editor viewer printer scanner tagger builder tester runner
    launcher updater installer patcher mapper reducer joiner filterer grouper batcher streamer poller
    pusher puller syncer backupper restorer migrator
    """
)
_PLACES = _words(
    """
    Lisbon Oslo Graz Turin Leeds Malmo Ghent Porto Basel Riga
    """
)
_PEOPLE = _words(
    """
    Ines Jonas Mira Tomek Aiko Bela Carla Dario Edda Farid
    """
)
_STORES = _words(
    """
    MySQL MongoDB Cassandra Redis SQLite Oracle DynamoDB MariaDB CouchDB Firestore
    """
)


@dataclass(kw_only=True)
class Untidy:
    """The directory, and what is true of it."""

    files: dict[str, str] = field(default_factory=dict)
    mtimes: dict[str, datetime] = field(default_factory=dict)
    doubles: dict[str, str] = field(default_factory=dict)
    """A file that says again what another says -> the other."""
    extra: dict[str, str] = field(default_factory=dict)
    """The line that a double says besides."""
    outdated: dict[str, str] = field(default_factory=dict)
    """A file that is contradicted -> the newer one that does."""
    stale: dict[str, tuple[str, str]] = field(default_factory=dict)
    """A file -> the line with a day as seen from then, and what it is with its date."""

    @property
    def probes(self) -> dict[str, str]:
        """What may be asked -> the file that recall must bring, whatever is tidied."""
        plain = [name for name in self.files if name.startswith("plain_")]
        about = (name[6:-3] for name in sorted(plain)[:10])
        return {f"the {one} is broken, whom do I ask in #{one}-help?": f"plain_{one}.md" for one in about}

    def lay(self, directory: Path) -> None:
        """Write it down."""
        import os

        directory.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            place = directory / name
            place.write_bytes(text.encode())
            moment = int(self.mtimes.get(name, NOW).timestamp()) * 10**9 + 123_456_789
            os.utime(place, ns=(moment, moment))
        asked = "".join(f"- ask: {json.dumps(ask)}\n  must: {name}\n" for ask, name in self.probes.items())
        (directory / "probes.yaml").write_text(asked, encoding="utf-8")


def untidy(seed: int = 1) -> Untidy:
    """120 topics and an index of 260 lines."""
    rng, made = random.Random(seed), Untidy()
    subjects = rng.sample(_SUBJECTS, 80)

    def put(name: str, description: str, *lines: str, kind: str = "project", days: int = 0) -> None:
        head = f"---\nname: {name[:-3]}\ndescription: {description}\ntype: {kind}\n"
        head += f"origin:\n  session: s{len(made.files):04}\n  worker: extract\n---\n"
        made.files[name] = head + "".join(f"{line}\n" for line in lines)
        made.mtimes[name] = NOW - timedelta(days=days, hours=2)

    for number, subject in enumerate(subjects[:30]):
        person, place = rng.choice(_PEOPLE), rng.choice(_PLACES)
        lines: tuple[str, ...] = (
            f"The {subject} team sits in {place}.",
            f"- {person} reviews each change of the {subject} before it ships.",
            f"- Its budget for 2026 is {rng.randrange(20, 90)} thousand euros.",
        )
        put(f"team_{subject}.md", f"where the {subject} team is and who reviews", *lines, days=80 + number)
        double = f"team_{subject}_notes.md"
        if number % 2:
            made.extra[double] = f"The {subject} team meets on {rng.choice(('Mondays', 'Fridays'))} at 10:15."
            lines = (*lines, made.extra[double])
        put(double, f"where the {subject} team is and who reviews", *lines, days=40 + number)
        made.doubles[double] = f"team_{subject}.md"
    for number, (subject, old) in enumerate(zip(subjects[30:40], _STORES, strict=True)):
        outdated, newer = f"store_{subject}_old.md", f"store_{subject}.md"
        put(outdated, f"the {subject} store", f"The {subject} keeps its rows in {old}.", days=300 + number)
        put(
            newer,
            f"the {subject} store, moved",
            f"Since 2026-02-{number + 1:02} the {subject} keeps its rows in PostgreSQL.",
            f"The move was {rng.choice(_PEOPLE)}'s, because backups took all night.",
            days=100 + number,
        )
        made.outdated[outdated] = newer
    for number, subject in enumerate(subjects[40:60]):
        name, days = f"decided_{subject}.md", 60 + 3 * number
        put(
            name,
            f"what was decided about the {subject}",
            f"Yesterday we decided to freeze the {subject} for the audit.",
            f"Reason: the auditors compare the {subject} with a printed list.",
            days=days,
        )
        day = (made.mtimes[name] - timedelta(days=1)).date()
        made.stale[name] = (
            f"Yesterday we decided to freeze the {subject} for the audit.",
            f"On {day} we decided to freeze the {subject} for the audit.",
        )
    for number, subject in enumerate(subjects[60:80]):
        put(
            f"plain_{subject}.md",
            f"who looks after the {subject}",
            f"{rng.choice(_PEOPLE)} looks after the {subject}.",
            f"Questions about the {subject} go to the channel #{subject}-help.",
            days=20 + number,
        )
    made.files["MEMORY.md"] = _index(rng, made)
    return made


def _index(rng: random.Random, made: Untidy) -> str:
    """Too long: more lines than are loaded."""
    lines = ["# Memory", "", "Ask Ines before anything here is given to customers.", ""]
    names = list(made.files)
    lines += [f"- [{name[:-3]}]({name}) — {_hook(made.files[name])}" for name in names]
    lines += [f"- [gone {n}](gone_{n}.md) — a memory that is not there any more" for n in range(40)]
    twice, long = rng.sample(names, 40), "and so on " * 18
    lines += [f"- [{name[:-3]} again]({name}) — {_hook(made.files[name])} {long}" for name in twice]
    while len(lines) < 260:
        lines.insert(rng.randrange(4, len(lines)), "")
    return "\n".join(lines) + "\n"


def _hook(text: str) -> str:
    found = re.search(r"^description: (.*)$", text, re.MULTILINE)
    return found[1] if found else ""


# -- the consolidator ----------------------------------------------------------------------------------------


def stage_of(request: Request) -> Path:
    """The copy that a dream's fork was given to work on."""
    said = "\n".join(
        block.text for message in request.messages for block in message.content if isinstance(block, Text)
    )
    found = re.findall(r"(/[^\s`\"']*/stage-[0-9a-f]{16}/memory)", said)
    assert found, "the request names no copy"
    return Path(found[-1])


class Benign:
    """Tidies an untidy directory as a good model would: `lines` is its script."""

    def __init__(self, made: Untidy) -> None:
        self.made = made

    @property
    def lines(self) -> list[Line]:
        """Six steps, most a function of the request."""
        steps: list[Line] = [self.look, self.read, self.write, self.look_again, self.index]
        return [*steps, say("Merged, dated and re-indexed.")]

    def look(self, request: Request) -> list[ToolUse]:
        stage = stage_of(request)
        return [
            call("Glob", pattern="**/*.md", path=str(stage)),
            call("Read", file_path=str(stage / "MEMORY.md")),
        ]

    def read(self, request: Request) -> list[ToolUse]:
        stage, made = stage_of(request), self.made
        changed = {*made.doubles, *made.doubles.values(), *made.outdated, *made.stale}
        return [call("Read", file_path=str(stage / name)) for name in sorted(changed)]

    def write(self, request: Request) -> list[ToolUse]:
        stage, made, calls = stage_of(request), self.made, []
        files: list[dict[str, str]] = []
        lines: list[dict[str, str]] = []
        for double, kept in made.doubles.items():
            if extra := made.extra.get(double):
                calls.append(_write(stage / kept, made.files[kept] + extra + "\n"))
            calls.append(_write(stage / double, ""))
            files.append({"file": double, "into": kept, "why": f"says what {kept} says"})
        for outdated, newer in made.outdated.items():
            calls.append(_write(stage / outdated, ""))
            files.append({"file": outdated, "why": f"outdated: {newer} tells of the move to PostgreSQL"})
        for name, (was, now) in made.stale.items():
            calls.append(call("Edit", file_path=str(stage / name), old_string=was, new_string=now))
            lines.append({"file": name, "was": was, "now": now, "why": "the day as a date"})
        calls.append(_write(stage / "dream.json", json.dumps({"version": 1, "files": files, "lines": lines})))
        return calls

    def look_again(self, request: Request) -> list[ToolUse]:
        return [call("Read", file_path=str(stage_of(request) / "MEMORY.md"))]

    def index(self, request: Request) -> list[ToolUse]:
        return [_write(stage_of(request) / "MEMORY.md", self._index())]

    def _index(self) -> str:
        made = self.made
        left = [one for one in made.files if one not in (*made.doubles, *made.outdated, "MEMORY.md")]
        lines = ["# Memory", "", "Ask Ines before anything here is given to customers.", ""]
        return "\n".join([*lines, *(f"- [{n[:-3]}]({n}) — {_hook(made.files[n])}" for n in left)]) + "\n"


def _write(path: Path, content: str) -> ToolUse:
    return call("Write", file_path=str(path), content=content)


def bytes_and_times(directory: Path) -> Mapping[str, tuple[bytes, int]]:
    """Everything visible in a directory: path -> bytes and mtime."""
    return {
        path.relative_to(directory).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }

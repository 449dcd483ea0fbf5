"""Where memories come from, and how old they are, stays so through a dream (E11, F1, M5). Pure.

A file that others went into carries the origins of all, one a line, beside the one of its own:

    origin:
      session: 3f0d1a52
      worker: extract
    origins:
      - session 3f0d1a52 worker extract
      - session 77aa0c11 message 0b6b7a0e worker agent

Plain texts in a list: any YAML parser reads them, other programs leave the key alone, and `origins_of` reads
it back. Below `metadata:` in files that keep such things there.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from memdir.dream.files import Snapshot
from memdir.dream.plan.deriving import Plan
from memdir.dream.plan.page import Page, read
from memdir.errors import UsageError
from memdir.memory import encoding, frontmatter, topic
from memdir.memory.frontmatter import Entry, Header, scalar
from memdir.memory.topic import Origin
from memdir.names import INDEX, is_topic

KEY = "origins"
WORKER = "dream"
"""Who wrote a memory that is made of no other."""
MOST = 64
"""Origins that one file carries."""
_PERSONAL = frozenset({"user", "feedback"})


def settled(before: Snapshot, after: Snapshot, plan: Plan) -> Snapshot:
    """`after` with the origins, types and modification times that its files are due.

    Files that the plan does not change are as they were. A file whose lines all stood somewhere has the
    newest time of the files they stood in; one with something new in it has none: it is written now.
    """
    sources = _Sources(before, after, plan)
    changed = set(plan.files)
    files: dict[str, bytes] = {}
    mtimes: dict[str, int] = {}
    for file in sorted(after.files):
        data = after.files[file]
        if file == INDEX or (is_topic(file) and file not in changed):
            data = data if file == INDEX else before.files.get(file, data)
            if before.files.get(file) == data and file in before.mtimes:
                mtimes[file] = before.mtimes[file]
        elif is_topic(file):
            was, made_of = before.files.get(file), [before.files[one] for one in sources.of(file)]
            data = _with_origins(_with_type(data, was, made_of), was, made_of)
            if (newest := sources.newest(file)) is not None:
                mtimes[file] = newest
        else:
            continue  # no memory, whatever it is
        files[file] = data
    return Snapshot(files=files, mtimes=mtimes)


def origins_of(data: bytes) -> tuple[Origin, ...]:
    """All the places a memory comes from, its own first, none twice."""
    header = frontmatter.read(encoding.readable(data))
    own = topic.parse(data, filename="x.md").origin
    listed = _listed(header) if header else []
    return tuple(dict.fromkeys([*([own] if own else []), *listed]))


# -- which files went into one ------------------------------------------------------------------------------


class _Sources:
    """What of `before` the files of `after` are made of."""

    def __init__(self, before: Snapshot, after: Snapshot, plan: Plan) -> None:
        self.before, self.after = before, after
        self.given: dict[str, Counter[str]] = defaultdict(Counter)
        self.reworded: dict[str, set[str]] = defaultdict(set)
        for line in plan.lines:
            if line.to is None:
                continue
            if line.file != line.to and line.file != INDEX:
                self.given[line.to][line.file] += 1
            if line.now:
                self.reworded[line.to].update(_units(read("now.md", line.now.encode("utf-8", "replace"))))
        for change in plan.changes:
            if change.into is not None:
                self.given[change.into][change.file] += 1
        self._holders: dict[str, list[str]] | None = None

    def of(self, file: str) -> list[str]:
        """The files that went into it, the one that gave most first; not what it was itself. For a new file
        to which nothing was moved, those that say the same.
        """
        given = self.given.get(file, Counter())
        if not given and file not in self.before.files:
            units = _units(read(file, self.after.files[file]))
            given = Counter(holder for unit in units for holder in self.holders.get(unit, ())[:MOST])
        return sorted((one for one in given if one in self.before.files), key=lambda one: (-given[one], one))

    def newest(self, file: str) -> int | None:
        """The newest time of what a file is made of; None where something new is in it, or none is known."""
        made_of = {file} & self.before.files.keys() | set(self.of(file))
        for unit in _units(read(file, self.after.files[file])):
            if unit in self.reworded.get(file, ()):
                continue
            holders = self.holders.get(unit)
            if not holders:
                return None
            if made_of.isdisjoint(holders):
                made_of.update(holders)
        times = [self.before.mtimes[one] for one in made_of if one in self.before.mtimes]
        return max(times, default=None)

    @property
    def holders(self) -> Mapping[str, list[str]]:
        """Which files a sentence stood in."""
        if self._holders is None:
            self._holders = defaultdict(list)
            for file in self.before.topics:
                for unit in _units(read(file, self.before.files[file])):
                    self._holders[unit].append(file)
        return self._holders


def _units(page: Page) -> set[str]:
    """The sentences of the lines that say something, once each; `fine` and `coarse` tell the same."""
    return {unit.text for block in page.blocks if block.is_fact for unit in block.coarse}


# -- the header ---------------------------------------------------------------------------------------------


def _with_type(data: bytes, was: bytes | None, sources: Sequence[bytes]) -> bytes:
    """A file made of projects and references only does not turn into what the person is or wants."""
    kind = topic.parse(data, filename="x.md").type
    made_of = [
        topic.parse(one, filename="x.md").type for one in ([was] if was is not None else []) + [*sources]
    ]
    known = [one for one in made_of if one is not None]
    if kind not in _PERSONAL or not known or _PERSONAL & set(known):
        return data
    own = made_of[0] if was is not None and made_of[0] is not None else Counter(known).most_common(1)[0][0]
    with suppress(UsageError):
        return topic.edit(data, {"type": own})
    return data


def _with_origins(data: bytes, was: bytes | None, sources: Sequence[bytes]) -> bytes:
    """The file with the origin it had, or that of what it is made of; whatever the model wrote there."""
    own = topic.parse(was, filename="x.md").origin if was is not None else None
    every = list(dict.fromkeys(one for old in ([was] if was else []) + [*sources] for one in origins_of(old)))
    every = every[:MOST]
    first = own or (every[0] if every else None)
    if first is None and was is None and not sources and frontmatter.read(encoding.readable(data)):
        first = Origin(worker=WORKER)
    data = _with_origin(data, first)
    return _with_list(data, every if len(every) > 1 else [])


def _with_origin(data: bytes, origin: Origin | None) -> bytes:
    if topic.parse(data, filename="x.md").origin == origin:
        return data
    parts = {
        "origin.session": origin.session if origin else None,
        "origin.message": origin.message if origin else None,
        "origin.worker": origin.worker if origin else None,
    }
    with suppress(UsageError):
        return topic.edit(data, parts)
    return data


def _with_list(data: bytes, origins: Sequence[Origin]) -> bytes:
    """The file with that list of origins in its header, and no other; unchanged where that can't be."""
    with suppress(UsageError):
        text = encoding.decode(data)
        header = frontmatter.read(text)
        if header is None or (_listed(header) == list(origins) and _is_there(header) == bool(origins)):
            return data
        if any(one not in (None, _entry(header)) for one in _named(header)):
            return data  # the key is somebody else's, and there can't be two
        body = header.body
        header = _without_list(header)
        fresh = _put(header, origins) if origins else header.text
        again = frontmatter.read(fresh)
        if again is not None and again.body == body and _listed(again) == list(origins):
            return encoding.encode(fresh, like=data)
    return data


def _is_there(header: Header) -> bool:
    return _entry(header) is not None


def _entry(header: Header) -> Entry | None:
    """The list of origins, wherever it stands, if it is ours."""
    top, below = _named(header)
    top = top or below
    return top if top is not None and _items(header, top) else None


def _named(header: Header) -> tuple[Entry | None, Entry | None]:
    """What stands under the key, whosever it is: above, and below `metadata:`."""
    metadata = header.entry("metadata")
    below = next((child for child in metadata.children if child.key == KEY), None) if metadata else None
    return header.entry(KEY), below


def _listed(header: Header) -> list[Origin]:
    entry = _entry(header)
    return _items(header, entry) if entry is not None else []


def _items(header: Header, entry: Entry) -> list[Origin]:
    """The origins in the lines of an entry; none if one of them is something else."""
    found: list[Origin] = []
    for line in header.lines[entry.start + 1 : entry.stop]:
        item = line.strip()
        if not item or item.startswith("#"):
            continue
        parts = dict(_PART.findall(item.removeprefix("-").strip().strip('"')))
        if not item.startswith("-") or not parts:
            return []
        found.append(Origin(**{name: parts.get(name) for name in ("session", "message", "worker")}))
    return list(dict.fromkeys(found))


def _without_list(header: Header) -> Header:
    entry = _entry(header)
    if entry is None:
        return header
    left = frontmatter.read(header.with_lines(entry.start, entry.stop, []))
    if left is None:
        raise UsageError("a header with nothing in it but origins")
    return left


def _put(header: Header, origins: Iterable[Origin]) -> str:
    """The text with the list behind the keys that are there: below `metadata:` where those stand."""
    metadata = header.entry("metadata")
    nested = metadata is not None and bool(metadata.children) and header.entry("origin") is None
    eol = header.eol
    if nested and metadata is not None:
        lead = metadata.children[0].lead
        margin, place = lead[: len(lead) - len(lead.lstrip(" \t"))], metadata.stop
    else:
        margin, place = min((_margin(one) for one in header.entries), key=len, default=""), len(header.lines)
    lines = [f"{margin}{KEY}:{eol}", *(f"{margin}  - {scalar(_line(one))}{eol}" for one in origins)]
    return header.with_lines(place, place, lines)


def _margin(entry: Entry) -> str:
    return entry.lead[: len(entry.lead) - len(entry.lead.lstrip(" \t"))]


def _line(origin: Origin) -> str:
    parts = {"session": origin.session, "message": origin.message, "worker": origin.worker}
    return " ".join(f"{name} {'_'.join(value.split())}" for name, value in parts.items() if value)


_PART = re.compile(r"\b(session|message|worker) (\S+)")

"""The files of a conversation: what was done with each, the most relevant first."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from memdir.memory.fence import exact
from memdir.session.carried import FILE_TOOLS
from memdir.session.extractive.lines import Line
from memdir.session.extractive.talk import Call, Talk

LONGEST = 240
CHANGED, NAMED, READ, MENTIONED = 4.0, 3.0, 2.0, 1.0
"""Weights: changed or made; named by the person; read; named by the assistant."""

MOST_NAMED = 12
"""So many paths of one sentence, which is a list otherwise."""

MOST_PARTS = 14
"""So many names at the end of a path tell it; nobody names more."""


@dataclass(slots=True, kw_only=True)
class _File:
    """What was done with a file: each way with the place of its last time."""

    path: str
    how: dict[str, int] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    weight: float = 0.0

    def noted(self, how: str, at: int, weight: float) -> None:
        self.how.pop(how, None)
        self.how[how] = at
        self.times[how] = self.times.get(how, 0) + 1
        self.weight = max(self.weight, weight)


class _Found:
    """The files so far, also by each end of their paths: the last one that came with it."""

    def __init__(self) -> None:
        self.files: dict[str, _File] = {}
        self._ends: dict[str, _File] = {}

    def at(self, path: str) -> _File:
        """The file at this path, which may be new."""
        if path not in self.files:
            self.files[path] = one = _File(path=path)
            parts = path.split("/")
            self._ends.update(("/".join(parts[at:]), one) for at in range(1, len(parts))[-MOST_PARTS:])
        return self.files[path]

    def ending(self, path: str) -> _File | None:
        """The known file that a shorter path ends."""
        return self.files.get(path) or self._ends.get(path.removeprefix("./"))


def files(talk: Talk) -> list[Line]:
    """Changed ones first, then those that the person named, then those read; the last ones of each first."""
    found = _Found()
    for event in talk.events:
        if isinstance(event, Call):
            if event.path and event.failed is False and event.name in FILE_TOOLS:
                how = _how(event)
                found.at(event.path).noted(how, event.at, READ if how == "read" else CHANGED)
            continue
        for path in paths(event.text)[:MOST_NAMED]:
            one = found.ending(path) or found.at(path)
            weight = NAMED if event.who == "person" else MENTIONED
            if event.who == "person" or not one.how:
                one.noted(f"named by the {event.who}", event.at, weight)
    kept = [one for one in found.files.values() if len(one.path) <= LONGEST]
    return sorted(map(_line, kept), key=lambda line: (-line.weight, -line.at))


def paths(text: str) -> list[str]:
    """The paths and names of files in a sentence."""
    return list(dict.fromkeys(one.strip(".") for one in _PATH.findall(_ADDRESS.sub(" ", text))))


def _how(call: Call) -> str:
    if call.name == "Read":
        return "read"
    return "created" if call.result.startswith(("Created", "File created")) else "changed"


def _line(one: _File) -> Line:
    how = ", ".join(
        f"{name} {one.times[name]} times" if one.times[name] > 1 and not name.startswith("named") else name
        for name in one.how
    )
    return Line(who=how, text=exact(one.path), at=max(one.how.values()), weight=one.weight)


_ENDINGS = (
    "py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|vue|svelte|go|rs|java|kt|kts|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|ex|exs|erl|hs|lua|r|jl|zig"
    "|sql|sh|bash|zsh|ps1|bat|md|mdx|rst|txt|adoc|tex|json|jsonl|yaml|yml|toml|ini|cfg|conf|env|xml|html|htm|css|scss|less|csv|tsv"
    "|lock|proto|graphql|tf|hcl|gradle|properties|cmake|mk|dockerfile|log|pdf|png|svg|jpg|parquet|db|sqlite|patch|diff|tmpl|j2|po"
)
_NAMES = (
    r"Makefile|Dockerfile|Jenkinsfile|Procfile|Justfile|Gemfile|Rakefile|LICENSE|CODEOWNERS|\.gitignore|\.env"
)
_PATH = re.compile(
    r"(?<![\w@/.~-])(?:"
    rf"(?:~/|\.{{1,2}}/|/)?(?:[\w@.+-]{{1,60}}/){{0,12}}[\w@+-][\w@.+-]{{0,80}}\.(?:{_ENDINGS})(?![\w/-])"
    rf"|(?:[\w@.+-]{{1,60}}/){{0,12}}(?:{_NAMES})(?![\w/])"
    r"|(?:/[\w@.+-]{1,60}){2,12}(?![\w/])"
    r")",
    re.ASCII,
)
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://\S+")

"""The commands of a line, each against the table; together a verdict, and the script that would run (A6).

Pure: nothing is looked at but the text. What a path leads to is asked by who runs it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field

from memdir.agent.shell import awk, find, jq, kinds, predicate, sed
from memdir.agent.shell.options import Judged, judge
from memdir.agent.shell.recursion import left_out
from memdir.agent.shell.refused import Refused
from memdir.agent.shell.syntax import Command, Part, Source, parts
from memdir.agent.shell.table import Entry, entries
from memdir.agent.shell.word import Piece, Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a command line only reads, and what it would do.

    `reason` is a sentence for the model, empty if it is allowed. `script` is what to run: the line as it was
    understood. `paths` may name files, with wildcards and `~/`, relative to where it runs. `repositories`
    are the folders in which git would run.
    """

    allowed: bool
    reason: str = ""
    script: str = ""
    paths: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()


def check(command: str) -> Verdict:
    """Judge a command line. Never raises; what is not understood is not allowed (A6)."""
    try:
        return _Line(parts(command)).verdict()
    except Refused as refusal:
        return Verdict(allowed=False, reason=str(refusal))


@dataclass(slots=True)
class _Line:
    """One walk over the parts of a line. `folder` is where its commands run, relative to the start."""

    parts: Sequence[Part]
    folder: str = ""
    script: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    repositories: list[str] = field(default_factory=list)

    def verdict(self) -> Verdict:
        """Judge all parts.

        Raises:
            Refused: one of them does not pass.
        """
        for place, part in enumerate(self.parts):
            match part:
                case Command():
                    self._command(part, place)
                case Source(operator="<", word=word):
                    if word.is_pattern:
                        raise Refused("name the file without wildcards")
                    kinds.check("file", word.text)
                    self._names(word)
                    self.script.append(f" < {word.rendered()}")
                case Source(word=word):
                    self.script.append(f" <<< {word.fixed().rendered()}")
                case operator:
                    self.script.append("; " if self.folder and place == 1 else operator)
        return Verdict(
            allowed=True,
            script="".join(self.script),
            paths=tuple(dict.fromkeys(self.paths)),
            repositories=tuple(dict.fromkeys(self.repositories)),
        )

    def _command(self, command: Command, place: int) -> None:
        name, *words = command.words
        match name.text:
            case "cd":
                self._cd(words, place)
            case "git":
                self._git(words, fed=command.fed)
            case "find":
                self._find(words)
            case "test":
                self._test(words)
            case _:
                entry = _entry(name.text)
                judged = judge(entry, words, fed=command.fed)
                _check_programs(judged)
                self._runs([name, *map(_plain, entry.adds)], judged)

    def _runs(self, head: Sequence[Word], judged: Judged) -> None:
        """Note a command that passed: its words for the script, its files."""
        words = list(judged.words)
        end = len(words) if judged.end is None else judged.end
        words[end:end] = map(_plain, left_out(head[0].text, judged.seen))
        self.script.append(" ".join(word.rendered() for word in (*head, *words)))
        for word in judged.files:
            self._names(word)

    def _names(self, word: Word, folder: str | None = None) -> None:
        self.paths.append(_below(self.folder if folder is None else folder, word.text))

    def _cd(self, words: Sequence[Word], place: int) -> None:
        """`cd DIR` at the very beginning: from there on, paths are relative to DIR.

        The script goes on only if it got there: else the rest would name other files than were looked at.
        """
        after = self.parts[place + 1 : place + 2]
        if place or tuple(after) not in [(" && ",), ("; ",), ()]:
            raise Refused("cd may stand only at the beginning: cd DIR && ...")
        words = words[1:] if words and words[0].text == "--" else words
        if len(words) != 1 or words[0].is_pattern or words[0].text[:1] in ("-", ""):
            raise Refused("cd needs the name of one folder")
        kinds.check("file", words[0].text)
        self._names(words[0])
        self.folder = _below("", words[0].text)
        self.script.append(f"cd -- {words[0].rendered()} || exit")

    def _git(self, words: Sequence[Word], *, fed: bool) -> None:
        """git: options of its own, a subcommand, and the subcommand's words."""
        own = next((at for at, word in enumerate(words) if _is_subcommand(words, at)), len(words))
        main = judge(_entry("git"), words[:own], fed=fed)
        folder = self.folder
        for word in main.files:  # -C: each is relative to the one before
            self._names(word, folder)
            folder = _below(folder, word.text)
        self.repositories.append(folder)
        head = [_plain("git"), *main.words]
        if own == len(words):
            if "--version" not in main.seen:
                raise Refused("say which git command")
            self._runs(head, Judged())
            return
        subcommand, *rest = words[own:]
        entry = entries().get(f"git {subcommand.text}")
        if entry is None or not subcommand.bare:
            raise Refused(f"git {subcommand.text} is not available; git may only show what is there")
        judged = judge(entry, rest, fed=fed)
        self.script.append(
            " ".join(word.rendered() for word in (*head, subcommand, *map(_plain, entry.adds), *judged.words))
        )
        for word in judged.files:
            self._names(word, folder)

    def _find(self, words: Sequence[Word]) -> None:
        for word in words:
            if word.is_pattern:
                raise Refused(f"quote {word.text}, or bash puts file names in its place")
        texts = [word.text for word in words]
        _refuse(find.refusal(texts))
        for path in find.paths(texts):
            kinds.check("file", path)
            self.paths.append(_below(self.folder, path))
        self._runs([_plain("find")], Judged(words=list(words)))

    def _test(self, words: Sequence[Word]) -> None:
        files = predicate.files(words)
        for word in files:
            kinds.check("file", word.text)
        self._runs([_plain("test")], Judged(words=list(words), files=files))


def _below(folder: str, path: str) -> str:
    """The path, as seen from where the line begins. `~` is a home folder, as bash has it."""
    if path == "~" or path.startswith("~/"):
        return f"~/{path[2:]}"
    return posixpath.join(folder, path)


def _entry(name: str) -> Entry:
    entry = entries().get(name)
    if entry is None:
        raise Refused(f"{name} is not on the list of commands that only read")
    return entry


def _plain(text: str) -> Word:
    return Word((Piece(text),), bare=True)


def _is_subcommand(words: Sequence[Word], at: int) -> bool:
    """Whether the word at this place is the first that is neither an option of git nor the value of -C."""
    return not words[at].text.startswith("-") and (at == 0 or words[at - 1].text != "-C")


def _check_programs(judged: Judged) -> None:
    """The programs of the little languages, each as the command would put it together."""
    for text in judged.programs.get("assignment", ()):
        _refuse(awk.refusal_of_assignment(text))
    if pieces := judged.programs.get("awk"):
        _refuse(awk.refusal("\n".join(pieces)))
        for word in judged.files:
            if "=" in word.text:
                raise Refused("awk takes NAME=VALUE for an assignment; use -v, or ./ before a file's name")
    if pieces := judged.programs.get("sed"):
        _refuse(sed.refusal("\n".join(pieces)))
    if pieces := judged.programs.get("jq"):
        _refuse(jq.refusal("\n".join(pieces)))


def _refuse(reason: str | None) -> None:
    if reason:
        raise Refused(reason)

"""The commands of a line, each against the table; together a verdict, and the script that would run (A6).

Pure: nothing is looked at but the text. What a path leads to is asked by who runs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memdir.agent.shell import awk, find, jq, kinds, predicate, sed
from memdir.agent.shell.names import Name, Repository, Searched, below, literal, named
from memdir.agent.shell.options import Judged, judge
from memdir.agent.shell.recursion import left_out, searches
from memdir.agent.shell.refused import Refused
from memdir.agent.shell.syntax import Command, Part, Source, parts
from memdir.agent.shell.table import Entry, advice, entries
from memdir.agent.shell.word import Piece, Word


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TELLS_ONLY = _words("""
branch check-attr check-ignore cherry config count-objects describe for-each-ref ls-files ls-tree merge-base
name-rev remote rev-list rev-parse shortlog show-branch show-ref status symbolic-ref tag version worktree
""")
"""Subcommands of git that show nothing of what is in files; any other may."""
_WITH_PATCH = _words("log reflog")
"""Those that do only with one of these options."""
_PATCH = _words("""
-p -u -c -U -L -W --patch --unified --cc --word-diff --word-diff-regex --color-words --function-context
--patch-with-raw --patch-with-stat --full-diff --diff-merges
""")

LONGEST_SCRIPT = 60_000
"""Bytes. A search brings some 12,000 of its own; a system may take no more than 128 KiB for one argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellVerdict:
    """Whether a command line only reads, and what it would do.

    `reason` is a sentence for the model, empty if it is allowed; `log` a phrase for the log. `script` is what
    to run: the line as it was understood. `names` is what it may name of the disk, `repositories` where git
    would run.
    """

    allowed: bool
    reason: str = ""
    log: str = ""
    script: str = ""
    names: tuple[Name, ...] = ()
    repositories: tuple[Repository, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The names alone."""
        return tuple(dict.fromkeys(name.path for name in self.names))


def verdict_on(command: str) -> ShellVerdict:
    """See `shell.check`."""
    try:
        return _Line(parts(command)).verdict()
    except Refused as refusal:
        return ShellVerdict(allowed=False, reason=str(refusal), log=refusal.log)


@dataclass(slots=True)
class _Line:
    """One walk over the parts of a line. `folder` is where its commands run, relative to the start."""

    parts: Sequence[Part]
    folder: str = ""
    script: list[str] = field(default_factory=list)
    names: list[Name] = field(default_factory=list)
    repositories: list[Repository] = field(default_factory=list)

    def verdict(self) -> ShellVerdict:
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
                    self._name([word])
                    self.script.append(f" < {word.rendered()}")
                case Source(word=word):
                    self.script.append(f" <<< {word.fixed().rendered()}")
                case operator:
                    self.script.append("; " if self.folder and place == 1 else operator)
        script = "".join(self.script)
        if len(script.encode()) > LONGEST_SCRIPT:
            raise Refused("it asks for too much at once; use fewer searches in one line")
        return ShellVerdict(
            allowed=True,
            script=script,
            names=tuple(dict.fromkeys(self.names)),
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
                self._other(name, words, fed=command.fed)

    def _run(self, *words: Word) -> None:
        self.script.append(" ".join(word.rendered() for word in words))

    def _name(
        self,
        words: Sequence[Word],
        folder: str | None = None,
        *,
        searched: Searched = "",
        one_file: bool = False,
    ) -> None:
        where = self.folder if folder is None else folder
        for word in words:
            kinds.check_path(word.text, folder=where)
            name = named(word, where, searched=searched, one_file=one_file)
            if name.pattern:
                kinds.check_pattern(name.path)
            self.names.append(name)

    def _other(self, name: Word, words: Sequence[Word], *, fed: bool) -> None:
        entry = _entry(name.text)
        judged = judge(entry, words, fed=fed)
        _check_programs(judged)
        shown = list(judged.words)
        if search := searches(entry.name, judged.seen):
            end = len(shown) if judged.end is None else judged.end
            shown[end:end] = map(_plain, left_out(search))
            if not judged.files:
                self.names.append(Name(path=self.folder or ".", searched=search, base=self.folder))
        self._run(name, *map(_plain, entry.adds), *shown)
        compares = entry.name == "diff" and judged.seen.isdisjoint({"-q", "--brief"})
        self._name(judged.files, searched=search, one_file=compares)

    def _cd(self, words: Sequence[Word], place: int) -> None:
        """`cd DIR` at the very beginning: from there on, paths are relative to DIR.

        The script goes on only if it got there: else the rest would name other files than were looked at. It
        goes there as the system does (`-P`): bash would take a `..` behind a link for the link's own folder.
        """
        after = self.parts[place + 1 : place + 2]
        if place or tuple(after) not in [(" && ",), ("; ",), ()]:
            raise Refused("cd may stand only at the beginning: cd DIR && ...")
        words = words[1:] if words and words[0].text == "--" else words
        if len(words) != 1 or words[0].is_pattern or words[0].text[:1] in ("-", ""):
            raise Refused("cd needs the name of one folder")
        self._name(words)
        self.folder = self.names[-1].path
        self.script.append(f"cd -P -- {words[0].rendered()} || exit")

    def _git(self, words: Sequence[Word], *, fed: bool) -> None:
        """git: options of its own, a subcommand, and the subcommand's words."""
        own = next((at for at, word in enumerate(words) if _is_subcommand(words, at)), len(words))
        main = judge(_entry("git"), words[:own], fed=fed)
        folder = self.folder
        for word in main.files:  # -C: each is relative to the one before
            self._name([word], folder)
            folder = self.names[-1].path
        head = [_plain("git"), *main.words]
        if own == len(words):
            if "--version" not in main.seen:
                raise Refused("say which git command")
            self._run(*head)
            return
        subcommand, *rest = words[own:]
        entry = entries().get(f"git {subcommand.text}")
        if entry is None or not subcommand.bare:
            raise Refused(f"git {subcommand.text} is not available; git may only show what is there")
        judged = judge(entry, rest, fed=fed)
        self._run(*head, subcommand, *map(_plain, entry.adds), *judged.words)
        self._name(judged.files, folder)
        reads_files = subcommand.text not in _TELLS_ONLY and (
            subcommand.text not in _WITH_PATCH or not _PATCH.isdisjoint(judged.seen)
        )
        shown = judged.files if reads_files else ()
        self.repositories.append(
            Repository(
                folder=folder,
                tells_addresses=subcommand.text in ("remote", "config"),
                reads_files=reads_files,
                shows=tuple(dict.fromkeys(word.text for word in shown)),
                trees=subcommand.text in ("show", "cat-file"),
            )
        )

    def _find(self, words: Sequence[Word]) -> None:
        for word in words:
            if word.is_pattern:
                raise Refused(f"quote {word.text}, or bash puts file names in its place")
        texts = [word.text for word in words]
        _refuse(find.refusal(texts))
        self._run(_plain("find"), *words)
        at_home = {word.text for word in words if word.is_in_home}
        for path in find.paths(texts):
            kinds.check_path(path, folder=self.folder)
            self.names.append(Name(path=(below if path in at_home else literal)(self.folder, path)))

    def _test(self, words: Sequence[Word]) -> None:
        self._name(predicate.files(words))
        self._run(_plain("test"), *words)


def _entry(name: str) -> Entry:
    entry = entries().get(name)
    if entry is None:
        raise Refused(advice(name) or f"{name} is not on the list of commands that only read")
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

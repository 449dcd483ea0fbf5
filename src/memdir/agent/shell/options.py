"""The words behind a command's name, against its entry in the table: what passes, and the files it names.

An allow list: an option that the entry doesn't list, a value or an operand of another kind, one too many, is
refused, whatever it would do. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memdir.agent.shell import kinds
from memdir.agent.shell.refused import Refused
from memdir.agent.shell.table import Entry, Operand, Value
from memdir.agent.shell.word import Piece, Word


@dataclass(slots=True, kw_only=True)
class Judged:
    """Words that passed, as they may be run. `files` may name files; `programs` are pieces of a little
    language by its kind; `seen` are the options, by name; more options may be put in at `end`.
    """

    words: list[Word] = field(default_factory=list)
    end: int | None = None
    files: list[Word] = field(default_factory=list)
    programs: dict[str, list[str]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)


def judge(entry: Entry, words: Sequence[Word], *, fed: bool) -> Judged:
    """Judge the words behind the name of the command. `fed`: something is on its standard input.

    Raises:
        Refused: one of them is not on the list.
    """
    reading = _Reading(entry, words)
    operands = reading.run()
    judged = reading.judged
    _place(entry, operands, judged)
    if entry.needs and not entry.needs & judged.seen:
        raise Refused(f"{entry.name} is available only with {' or '.join(sorted(entry.needs))}")
    if entry.stdin and not fed and not entry.unless & judged.seen and not _names_a_file(judged):
        raise Refused(f"{entry.name} would wait for input that never comes; name {_input(entry)}")
    return judged


def _input(entry: Entry) -> str:
    revisions = any(operand.kind == "rev" for operand in entry.operands)
    return "a revision, as HEAD" if revisions else "the file that it is to read"


def _names_a_file(judged: Judged) -> bool:
    return any(word.text != "-" for word in judged.files)


_ANYTHING = frozenset({"-e", "-S", "-G", "--grep", "--regexp", "--expression"})
"""Options whose value is a pattern: it may look like an option, and no version takes it for one."""


class _Reading:
    """One walk over the words of a command."""

    def __init__(self, entry: Entry, words: Sequence[Word]) -> None:
        self._entry = entry
        self._words = list(words)
        self._at = 0
        self.judged = Judged()

    def run(self) -> list[Word]:
        """Judge the options; give back the operands."""
        operands: list[Word] = []
        is_open, is_ended = True, False
        while self._at < len(self._words):
            word = self._words[self._at]
            self._at += 1
            if is_open and word.text == "--" and self._entry.option_end:
                is_open, is_ended = False, True
                self.judged.end = len(self.judged.words)
                self.judged.words.append(word)
            elif is_open and word.start.startswith("-") and word.text != "-":
                if not self._option(word):
                    operands.append(word)
                    is_open = self._entry.options_after
            else:
                if is_open and word.is_pattern and not word.start and not self._entry.globs:
                    raise Refused(
                        f"a file name that {word.text} stands for could be taken for an option of "
                        f"{self._entry.name}; write ./{word.text}, or quote it if it is no file name"
                    )
                if not (is_open or is_ended) and word.start.startswith("-") and self._ends_in_files():
                    raise Refused(f"{word.text} must stand before the operands of {self._entry.name}")
                operands.append(word)
                self.judged.words.append(word)
                is_open = is_open and self._entry.options_after
        return operands

    def _ends_in_files(self) -> bool:
        return bool(self._entry.operands) and self._entry.operands[-1].kind in kinds.FILES

    def _option(self, word: Word) -> bool:
        """Judge an option and its values; whether it is one, and not text of a command without options."""
        text, entry = word.text, self._entry
        kept = word.fixed()
        if text.startswith("--"):
            name, equals, value = text.partition("=")
            if name in entry.flags and not equals:
                self._seen(name, kept)
            elif name in entry.values and (equals or entry.values[name].optional):
                self._seen(name, kept)
                if equals:
                    self._attached(name, entry.values[name], value)
            elif name in entry.values:
                self._seen(name, kept)
                self._following(name, entry.values[name].kinds)
            else:
                return self._as_text(word, name)
            return True
        if text in entry.flags:
            self._seen(text, kept)
            return True
        if entry.number and text[1:].isdecimal() and text[1:].isascii():
            self._seen("-NUMBER", kept)
            return True
        return self._short(word, kept)

    def _short(self, word: Word, kept: Word) -> bool:
        """Short options in one word: flags, and maybe one with a value at the end."""
        text, entry = word.text, self._entry
        names: list[str] = []
        for place, letter in enumerate(text[1:], start=2):
            name = f"-{letter}"
            if name in entry.flags:
                names.append(name)
                continue
            value = entry.values.get(name)
            if value is None:
                return self._as_text(word, name if len(text) > 2 and names else text[:2])
            self._seen(name, kept, *names)
            if rest := text[place:]:
                self._attached(name, value, rest)
            elif not value.optional:
                self._following(name, value.kinds)
            return True
        self._seen(names[-1], kept, *names)
        return True

    def _as_text(self, word: Word, name: str) -> bool:
        entry = self._entry
        if not entry.option_end and entry.operands and entry.operands[0].kind == "text":
            self.judged.words.append(word)
            return False
        advice = entry.why.get(name)
        raise Refused(f"{entry.name} may not be given {name} here" + (f": {advice}" if advice else ""))

    def _seen(self, name: str, word: Word, *more: str) -> None:
        self.judged.seen |= {name, *more}
        self.judged.words.append(word)

    def _attached(self, name: str, value: Value, text: str) -> None:
        if len(value.kinds) > 1:
            raise Refused(f"{name} takes {len(value.kinds)} words; write them apart")
        self._take(value.kinds[0], Word((Piece(text),), bare=False))

    def _following(self, name: str, wanted: Sequence[str]) -> None:
        for kind in wanted:
            if self._at >= len(self._words):
                raise Refused(f"{name} has no value")
            word = self._words[self._at]
            self._at += 1
            if word.is_pattern:
                raise Refused(f"quote {word.text}, or bash puts file names in its place")
            if word.text[:1] == "-" != word.text and kind != "number" and name not in _ANYTHING:
                raise Refused(f"{name} has {word.text} for its value; that could be taken for an option")
            self.judged.words.append(word)
            self._take(kind, word)

    def _take(self, kind: str, word: Word) -> None:
        _take(kind, word, self.judged)


def _take(kind: str, word: Word, judged: Judged) -> None:
    kinds.check(kind, word.text)
    if kind in kinds.FILES:
        judged.files.append(word)
    elif kind in kinds.LANGUAGES or kind in ("find", "test", "assignment"):
        judged.programs.setdefault(kind, []).append(word.text)


def _place(entry: Entry, operands: Sequence[Word], judged: Judged) -> None:
    """Give each operand its kind, in order: as many as it may have, but enough for those behind it."""
    wanted = list(entry.operands)
    if wanted and entry.instead & judged.seen:
        del wanted[0]
    waiting = list(operands)
    for place, operand in enumerate(wanted):
        behind = sum(later.least for later in wanted[place + 1 :])
        room = len(waiting) - behind
        most = room if operand.most is None else min(operand.most, room)
        if most < operand.least:
            raise Refused(f"{entry.name} needs more operands here")
        for word in waiting[:most]:
            _check_wildcards(entry, operand, word)
            _take(operand.kind, word, judged)
        waiting = waiting[most:]
    if waiting:
        raise Refused(f"{entry.name} may not be given {waiting[0].text!r} here")


def _check_wildcards(entry: Entry, operand: Operand, word: Word) -> None:
    if not word.is_pattern:
        return
    if operand.kind not in ("text", "file") or (operand.most is not None and not entry.globs):
        raise Refused(f"quote {word.text}, or bash puts file names in its place")
    kinds.check_pattern(word.glob)

"""One word of a command line, as bash will understand it: literal text, with wildcards where they are live.

    notes.txt   'a b'   "it's"   a\\ b        one literal piece
    src/*.py    logs/app.[a-z]*              literal pieces and wildcards
    ~/notes.md                               a home folder, then literal text

Whatever else bash would put in the place of a word (variables, substitutions, braces, `~user`, `$'...'`) is
refused. Pure.
"""

from __future__ import annotations

import glob
import re
import shlex
import unicodedata
from dataclasses import dataclass

from memdir.agent.shell.refused import Refused
from memdir.fs import hidden_character


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a word. `live`: a wildcard, or the `~` of the home folder, which bash will replace."""

    text: str
    live: bool = False


_HOME = Piece("~", live=True)


@dataclass(frozen=True, slots=True)
class Word:
    """A word. `text` has wildcards as they are written; of a literal word it is what the program gets."""

    pieces: tuple[Piece, ...]
    bare: bool
    """Whether it was written without any quote or backslash."""

    @property
    def text(self) -> str:
        """The word without its quotes."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def is_pattern(self) -> bool:
        """Whether bash puts the names of files in its place."""
        return any(piece.live and piece.text != "~" for piece in self.pieces)

    @property
    def start(self) -> str:
        """The literal text before the first wildcard."""
        text = ""
        for piece in self.pieces:
            if piece.live and piece.text != "~":
                break
            text += piece.text
        return text

    @property
    def is_in_home(self) -> bool:
        """Whether it begins with the `~` of the home folder, and bash will put that in its place."""
        return bool(self.pieces) and self.pieces[0] == _HOME

    @property
    def glob(self) -> str:
        """The word as a pattern of `fnmatch`: what is literal in it stands for itself."""
        return "".join(p.text if p.live else glob.escape(p.text) for p in self.pieces)

    def rendered(self) -> str:
        """The word for bash: the literal parts quoted, so that only what was judged is live."""
        pieces, start = self.pieces, ""
        if self.is_in_home and len(pieces) > 1:  # a quoted slash would end no `~`
            pieces, start = (Piece(pieces[1].text[1:]), *pieces[2:]), "~/"
        quoted = (p.text if p.live else shlex.quote(p.text) for p in pieces if p.text)
        return start + "".join(quoted) or "''"

    def fixed(self) -> Word:
        """The same word with nothing live in it."""
        return Word(pieces=(Piece(self.text),), bare=self.bare)


def read(raw: str) -> Word:
    """Understand a word as it is written, from its first to its last character.

    Raises:
        Refused: something in it is live that is neither a wildcard nor `~/`, or can't be told.
    """
    pieces: list[Piece] = []
    at = 0
    while at < len(raw):
        match raw[at]:
            case "'":
                end = raw.find("'", at + 1)
                if end < 0:
                    raise Refused("a quote is not closed")
                pieces.append(Piece(raw[at + 1 : end]))
                at = end + 1
            case '"':
                text, at = _double_quoted(raw, at + 1)
                pieces.append(Piece(text))
            case "\\":
                pieces.append(Piece(_escaped(raw, at)))
                at += 2
            case _:
                live, at = _bare(raw, at)
                pieces.extend(live)
    for piece in pieces:
        if character := hidden_character(piece.text.replace("\n", "").replace("\t", "")):
            raise Refused(f"it holds an invisible or control character, {character}")
    if _BRACES.search(re.sub(r"@\{[\w-]*\}|\{\}", "", _unquoted(raw))):
        raise Refused("braces are not expanded here; name the files, or quote the braces")
    return Word(pieces=_joined(pieces), bare=not re.search(r"[\"'\\]", raw))


def without_braces(raw: str) -> list[str]:
    """A word as it is written -> the words that bash makes of its braces, as they would be written.

    Only lists of plain items are understood, `*.{md,txt}`; a word with others is left as it is.
    """
    waiting, found = [raw], []
    while waiting:
        one = waiting.pop()
        braces = _LIST.search(_QUOTED.sub(lambda quoted: "'" * len(quoted[0]), one))
        if braces is None:
            found.append(one)
            continue
        if "{" in _UNTOUCHED.sub("", one[: braces.start()]):
            raise Refused("braces within braces are not expanded here; name the files")
        items = one[braces.start(1) : braces.end(1)].split(",")
        waiting.extend(one[: braces.start()] + item + one[braces.end() :] for item in reversed(items))
        if len(waiting) + len(found) > MOST_WORDS:
            raise Refused(f"its braces stand for more than {MOST_WORDS} words")
    return found


MOST_WORDS = 60
_UNTOUCHED = re.compile(r"@\{[\w-]*\}|\{\}|'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", re.DOTALL)
"""Braces that are none, and what is quoted."""
_LIST = re.compile(r"(?<![${@])\{([A-Za-z0-9_./*?+=-]+(?:,[A-Za-z0-9_./*?+=-]+)+)\}")
"""Of the items none is empty, quoted or has braces of its own."""

_NOT_LIVE = "variables and substitutions are not available; write the text out in single quotes"
_BRACES = re.compile(r"[{}]")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9_./:=,+%@^#{}!-]+")
_WILDCARD = re.compile(r"\*+|\?|\[[!^]?[A-Za-z0-9_.,:=+-]+\]")
_QUOTABLE = re.compile(r"[ -~]")
_AFTER_DOLLAR = re.compile(r"\$(?=[ |)/.,:;%\]]|$)")
_WRITABLE = ("L", "M", "N")


def _unquoted(raw: str) -> str:
    return _QUOTED.sub("", raw)


def _double_quoted(raw: str, at: int) -> tuple[str, int]:
    """The text between double quotes, from behind the first, and the place behind the last."""
    text = ""
    while at < len(raw):
        character, after = raw[at], raw[at + 1 : at + 2]
        if character == '"':
            return text, at + 1
        if character == "\\" and after:
            if after == "\n":
                raise Refused("a line may not be continued with a backslash")
            text += after if after in '$`"\\' else character + after
            at += 2
            continue
        if character == "`" or (character == "$" and not _is_plain_dollar(raw, at)):
            raise Refused(
                "variables and substitutions are not available; write the text out in single quotes"
            )
        text += character
        at += 1
    raise Refused("a quote is not closed")


def _is_plain_dollar(raw: str, at: int) -> bool:
    """Whether this `$`, inside double quotes, is nothing but a dollar sign: the end of a regex, a price."""
    return raw[at + 1 : at + 2] == '"' or _AFTER_DOLLAR.match(raw, at) is not None


def _escaped(raw: str, at: int) -> str:
    after = raw[at + 1 : at + 2]
    if not _QUOTABLE.fullmatch(after):
        raise Refused("only visible ASCII characters may stand behind a backslash")
    return after


def _bare(raw: str, at: int) -> tuple[list[Piece], int]:
    """What is understood of unquoted text at this place, and the place behind it."""
    if plain := _PLAIN.match(raw, at):
        return [Piece(plain[0])], plain.end()
    if wildcard := _WILDCARD.match(raw, at):
        return [Piece(wildcard[0], live=True)], wildcard.end()
    character = raw[at]
    if character == "~":
        if at == 0 and raw[1:2] in ("", "/"):
            return [Piece("~", live=True)], 1
        if at and (raw[at - 1].isalnum() or raw[at - 1] in "^~}"):  # HEAD~1
            return [Piece("~")], at + 1
        raise Refused("only ~/ is understood; give an absolute path")
    if character == "]":
        return [Piece("]")], at + 1
    if ord(character) > 127 and unicodedata.category(character)[0] in _WRITABLE:
        return [Piece(character)], at + 1
    if character in "$`":
        raise Refused(_NOT_LIVE)
    raise Refused(f"{character!r} must stand in quotes here")


def _joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Neighbouring literal pieces as one."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and not piece.live and not joined[-1].live:
            joined[-1] = Piece(joined[-1].text + piece.text)
        elif piece.text or piece.live:
            joined.append(piece)
    return tuple(joined)

"""A script of `sed` -> why it may not run (A6).

sed writes files (`w`, `W`, `s///w`), reads others (`r`, `R`) and runs programs (`e`, `s///e`). A script
passes when it is made only of commands on a short list. GNU, BusyBox and BSD sed must cut it into the same
commands: where they could differ (escaped brackets within brackets, a line carried on by a backslash, a very
long line), it is refused.
"""

from __future__ import annotations

from typing import Final

from memdir.agent.shell.refused import Refused

_PLAIN: Final = frozenset("dpnNgGhHxDPz=")
_NUMBERED: Final = frozenset("qQl")
_TEXT: Final = frozenset("aic")
_GOES_ON: Final = frozenset("nNdqQ")
"""Where one of these always runs between a label and the way back to it, the loop ends with the input."""
_JUMPS: Final = frozenset("btT:")
_FORBIDDEN: Final = {
    "w": "write files",
    "W": "write files",
    "r": "read other files",
    "R": "read other files",
    "e": "run programs",
}

_DELIMITERS: Final = frozenset("/|,#@!:;%~=_+")
_CLASSES: Final = ("[:alpha:]", "[:digit:]", "[:alnum:]", "[:upper:]", "[:lower:]", "[:space:]", "[:blank:]",
                   "[:punct:]", "[:print:]", "[:graph:]", "[:cntrl:]", "[:xdigit:]")  # fmt: skip
_LABEL: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_DIGITS: Final = frozenset("0123456789")

LONGEST: Final = 20_000
"""Characters of the longest script that is looked at."""

LINE_BYTES: Final = 1000
"""BSD sed cuts longer lines into pieces of 2048 bytes, and reads the second piece as commands."""


def refusal(script: str) -> str | None:
    """Why the script may do more than read and print; None: it only does that.

    Several `-e` are one script, with newlines between them.
    """
    if len(script) > LONGEST:
        return f"a sed script may have at most {LONGEST} characters"
    if any(len(line.encode(errors="replace")) > LINE_BYTES for line in script.split("\n")):
        return f"a line of a sed script may have at most {LINE_BYTES} bytes"
    if any(ch < " " and ch not in "\n\t" for ch in script) or "\x7f" in script:
        return "a sed script may not hold control characters"
    try:
        _Reader(script).script()
    except Refused as reason:
        return str(reason)
    return None


class _Reader:
    """Goes through a script once, from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.blocks: list[bool] = []
        """The open blocks, from the outermost: whether each has an address, so that it may be left out."""
        self.hidden: list[int] = []
        """Places right behind the delimiters that stand within brackets of the last pattern."""
        self.labels: dict[str, int] = {}
        """Labels with no sure end or next line behind them, each with how many conditions it stands under."""

    # -- characters

    def peek(self) -> str:
        """The next character; "" at the end."""
        return self.text[self.at : self.at + 1]

    def take(self) -> str:
        char = self.peek()
        self.at += 1
        return char

    def skip(self, chars: str | frozenset[str]) -> str:
        """Goes over characters of a set; what it went over."""
        start = self.at
        while self.peek() and self.peek() in chars:
            self.at += 1
        return self.text[start : self.at]

    # -- the script

    def script(self) -> None:
        while True:
            self.skip(" \t\n;")
            if not self.peek():
                break
            self.statement()
        if self.blocks:
            raise Refused("a { in the sed script is not closed")

    def statement(self) -> None:
        if self.peek() == "#":
            self.comment()
            return
        always = not self.address()
        if not always:
            self.skip(" \t")
            if self.peek() == ",":
                self.at += 1
                self.skip(" \t")
                self.second_address()
        self.skip(" \t")
        if self.peek() == "!":
            self.at += 1
            self.skip(" \t")
        self.command(self.take(), always=always)

    def comment(self) -> None:
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        if "\\" in self.text[self.at : end]:
            raise Refused("a comment in a sed script may not hold a backslash")
        self.at = end

    def address(self) -> bool:
        """One address, if there is one."""
        char = self.peek()
        if char == "$":
            self.at += 1
        elif char in _DIGITS and char:
            self.skip(_DIGITS)
            if self.peek() == "~":
                self.at += 1
                self.number("after ~")
        elif char in {"/", "\\"}:
            self.at += char == "\\"
            self.pattern(self.delimiter())
            self.skip("IM")
        else:
            return False
        return True

    def second_address(self) -> None:
        if self.peek() in {"+", "~"}:
            self.at += 1
            self.number("in the second address")
        elif not self.address():
            raise Refused("the second address in the sed script is not understood")

    def number(self, where: str) -> None:
        if not self.skip(_DIGITS):
            raise Refused(f"sed needs a number {where}")

    def command(self, name: str, *, always: bool) -> None:
        """A command. `always`: it has no address of its own."""
        if name in _FORBIDDEN:
            raise Refused(f"sed may not {_FORBIDDEN[name]} ({name})")
        if name == "{" and name:
            self.blocks.append(not always)
        elif name == "}":
            if not self.blocks:
                raise Refused("a } in the sed script closes nothing")
            self.blocks.pop()
            self.end()
        elif name == "s":
            self.substitution()
        elif name == "y":
            self.transliteration()
        elif name in _JUMPS and name:
            self.jump(name, always=always)
        elif name in _TEXT and name:
            self.insertion(name)
        elif name and name in _PLAIN | _NUMBERED:
            if name in _NUMBERED:
                self.skip(" \t")
                self.skip(_DIGITS)
            self.end()
            if always and name in _GOES_ON:
                self.labels = {one: under for one, under in self.labels.items() if under < sum(self.blocks)}
        else:
            raise Refused(
                "sed may only use commands that read and print: this script has one that is not known"
            )

    def end(self) -> None:
        """Nothing else may stand behind a command."""
        self.skip(" \t")
        if self.peek() not in {"", "\n", ";", "}", "#"}:
            raise Refused("sed commands must be separated by ; or a newline")

    def jump(self, name: str, *, always: bool) -> None:
        """What stands behind a label is judged as commands, though BSD sed counts it to the label."""
        self.skip(" \t")
        label = self.skip(_LABEL)
        if not label and name == ":":
            raise Refused("a label in a sed script must be of letters, digits and _")
        if name == ":":
            self.labels[label] = sum(self.blocks)
        elif name == "b" and always and self.labels.get(label, -1) >= sum(self.blocks):
            raise Refused("a sed loop must have an end: take the next line in it (N), or go back with t")
        self.end()

    def insertion(self, name: str) -> None:
        """The one-line form: all up to the end of the line is text. A backslash could carry it on."""
        self.skip(" \t")
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        text = self.text[self.at : end]
        if not text or "\\" in text:
            raise Refused(f"the text of the sed command {name} must be on its line, without a backslash")
        self.at = end

    # -- what stands between delimiters

    def delimiter(self) -> str:
        char = self.take()
        if not char or char not in _DELIMITERS:
            raise Refused("sed patterns must be delimited by / or other plain punctuation")
        return char

    def substitution(self) -> None:
        delimiter = self.delimiter()
        self.pattern(delimiter)
        hidden = self.hidden
        self.plain(delimiter)
        self.flags()
        self.end()
        for place in hidden:
            self.otherwise(place, delimiter)

    def otherwise(self, place: int, delimiter: str) -> None:
        """Some sed may end the pattern at a delimiter within brackets.

        It then stops at the open bracket, and runs nothing. But GNU sed opens the file of the flag w before.
        """
        end, self.at = self.at, place
        self.plain(delimiter)
        self.flags(" \t")
        self.at = end

    def flags(self, blanks: str = "") -> None:
        self.skip("gpiImM0123456789" + blanks)
        if self.peek() == "w":
            raise Refused("sed may not write files (the flag w of s)")
        if self.peek() == "e":
            raise Refused("sed may not run programs (the flag e of s)")

    def transliteration(self) -> None:
        delimiter = self.delimiter()
        for _ in range(2):
            start = self.at
            self.plain(delimiter)
            if "[" in self.text[start : self.at]:
                raise Refused("the sed command y may not be given brackets")  # BSD: they hide the delimiter
        self.end()

    def plain(self, delimiter: str) -> None:
        """A text in which only the backslash is special, up to the delimiter."""
        while (char := self.inside(delimiter)) != delimiter:
            if char == "\\":
                self.escaped()

    def pattern(self, delimiter: str) -> None:
        """A regular expression, up to the delimiter."""
        self.hidden = []
        while (char := self.inside(delimiter)) != delimiter:
            if char == "\\":
                self.escaped()
            elif char == "[":
                self.brackets(delimiter)

    def brackets(self, delimiter: str) -> None:
        if self.peek() == "^":
            self.at += 1
        if self.peek() == "]":
            self.at += 1
        while True:
            while named := next((name for name in _CLASSES if self.text.startswith(name, self.at)), None):
                self.at += len(named)
            char = self.inside(delimiter)
            if char == "]":
                return
            if char == delimiter:
                self.hidden.append(self.at)
            elif char == "[":
                raise Refused("brackets in a sed pattern may not hold [")
            elif char == "\\" and self.escaped() in {"[", "]"}:
                raise Refused("brackets in a sed pattern may not hold an escaped bracket")

    def escaped(self) -> str:
        """What a backslash takes with it."""
        return self.inside("")

    def inside(self, delimiter: str) -> str:
        """The next character of something that must go on and stay on its line."""
        before = self.text[self.at - 1]
        char = self.take()
        if char in {"", "\n"}:
            raise Refused("a pattern or replacement in the sed script does not end on its line")
        if before > "\x7f" and (char == "\\" or (char == delimiter and char >= "@")):
            raise Refused(
                "a sed script may not have a backslash or a delimiter like | right after a special letter"
            )
        return char

"""A program of `awk`, or a `name=value` for it -> why it may not run (A6).

awk writes files and runs programs (`print > f`, `print | c`, `c | getline`, `system`), reads other files
(`getline < f`) and knows the environment (`ENVIRON`). A program passes when its tokens are on short lists: no
pipes, no functions but the standard ones that compute, and `>` only where every awk compares with it. Where
gawk, mawk, BusyBox and BSD awk could cut a program differently (a `/` that divides or begins a pattern, a `/`
within brackets, a carried-on line), it is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from memdir.agent.shell.refused import Refused

LONGEST: Final = 20_000
"""Characters of the longest program that is looked at."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KEYWORDS: Final = _words(
    "BEGIN END if else while for do in print printf next nextfile exit break continue delete"
)

_FUNCTIONS: Final = _words(
    "length substr index split sub gsub gensub match sprintf tolower toupper int sqrt exp log sin cos atan2 "
    "rand srand strftime systime mktime strtonum"
)

_NEVER: Final = {
    "system": "run programs",
    "getline": "read other files or programs",
    "ENVIRON": "read the environment",
    **dict.fromkeys(_words("close fflush"), "open or close files"),
    **dict.fromkeys(_words("function func return"), "define functions"),
    **dict.fromkeys(
        _words(
            "BEGINFILE ENDFILE switch case default PROCINFO SYMTAB FUNCTAB ARGV ARGC ARGIND ERRNO "
            "BINMODE LINT TEXTDOMAIN CONVFMT OFMT eval include load namespace awk _"
        ),
        "be used in a program that only reads",
    ),
}

_FORMATS: Final = frozenset({"CONVFMT", "OFMT"})
_FORMAT: Final = re.compile(r"%[-+ 0#]?[0-9]{0,3}(?:\.[0-9]{1,3})?[aefgdi]", re.IGNORECASE)
"""Of a number. Some awks give it to the C library as it is."""

_What: TypeAlias = Literal["name", "number", "text", "pattern", "sign", "newline"]

_BLANK: Final = re.compile(r"[ \t]*(?:#[^\n]*)?")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_NUMBER: Final = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SIGN: Final = re.compile(r"\*\*=|\*\*|&&|\|\||\+\+|--|[-+*%^<>=!]=|!~|[-+*/%^!><?:~$={}()\[\];,]")
_TEXT: Final = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"')
_PATTERN: Final = re.compile(
    r"""/(?!=)(?:
        [^/\\\[\]\n]
      | \\[^\n]
      | \[ \^? (?!\]) (?: [^/\\\[\]\n] | \\[A-Za-z/.*+?^$|(){}\\"'-] | \[:[a-z]+:\] )+ \]
    )*/""",
    re.VERBOSE,
)
"""Awks disagree on a `/` within brackets, and on brackets that are not closed."""

_BEFORE_PATTERN: Final = frozenset({"(", ",", "{", "}", ";", "!", "~", "!~", "&&", "||"})


def refusal(program: str) -> str | None:
    """Why the program may do more than read its input and print; None: it only does that."""
    if len(program) > LONGEST:
        return f"an awk program may have at most {LONGEST} characters"
    try:
        _judge(_tokens(program))
    except Refused as reason:
        return str(reason)
    return None


def refusal_of_assignment(text: str) -> str | None:
    """Why `name=value`, given with `-v` or as an operand, may do more than set a variable; None: it does not.

    The value is data: a program that passes `refusal` never runs, opens or obeys one.
    """
    name, equals, value = text.partition("=")
    if not equals or not _NAME.fullmatch(name):
        return "an awk variable is set with name=value"
    if name in _FORMATS:
        return (
            None if _FORMAT.fullmatch(value) else f"awk's {name} must be a format for one number, like %.6g"
        )
    if name in _NEVER or name in _KEYWORDS | _FUNCTIONS | {"FILENAME"}:
        return f"awk's {name[:40]} may not be set"
    if any(ch < " " and ch != "\t" for ch in value) or "\x7f" in value:
        return "the value of an awk variable may not hold control characters"
    if (len(value) - len(value.rstrip("\\"))) % 2:
        return "the value of an awk variable may not end with a backslash"
    return None


# ------------------------------------------------------------------------------------------- tokens


@dataclass(frozen=True, slots=True)
class _Token:
    """`heads`: a `)` that ends what stands behind `if`, `while` or `for`, so that a statement follows.

    `called`: a name with a `(` behind it.
    """

    what: _What
    text: str
    heads: bool = False
    called: bool = False

    @property
    def is_operand(self) -> bool:
        """Whether a value may end here."""
        if self.what == "name":
            return self.text not in _KEYWORDS
        return self.what in {"number", "text", "pattern"} or self.text in {")", "]", "++", "--"}


_START: Final = _Token("newline", "")


def _tokens(program: str) -> list[_Token]:
    found: list[_Token] = []
    opened: list[tuple[str, bool]] = []
    at = 0
    while True:
        blank = _BLANK.match(program, at)
        assert blank is not None  # noqa: S101  it matches the empty text
        if "\\" in blank[0] or any(ch < " " and ch != "\t" for ch in blank[0]):
            raise Refused("a comment in an awk program may not hold a backslash or a control character")
        at = blank.end()
        if at == len(program):
            break
        token, at = _token(program, at, found[-1] if found else _START)
        if token.what == "sign":
            token = _bracket(token, found, opened)
        found.append(token)
    if opened:
        raise Refused("a bracket in the awk program is not closed")
    return found


def _bracket(token: _Token, found: list[_Token], opened: list[tuple[str, bool]]) -> _Token:
    """Keeps count of brackets; a `)` is told what its `(` stood behind."""
    if token.text in {"(", "[", "{"}:
        before = found[-1] if found else _START
        opened.append((token.text, before.what == "name" and before.text in {"if", "while", "for"}))
    elif token.text in {")", "]", "}"}:
        bracket, heads = opened.pop() if opened else ("", False)
        if bracket + token.text not in {"()", "[]", "{}"}:
            raise Refused("the brackets of the awk program do not match")
        return _Token("sign", token.text, heads=heads)
    return token


def _token(program: str, at: int, before: _Token) -> tuple[_Token, int]:
    char = program[at]
    if char == "\n":
        return _Token("newline", char), at + 1
    if char == '"':
        return _quoted(_TEXT, program, at, "text")
    if char == "/" and not _divides(before):
        return _quoted(_PATTERN, program, at, "pattern")
    if name := _NAME.match(program, at):
        blank = _BLANK.match(program, name.end())
        called = blank is not None and program.startswith("(", blank.end())
        return _Token("name", name[0], called=called), name.end()
    if number := _NUMBER.match(program, at):
        if _NAME.match(program, number.end()) or program.startswith(".", number.end()):
            raise Refused("a number in the awk program runs into a word")
        return _Token("number", number[0]), number.end()
    sign = _SIGN.match(program, at)
    if sign is None:
        raise Refused(_unknown(program[at : at + 2]))
    if program.startswith((">>", "::", "/=", ">&"), at):
        raise Refused(_unknown(program[at : at + 2]))
    return _Token("sign", sign[0]), sign.end()


def _unknown(signs: str) -> str:
    if signs.startswith("|"):
        return "awk may not run programs (|)"
    if signs.startswith(">"):
        return "awk may not write files (>)"
    if signs.startswith("\\"):
        return "an awk program may not hold a backslash outside of strings and patterns"
    return "the awk program holds a character or a run of signs that is not known"


def _quoted(shape: re.Pattern[str], program: str, at: int, what: _What) -> tuple[_Token, int]:
    """A string or a pattern."""
    match = shape.match(program, at)
    if match is None:
        raise Refused(
            f"a {'string' if what == 'text' else '/pattern/'} in the awk program may be read in two ways"
        )
    if any(ch < " " and ch != "\t" for ch in match[0]) or re.search(r"[^\x00-\x7f]\\", match[0]):
        raise Refused("the awk program holds a control character, or a backslash after a special letter")
    return _Token(what, match[0]), match.end()


def _divides(before: _Token) -> bool:
    """Whether a `/` here is a division. Only where all awks agree."""
    if before.what == "newline" or (before.what == "sign" and before.text in _BEFORE_PATTERN):
        return False
    if before.is_operand and not before.heads and before.text not in {"++", "--"} | _FUNCTIONS:
        return True
    raise Refused("a / in the awk program may be a division or a pattern; put brackets around it")


# ------------------------------------------------------------------------------------------- judgement


@dataclass(slots=True)
class _Place:
    """Where the judgement stands. `open`: the brackets around it.

    `printing`: how many brackets were open at the `print` whose list may still go on, or None.
    """

    open: list[str]
    printing: int | None = None


def _judge(tokens: list[_Token]) -> None:
    place = _Place([])
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else _START
        after = tokens[at + 1] if at + 1 < len(tokens) else _START
        if token.what == "name":
            _name(token, after, place)
            if token.text in {"while", "for"}:
                _ends(token.text, tokens[at + 1 :])
        elif token.what == "newline":
            if before.is_operand or before.text in {"print", "printf"}:  # behind a comma the list goes on
                _statement_ends(place)
        elif token.what == "sign":
            _sign(token.text, before, after, place)


def _statement_ends(place: _Place) -> None:
    if place.printing is not None and len(place.open) <= place.printing:
        place.printing = None


def _sign(sign: str, before: _Token, after: _Token, place: _Place) -> None:
    if sign == ">":
        _greater(before, after, place)
    elif sign == ";":
        _statement_ends(place)
    elif sign in {"(", "[", "{"}:
        if sign == "{" and set(place.open) & {"(", "["}:
            raise Refused("the brackets of the awk program do not match")
        place.open.append(sign)
    elif sign in {")", "]", "}"}:
        place.open.pop()
        if sign == "}":
            _statement_ends(place)


def _greater(before: _Token, after: _Token, place: _Place) -> None:
    """`>` compares outside of print's list, and inside round brackets; elsewhere it opens a file."""
    in_brackets = bool(place.open) and place.open[-1] == "("
    if place.printing is not None and not (in_brackets and len(place.open) > place.printing):
        raise Refused("awk may not write files (>); to compare, put the comparison in brackets")
    starts = after.what in {"name", "number", "text"} or after.text in {"(", "$", "-", "+"}
    if not before.is_operand or before.heads or not starts:
        raise Refused("awk may not write files (>)")


def _name(token: _Token, after: _Token, place: _Place) -> None:
    name = token.text
    if name in _NEVER:
        raise Refused(f"awk's {name} may not {_NEVER[name]}")
    if name in _FUNCTIONS:
        if not token.called and name != "length":
            raise Refused(f"awk's {name} needs its ( right behind it")
    elif token.called and name not in _KEYWORDS:
        raise Refused(f"awk may only call its standard functions that compute; {name[:40]} is not one")
    if name in {"print", "printf"}:
        if {"(", "["} & set(place.open):
            raise Refused("a print in the awk program stands inside brackets")
        place.printing = len(place.open)
    if name == "FILENAME" and ("=" in after.text[-1:] and after.text not in {"==", "!=", "<=", ">="}):
        raise Refused("awk's FILENAME may not be set")


def _ends(loop: str, rest: list[_Token]) -> None:
    """A loop must have a condition that is not a constant."""
    head = rest[1:4]
    constant = len(head) > 1 and head[0].what in {"number", "text"} and head[1].text == ")"
    if loop == "while" and constant:
        raise Refused("an awk loop must have an end: its condition is a constant")
    depth = 0
    for at, token in enumerate(rest):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0:
            return
        if loop == "for" and token.text == ";" and at + 1 < len(rest) and rest[at + 1].text == ";":
            raise Refused("an awk loop must have an end: for has no condition")

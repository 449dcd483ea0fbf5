"""A program of `jq` -> why it may not run (A6).

jq can neither write a file nor run a program. It can print the environment (`env`, `$ENV`) and load other
files (`import`, `include`). The program is cut into tokens as jq, gojq and jaq do, code inside strings
included; a function passes when it is one of jq's own that only compute, or defined in the program. Names of
fields and keys are data.
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
    "if then else elif end as def reduce foreach try catch label and or break true false null not"
)

_FUNCTIONS: Final = _words(
    # values and their parts
    "length utf8bytelength keys keys_unsorted values has in map map_values path del getpath setpath "
    "delpaths paths leaf_paths to_entries from_entries with_entries select empty error add any all "
    "flatten range floor sqrt pow log type infinite nan isinfinite isnan isvalid isnormal sort sort_by "
    "group_by min max min_by max_by unique unique_by reverse contains inside index indices rindex "
    "startswith endswith combinations ltrimstr rtrimstr trimstr trim ltrim rtrim explode implode split "
    "join ascii ascii_downcase ascii_upcase while repeat until recurse recurse_down walk transpose "
    "bsearch tostring tonumber toboolean tojson fromjson toarray pick debug stderr input inputs "
    "input_filename input_line_number halt halt_error arrays objects iterables booleans numbers strings "
    "nulls scalars normals finites first last nth limit skip isempty splits tostream fromstream "
    "truncate_stream abs have_literal_numbers have_decnum builtins "
    # regular expressions
    "test match capture scan sub gsub "
    # dates
    "now todate fromdate date dateadd datesub todateiso8601 fromdateiso8601 strptime strftime "
    "strflocaltime mktime gmtime localtime "
    # as in SQL
    "INDEX GROUP_BY UNIQUE_BY IN INSIDE JOIN "
    # numbers
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf exp exp10 exp2 expm1 "
    "fabs fdim fma fmax fmin fmod frexp gamma hypot j0 j1 ldexp lgamma lgamma_r log10 log1p log2 logb "
    "modf nearbyint nextafter nexttoward rint round scalb scalbln significand sin sinh tan tanh tgamma "
    "trunc y0 y1 "
)

_FORMATS: Final = _words("text json csv tsv html uri urid sh base64 base64d base32 base32d")

_NEVER: Final = {
    "env": "jq may not print the environment (env)",
    "import": "jq may not load other files (import)",
    "include": "jq may not load other files (include)",
    "modulemeta": "jq may not load other files (modulemeta)",
}

_What: TypeAlias = Literal["word", "field", "variable", "format", "number", "sign", "text", "code", "end"]

_SPACE: Final = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_WORD: Final = re.compile(r"[a-zA-Z_][a-zA-Z_0-9]*")
_NUMBER: Final = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SIGNS: Final = re.compile(r"\.\.|\?//=?|//=|\|=|\+=|-=|\*=|/=|%=|==|!=|<=|>=|//|[.\[\]{}()|,:;=<>+\-*/%?]")
_CLOSES: Final = {")": "(", "]": "[", "}": "{"}


def refusal(program: str) -> str | None:
    """Why the program may do more than read its input and print; None: it only does that."""
    if len(program) > LONGEST:
        return f"a jq program may have at most {LONGEST} characters"
    if any(ch < " " and ch not in "\n\t" for ch in program) or "\x7f" in program:
        return "a jq program may not hold control characters"
    try:
        _judge(_Tokens(program).tokens())
    except Refused as reason:
        return str(reason)
    return None


# ------------------------------------------------------------------------------------------- tokens


@dataclass(frozen=True, slots=True)
class _Token:
    """`code`: the beginning of `\\(` inside a string; its `)` is a sign, the rest of the string a text."""

    what: _What
    text: str


class _Tokens:
    """Cuts a program into tokens. Brackets are counted, since a string goes on where its `\\(` is closed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.open: list[str] = []
        self.found: list[_Token] = []

    def tokens(self) -> list[_Token]:
        while True:
            self.space()
            if self.at == len(self.text):
                break
            self.token()
        if self.open:
            raise Refused("a bracket or a string in the jq program is not closed")
        return self.found

    def space(self) -> None:
        space = _SPACE.match(self.text, self.at)
        assert space is not None  # noqa: S101  it matches the empty text
        if "\\" in space[0]:
            raise Refused("a comment in a jq program may not hold a backslash")  # newer jq: it goes on
        self.at = space.end()

    def add(self, what: _What, text: str, end: int) -> None:
        self.found.append(_Token(what, text))
        self.at = end

    def token(self) -> None:
        char = self.text[self.at]
        if char == '"':
            self.at += 1
            self.string()
        elif number := _NUMBER.match(self.text, self.at):
            if _WORD.match(self.text, number.end()):
                raise Refused("a number in the jq program runs into a word")
            self.add("number", number[0], number.end())
        elif word := _WORD.match(self.text, self.at):
            self.add("word", word[0], word.end())
        elif char in "$@.":
            self.prefixed(char)
        else:
            self.sign()

    def prefixed(self, prefix: str) -> None:
        """`$name`, `@name` and `.name`: the name stands right behind."""
        word = _WORD.match(self.text, self.at + 1)
        if word is None and prefix == ".":
            self.sign()
        elif word is None:
            raise Refused(f"a {prefix} in the jq program has no name right behind it")
        elif prefix == "$":
            self.add("variable", word[0], word.end())
        elif prefix == "@":
            self.add("format", word[0], word.end())
        else:
            self.add("field", word[0], word.end())

    def sign(self) -> None:
        sign = _SIGNS.match(self.text, self.at)
        if sign is None or self.text.startswith(("...", "::"), self.at):
            raise Refused("the jq program holds a character or a run of signs that is not known")
        if sign[0] in {"(", "[", "{"}:
            self.open.append(sign[0])
        elif sign[0] in _CLOSES:
            opened = self.open.pop() if self.open else ""
            if opened == '"' and sign[0] == ")":
                self.add("sign", ")", sign.end())
                self.string()
                return
            if opened != _CLOSES[sign[0]]:
                raise Refused("the brackets of the jq program do not match")
        self.add("sign", sign[0], sign.end())

    def string(self) -> None:
        """From behind a `"`, or from behind the `)` of a `\\(`, to the end or the next `\\(`."""
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == '"':
                self.add("text", "", self.at)
                return
            if char == "\\":
                escape = self.text[self.at : self.at + 1]
                self.at += 1
                if escape == "(":
                    self.open.append('"')
                    self.add("code", "(", self.at)
                    return
                if not escape or escape not in '"\\/bfnrtu':
                    raise Refused("a string in the jq program holds an escape that is not known")
        raise Refused("a string in the jq program is not closed")


# ------------------------------------------------------------------------------------------- judgement


@dataclass(slots=True)
class _Frame:
    """What is open: a bracket, or `if` up to `end`. `plain`: no keyword stands directly in it.

    In an object that is not plain, a comma may belong to a value, and the word behind it may be a call.
    """

    opened: str
    plain: bool = True


_END: Final = _Token("end", "")


def _judge(tokens: list[_Token]) -> None:
    known = _FUNCTIONS | _defined(tokens)
    frames = [_Frame("")]
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else _END
        after = tokens[at + 1] if at + 1 < len(tokens) else _END
        frame = frames[-1]
        if token.what == "word":
            if frame.opened == "{" and before.text in {"{", ","} and before.what == "sign":
                _key(token.text, after, frame)
                continue
            frame.plain = frame.plain and token.text not in _KEYWORDS - {"true", "false", "null", "not"}
            if token.text == "if":
                frames.append(_Frame("if"))
            elif token.text == "end":
                _close(frames, "if")
            _word(token.text, known)
        elif token.what == "variable":
            _variable(token.text)
        elif token.what == "format" and token.text not in _FORMATS:
            raise Refused("the jq program uses an @ format that is not known")
        elif token.what == "code":
            frames.append(_Frame("("))
        elif token.what == "sign" and token.text in {"(", "[", "{"}:
            frames.append(_Frame(token.text))
        elif token.what == "sign" and token.text in _CLOSES:
            _close(frames, _CLOSES[token.text])
    if len(frames) > 1:
        raise Refused("an if of the jq program has no end")


def _defined(tokens: list[_Token]) -> set[str]:
    """The functions that the program defines, with the names of what they are given."""
    names: set[str] = set()
    for at, token in enumerate(tokens):
        if token != _Token("word", "def"):
            continue
        for part in tokens[at + 1 :]:
            if part == _Token("sign", ":"):
                break
            if part.what == "word":
                names.add(part.text)
            elif part.what != "variable" and part.text not in {"(", ")", ";"}:
                raise Refused("a def in the jq program is not understood")
    return names


def _close(frames: list[_Frame], opened: str) -> None:
    if frames.pop().opened != opened:
        raise Refused("the brackets and if … end of the jq program do not match")


def _key(name: str, after: _Token, frame: _Frame) -> None:
    """A word where an object has its keys: `{name: value}`, or `{name}` for the field of that name."""
    if after.what != "sign" or after.text not in {":", ",", "}"}:
        raise Refused("a key in the jq program is not understood")
    if after.text != ":" and name in _NEVER and not frame.plain:
        raise Refused(_NEVER[name])


def _word(name: str, known: frozenset[str] | set[str]) -> None:
    if name in _NEVER:
        raise Refused(_NEVER[name])
    if name not in known and name not in _KEYWORDS:
        raise Refused(f"jq may only use functions that compute; {name[:40]} is not known as one")


def _variable(name: str) -> None:
    if name == "ENV":
        raise Refused("jq may not print the environment ($ENV)")
    if name.startswith("__") and name != "__loc__":
        raise Refused("jq may not use variables of its own workings ($__…)")

"""The words behind `test`: only questions about files and texts.

`-v`, `-o`, `-eq` and the like evaluate what they are given, at least in `[[`; they are left out. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from memdir.agent.shell.refused import Refused
from memdir.agent.shell.word import Word

_OF_FILES = frozenset(["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-p", "-S", "-b", "-c"])
_OF_TEXTS = frozenset(["-n", "-z"])
_BETWEEN = frozenset(["=", "==", "!="])
_BETWEEN_FILES = frozenset(["-nt", "-ot", "-ef"])


def files(words: Sequence[Word]) -> list[Word]:
    """The words that name files.

    Raises:
        Refused: it is no such question.
    """
    rest = list(words)
    if rest and rest[0].text == "!":
        del rest[0]
    if any(word.is_pattern for word in rest):
        raise Refused("test needs one name; quote it")
    match [word.text for word in rest]:
        case [question, _] if question in _OF_FILES:
            return [rest[1]]
        case [question, _] if question in _OF_TEXTS:
            return []
        case [one, between, _] if between in _BETWEEN and not one.startswith("-"):
            return []
        case [_, between, _] if between in _BETWEEN_FILES:
            return [rest[0], rest[2]]
    raise Refused("test may only ask about a file (-e, -f, -d, ...) or compare two texts")

"""The table of tokens, `shapes.txt` -> `Token` rules, in its order."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from memdir.secrets import values
from memdir.secrets.rules import Token

_TABLE = Path(__file__).with_name("shapes.txt")


@cache
def shapes() -> tuple[Token, ...]:
    """All rules of the table; read once."""
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    return tuple(_token(line) for line in lines if line and not line.startswith("#"))


def _token(line: str) -> Token:
    name, keywords, test, example, pattern = re.split(r" {2,}", line.strip(), maxsplit=4)
    keys = keywords.split(" ")
    return Token(
        name=name,
        begins=tuple(key for key in keys if not key.startswith("~")),
        inside=tuple(key[1:] for key in keys if key.startswith("~")),
        test=test,
        example=example,
        pattern=pattern,
        accepts=values.TESTS[test],
    )

"""Twice the text takes about twice the time, whatever is in it (E10); `bench.secrets` says how long."""

from __future__ import annotations

from random import Random
from time import process_time

import pytest

from memdir.secrets import scan
from memdir.secrets.shapes import shapes
from tests.test_secrets_shapes import filled

UNITS = {
    "prose": "the password field and the token were rotated. ",
    "Chinese": "密码是必填项，令牌在保险库里。",
    "code": "def token(self, key: str = 'a') -> str: return self.secret[key]\n",
    "JSON": '{"a":1,"token":null,"api_key":"v"},',
    "one letter": "a",
    "words": "x ",
    "hexadecimal": "9f3c1a7b",
    "base64": "q8ZtYp3LmXw0",
    "login": " user a",
    "owner": "password for a b ",
    "open quote": 'api_key: "a\\',
    "open bracket": "密码「",
    "place": "://",
    "two places": "://a:",
    "curl": "curl ",
    "cookie": "cookie: a=b; ",
    "echo": "echo a:",
    "phrase": "phrase: abandon ",
    "key block": "-----BEGIN PRIVATE KEY-----\n",
    "open key block": "-----BEGIN PRIVATE KEY-----\nabcdefghijklmnopqrstuvwx-",
    "PuTTY": "PuTTY-User-Key-File-3",
    "table": "| token | ",
    "escape": "%5f",
    "invisible": "\u200b",
    "web key": '"kty""d":"',
    "web token": "-eyJ",
    "tag": "<password ",
    "text in base64": "aGVsbG8gd29ybGQsIGhlbGxvIHdvcmxk ",
    "lines of base64": "aGVsbG8gd29ybGQsIGhlbGxvIHdvcmxk\n",
    "lines of words": "some4thing\n",
    "escaped escape": "%2525252525",
    "colour": "\x1b[31m",
    "markup": "a**",
    "seam": "'+'",
    "echo to": "echo a | ",
    "name and place": "a:bcdefgh@",
}


def halves() -> dict[str, str]:
    """Of every rule the keyword and half of an example."""
    found = {}
    for rule in shapes():
        value = filled(rule.example, Random(rule.example))
        found[f"half a {rule.name} {rule.example[:8]}"] = value[: len(value) * 2 // 3] + " "
    return found


def taken(text: str) -> float:
    before = process_time()
    scan(text)
    return process_time() - before


@pytest.mark.parametrize("unit", UNITS.values(), ids=list(UNITS))
def test_twice_the_text_takes_no_four_times_as_long_E10(unit: str) -> None:
    scan(unit)
    text = (unit * (60_000 // len(unit) + 1))[:60_000]
    small = min(taken(text) for _ in range(3))
    assert min(taken(text + text) for _ in range(3)) < 3.3 * small + 0.05


def test_near_misses_of_every_rule_cost_no_more_than_their_length_E10() -> None:
    text = "".join(halves().values())
    text *= 60_000 // len(text) + 1
    scan(text)
    small = min(taken(text) for _ in range(3))
    assert min(taken(text + text) for _ in range(3)) < 3.3 * small + 0.05

"""The table of tokens: every example is found by its own rule, and what only resembles one is not (E10).

No whole token stands in the table or here: recipes are filled in by a seeded generator.
"""

from __future__ import annotations

import re
import string
import zlib
from random import Random

import pytest

from memdir.secrets import scan
from memdir.secrets.rules import Token
from memdir.secrets.shapes import shapes

BASE62 = string.digits + string.ascii_letters
ALPHABETS = {
    "base62": BASE62,
    "base64": BASE62 + "+/",
    "url": BASE62 + "-_",
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "letters": string.ascii_letters,
    "base32": string.ascii_uppercase + "234567",
    "digits": string.digits,
}
_RUN = re.compile(r"\{(\d+) (\w+)\}")


def filled(recipe: str, random: Random) -> str:
    """The recipe with random letters in its runs; a run of some length begins and ends with no `-` or `_`."""

    def run(match: re.Match[str]) -> str:
        alphabet = ALPHABETS[match[2]]
        letters = [random.choice(alphabet) for _ in range(int(match[1]))]
        for edge in (0, -1):
            while letters[edge] in "-_+/":
                letters[edge] = random.choice(alphabet)
        return "".join(letters)

    return _RUN.sub(run, recipe)


def named(rule: Token) -> str:
    return f"{rule.name}-{rule.example[:9]}"


@pytest.mark.parametrize("rule", shapes(), ids=named)
def test_an_example_is_found_whole_by_its_own_rule_E10(rule: Token) -> None:
    random = Random(rule.example)
    for _ in range(20):
        value = filled(rule.example, random)
        for text in (f"see {value} there", f"钥匙是{value}。", f'["{value}"]', value):
            (finding,) = scan(text)
            assert finding.rule == rule.name
            assert text[finding.start : finding.end] == value


@pytest.mark.parametrize("rule", shapes(), ids=named)
def test_a_shape_with_its_random_part_left_out_is_no_token_E10(rule: Token) -> None:
    masked = _RUN.sub(lambda run: "x" * int(run[1]), rule.example)
    assert scan(f"see {masked} there") == []


@pytest.mark.parametrize("rule", shapes(), ids=named)
def test_the_beginning_of_a_token_alone_is_no_token_E10(rule: Token) -> None:
    random = Random(rule.example)
    for _ in range(5):
        start = _RUN.split(rule.example)[0]
        assert scan(f"tokens start with {start}{random.randrange(10_000)} …") == []


@pytest.mark.parametrize("rule", [rule for rule in shapes() if rule.begins and not rule.inside], ids=named)
def test_a_token_inside_a_longer_word_is_another_word_E10(rule: Token) -> None:
    value = filled(rule.example, Random(rule.example))
    assert [one for one in scan(f"see abc{value}") if one.rule == rule.name] == []


@pytest.mark.parametrize("rule", shapes(), ids=named)
def test_no_preview_holds_more_than_the_documented_beginning_E10(rule: Token) -> None:
    value = filled(rule.example, Random(rule.example))
    (finding,) = scan(value)
    shown, _, length = finding.preview.partition("… ")
    assert shown in ("", *rule.begins)
    assert length == f"({len(value)} characters)"


@pytest.mark.parametrize("rule", shapes(), ids=named)
def test_keywords_tell_where_to_look_and_no_rule_is_without_E10(rule: Token) -> None:
    assert rule.begins or rule.inside
    for key in rule.begins:
        assert len(key) >= 2
        assert not re.search(r"[A-Za-z0-9]{24}", key.replace("A" * 21, ""))


def test_a_right_checksum_is_proof_and_a_wrong_one_is_not_the_contrary_E10() -> None:
    body = "a" * 30
    rest, check = zlib.crc32(body.encode()), ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        check = (string.digits + string.ascii_uppercase + string.ascii_lowercase)[digit] + check
    assert [one.rule for one in scan(f"ghp_{body}{check}")] == ["GitHub token"]
    assert scan(f"ghp_{body}aaaaaa") == []
    assert len(scan("ghp_" + filled("{36 base62}", Random(1)))) == 1


def test_no_whole_token_stands_in_the_table_E10() -> None:
    from memdir.secrets import shapes as module

    assert scan(module._TABLE.read_text(encoding="utf-8")) == []

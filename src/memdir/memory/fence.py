"""Text of others -> text that can stand in what a model is sent, and stays data there (E11, M4).

    fenced(text)     several lines, to stand between two tags of ours
    harmless(text)   one line, to stand in a list of ours
    exact(path)      a path, which a model can write as it is meant
    visible(text)    what a person would see of it

Whatever was written by somebody else goes through one of these, once or twice: twice changes nothing more.
Nothing that can't be seen is left: controls, direction marks, joiners that join nothing, tag letters. What
shapes what is seen stays: the joiners of emoji and of Persian and Indian scripts, a variation selector. What
could pass for a tag of ours, or for the marks by which programs and models tell who speaks, has a `‹` in
place of its `<`, however that is spelled. All of it takes time in proportion to the length.
"""

from __future__ import annotations

import json
import re
import unicodedata

INSTEAD = "‹"

# ---------------------------------------------------------------------------------- what can be seen

# Other controls than white space; joiners, fillers, direction marks, variation selectors, tag letters.
_HIDDEN = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_PICTURE = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
# Scripts with letters that join.
_JOINED = "\u0620-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff"
_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SHAPING = "|".join(
    (
        f"(?:(?<=[{_PICTURE}])|(?<=[{_PICTURE}]\ufe0f))\u200d(?=[{_PICTURE}])",
        f"(?<=[{_PICTURE}])[\ufe0e\ufe0f]",
        "(?<=[0-9#*])\ufe0f(?=\u20e3)",
        f"(?<=[{_JOINED}])[\u200c\u200d]",
        "(?<=[\u1820-\u18aa])[\u180b-\u180d\u180f]",
        f"(?<=[{_HAN}])[\ufe00-\ufe02\U000e0100-\U000e01ef]",
    )
)
_UNSEEN = re.compile(f"(?!{_SHAPING})[{_HIDDEN}]")
# Half characters, and those that mean nothing outside of one program or font.
_NOBODYS = re.compile("[\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]")


def visible(text: str) -> str:
    """The text without what a person can't see in it; half and private characters as U+FFFD."""
    return _UNSEEN.sub("", _NOBODYS.sub("\ufffd", text))


# ---------------------------------------------------------------------------------- what could pass for ours

_LESS = r"(?:[<˂ᐸ⟨〈❮]|&(?:amp;){0,9}(?:lt|\#0{0,9}60|\#x0{0,9}3c);?|\\u003c|\\x3c|%3c)"
_SLASH = r"/⁄∕⧸\\"
# Of our prompts; of those who speak; of what models and programs put around results, calls and news.
_NAMES = r"""
    (?:[\w-]{1,20}:)?
    (?: memor(?:y|ies) | index | diff | request | said | answer
      | system | human | assistant | user | person | developer
      | tools? | functions? | invoke | parameter | antml | results? | documents? | thinking | reasoning
      | summary | instructions? | context | policy | im_start | im_end | start_of_turn | end_of_turn
      | (?:system|user|human|assistant|tool|function|memory|command|local-command|bash|task|agent|teammate
          |session|prompt|compact|hook|mcp)[-_][\w-]{1,40}
      | [\w-]{1,30}-hook
    )(?!\w)
"""
_OPENS = re.compile(
    rf"""{_LESS}(?=(?:\s|[{_SLASH}])*+{_NAMES}|\|[\w\s-]{{1,40}}\|>|<?\s*+/?sys>)
       | \[(?=\s*+/?inst\s*+\])""",
    re.IGNORECASE | re.VERBOSE,
)
_CLOSES = re.compile(rf"{_LESS}(?=\s*+[{_SLASH}])", re.IGNORECASE | re.VERBOSE)
_GENERIC = re.compile(r"\b[A-Z]\w*\Z")
_TYPE = re.compile(
    r"(?:User|Person|Tool|Function|Result|Request|Document|Index|Memory|Context|Policy|Diff)s?[,>]"
)
_TURN = re.compile(
    r"^((?:[^\S\n]|#)*+)((?i:human|assistant)|User|USER|System|SYSTEM)(?=[^\S\n]*+:)", re.MULTILINE
)
_LINE_END = re.compile("\r\n?|[\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")


class _Folded(dict[int, str]):
    """Each character as the plain one that it looks like; one for one, so that places stay."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKC", chr(code))
        self[code] = plain if len(plain) == 1 else chr(code)
        return self[code]


_FOLDED = _Folded(zip(map(ord, "аеорсухіѕјԁмтһьοαρυντι▁"), "aeopcyxisjdmthboapuvti_", strict=True))


def fenced(text: str) -> str:
    """Several lines that can't end the tag around them, open another one, or speak for somebody."""
    seen = _LINE_END.sub("\n", visible(text))
    return _without(_TURN, _without(_OPENS, seen))


def harmless(text: str) -> str:
    """One line in which nothing ends any tag."""
    seen = " ".join(visible(text).split())
    return _without(_CLOSES, _without(_OPENS, seen))


def exact(path: str) -> str:
    """A path as it is, or, if something in it could mislead, in the quotes and escapes of JSON: a model that
    writes it down in a call has written the path itself."""
    if path == harmless(path) and "`" not in path:
        return path
    return f'"{"".join(map(_escaped, path))}"'


def _escaped(one: str) -> str:
    if one in "`<":
        return f"\\u{ord(one):04x}"
    return one if one.isprintable() and one not in '"\\' else json.dumps(one)[1:-1]


def _without(marks: re.Pattern[str], text: str) -> str:
    """The text with its marks made plain. They are looked for in the folded text, not replaced there."""
    parts, end = [], 0
    for mark in marks.finditer(text.translate(_FOLDED) if not text.isascii() else text):
        if marks is _TURN:
            start, name = mark.start(2), f"{INSTEAD}{text[mark.start(2) : mark.end()]}›"
        elif _is_type(text, mark.start(), mark.end()):
            continue
        else:
            start, name = mark.start(), INSTEAD
        parts += [text[end:start], name]
        end = mark.end()
    return "".join((*parts, text[end:]))


def _is_type(text: str, start: int, end: int) -> bool:
    """`List<User>`: code, not a tag."""
    return bool(_TYPE.match(text, end)) and bool(_GENERIC.search(text[max(0, start - 40) : start]))

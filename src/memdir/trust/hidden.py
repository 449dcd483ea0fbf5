"""Text -> what a reader of it does not see: hidden characters, comments, encoded runs (E11). Pure, linear.

Joiners inside an emoji or a word of a script that needs them, and the flags made of tag characters, are
what they look like and are left alone.
"""

from __future__ import annotations

import re
import unicodedata

from memdir.trust.decoding import encoded_run


def visible(text: str) -> str:
    """The text as it is compared: NFKC, without characters that show nothing."""
    return _SHOWS_NOTHING.sub("", unicodedata.normalize("NFKC", text))


def hidden_in(text: str) -> str | None:
    """What a reader of the text would not see, in plain words, or None."""
    if not text.isascii() and (found := _character(text)):
        return found
    if _CONTROL.search(text):
        return "control characters"
    if any(not _ALLOWED.search(comment[0]) for comment in _COMMENT.finditer(text)) or _MD_COMMENT.search(
        text
    ):
        return "a comment that is not shown"
    if _MARKUP.search(text):
        return "HTML that hides or loads something"
    return "encoded text" if encoded_run(text) or _SPELLED.search(text) else None


_SHOWS_NOTHING = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|<!\[CDATA\[|<\?(?!xml\b)", re.DOTALL)
_ALLOWED = re.compile(r"\A<!--\s*memdir:[a-z-]+\s*-->\Z")
_SPELLED = re.compile(r"(?<![^\W_])(?:[^\W\d_][ ._-]){7}[^\W\d_](?![^\W_])")
_MD_COMMENT = re.compile(r"^\s{0,3}\[[^\]\n]{0,80}\]:\s*(?:#|<>)", re.MULTILINE)
_MARKUP = re.compile(
    r"<\s*/?\s*(?:script|style|iframe|img|object|embed|link|meta|svg|form|input|base|video|audio|template"
    r"|system|tool_result|summary|human|assistant)\b"
    r"|<[a-z][^<>\n]{0,200}\s(?:style|hidden|on[a-z]{3,20}|aria-hidden)\s*(?:=|>)"
    r"|\bjavascript:|\bdata:[a-z]+/[a-z0-9.+-]+[;,]",
    re.IGNORECASE,
)


# ---------------------------------------------------------------------------------- characters


def _character(text: str) -> str | None:
    rest = _FLAG.sub("", text)
    if _TAGS.search(rest):
        return "letters made of tag characters"
    if _BIDI.search(rest):
        return "characters that turn the direction of text"
    if _SELECTORS.search(rest):
        return "hidden data in variation selectors"
    if any(_LATIN.search(run) for run in _LOOK_ALIKES.findall(unicodedata.normalize("NFKC", rest))):
        return "letters that look like others"
    rtl = _RIGHT_TO_LEFT.search(rest) is not None
    for match in _JOINERS.finditer(rest):
        before, after = rest[: match.start()][-1:], rest[match.end() : match.end() + 1]
        if not _joins(match[0], before, after, rtl=rtl):
            return "characters without width"
    return None


def _joins(joiner: str, before: str, after: str, *, rtl: bool) -> bool:
    """Whether one character without width does what it is there for."""
    if joiner in "\u200e\u200f":
        return rtl
    if joiner == "\ufeff":
        return before == "" and after != ""
    if joiner == "\u200d":
        return (_emoji(before) and _emoji(after)) or (
            _needs_joiners(before) and _needs_joiners(after, ends=True)
        )
    return joiner == "\u200c" and _needs_joiners(before) and _needs_joiners(after, ends=True)


def _emoji(char: str) -> bool:
    return bool(char) and (
        unicodedata.category(char) in ("So", "Sk", "Mn")
        or char in "\ufe0f\u2640\u2642\u2695\u2194\u2195\u27a1"
    )


def _needs_joiners(char: str, *, ends: bool = False) -> bool:
    """Letters of Arabic, Syriac, the Indic scripts and their like, in which joiners spell words."""
    if not char:
        return ends
    return (
        "\u0600" <= char <= "\u08ff"
        or "\u0900" <= char <= "\u0dff"
        or "\u1000" <= char <= "\u109f"
        or ("\u1780" <= char <= "\u18aa" or "\ufb50" <= char <= "\ufefc" or (ends and not char.isalnum()))
    )


_FLAG = re.compile("\U0001f3f4(?:[\U000e0061-\U000e007a]{3,6})\U000e007f")
_TAGS = re.compile("[\U000e0000-\U000e007f]")
_BIDI = re.compile("[\u061c\u202a-\u202e\u2066-\u206f]")
_SELECTORS = re.compile(
    "[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}|[\ufe00-\ufe0d]"
    "|(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f])"
    "[\U000e0100-\U000e01ef]|(?<=[A-Za-z ])[\ufe0e\ufe0f]"
)
_JOINERS = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2065\u2800\u3164"
    "\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\ud800-\udfff]"
)
_LOOK_ALIKES = re.compile(
    r"(?=[A-Za-z\u0370-\u03bb\u03bd-\u03ff\u0400-\u052f]{3})[A-Za-z]*"
    r"[\u0370-\u03bb\u03bd-\u03ff\u0400-\u052f][^\W\d_]*"
)
_LATIN = re.compile("[A-Za-z]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")

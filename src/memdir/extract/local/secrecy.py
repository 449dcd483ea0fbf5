"""Sentences with secrets lose the value, or are left out (E10).

`memdir.secrets.scan` knows tokens by their shape. In a talk people also hand over short passwords: near
words such as "password" or "key" any run that mixes letters with digits counts as one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from memdir import secrets
from memdir.cues import Cue
from memdir.extract.local.speech import Sentence
from memdir.memory.words import words

_LEAST_WORDS = 5
"""So many words must be left beside a value for a sentence to say anything."""

MOST_SWITCHES = 3
"""So often no name goes from letters to digits or back."""

HIDDEN = "[secret left out]"

_VALUE = re.compile(
    r"(?<![\w/.@#-])(?=[\w!@$%^&*+.-]{0,60}\d)(?=[\w!@$%^&*+.-]{0,60}[A-Za-z])[A-Za-z0-9][\w!@$%^&*+.-]{5,80}(?![\w/@-])"
)
_HARMLESS = re.compile(
    r"(?:v?\d+(?:\.\d+)+|[A-Z]{2,6}-\d+|\d+(?:st|nd|rd|th|h|min|s|ms|kb|mb|gb|x|px|k|%)|Q[1-4]|20\d\d-\d\d(?:-\d\d)?|\d+-\w+"
    r"|[a-z]+\d?\.[a-z]{2,}|1password)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"(?<![\w/.@#-])\w[\w-]{9,120}(?![\w/@-])")
_SWITCH = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_LOGIN_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/@:]{0,60}:[^\s/@]{1,100}@\S{0,200}", re.IGNORECASE)


def without_secrets(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences of one turn; those that hold little but a secret are gone, others lose the value."""
    kept = []
    for at, sentence in enumerate(sentences):
        near = any(Cue.SECRET in other.cues for other in sentences[max(0, at - 2) : at + 2])
        text = hide(sentence.text, near=near)
        if text == sentence.text:
            kept.append(sentence)
        elif _worth_keeping(sentence, text):
            kept.append(replace(sentence, text=text, said=hide(sentence.said, near=near)))
    return kept


def _worth_keeping(sentence: Sentence, text: str) -> bool:
    """A sentence that only hands a secret over is dropped; one that says where it is kept stays."""
    wanted = Cue.REMEMBER in sentence.cues or {Cue.PLACE, Cue.OUTSIDE} <= sentence.cues
    return wanted and len(set(words(text.replace(HIDDEN, "")))) >= _LEAST_WORDS


def _is_random(value: str) -> bool:
    """Does it look like nothing that a person thinks up: capitals, small letters and digits in turns?"""
    if value.lower() == value or value.upper() == value:
        return False
    return len(_SWITCH.findall(value)) >= MOST_SWITCHES


def hide(text: str, *, near: bool) -> str:
    """The text without secret values. `near`: words like "password" stand around it."""
    text = _LOGIN_URL.sub(HIDDEN, text)
    for finding in reversed(secrets.scan(text)):
        text = text[: finding.start] + HIDDEN + text[finding.end :]
    text = _TOKEN.sub(lambda token: HIDDEN if _is_random(token.group()) else token.group(), text)
    if near:
        text = _VALUE.sub(lambda value: value.group() if _HARMLESS.fullmatch(value.group()) else HIDDEN, text)
    return text

"""What memories are called, in the index and in their headers: does it fit what they say? (F6, D8) Pure.

Of an entry of the index, a name and a description more is read than of all else, and no line of a memory
accounts for them. One that a dream wrote has to be about its memory, and may not say of it that it is void.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from memdir.dream.checks.quoted import named, quoted
from memdir.dream.files import Snapshot
from memdir.dream.plan.body import turning, turns
from memdir.memory import encoding, entrypoint
from memdir.memory.entrypoint import NAME
from memdir.memory.pointer import entry, key
from memdir.memory.topic import parse
from memdir.trust.judging import negations
from memdir.trust.terms import keys, loosened, terms

FITS = 0.5
"""So much of the weight of its words has to be known from the memory, or from what it was called before."""
SAME = 0.8
"""With so much of its words in one line, it says what that line says."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with what a file is called."""

    file: str
    reason: str


def faults(before: Snapshot, after: Snapshot, made: Mapping[str, Sequence[str]]) -> Iterator[Fault]:
    """What does not fit. `made`: each file that was written anew, and those it was made from."""
    was, now = encoding.readable(before.index), encoding.readable(after.index)
    old = {line.strip() for line in was.splitlines()}
    hooks: dict[str, str] = {}
    for one in entrypoint.pointers(was):
        hooks[key(one.file)] = f"{hooks.get(key(one.file), '')}\n{one.title}\n{one.hook}"
    files = {key(file): file for file in after.topics}
    others = keys(_words(" ".join(after.topics)))
    for line in (line.strip() for line in now.splitlines()):
        if line in old:
            continue
        if line.startswith("#") and turns(line):
            yield Fault(NAME, f"the index would set memories below {quoted(line)}")
        if "~~" in line and "](" in line:
            yield Fault(NAME, f"the index would strike out {quoted(line)}")
        pointer = entry(line)
        file = files.get(key(pointer.file)) if pointer else None
        if pointer is None or file is None:
            continue
        text = encoding.readable(after.files[file])
        sources = "\n".join(hooks.get(key(one), "") for one in (file, *made.get(file, ())))
        if why := _misfit(pointer.hook, file, text, sources, others):
            yield Fault(NAME, f"the index would say of {named(file)} {quoted(pointer.hook)}, {why}")
    for file, origins in made.items():
        if file != NAME and file in before.files:
            yield from _called(file, before, after, origins, others)


def _called(
    file: str, before: Snapshot, after: Snapshot, origins: Sequence[str], others: Set[str]
) -> Iterator[Fault]:
    """What is wrong with the name and the description in a header."""
    then, topic = (parse(one.files[file], filename=file) for one in (before, after))
    known = "\n".join(encoding.readable(before.files[one]) for one in origins if one in before.files)
    for what, text, was in (
        ("name", topic.name, then.name),
        ("description", topic.description or "", then.description or ""),
    ):
        if text != was and (why := _misfit(text, file, topic.body, known, others, few=0)):
            yield Fault(file, f"its {what} would be {quoted(text)}, {why}")


def _misfit(said: str, file: str, text: str, known: str, others: Set[str], *, few: int = 2) -> str | None:
    """Why something does not fit a memory of that text. `known`: what it was called, and made of, before;
    `others`: words that other memories are called by; `few`: so many words may all be new.
    """
    whole = f"{_words(file)}\n{text}\n{known}"
    there = keys(whole)
    mine = [one for one in terms(said) if not one.figure]
    weight = sum(one.weight for one in mine)
    fit = sum(one.weight for one in mine if one.key in there or loosened(one.key) in there)
    strange = {one.key for one in mine if one.key not in there and loosened(one.key) not in there}
    if (fit < FITS * weight and len(mine) > few) or (fit <= FITS * weight and strange & others):
        return "which is not what it is about"
    if turning(_UNTIL.sub(" ", said)) - turning(whole) or (negations(said) and not negations(whole)):
        return "and nothing in it says so"
    if any(_turns_around(one, whole, keys(_words(file))) for one in _statements(said)):
        return "and a line of it says the opposite"
    return None


def _statements(said: str) -> Sequence[str]:
    """What stands between semicolons, as in a description that was made from two, if each part says much."""
    parts = said.split("; ")
    said_in = [[one for one in terms(part) if not one.figure] for part in parts]
    return parts if all(len(words) > 1 for words in said_in) else [said]


def _turns_around(said: str, text: str, subject: Set[str]) -> bool:
    """Whether it says what a line says, but for a "no". `subject`: words that a line need not say again."""
    found = {one.key: one for one in terms(said) if one.key not in subject}
    if len(found) < 2:
        return False
    mine, named = set(found), {key for key, one in found.items() if not one.figure}
    alike = [(line, keys(line)) for line in text.splitlines()]
    alike = [
        (line, theirs)
        for line, theirs in alike
        if all(len(some & theirs) >= SAME * len(some) for some in (mine, named))
    ]
    return bool(alike) and all(_noes(line, mine) != _noes(said, theirs) for line, theirs in alike)


def _noes(text: str, about: Set[str]) -> int:
    """How often a text says no to what it is asked about: not by "English, no ticket number", asked about
    English.
    """
    parts = [(part, about & keys(part), _is_aside(part)) for part in _PART.split(text) if part]
    plain = {word for _, words, is_aside in parts if not is_aside for word in words}
    return sum(negations(part) for part, words, is_aside in parts if not is_aside or words - plain)


def _is_aside(part: str) -> bool:
    """Whether a part of a sentence, if it says no, says it to something of its own."""
    if _ASIDE.match(part) or (negations(part) and not negations(_WITHOUT.sub(" ", part))):
        return True
    words = part.split()
    no = next((at for at, word in enumerate(words) if negations(word)), None)
    if no is None or _THAT.search(" ".join(words[no + 1 :])):
        return False
    return sum(not one.figure for one in terms(" ".join(words[:no]))) > 1


_UNTIL = re.compile(r"\b(?:until|bis|hasta)\s+(?=\d)", re.IGNORECASE)
"""Of which day that is true the dates are looked at by themselves."""
_PART = re.compile(
    r"(?<=[.!?;,:])\s+(?!(?:which|who|whose|that)\b)|[。；，！？]|\s[–—-]\s"
    r"|\s(?=(?:and|but|und|aber|y|pero|when|because|wenn|weil)\b)"
)
_WITHOUT = re.compile(r"\b(?:without|ohne|sin)\s+(?!(?:it|this|that|them|es|das|eso)\b)\w", re.IGNORECASE)
_THAT = re.compile(r"\b(?:it|this|that|them|so|any more|es|das|dies\w*|sie|eso|esto)\b", re.IGNORECASE)
_ASIDE = re.compile(
    r"\W*(?:when|because|wenn|weil)\s"
    r"|\W*(?:(?:and|but|und|aber|y|pero)\s)?"
    r"(?:no|never|not|don't|do not|without|kein\w*|nie|niemals|nicht|ohne|nunca|sin)\s+[\"'`“„]?"
    r"(?!(?:any|at all|longer|more|ever|again|so|if|when|way|chance|good|mehr|mal|immer|wenn|más"
    r"|\w+ed|\w+[ai]ble|erlaubt|gut|zulässig|true|safe|valid|right|correct|richtig|an?)\b)\w+"
    r"|(?:不再?|没有|禁止|别|勿)(?=\w\w)(?!可以?|行|许|准|对|能|允许|成立|是这样)",
    re.IGNORECASE,
)
"""What has a "no" to what follows it, and to nothing before it."""


def _words(file: str) -> str:
    """The words of a name, or of several."""
    return file.replace(".md", " ").replace("_", " ").replace("/", " ")

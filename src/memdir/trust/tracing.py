"""A statement -> the words that show that it comes from a tool, a page or a file (E11). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from memdir.cues import tables_for
from memdir.trust.carries import defanged
from memdir.trust.case import Case
from memdir.trust.sources import Said, is_odd, pair
from memdir.trust.stated import is_shown_file
from memdir.trust.terms import WIDEST, Term, common, folded, loosened, meanings, runs


def traced(case: Case) -> str:
    """The telling word, or the statement, or nothing."""
    if not case.heard:
        return ""
    if name := _identifier(case):
        return name
    keys = case.heard.hard_keys
    hard = [term for term in case.loose if term.key in keys or loosened(term.key) in keys]
    if rare := next((term for term in hard if term.weight == 1.0 and not term.cjk), None):
        return rare.shown
    if keys and not case.told and _is_planted(case, hard):
        return case.statement.text
    weight = sum({term.key: term.weight for term in hard}.values())
    if hard and (
        weight >= case.told or case.told < 0.5 * case.size or (len(hard) > 1 and weight > 0.6 * case.told)
    ):
        return case.statement.text
    if name := _name(case):
        return name
    return case.statement.text if _wording(case) > 1 and case.told < 0.5 * case.size else ""


def _is_planted(case: Case, hard: Sequence[Term]) -> bool:
    """Whether a statement without a word that the person told may be what a tool told an agent to keep."""
    weight = sum(term.weight for term in hard)
    if case.statement.part in ("file", "name"):
        return weight >= 0.5 * case.size > 0
    if weight >= 0.5 or case.heard.hard_meanings & meanings(case.text):
        return True
    return case.size > 0 and is_foreign(case.statement.text, case.said)


def _name(case: Case) -> str:
    """A product, a person, a place that only untrusted text names, where the person's own words are few."""
    names = [
        term
        for term in case.loose
        if term.weight == 1.0 and term.key in case.heard.names and term.shown[:1].isupper()
    ]
    return names[0].shown if names and case.backed < 2 * len(names) else ""


def _wording(case: Case) -> int:
    """How many neighbours, neither of them the person's, stand side by side in untrusted text as well."""
    own = {term.key for term in case.loose}
    return sum(
        one.key in own
        and two.key in own
        and not one.cjk
        and not two.cjk
        and pair(one, two) in case.heard.pairs
        for one, two in pairwise(case.terms)
    )


# ---------------------------------------------------------------------------------- identifiers


def _identifier(case: Case) -> str:
    """A name with figures or signs in it that only untrusted text has."""
    known = (case.said.windows, case.news.said.windows)
    for line in folded(defanged(case.text)).splitlines():
        pieces = runs(line)
        for start in range(len(pieces)):
            joined = ""
            for stop in range(start, min(start + WIDEST, len(pieces))):
                joined += pieces[stop]
                if joined not in case.heard.idents or any(joined in windows for windows in known):
                    continue
                if joined in case.heard.hard_idents or not _is_shown(joined, case):
                    return " ".join(pieces[start : stop + 1])
            if _is_hard(pieces[start], case):
                return pieces[start]
    return ""


def _is_hard(piece: str, case: Case) -> bool:
    if piece not in case.heard.hard_idents or piece in case.said.windows or piece in case.news.said.windows:
        return False
    return is_odd(piece) or piece not in common()


def _is_shown(squashed: str, case: Case) -> bool:
    """A file or a name in the code that a tool showed, beside the person's own words, and not to be run."""
    for found in _WORDS.findall(case.text):
        word = found.strip(".!?*")
        if squashed in "".join(runs(folded(word))):
            if is_shown_file(word, case):
                return not _RUN.search(case.text)
            return case.mostly_theirs and _IN_CODE.fullmatch(word) is not None
    return False


_WORDS = re.compile(r"[^\s`'\"(),;:，。；、（）「」]+")
_IN_CODE = re.compile(r"[A-Za-z_][A-Za-z_]*(?:[._][A-Za-z_]+)*(?:\(\))?")
_RUN = re.compile(r"\b(?:bootstrap\w*|execut\w*|curl)\b|\.(?:sh|ps1|bat|cmd|exe)\b", re.IGNORECASE)


# ---------------------------------------------------------------------------------- languages


def is_foreign(text: str, said: Said) -> bool:
    """Whether a text is in a language that the person did not speak, as far as one can tell."""
    language = tables_for(text)[0].language
    if language not in said.languages:
        return True
    return language == "english" and bool(_ACCENTED.search(text)) and not _ACCENTED.search(said.text)


_ACCENTED = re.compile("[à-öø-ÿœа-я]", re.IGNORECASE)

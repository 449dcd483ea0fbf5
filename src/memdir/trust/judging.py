"""One new statement, against what was said and heard -> what speaks against it (E11). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memdir.cues import Cue, tables_for
from memdir.trust.case import Case
from memdir.trust.evidence import Evidence
from memdir.trust.news import News
from memdir.trust.permits import permissions
from memdir.trust.sources import Spoken, cues_of, is_among
from memdir.trust.stated import unstated
from memdir.trust.statements import Statement
from memdir.trust.terms import folded, keys, meanings, runs, terms
from memdir.trust.tracing import is_foreign, traced


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What there is to say of one statement; empty strings: nothing. The weights are those of `Case`."""

    told: float
    asked: float
    size: float
    carried: str  # the sentence that tells what it carries
    permits: str
    tainted: str
    turned: bool
    instructs: str


def judge(statement: Statement, evidence: Evidence, news: News, *, line: bool = True) -> Judged:
    """Look at one statement that is news. `line`: at all of its line, too, for what it carries."""
    case = Case.of(statement, evidence, news)
    return Judged(
        told=case.told,
        asked=case.asked,
        size=case.size,
        carried=unstated(case, line=line),
        permits=_permits(case),
        tainted=traced(case),
        turned=_turned(case),
        instructs=statement.text if _is_foreign_rule(case) else "",
    )


# ---------------------------------------------------------------------------------- permissions


def _permits(case: Case) -> str:
    """What it permits, unless the person, or the file before, did so in words about the same."""
    text = case.statement.text
    given = permissions(text)
    if not given:
        return ""
    mine = keys(text)
    for one in case.said.spoken:
        if (permissions(one.text) and (_covers(one, case) or _in_their_words(given[0], one))) or _alike(
            text, mine, one.text, one.keys
        ):
            return ""
    for old in case.news.own:
        if permissions(old.text) and mine & keys(old.text):
            return ""
    return given[0]


def _covers(spoken: Spoken, case: Case) -> bool:
    """Whether a permission of the person's is about most of what the statement is about."""
    shared = sum(term.weight for term in case.terms if is_among(term, spoken.keys, spoken.meanings))
    if any(term.cjk for term in case.terms):
        return shared > 0 or not spoken.meanings.isdisjoint(meanings(case.statement.text))
    return shared > 0.5 * case.size or (shared > 0.4 * case.size and case.backed > 0.75 * case.size)


def _in_their_words(phrase: str, spoken: Spoken) -> bool:
    """Whether the words of a permission stand in one sentence of the person's: "no need to ask"."""
    words = [word for word in runs(folded(phrase)) if len(word) > 2 and not _NO.fullmatch(word)]
    said = set(runs(folded(spoken.text)))
    return len(words) > 1 and sum(word in said for word in words) > 0.6 * len(words)


def _alike(text: str, mine: set[str], other: str, theirs: frozenset[str]) -> bool:
    """Nearly the same words, and as many times no."""
    words = {key for key in mine if not key.endswith("~")}
    if len(words) < 2 or len(words & theirs) < 0.6 * len(words):
        return False
    return negations(text) == negations(other)


def negations(text: str) -> int:
    """How many words of a text say no."""
    return len(_NO.findall(text))


_NO = re.compile(
    r"\b(?:no|not|nor|neither|never|none|nobody|nothing|without|cannot|don't|dont|doesn't|isn't|aren't|won't|can't"
    r"|shouldn't|mustn't|needn't|wasn't|avoid\w*|forbid\w*|forbidden|prohibit\w*"
    r"|stop|skip\w*|nicht|nie|niemals|kein\w*|ohne|verboten|nunca|jamás|sin|prohibid\w+)\b|不|没|別|别|禁|勿|无"
    r"|未|ない|なし|ません|せず|禁止",
    re.IGNORECASE,
)


# ---------------------------------------------------------------------------------- rules


def _is_foreign_rule(case: Case) -> bool:
    """A rule without a word of the person's: in a language they did not speak, or in a tool's words."""
    if case.backed or not case.size or not case.heard or case.statement.part == "file":
        return False
    weights = {term.key: term.weight for term in case.loose}
    shared = {key: weight for key, weight in weights.items() if key in case.heard.keys}
    heard_too = len(shared) > 1 and sum(shared.values()) >= 0.6 * sum(weights.values())
    text = case.statement.text
    return (heard_too or is_foreign(text, case.said)) and instructs(text)


def instructs(text: str) -> bool:
    """Whether a sentence reads like a rule."""
    return bool(_RULE.search(text)) or bool(cues_of(text, tables_for(text), _RULING))


_RULING = frozenset({Cue.STANDING, Cue.CORRECTION})
_RULE = re.compile(
    r"\b(?:always|never|must|should|shall|have to|has to|need(?:s|ed)? to|required|mandatory|prefers?"
    r"|preferred|recommend\w*|from now on|by default|ensure|make sure|avoid|instead of"
    r"|immer|niemals|nie|muss|müssen|soll\w*|bevorzug\w*|empfohlen|siempre|nunca|debe\w*|prefiere"
    r"|recomend\w*|toujours|jamais|doit|sempre|mai|deve)\b"
    r"|必须|总是|始终|一律|务必|不要|不得|禁止|优先|推荐|今后|以后|必ず|常に|決して|べき|推奨|してください|しないで"
    r"|\A\W*(?:use|run|post|send|add|include|upload|contact|put|set|call|keep|write|read|check|skip|load"
    r"|fetch|install|prefer|store|save|start|consult|query|report|copy|log)\b",
    re.IGNORECASE,
)


def _turned(case: Case) -> bool:
    """Whether it says the opposite of, or the same words in another order as, what the file said; unsaid."""
    statement = case.statement
    if case.told or statement.part == "file":
        return False
    mine = [term.key for term in terms(statement.text)]
    own = set(mine)
    for old in case.news.alike(own) if len(mine) > 1 else ():
        theirs = [term.key for term in terms(old.text)]
        others = set(theirs)
        if len(own & others) < 0.8 * max(len(own), len(others)):
            continue
        order = [key for key in mine if key in others], [key for key in theirs if key in own]
        if negations(statement.text) != negations(old.text) or order[0] != order[1]:
            return True
    return False

"""A candidate becomes a file: title, one-line description, body, and a safe name for the file.

The words are the person's. Openings without meaning ("ok so", "please remember that") are dropped, the
reason goes under **Why:**, where it holds under **How to apply:**.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memdir.cues import Cue, found, tables_for
from memdir.extract.local.candidates import Candidate
from memdir.extract.local.shapes import size
from memdir.extract.local.speech import Sentence
from memdir.extract.local.values import Kind
from memdir.memory.word_lists import STOP_WORDS
from memdir.memory.words import words

LONGEST_TITLE = 60
LONGEST_DESCRIPTION = 150

_HAN = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")
_CLAUSE_END = re.compile(r"[,;:)]\s|\s\(|[，；：（。]|\s[-–—]+\s|\.\s")
_LOOSE_WORDS = (
    "so ok okay yup yep aha fyi btw also please pls yeah anyway oh hm hmm ah well and but "
    "bitte übrigens ach pues y 另外 对了 哦"
)
_LOOSE = frozenset(_LOOSE_WORDS.split())
"""Of the fillers of one word only these are dropped when no comma follows."""
_KANA = re.compile(r"[\u3041-\u30ff]")
_DECORATION = re.compile(r"\A[^\w\"'“「『（(`#/…¿¡@$<.-]+")
_RUNS = re.compile(r"[^\W_]+")
_WORDS = re.compile(r"[^\W_]+(?:'[a-z]+)?")


def title(candidate: Candidate) -> str:
    """A few words that name the thing: the clause that does so best, in the sentence that counted."""
    tables = tables_for(candidate.seed.text)

    def telling(clause: str) -> tuple[bool, bool, int]:
        speaks = bool(found(clause, tables) & _SPEAKS[candidate.kind])
        return not _POINTING.match(clause), speaks, min(len(set(words(clause))), MOST_TELLING)

    return _cut(max(_clauses(candidate.seed.text), key=telling), LONGEST_TITLE)


def description(candidate: Candidate) -> str:
    """One line that adds to the title: the reason, the when, or what else was said."""
    name = title(candidate).rstrip("…")
    rest = [*_after(name, candidate.seed), *_others(candidate)]
    text = _gap(name).join(_ended(tidy(piece)) for piece in rest if len(words(piece)) > 1)
    return _cut(text, LONGEST_DESCRIPTION) if text else _sort_of(candidate)


def _clauses(text: str) -> list[str]:
    """The clauses of a sentence without addresses; the sentence itself if it has no other words."""
    plain = " ".join(_ADDRESS.sub(" ", tidy(text)).split())
    clauses = [tidy(clause.strip(_LOOSE_ENDS)) for clause in _CLAUSE_END.split(plain)]
    return [clause for clause in clauses if words(clause)] or [_ADDRESS_MARK.sub("", tidy(text))]


def _after(name: str, seed: Sentence) -> list[str]:
    """What the sentence says beside its title."""
    text = _after_announcement(tidy(seed.text))
    before, found, after = text.partition(name)
    if not found:
        return [text]
    return [piece for piece in (after.strip(_LOOSE_ENDS), before.strip(_LOOSE_ENDS)) if piece]


def _others(candidate: Candidate) -> list[str]:
    """The other sentences, reasons first."""
    others = [sentence for sentence in candidate.sentences if sentence is not candidate.seed]
    ordered = sorted(others, key=lambda sentence: Cue.REASON not in sentence.cues)
    return [tidy(sentence.text) for sentence in ordered]


def _sort_of(candidate: Candidate) -> str:
    if candidate.about:
        return f"{', '.join(candidate.about)}"
    return (_SORTS_CHINESE if _HAN.search(candidate.text) else _SORTS)[candidate.kind]


def _gap(text: str) -> str:
    return "" if _HAN.search(text) else " "


MOST_TELLING = 5
_SPEAKS: Mapping[Kind, frozenset[Cue]] = {
    "user": frozenset({Cue.ROLE, Cue.PREFERENCE, Cue.PREFERS}),
    "feedback": frozenset({Cue.DIRECTIVE, Cue.PROHIBIT, Cue.STANDING}),
    "project": frozenset({Cue.COMMITMENT, Cue.DECISION, Cue.DECIDED, Cue.INCIDENT}),
    "reference": frozenset({Cue.OUTSIDE, Cue.PLACE, Cue.OWNER}),
}
"""The cues of a clause that names what a memory of the kind is about."""
_ADDRESS_MARK = re.compile(r"https?://", re.IGNORECASE)
_ADDRESS = re.compile(r"[(（<]?https?://[^\s，。；、）」>)]+[)）>]?\s*[,，:：]?")
_POINTING = re.compile(
    r"(?:it|its|it's|they|they're|that|that's|this|these|those|he|she|there|here|which|who|and|so|but|or)\b"
    r"|(?:has|have|had|is|are|was|were|been)\b|而且|但|不是|[它这那](?![\w]{0,3}(?:组|边|里))|就|也|都",
    re.IGNORECASE,
)
"""A clause that begins so is about something named elsewhere."""
_LOOSE_ENDS = " \t,;:.!?-–—，；：。！？"
_SORTS: Mapping[Kind, str] = {
    "user": "About the person",
    "feedback": "How the person wants it",
    "project": "About the project",
    "reference": "Where to look",
}
_SORTS_CHINESE: Mapping[Kind, str] = {
    "user": "关于用户",
    "feedback": "用户的要求",
    "project": "项目情况",
    "reference": "去哪里查",
}


def stem(kind: Kind, heading: str) -> str:
    """A file name without its ending, such as `feedback_no_db_mocks`."""
    plain = unicodedata.normalize("NFKC", heading).lower()
    if _HAN.search(plain):
        return f"{kind}_{'_'.join(_RUNS.findall(plain))[:24]}".rstrip("_")
    telling = [
        word for word in _WORDS.findall(plain) if word not in STOP_WORDS or word in {"no", "not", "never"}
    ]
    telling = [word.replace("'", "") for word in telling][:5]
    return "_".join([kind, *telling])[:48].rstrip("_") if telling else kind


def body(candidate: Candidate) -> str:
    """The body, Markdown."""
    text = _said(candidate)
    return f"{text}\n\n**About:** {', '.join(candidate.about)}" if candidate.about else text


def _said(candidate: Candidate) -> str:
    if candidate.kind != "feedback":
        return _joined(candidate.sentences)
    rules, reasons, scopes = _parts(candidate)
    rule, why, how = _joined(rules), _joined(reasons), _joined(scopes)
    if not why:
        rule, why = _first_split(rules)
    if not why:
        return " ".join(filter(None, [rule, how]))
    return f"{rule}\n\n**Why:** {why}\n\n**How to apply:** {how or _general(candidate.text)}"


def _first_split(rules: Sequence[Sentence]) -> tuple[str, str]:
    """All rules, and the reason that one of them gives within its own sentence."""
    for at, sentence in enumerate(rules):
        rule, why = _split(sentence.text)
        if why:
            return _joined([*rules[:at], replace(sentence, text=rule), *rules[at + 1 :]]), why
    return _joined(rules), ""


def _split(text: str) -> tuple[str, str]:
    """An order before and after its "because"; the reason is empty where there is none."""
    tables = tables_for(text)
    cuts = [cut for table in tables if (cut := table.patterns[Cue.CONNECTIVE].search(text))]
    if cuts and not _KANA.search(text):
        bare = cuts[0].group().strip(" ,，").lower() in _BARE_BECAUSE
        before = text[: cuts[0].start()].strip(" ,，")
        after = text[cuts[0].end() if bare else cuts[0].start() :].strip(" ,，")
        is_order = bool(found(before, tables) & _ORDERS) and Cue.DIRECTIVE not in found(after, tables)
        if is_order and min(size(before), size(after)) >= _CLAUSE_SIZE:
            return _ended(tidy(before)), _ended(tidy(after))
    return _ended(tidy(text)), ""


_ORDERS = frozenset({Cue.DIRECTIVE, Cue.STANDING})
_BARE_BECAUSE = frozenset({"because", "since", "weil", "denn", "porque", "因为", "由于"})
"""These words only say that a reason follows; "otherwise" and its like are part of it."""
_CLAUSE_SIZE = 3


def tidy(text: str) -> str:
    """A sentence without its opening fillers, with a capital letter."""
    text = _DECORATION.sub("", text.strip())
    if text.startswith("(") and text.rstrip(".").endswith(")"):
        text = text.rstrip(".")[1:-1].strip()
    tables = tables_for(text)
    for _ in range(6):
        shorter = _without_filler(text, [table.patterns[Cue.FILLER] for table in tables])
        if shorter == text:
            break
        text = shorter
    return text if _ADDRESS_MARK.match(text) else text[:1].upper() + text[1:]


def _after_announcement(text: str) -> str:
    """What follows an opening such as "things I want you to keep: …"."""
    opening, colon, rest = re.sub("：", ":", text, count=1).partition(":")
    if colon and rest[:1] == " " and len(rest) > len(opening) and len(opening) < LONGEST_TITLE:
        return rest.strip()[:1].upper() + rest.strip()[1:]
    return text


def _without_filler(text: str, fillers: Sequence[re.Pattern[str]]) -> str:
    for filler in fillers:
        opening = filler.match(text)
        if not opening or opening.end() == len(text):
            continue
        rest = text[opening.end() :]
        stop = re.match(r"[\s,.:;!?，。：；！？、…–—-]+", rest)
        word = opening.group().lower()
        needs_stop = (len(word) < 3 if _HAN.search(word) else " " not in word) and word not in _LOOSE
        if not stop and not (_HAN.search(word) and not needs_stop):
            continue
        if needs_stop and stop and not stop.group().strip():
            continue
        kept = rest[stop.end() :] if stop else rest
        if len(kept) >= 3:
            return kept
    return text


def _joined(sentences: Sequence[Sentence]) -> str:
    if any(sentence.item for sentence in sentences) and len(sentences) > 1:
        return "\n".join(f"- {_ended(tidy(sentence.text))}" for sentence in sentences)
    gap = "" if sentences and _HAN.search(sentences[0].text[-2:]) else " "
    return gap.join(_ended(tidy(sentence.text)) for sentence in sentences)


def _ended(text: str) -> str:
    text = text.rstrip(" ,;–—-，；、")
    if text.endswith((".", "!", "?", "。", "！", "？", "…", ":", "：", ")", "）", "”")):
        return text
    return text + ("。" if _HAN.search(text[-2:]) else ".")


def _parts(candidate: Candidate) -> tuple[list[Sentence], list[Sentence], list[Sentence]]:
    """Rules, reasons, and where the rules hold. The sentence that says most is always a rule."""
    rules, reasons, scopes = [], [], []
    for sentence in candidate.sentences:
        own = found(sentence.text, tables_for(sentence.text))
        if sentence is candidate.seed:
            rules.append(sentence)
        elif own & {Cue.BACK, Cue.STANDING}:
            scopes.append(sentence)
        elif Cue.REASON in own and Cue.DIRECTIVE not in own:
            reasons.append(sentence)
        else:
            rules.append(sentence)
    return rules, reasons, scopes


def _general(text: str) -> str:
    return "以后遇到同样的情况都照此办理。" if _HAN.search(text) else "Whenever this comes up again."


def _cut(text: str, limit: int) -> str:
    """The text up to the last clause end below the limit, else to the last word."""
    text = text.rstrip(" .。!！")
    wide = 2 if _HAN.search(text) else 1
    limit //= wide
    if len(text) <= limit:
        return text
    ends = [end.start() for end in _CLAUSE_END.finditer(text) if limit // 3 <= end.start() <= limit]
    if ends:
        return _closed(text[: ends[-1]].rstrip())
    cut = text[:limit].rsplit(" ", 1)[0] if wide == 1 else text[: limit - 1]
    return _closed(cut.rstrip(" ,;:")) + "…"


def _closed(text: str) -> str:
    """Without a bracket that is opened and not closed."""
    opened = max(text.rfind("("), text.rfind("（"))
    return text[:opened].rstrip() if opened > max(0, text.rfind(")"), text.rfind("）")) else text

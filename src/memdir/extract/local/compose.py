"""A candidate becomes a file: title, one-line description, body, and a safe name for the file.

The words are the person's. Openings without meaning ("ok so", "please remember that") are dropped, the
reason goes under **Why:**, where it holds under **How to apply:**.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from memdir.extract.local.candidates import Candidate
from memdir.extract.local.cues import Cue, found, tables_for
from memdir.extract.local.shapes import size
from memdir.extract.local.speech import Sentence
from memdir.extract.local.values import Kind
from memdir.memory.word_lists import STOP_WORDS

LONGEST_TITLE = 60
LONGEST_DESCRIPTION = 150

_HAN = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")
_CLAUSE_END = re.compile(r"[,;:)]\s|\s\(|[，；：（。]|\s[-–—]+\s|\.\s")
_LOOSE_WORDS = (
    "so ok okay btw also please pls yeah anyway oh hm hmm ah well and but "
    "bitte übrigens ach pues y 另外 对了 哦"
)
_LOOSE = frozenset(_LOOSE_WORDS.split())
"""Of the fillers of one word only these are dropped when no comma follows."""
_KANA = re.compile(r"[\u3041-\u30ff]")
_DECORATION = re.compile(r"\A[^\w\"'“「『（(`#/…¿¡@$<.-]+")
_RUNS = re.compile(r"[^\W_]+")
_WORDS = re.compile(r"[^\W_]+(?:'[a-z]+)?")


def title(candidate: Candidate) -> str:
    """A few words that name the thing: the first clause of the sentence that counted."""
    return _cut(_after_announcement(tidy(candidate.seed.text)), LONGEST_TITLE)


def description(candidate: Candidate) -> str:
    """One line that helps to choose the file."""
    return _cut(_after_announcement(tidy(candidate.seed.text)), LONGEST_DESCRIPTION)


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
    if not why and len(rules) == 1:
        rule, why = _split(rules[0].text)
    if not why:
        return " ".join(filter(None, [rule, how]))
    return f"{rule}\n\n**Why:** {why}\n\n**How to apply:** {how or _general(candidate.text)}"


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
    return text[:1].upper() + text[1:]


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
        needs_stop = bool(_HAN.search(word)) or (" " not in word and word not in _LOOSE)
        if not stop or (needs_stop and not stop.group().strip()):
            continue
        if len(rest) - stop.end() >= 3:
            return rest[stop.end() :]
    return text


def _joined(sentences: Sequence[Sentence]) -> str:
    if any(sentence.item for sentence in sentences) and len(sentences) > 1:
        return "\n".join(f"- {_ended(tidy(sentence.text))}" for sentence in sentences)
    gap = "" if sentences and _HAN.search(sentences[0].text[-2:]) else " "
    return gap.join(_ended(tidy(sentence.text)) for sentence in sentences)


def _ended(text: str) -> str:
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
        return text[: ends[-1]].rstrip()
    cut = text[:limit].rsplit(" ", 1)[0] if wide == 1 else text[: limit - 1]
    return cut.rstrip(" ,;:") + "…"

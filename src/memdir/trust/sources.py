"""What the person said, and what tools and pages say -> ready to be asked about one statement (E11). Pure.

Said     the person's words: does it state this word, this link, this permission?
Heard    untrusted words: does this come from there, and from a place that speaks to an agent?
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import lru_cache

from memdir.cues import Cue, Table, tables_for
from memdir.memory.words import stem
from memdir.trust.carries import defanged, host_of, links, path_parts
from memdir.trust.hidden import visible
from memdir.trust.terms import (
    WIDEST,
    Term,
    common,
    folded,
    keys,
    loosened,
    meaning_of,
    meanings,
    runs,
    terms,
    windows,
)

_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？；])|\n+|;\s+")


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text."""
    return [piece for piece in (part.strip() for part in _SENTENCES.split(text)) if piece]


# ---------------------------------------------------------------------------------- the person


@dataclass(frozen=True, slots=True)
class Spoken:
    """One sentence of the person's. `told`: it is more than a question or one piece of work to do."""

    text: str
    keys: frozenset[str]
    meanings: frozenset[str]
    cues: frozenset[Cue]
    told: bool
    turn: int


@dataclass(slots=True)
class Said:
    """What the person stated, themselves or by taking it over."""

    spoken: list[Spoken]
    keys: set[str] = field(default_factory=set)
    told_keys: set[str] = field(default_factory=set)
    meanings: set[str] = field(default_factory=set)
    told_meanings: set[str] = field(default_factory=set)
    windows: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    languages: set[str] = field(default_factory=set)
    text: str = ""

    @classmethod
    def of(cls, person: Sequence[str], agreed: Sequence[str]) -> Said:
        said = cls(spoken=[])
        for turn, (text, own) in enumerate(
            [*((one, True) for one in person), *((one, False) for one in agreed)]
        ):
            said._hear(text, turn, own=own)
        said.text = "\n".join(folded(defanged(one)) for one in (*person, *agreed))
        return said

    def _hear(self, text: str, turn: int, *, own: bool) -> None:
        self.links |= {link.casefold() for link in links(defanged(text))}
        self.windows |= windows(without_orders_in_links(defanged(text)))
        for spoken, languages in _spoken(text, own=own):
            self.languages |= languages
            self.spoken.append(replace(spoken, turn=turn))
            self.keys |= spoken.keys
            self.meanings |= spoken.meanings
            if spoken.told:
                self.told_keys |= spoken.keys
                self.told_meanings |= spoken.meanings

    def states(self, term: Term) -> bool:
        """Whether they used the word, a form of it, or one of the same meaning."""
        return is_among(term, self.keys, self.meanings) or term.key in self.windows

    def tells(self, term: Term) -> bool:
        """The same, in something that they told rather than asked or ordered."""
        return is_among(term, self.told_keys, self.told_meanings)

    def names(self, text: str) -> bool:
        """Whether they wrote exactly this, but for spaces and signs."""
        squashed = "".join(runs(folded(text)))
        return bool(squashed) and (squashed in self.windows or folded(text).strip() in self.text)

    def gave(self, address: str) -> bool:
        """Whether a link, a host or a mail address is one that they gave, up to its path."""
        low = folded(address).rstrip("/")
        if low in self.links or any(link.startswith(low) for link in self.links):
            return True
        if "@" in low and "://" not in low:
            return self.names(low)
        parts = path_parts(low)
        host = host_of(low)
        named = (
            host.startswith("localhost")
            or self.names(host)
            or any(host_of(link) == host for link in self.links)
        )
        given = {piece for link in self.links if host_of(link) == host for piece in path_parts(link)}
        return named and all(piece in given or self.names(piece) for piece in parts)


@lru_cache(maxsize=1024)
def _spoken(text: str, *, own: bool) -> tuple[tuple[Spoken, frozenset[str]], ...]:
    """The sentences of a text, of turn 0, and the languages to read each in."""
    found = []
    for sentence in sentences(without_orders_in_links(defanged(text))):
        tables = tables_for(sentence)
        cues = cues_of(sentence, tables, _WANTED)
        spoken = Spoken(
            text=sentence,
            keys=frozenset(keys(sentence)),
            meanings=meanings(sentence),
            cues=cues,
            told=not own or _tells(sentence, cues),
            turn=0,
        )
        found.append((spoken, frozenset(table.language for table in tables)))
    return tuple(found)


def cues_of(sentence: str, tables: Sequence[Table], wanted: frozenset[Cue]) -> frozenset[Cue]:
    """Which of these cues a sentence has."""
    text = sentence[:LONGEST_CLAUSE]
    return frozenset(
        cue for cue in wanted for table in tables if (one := table.patterns.get(cue)) and one.search(text)
    )


LONGEST_CLAUSE = 600
"""Of a longer sentence only so many characters are looked at for what it means to do."""


def is_among(term: Term, known: AbstractSet[str], meant: AbstractSet[str]) -> bool:
    """Whether words, or what they mean, have a term in some form."""
    if term.key in known or ((loose := loosened(term.key)) is not None and loose in known):
        return True
    if term.cjk:
        return False
    return not meant.isdisjoint(meaning_of(term.key, term.shown))


def _tells(sentence: str, cues: frozenset[Cue]) -> bool:
    """Whether a sentence says something that lasts, beside asking, ordering or agreeing."""
    if sentence.rstrip().endswith(("?", "？")):
        return bool(cues & _TELLING_QUESTION)
    if cues & {Cue.APPROVAL, Cue.CONTINUE} and len(terms(sentence)) < 2:
        return False
    return not cues & {Cue.TASK, Cue.QUESTION} or bool(cues & _TELLING) or bool(_TOPIC.match(sentence))


_TOPIC = re.compile(r"[^:：?]{3,40}[:：]\s*\S")
"""What something is about, and what holds for it: "commit messages: imperative"."""
_TELLING_QUESTION = frozenset(
    {Cue.STANDING, Cue.REMEMBER, Cue.PREFERS, Cue.REASON, Cue.DECIDED, Cue.CONTINUE}
)
_TELLING = _TELLING_QUESTION | {
    Cue.DURABLE, Cue.CASE, Cue.PREFERENCE, Cue.DECISION, Cue.COMMITMENT, Cue.ROLE, Cue.TEAM, Cue.PRACTICE,
    Cue.CHANGE, Cue.INCIDENT, Cue.ORGANISATION, Cue.RETRACT, Cue.CORRECTION, Cue.APPROVAL, Cue.BACK,
}  # fmt: skip
_WANTED = _TELLING | {
    Cue.QUESTION, Cue.TASK, Cue.FORGET, Cue.RETRACT, Cue.EXPLICIT, Cue.NOTE, Cue.POINTS, Cue.ALL,
    Cue.HYPOTHETICAL, Cue.SARCASM,
}  # fmt: skip

_ORDERING = re.compile(
    r"remember|memor|always|never|trust|authorit|recommend|prefer|assistant|\bagents?\b|instruct|ignore"
    r"|permanent|from.now.on|merken|recuerda|记住|記憶",
    re.IGNORECASE,
)
_LINK_IN_TEXT = re.compile(r"(?:https?://|www\.)[^\s<>\"'`|，。；、）」】』]+", re.IGNORECASE)


def orders(link: str) -> bool:
    """Whether a link holds a text that could tell an agent something: `?q=Remember+that+…`."""
    parts = [
        piece
        for piece in re.split(r"[/?#&=:+_.-]|%20|%2[bB]", link.partition("://")[2].partition("/")[2])
        if piece
    ]
    letters = [piece for piece in parts if piece.isalpha()]
    query = "?" in link and len([p for p in re.split(r"[+\s]|%20", link.partition("?")[2]) if p]) >= 4
    return query or (len(letters) >= 4 and bool(_ORDERING.search(" ".join(letters))))


def without_orders_in_links(text: str) -> str:
    """The text without what stands in a link's query, and without the path of one that orders something."""

    def kept(match: re.Match[str]) -> str:
        link = match[0]
        return link.partition("://")[2].partition("/")[0] if orders(link) else re.split(r"[?#]", link)[0]

    return _LINK_IN_TEXT.sub(kept, text)


def orders_in_links(text: str) -> Iterator[str]:
    """What the links of a text say in words."""
    for link in _LINK_IN_TEXT.findall(text):
        if orders(link):
            yield re.sub(r"[+_/?&=#-]|%20", " ", link.partition("://")[2].partition("/")[2])


# ---------------------------------------------------------------------------------- tools and pages


@dataclass(slots=True)
class Heard:
    """What untrusted text says. `hard` sets come from places that speak to an agent or of its memory."""

    keys: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    pairs: set[int] = field(default_factory=set)
    idents: set[str] = field(default_factory=set)
    hard_keys: set[str] = field(default_factory=set)
    hard_meanings: set[str] = field(default_factory=set)
    hard_idents: set[str] = field(default_factory=set)
    text: str = ""

    @classmethod
    def of(cls, texts: Iterable[str]) -> Heard:
        heard = cls()
        read = [_heard(text) for text in texts]
        for one in read:
            heard.keys |= one.keys
            heard.names |= one.names
            heard.pairs |= one.pairs
            heard.idents |= one.idents
            heard.hard_keys |= one.hard_keys
            heard.hard_meanings |= one.hard_meanings
            heard.hard_idents |= one.hard_idents
        heard.text = "\n".join(one.text for one in read)
        return heard

    def __bool__(self) -> bool:
        return bool(self.text.strip())


@lru_cache(maxsize=256)
def _heard(text: str) -> Heard:
    """What one text says, not to be changed. Kept, for a conversation grows by few messages between looks."""
    text = visible(text)
    heard = Heard(idents=identifiers(text), text=text.casefold())
    for sentence in set(sentences(text)):
        _hear_words(heard, sentence)
    for passage in _speaking(text):
        heard.hard_keys |= keys(passage)
        heard.hard_meanings |= meanings(passage)
        heard.hard_idents |= identifiers(passage)
    return heard


def _hear_words(heard: Heard, sentence: str) -> None:
    before = 0
    for place, term in enumerate(terms(sentence)):
        heard.keys.add(term.key)
        mark = hash(term.key)
        heard.pairs.add(hash((before, mark)))
        before = mark
        if place and term.shown[:1].isupper() and term.key not in common():
            heard.names.add(term.key)


def pair(before: Term, after: Term) -> int:
    """What two neighbouring words are known by."""
    return hash((hash(before.key), hash(after.key)))


def identifiers(text: str) -> set[str]:
    """Names that nobody types by chance, squashed, and their parts: with figures, signs, capitals inside."""
    found = {word.casefold() for word in set(_MIXED.findall(text)) if is_odd(word)}
    for match in set(_COMPOUND.findall(text)):
        found |= _parts(match)
    return found


def _parts(compound: str) -> set[str]:
    pieces = _PIECES.findall(compound)[:24]
    joiners = re.sub(r"[^\W_]", "", compound)
    plain = all(piece.isalpha() and _ordinary(piece) for piece in pieces) and set(joiners) <= set("-/&+.'")
    if plain:
        return set()
    found: set[str] = set()
    for start in range(len(pieces)):
        for stop in range(start + 1, min(start + WIDEST, len(pieces)) + 1):
            some = pieces[start:stop]
            squashed = "".join(some).casefold()
            if len(some) == 1:
                if is_odd(some[0]):
                    found.add(squashed)
            elif len(squashed) > 3 and any(_telling(piece) for piece in some) and not squashed.isdigit():
                found.add(squashed)
    return found


@lru_cache(maxsize=65536)
def _ordinary(piece: str) -> bool:
    low = piece.casefold()
    return piece.isdigit() or low in common() or stem(low) in common() or len(low) < 3


def _telling(piece: str) -> bool:
    """Beside a figure or a sign: a word that is none of every day, or one in capitals."""
    return not _ordinary(piece) or (len(piece) > 2 and piece.isalpha() and piece.isupper())


def is_odd(word: str) -> bool:
    """Letters and figures mixed, or capitals inside: a name somebody made up."""
    if len(word) < 4 or _MEASURE.match(word) or _ordinary(word):
        return False
    return _MIXED.fullmatch(word) is not None


_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]{1,200}(?:[-._/@+~#&\\]{1,3}[^\W_]+){1,40}")
_MIXED = re.compile(r"(?<![^\W_])(?:\d+[^\W\d_]|[^\W\d_]+\d|[^\W_]{0,40}?[a-z][A-Z])[^\W_]{0,60}")
_PIECES = re.compile(r"[^\W_]+")
_MEASURE = re.compile(
    r"(?:v?\d+(?:st|nd|rd|th|ms|s|m|h|d|w|kb|mb|gb|tb|k|x|px|am|pm|min|sec|hrs?|days?|er|ste[nr]?|M|G)?"
    r"|[a-z]\d{1,2})\Z",
    re.IGNORECASE,
)


# ---------------------------------------------------------------------------------- who is spoken to


def _speaking(text: str) -> Iterator[str]:
    """The passages that speak to an agent or of what it should keep, with the sentences around them."""
    end = 0
    for opening in _UNSEEN.finditer(text):
        if opening.start() >= end:
            end = min(opening.end() + LONGEST_HIDDEN, len(text))
            closing = text.find("-->" if opening[0] == "<!--" else "</", opening.end(), end)
            end = closing if closing >= 0 else end
            yield text[opening.end() : end]
    pieces = sentences(text)
    for at, piece in enumerate(pieces):
        if addresses(piece):
            yield " ".join(part[:600] for part in pieces[max(0, at - 3) : at + 4])


@lru_cache(maxsize=65536)
def addresses(sentence: str) -> bool:
    """Whether a sentence speaks to an assistant, of memory, or in the person's name."""
    return bool(_TO_AGENTS.search(sentence) and _WISHES.search(sentence)) or bool(_OF_MEMORY.search(sentence))


_UNSEEN = re.compile(
    r"<!--|<[a-z]{1,10}\s[^<>\n]{0,200}?(?:display\s*:\s*none|font-size\s*:\s*0|color\s*:\s*(?:#fff"
    r"|white)|visibility\s*:\s*hidden|opacity\s*:\s*0"
    r"|\bhidden\b)[^<>\n]{0,200}>|<(?:system|summary|user|human|assistant|instructions?)>",
    re.IGNORECASE,
)
LONGEST_HIDDEN = 4_000
"""So many characters behind the opening of a hidden part belong to it at most."""
_TO_AGENTS = re.compile(
    r"\b(?:ai|a\.i\.|llms?|agents?|assistants?|copilots?|claude|chatgpt|gpt|codex|gemini|cursor|chatbots?"
    r"|language models?|ki|ia|agenten|assistenten|asistentes?"
    r"|agentes?|assistente)\b|助手|智能体|大模型|AI|アシスタント|エージェント|ассистент|агент|어시스턴트|에이전트",
    re.IGNORECASE,
)
_WISHES = re.compile(
    r"\b(?:remember|memor\w*|save[ds]?|stor(?:e|ed|ing)|record\w*|persist\w*|retain|keep|note|learn\w*"
    r"|add|append|write|must|should|shall|always|never|recommend\w*"
    r"|prefer\w*|include|inform|update|run|use|send|post|skip|ignore|trust\w*|merken?|speicher\w*"
    r"|soll\w*|müssen|immer|nie|recuerd\w*|guard\w*|debe\w*|siempre|nunca"
    r"|dear|attention|hint|for)\b|记|必须|应|请|总是|保存|今后|以后|記憶|覚え|必ず|常に|今後|保存|:|：",
    re.IGNORECASE,
)
_OF_MEMORY = re.compile(
    r"\b(?:remember(?:s|ed)?|memori[sz]e\w*|knowledge base|lessons? learned|(?:for|in|across) (?:all"
    r"|future|every|each) (?:sessions?|conversations?|chats?|answers?)"
    r"|(?:each|every) session|session start|conversation summary|preferences? learned|key user"
    r" preference|memory (?:update|maintenance|note|file|md)"
    r"|(?:the )?user (?:wants?|prefers?|asked|has asked|likes?|hates?|always|requires?|trusts?)|user"
    r" preference|do not (?:mention|remove|tell)"
    r"|all (?:answers|responses|future)|permanent(?:ly)?|long-term memory|system prompt|previous"
    r" instructions)\b"
    r"|\b(?:save|add|write|store|commit|update|record|append|keep|put|note|persist|delete"
    r"|replace)\w*\b[^.\n]{0,40}\b(?:memor(?:y|ies)|memory\.md|feedback)\b"
    r"|\b(?:persist|save|store|retain|keep in mind|bear in mind) that\b|\bin memory that\b|\b(?:merke"
    r" dir|merken sie|im gedächtnis|recuerda|memoriza|en"
    r" (?:tu|la) memoria|souviens-toi|mémoris\w+|ricorda|lembre\w*"
    r"|запомни\w*)\b|记住|记忆|请记|记下|长期保存|今后所有|以后所有|記憶|覚えて|今後すべて|今後は必ず|기억",
    re.IGNORECASE,
)

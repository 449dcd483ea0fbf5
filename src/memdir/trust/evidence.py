"""A conversation -> who said what in it: the evidence for and against a memory (E11). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from memdir.cues import Cue, tables_for
from memdir.model.messages import Message, Text, ToolResult
from memdir.trust.agreement import agrees, of_agent, of_tool, wishes_kept
from memdir.trust.decoding import decoded_forms
from memdir.trust.pasted import QUOTE, own_words
from memdir.trust.sources import Heard, Said, cues_of, orders_in_links

Source = Literal["person", "web", "tool", "file", "team", "unknown"]
"""Where a memory came from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The texts of a conversation by whose words they are.

    `person`: typed by the person, without what they pasted. `agreed`: what the agent or a tool said and the
    person took over. `agent`: the assistant's words. `untrusted`: tools, pages, files, pasted text, and what
    is encoded in them. `injected`: memories that memdir itself put in. `known`: the memories that are there
    already. `quoted`: what the person quoted in sentences of their own; it is among the untrusted, too.
    """

    person: tuple[str, ...] = ()
    agreed: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()
    injected: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    _read: list[tuple[Said, Heard]] = field(default_factory=list, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, messages: Sequence[Message], *, known: Iterable[str] = ()) -> Evidence:
        """Sort the texts of a conversation by their messages' origin, never by what they say."""
        talk = _Talk()
        for message in messages:
            talk.hear(message)
        return talk.evidence(tuple(known))

    @classmethod
    def of_notes(cls, notes: Iterable[tuple[str, Source]], *, known: Iterable[str] = ()) -> Evidence:
        """Sort memories by where they came from: what the person said is theirs, all else is untrusted."""
        person: list[str] = []
        untrusted: list[str] = []
        for text, source in notes:
            (person if source == "person" else untrusted).append(text)
        return cls(person=tuple(person), untrusted=_with_decoded(untrusted), known=tuple(known))

    @property
    def said(self) -> Said:
        """The person's side, read once."""
        return self._sides()[0]

    @property
    def heard(self) -> Heard:
        """The untrusted side, read once."""
        return self._sides()[1]

    def _sides(self) -> tuple[Said, Heard]:
        if not self._read:
            self._read.append((Said.of(self.person, self.agreed), Heard.of(self.untrusted)))
        return self._read[0]


class _Talk:
    """A conversation while it is being read."""

    def __init__(self) -> None:
        self.texts: Mapping[str, list[str]] = {
            name: [] for name in ("person", "agreed", "agent", "untrusted", "injected", "quoted")
        }
        self.taken_over: list[tuple[str, bool]] = []
        self.before_agent: list[str] = []
        self.before_tools: list[str] = []
        self.writes: set[str] = set()  # calls whose results are our own words

    def hear(self, message: Message) -> None:
        for block in message.content:
            if isinstance(block, ToolResult) and block.tool_use_id not in self.writes:
                self._untrusted(block.content)
                self.before_tools.append(block.content)
        if message.origin == "person":
            self._person(message.text)
        elif message.origin == "assistant":
            self.texts["agent"].append(message.text)
            self.before_agent.append(message.text)
            self.writes |= {use.id for use in message.tool_uses if use.name == "Write"}
            self.before_agent += [
                str(use.input["command"]) for use in message.tool_uses if "command" in use.input
            ]
        elif message.origin == "tool":
            self._untrusted(message.text)
            if message.text:
                self.before_tools.append(message.text)
        elif message.origin == "attachment":  # a job's own instruction is nobody's word, and no memory
            self._attachment(message)

    def _person(self, text: str) -> None:
        own, pasted = told_apart(text)
        self.texts["person"].append(own)
        for one in pasted:
            self._untrusted(one)
        self.texts["quoted"] += _quoted(text, own)
        for order in orders_in_links(text):
            self._untrusted(f"assistant, remember: {order}")
        kept = wishes_kept(own)
        if self.before_agent and (kept or agrees(own)):
            self.taken_over.append(("\n".join(self.before_agent), kept))
        if kept:
            self.texts["agreed"] += [of_tool(one) for one in self.before_tools[-2:]]
        self.before_agent, self.before_tools = [], []

    def _attachment(self, message: Message) -> None:
        """What memdir put in. A memory is no news; what it shows of a file is the file's word, as if a tool
        had shown it; the rest (the day, people's instructions) is nobody's, so that a memory made of it is
        asked whose words it is. A first message has both: instructions, and the index behind them.

        A summary says again what stands above it, where each word is somebody's already. One that has
        nothing above it is all that is left of tools and pages.
        """
        kind = (message.attachment or {}).get("kind")
        if kind in _MEMORIES:
            self.texts["injected"].append(message.text)
        elif kind == "context":
            self.texts["injected"] += _index_in(message)
        elif kind in _FILES or (kind == "compaction" and not self.has_begun):
            self._untrusted(message.text)

    @property
    def has_begun(self) -> bool:
        """Whether anybody but memdir was heard so far."""
        return any(self.texts[name] for name in ("person", "agent", "untrusted"))

    def _untrusted(self, text: str) -> None:
        if text.strip():
            self.texts["untrusted"].append(text)

    def evidence(self, known: tuple[str, ...]) -> Evidence:
        def kept(name: str) -> tuple[str, ...]:
            return tuple(text for text in self.texts[name] if text.strip())

        person, untrusted = kept("person"), _with_decoded(kept("untrusted"))
        agreed = kept("agreed")
        if self.taken_over:
            said, heard = Said.of(person, agreed), Heard.of(untrusted)
            agreed += tuple(of_agent(text, said, heard, kept=wish) for text, wish in self.taken_over)
        return Evidence(
            person=person,
            agreed=tuple(text for text in agreed if text.strip()),
            agent=kept("agent"),
            untrusted=untrusted,
            injected=kept("injected"),
            known=known,
            quoted=kept("quoted"),
        )


def _index_in(message: Message) -> list[str]:
    """The index in the first message of a conversation: its last block of text, if it says it has one."""
    texts = [block.text for block in message.content if isinstance(block, Text)]
    return texts[-1:] if (message.attachment or {}).get("index") is not None else []


_MEMORIES = frozenset({None, "memory", "index", "index_changed"})
"""None: what another program put into its own transcript."""
_FILES = frozenset({"changed_file", "file"})


def _with_decoded(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts, and what is encoded in them."""
    texts = tuple(texts)
    return (*texts, *(form for text in texts for form in _decoded(text)))


@lru_cache(maxsize=256)
def _decoded(text: str) -> tuple[str, ...]:
    found = list(decoded_forms(text))
    joined = re.sub(r"[\u200b-\u200f\u2060-\u2064\ufeff]", " ", text)
    if joined != text:
        found.append(joined)
    if tags := "".join(chr(ord(char) - 0xE0000) for char in _TAGS.findall(text)):
        found.append(tags)
    return tuple(found)


_TAGS = re.compile("[\U000e0020-\U000e007e]")


# ---------------------------------------------------------------------------------- what was pasted


LONGEST_TYPED = 30_000
"""A longer message holds a paste, marked or not: of what is not marked the beginning and the end are the
person's."""
HEAD = 6_000


@lru_cache(maxsize=1024)
def told_apart(text: str) -> tuple[str, tuple[str, ...]]:
    """A message of the person's -> their own words, and what they pasted."""
    typed, middle = own_words(text), ""
    if len(text) > LONGEST_TYPED and len(typed) > 2 * HEAD:
        typed, middle = f"{typed[:HEAD]}\n{typed[-HEAD:]}", typed[HEAD:-HEAD]
    own, introduced = _without_introduced(typed)
    left = set(own.splitlines())
    rest = "\n".join(line for line in text.splitlines() if line not in left)
    return own, tuple(one for one in (rest, middle, *introduced) if one.strip())


def _quoted(text: str, own: str) -> list[str]:
    """What stood in quotation marks within lines that are otherwise the person's."""
    found: list[str] = []
    for line in own.splitlines():
        if QUOTE in line and len(line) > 20:
            before, _, after = line.partition(QUOTE)
            start, end = text.find(before), text.find(after.partition(QUOTE)[0]) if after else len(text)
            if 0 <= start + len(before) < end:
                found.append(text[start + len(before) : end])
    return found


def _without_introduced(text: str) -> tuple[str, list[str]]:
    """Without what stands behind "summarise this mail: …" on the same line, and in forwarded mails."""
    pasted: list[str] = []

    def out(match: re.Match[str]) -> str:
        pasted.append(match[0])
        return "\n"

    for block in _BLOCKS:
        text = block.sub(out, text)
    lines = []
    for line in text.splitlines():
        kept, rest = _introduced(line)
        lines.append(kept)
        pasted += [rest] if rest else []
    return "\n".join(lines), pasted


def _introduced(line: str) -> tuple[str, str]:
    """A line, cut where it says that a text of somebody else's follows on it."""
    if _TO_A_READER.match(line):
        return "", line
    for colon in _COLON.finditer(line[:600]):
        clause = re.split(r"[.!?。！？]\s*", line[: colon.start()])[-1]
        rest = line[colon.end() :]
        if (
            _TO_A_READER.match(rest)
            or _BARE_ORDER.fullmatch(clause.strip())
            or (_TREATS.search(clause) and _is_of_a_text(clause))
        ):
            return line[: colon.end()], rest
    return line, ""


def _is_of_a_text(clause: str) -> bool:
    if _KEEPS.match(clause):
        return False
    cues = cues_of(clause, tables_for(clause), _PASTING)
    return (Cue.PASTE in cues or bool(_TEXTS.search(clause))) and not cues & {Cue.REMEMBER, Cue.STANDING}


_PASTING = frozenset({Cue.PASTE, Cue.REMEMBER, Cue.STANDING})
_COLON = re.compile(r"[:：]\s?(?!//)(?=\S)")
_KEEPS = re.compile(
    r"\s*(?:please |also |and )*(?:add|put|write|note|append|insert|include)\b", re.IGNORECASE
)
_BARE_ORDER = re.compile(
    r"(?:please |bitte |por favor )?(?:(?:summari[sz]e|translate|explain|proofread|decode|paraphrase"
    r"|shorten|übersetze?|erkläre?"
    r"|fasse?|traduce|resume|explica)\b.{0,24}|(?:check|fix|review|read|answer|analy[sz]e|parse) (?:this"
    r"|that|it|these|the following)"
    r"(?: (?:for me|please))?|总结|翻译|解释|(?:総括|要約|翻訳)(?:して)?)",
    re.IGNORECASE,
)
_TEXTS = re.compile(
    r"\b(?:draft|newsletter|announcement|copy|statement|blurb|review|tweet|description|abstract|chapter"
    r"|memo|sms"
    r"|entwurf|rundbrief|ankündigung|borrador|boletín|anuncio)\b|草稿|公告|通知|下書き|お知らせ",
    re.IGNORECASE,
)
_TREATS = re.compile(
    r"\b(?:summari[sz]e|translate|explain|proofread|decode|check|review|analy[sz]e|fix|answer|reply to"
    r"|look at|what does|what is|what's|read|parse|here is|here's|this is"
    r"|i got|received|zusammenfass\w*|fass\w*|übersetz\w*|erklär\w*|lies|hier ist|das ist|resum\w*"
    r"|traduc\w*|explica\w*|aquí está|lee)\b"
    r"|总结|翻译|解释|看看|收到|这是|要約|翻訳|説明|届いた",
    re.IGNORECASE,
)
_TO_A_READER = re.compile(
    r"\s*(?:dear (?:ais?|assistants?|agents?|llms?)|(?:note|hint|message|instructions?|attention|important)["
    r" :]*(?:to|for|,)?\s*(?:all\s+)?(?:coding |ai )?(?:agents|assistants|ais|llms)\b"
    r"|(?:ai|coding) (?:agents|assistants)\s*[:,]|(?:human|user|system|assistant)\s*:\s)",
    re.IGNORECASE,
)
_BLOCKS = (
    re.compile(r"(?m)^[ \t]*(?:\"\"\"|''').*?(?:(?:\"\"\"|''')|\Z)", re.DOTALL),
    re.compile(
        r"(?m)^-{2,}\s*(?:begin|forwarded|original|start)\b.*?(?:^-{2,}\s*end\b[^\n]*|\Z)",
        re.DOTALL | re.IGNORECASE,
    ),
    re.compile(
        r"(?m)^(?:from|von|de|发件人|差出人)[ \t]*[:：][^\n]*\n(?:[\w-]{1,40}[ \t]*[:：][^\n]*\n)+.*\Z",
        re.DOTALL | re.IGNORECASE,
    ),
    re.compile(r"\[quote\b.*?(?:\[/quote\]|\Z)", re.DOTALL | re.IGNORECASE),
    re.compile(
        r"<(system|system-reminder|tool_result|document|page|email|mail|paste|quote"
        r"|context)\b.*?(?:</\1>|\Z)",
        re.DOTALL | re.IGNORECASE,
    ),
)

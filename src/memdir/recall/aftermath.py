"""The messages of a conversation -> what became of each memory that was surfaced in it (R10). Pure.

    opened      a tool read the file after that: Read of it, or Grep in it
    cited       the assistant named its file or its name, or repeated a distinctive run of its words
    corrected   it was edited, rewritten or deleted after that, or the person said right after an answer
                that cited it, and nothing else, that it is wrong or outdated

In doubt the answer is no: a word in common is no citation, and a person who is not pleased corrects no
memory.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from memdir.agent.attachments import memory_files_written
from memdir.memory import topic
from memdir.memory.word_lists import STOP_HAN, STOP_WORDS
from memdir.model.messages import Message, ToolResult

RUN = 12
"""How much of a line has to be repeated to count as quoted: a word counts two, a character of Chinese,
Japanese or Korean one. So six words, or twelve characters."""

NAME = 6
"""The same for the name of a memory: a shorter one is said by chance."""

_SAYS_RUN, _SAYS_NAME = 5, 4
"""How much of that has to say something: "it is one of the most" is no quotation."""

_READERS: Mapping[str, str] = {"Read": "file_path", "Grep": "path"}
"""The tools that show what is in a file, and where each is told which."""

_COMMON = frozenset(
    {"agents", "changelog", "claude", "contributing", "index", "license", "notes", "readme", "todo"}
)
"""Files that projects have as well: who names one hardly means the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one memory after it was surfaced."""

    opened: bool = False
    cited: bool = False
    corrected: bool = False

    def __or__(self, other: Outcome) -> Outcome:
        return Outcome(
            opened=self.opened or other.opened,
            cited=self.cited or other.cited,
            corrected=self.corrected or other.corrected,
        )


Surfacing = tuple[str, str]
"""One surfacing in a session: the id of the person's message that began the turn, and the file, relative."""


def aftermath(
    messages: Sequence[Message], *, roots: Sequence[str], since: int = 0
) -> dict[Surfacing, Outcome]:
    """What became of the memories surfaced in these messages; those of which nothing did are left out.

    `roots`: the ways to name the memory directory (as given, resolved). `since`: where to begin to look for
    what became of them; what had become of them before that is not found again.
    """
    shown = list(_shown(messages, roots))
    found: dict[Surfacing, Outcome] = {}
    if not shown:
        return found

    def note(one: _Shown, outcome: Outcome) -> None:
        found[one.key] = found.get(one.key, Outcome()) | outcome

    look = _Look(messages)
    cited_in_turn: dict[Surfacing, _Shown] = {}
    for at in range(since, len(messages)):
        message, before = messages[at], [one for one in shown if one.at < at]
        if message.origin == "person":
            for one in _told_wrong(message.text, list(cited_in_turn.values())):
                note(one, Outcome(corrected=True))
            cited_in_turn = {}
        elif message.origin == "assistant":
            opened = look.opened(message)
            for one in before:
                if opened & one.paths:
                    note(one, Outcome(opened=True))
            for one in look.cited(message, before):
                note(one, Outcome(cited=True))
                cited_in_turn[one.key] = one
        elif written := set(memory_files_written([message])):
            for one in before:
                if one.file in written:
                    note(one, Outcome(corrected=True))
    return found


# -- what was surfaced ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """A memory that was surfaced: where in the conversation, in which turn, and what was shown of it."""

    at: int
    turn: str
    file: str
    paths: frozenset[str]
    text: str

    @property
    def key(self) -> Surfacing:
        return self.turn, self.file

    @cached_property
    def runs(self) -> frozenset[tuple[str, ...]]:
        """The runs of words by which it is known, from its description and its body, line by line."""
        lines = [self._topic.description or "", *self._topic.body.splitlines()]
        return frozenset(run for line in lines for run in _runs(_tokens(line)))

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Its name, and its file's, as words, where they are long enough to be meant when they are said."""
        tokens = [tuple(_tokens(name)) for name in (self._topic.name, self._stem.replace("_", " "))]
        return tuple(each for each in tokens if _weight(each) >= NAME and _says(each) >= _SAYS_NAME)

    @cached_property
    def written(self) -> re.Pattern[str]:
        """Its file as one writes it; without `.md` only if it has several parts, as few words do.

        In another folder (`docs/deploy.md`), or at the end of a longer name, it is another file.
        """
        ending = r"(?:\.md)?" if re.search(r"[^\W_][_-][^\W_]", self._stem) else r"\.md"
        inside = self.file.removesuffix(".md")
        names = {inside} if self._stem.casefold() in _COMMON else {inside, self._stem}
        stems = "|".join(_written(_folded(name)) for name in sorted(names))
        paths = "|".join(re.escape(_folded(path.removesuffix(".md"))) for path in sorted(self.paths))
        return re.compile(rf"(?:{paths}|{stems}){ending}(?![a-z0-9_-])")

    @cached_property
    def is_named_by_file(self) -> bool:
        """Whether its file's name tells it from those of the project."""
        return self._stem.casefold() not in _COMMON or "/" in self.file

    @property
    def _stem(self) -> str:
        return PurePosixPath(self.file).name.removesuffix(".md")

    @cached_property
    def _topic(self) -> topic.Topic:
        return topic.parse(self.text, filename=self.file, cut=True)


_LEADS_IN = "见看读阅据照考在从和与及是はをのとでがに"
"""What stands before a file's name in Chinese and Japanese, which put no blank there."""

_INSIDE = re.compile(r"<memory>\n(.*)\n</memory>", re.DOTALL)


def _written(name: str) -> str:
    """A pattern for a file's name that is not the end of a longer one."""
    glued = rf"[^\W{_LEADS_IN}]" if _ONE_CJK.match(name) else "[a-z0-9_]"
    return rf"(?<!{glued})(?<![/\\-]){re.escape(name)}"


def _shown(messages: Sequence[Message], roots: Sequence[str]) -> Iterator[_Shown]:
    turn = ""
    for at, message in enumerate(messages):
        if message.origin == "person":
            turn = message.id
        about = message.attachment
        if not about or about.get("kind") != "memory" or not turn:
            continue
        path = str(about["path"])
        file = next((path[len(root) + 1 :] for root in roots if path.startswith(f"{root}/")), None)
        if file:
            inside = _INSIDE.search(message.text)
            yield _Shown(
                at=at,
                turn=turn,
                file=file,
                paths=frozenset({path, *(f"{root}/{file}" for root in roots)}),
                text=inside[1] if inside else "",
            )


# -- what was done with it -----------------------------------------------------------------------------------


class _Look:
    """Reads the assistant's messages, with what of the conversation that takes."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages

    def opened(self, message: Message) -> frozenset[str]:
        """The paths that reading tools were given in it, with success."""
        given = (
            call.input.get(_READERS[call.name])
            for call in message.tool_uses
            if call.name in _READERS and call.id in self._done
        )
        return frozenset(os.path.normpath(path) for path in given if isinstance(path, str) and path)

    def cited(self, message: Message, shown: Sequence[_Shown]) -> list[_Shown]:
        """The memories that it cites."""
        if not shown or not (text := message.text).strip():
            return []
        folded, tokens = _folded(text), _tokens(text)
        runs = frozenset(_runs(tokens))
        return [one for one in shown if self._cites(one, folded, tokens, runs)]

    def _cites(
        self, one: _Shown, folded: str, tokens: Sequence[str], runs: frozenset[tuple[str, ...]]
    ) -> bool:
        if one.is_named_by_file and one.written.search(folded):
            return True
        if any(_holds(tokens, name) and not self._said_by_person(name) for name in one.names):
            return True
        return any(not self._said_by_person(run) for run in one.runs & runs)

    def _said_by_person(self, run: Sequence[str]) -> bool:
        """Whether the person said it themselves: who repeats that need not have it from a memory."""
        return any(_holds(tokens, run) for tokens in self._person)

    @cached_property
    def _person(self) -> list[list[str]]:
        return [_tokens(message.text) for message in self._messages if message.origin == "person"]

    @cached_property
    def _done(self) -> frozenset[str]:
        blocks = (block for message in self._messages for block in message.content)
        return frozenset(
            block.tool_use_id for block in blocks if isinstance(block, ToolResult) and not block.is_error
        )


# -- what the person said of it ------------------------------------------------------------------------------

_ENDS = (
    r"(?=\s*(?:$|[.,;:!?\n\u2013\u2014-]"
    r"|(?:now|by\ now|already|since|as\ of|any\ ?more|because|and|but|we|i)\b))"
)
"""Behind what is said of a memory: "that was wrong of me" and "this is wrong in app.py" are not about one."""

_WRONG = re.compile(
    r"""
    ^(?:(?:no|nope|hm+|well|actually|sorry|but|wait|ah|oh)\b[\s,.!:-]*){0,3}
    (?:
        (?:wrong|incorrect|outdated|out\ of\ date|not\ any\ ?more)[.!\s]*$
      | (?:that|this|it|(?:that|this|the|your)\ (?:memory|memories|note|notes|information|info)
          (?:\ (?:about|on|of)\ [^.!?,\n]{1,60}?)?)
        (?:'s|\ is|\ was|\ are|\ were|\ has)?
        \ (?:(?:just|now|simply|already|completely|long|all|since)\ ){0,2}
        (?:(?:wrong|incorrect|false|outdated|out\ of\ date|obsolete|stale|superseded|changed
            |no\ longer\ (?:true|right|correct|valid|the\ case|so)
            |not\ (?:true|correct|the\ case|valid)|not\ right\ any\ ?more)ENDS
          |no\ longer\ how\b)
      | (?:that|this|it)\ isn't\ (?:true|correct|the\ case|valid)ENDS
      | we\ no\ longer\ | we\ (?:do|are)(?:n't|\ not)\ [^.!?\n]{1,60}\ any\ ?more\b
    )
    | ^(?:不[,。\s]+|不是[,。\s]+|嗯[,\s]*|其实[,\s]*)?
      (?:(?:这|那)(?:个|条|些|是)?|你(?:的)?(?:记忆|笔记|记得)的?|记忆|笔记)
      (?:信息|说法|内容|记忆|笔记)?(?:里的?)?(?:已经|早就|现在|都|是)*
      (?:不对|错了|错的|不正确|过时|过期|不准确|不再)
    | ^(?:不对?[,。\s]+|不是[,。\s]+)?(?:我们|这个?|那个?)?(?:已经|早就|现在)+不再?(?:用|使用|是|这样)
    | ^(?:不对?[,。\s]+|不是[,。\s]+)?你记错了
    | ^(?:いや|いえ|いいえ|ちがう)?[、。,\s]*
      (?:それ|これ|あれ|(?:その|この|あの)(?:情報|記憶|メモ|記録|内容))(?:は|って|、)*(?:もう|すでに|既に|今は)*
      (?:間違|違いま|違う|違って|古い|古く|正しくな|正しくありません|誤り|使ってい?(?:ない|ません)|変わ(?:った|りま))
    | ^(?:間違い|間違って|違います|もう古い)
    """.replace("ENDS", _ENDS),
    re.VERBOSE,
)
_END = re.compile(r"[.!?。\n]")


def _told_wrong(said: str, cited: Sequence[_Shown]) -> list[_Shown]:
    """The memories that the person says are wrong: the one that the answer before cited, or those that they
    name. A question is no such statement.
    """
    text = _folded(said).strip()
    if not cited or (wrong := _WRONG.match(text)) is None:
        return []
    if (end := _END.search(text, wrong.end())) and end[0] == "?":
        return []
    named = [one for one in cited if one.is_named_by_file and one.written.search(text)]
    return named or (list(cited) if len(cited) == 1 else [])


# -- words ---------------------------------------------------------------------------------------------------

_CJK = r"\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_CJK}]|(?:(?![{_CJK}])\w)+(?:['-](?:(?![{_CJK}])\w)+)*")
_HIRAGANA = re.compile(r"[\u3040-\u309f]")
_MUTE = STOP_WORDS | STOP_HAN
_ONE_CJK = re.compile(rf"[{_CJK}]")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def _tokens(text: str) -> list[str]:
    """Words, and single characters of Chinese, Japanese and Korean."""
    return _TOKEN.findall(_folded(text))


def _weight(tokens: Sequence[str]) -> int:
    return sum(1 if _ONE_CJK.match(token) else 2 for token in tokens)


def _says(tokens: Sequence[str]) -> int:
    """The weight of those that say something."""
    return _weight([token for token in tokens if token not in _MUTE and not _HIRAGANA.match(token)])


def _runs(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """From each token on, the shortest run of weight `RUN`, if enough of it says something."""
    weights = [_weight([token]) for token in tokens]
    end, total = 0, 0
    for start, first in enumerate(weights):
        while end < len(tokens) and total < RUN:
            total += weights[end]
            end += 1
        if total < RUN:
            return
        run = tuple(tokens[start:end])
        if _says(run) >= _SAYS_RUN:
            yield run
        total -= first


def _holds(tokens: Sequence[str], run: Sequence[str]) -> bool:
    """Whether the run stands in the tokens, without a gap."""
    size, first, wanted = len(run), run[0], list(run)
    return any(token == first and list(tokens[at : at + size]) == wanted for at, token in enumerate(tokens))

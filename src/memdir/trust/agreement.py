"""What the person takes over of what was just said: "yes, do it like that", "keep that command" (E11). Pure.

The agent's words on plain agreement; a tool's words only on an explicit wish to keep them, and then only what
such a wish can mean: a command, a value, an address. Never what speaks to an agent or of its memory.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from memdir.cues import Cue, tables_for
from memdir.trust.carries import carriers
from memdir.trust.hidden import visible
from memdir.trust.permits import permissions
from memdir.trust.sources import Heard, Said, addresses, cues_of, pair, sentences
from memdir.trust.terms import folded, terms, windows

LONGEST_REPLY = 400
"""A reply of more characters agrees only where it uses the words for it."""
LONGEST_WISH = 120
"""A sentence of so many characters points at nothing that stands outside of it."""
TAIL = 8_000
"""So many of the last characters of a tool's output a wish can mean."""


@lru_cache(maxsize=1024)
def agrees(text: str) -> bool:
    """Whether a message takes over what was said before it."""
    head = text[:LONGEST_REPLY]
    return bool(_YES.match(head) or cues_of(head, tables_for(head), _AGREEING))


@lru_cache(maxsize=1024)
def wishes_kept(text: str) -> bool:
    """Whether a message asks to keep what a tool just said."""
    if _NOT_KEPT.search(text):
        return False
    for sentence in sentences(text[:4_000]):
        if len(sentence) >= LONGEST_WISH or not _KEEP.search(sentence):
            continue
        if cues_of(sentence, tables_for(sentence), _KEEPING):
            return True
    return False


def of_agent(text: str, said: Said, heard: Heard, *, kept: bool) -> str:
    """What of the agent's words an agreement covers: not what only untrusted text put into its mouth.

    `kept`: the person wishes to keep what was said. Then a name that a tool showed may be among it, if the
    tool did not speak to an agent there.
    """
    return "\n".join(
        sentence for sentence in sentences(visible(text)) if not _put_in(sentence, said, heard, kept=kept)
    )


def _put_in(sentence: str, said: Said, heard: Heard, *, kept: bool) -> bool:
    loose = [term for term in terms(sentence) if not said.states(term)]
    names = windows(sentence) - said.windows
    hard = [term for term in loose if term.key in heard.hard_keys]
    if names & heard.hard_idents or any(term.weight == 1.0 for term in hard) or len(hard) > 1:
        return True
    if any(
        one.dangerous and folded(one.text) in heard.text and not said.names(one.text)
        for one in carriers(sentence)
    ):
        return True
    if kept:
        return False
    own = {term.key for term in loose}
    every = terms(sentence)
    alike = sum(
        one.key in own and two.key in own and pair(one, two) in heard.pairs for one, two in pairwise(every)
    )
    return bool(names & heard.idents) or alike > 1 or (bool(heard) and bool(permissions(sentence)))


def of_tool(said: str) -> str:
    """The commands and values in a tool's output that "keep that" can mean."""
    kept = []
    lines = visible(said[-TAIL:]).splitlines()
    for at, line in enumerate(lines):
        around = "\n".join(lines[max(0, at - 2) : at + 3])
        if len(line) > 300 or addresses(around) or permissions(line):
            continue
        if any(one.dangerous for one in carriers(line)):
            continue
        kept += [match[0] for match in _VALUES.finditer(line)]
    return "\n".join(dict.fromkeys(kept))


_AGREEING = frozenset({Cue.APPROVAL, Cue.CONTINUE, Cue.BACK})
_KEEPING = frozenset({Cue.CONTINUE, Cue.BACK, Cue.REMEMBER, Cue.POINTS})
_YES = re.compile(
    r"\W{0,3}(?:y|yes|yep|yeah|yup|sure|ok|okay|right|correct|exactly|agreed|please do|go ahead|sounds"
    r" good|fine|deal|absolutely|indeed|👍|💚|✅"
    r"|ja|genau|gerne?|stimmt|passt|einverstanden|richtig|klar|sí|si|vale|claro|exacto|eso es|perfecto"
    r"|de acuerdo|correcto"
    r"|对|好|好的|是|是的|可以|行|嗯|没错|同意|就这样|はい|ええ|うん|お願いします|そうです|その通り|了解|いいですね|oui|d'accord|sim|certo)"
    r"(?![\w])(?!\s+(?:but|aber|pero|et|不过))",
    re.IGNORECASE,
)
_KEEP = re.compile(
    r"\b(?:keep|save|remember|note|store|record|write)\b(?:\s+(?:to|in|down|mind))?\s*(?:that|this|it"
    r"|these|those|the)?\s*(?:\w+\s+)?(?:command|flag|value|setting"
    r"|option|number|url|link|address|path|version|port|way|invocation|line|configuration|config|one)?\b"
    r"|\b(?:merk|behalt|speicher|notier)\w*\b|\b(?:guarda|recuerda|anota|apunta)\w*\b|记|存|保留|覚え|メモ|保存",
    re.IGNORECASE,
)
_NOT_KEPT = re.compile(
    r"\b(?:don't|do not|never|nicht|no)\s+(?:keep|save|store|remember|merken|speichern|guardes)\b"
    r"|别记|不要记|不用记",
    re.IGNORECASE,
)
_VALUES = re.compile(
    r"`[^`\n]{1,200}`|\$ [^\n]{1,200}|\b[A-Z][A-Z0-9_]{1,60}=\S{1,100}"
    r"|(?<![\w-])--?[a-z][\w-]{0,40}(?:[= ]\S{1,60})?"
    r"|\b(?:npm|pnpm|yarn|npx|pip|uv|poetry|pytest|python3?|node|go|cargo|make|just|git|docker|kubectl"
    r"|gradle|mvn|bundle|rake|tox|ruff|mypy|eslint|vitest|jest"
    r"|bazel|cmake|ctest|dotnet|mix|sbt|deno|bun|terraform|ansible|helm|psql|redis-cli)\b(?:"
    r" [\w./:=@-]{1,60}){0,8}|\b\d[\d.,:]*\s?\w{0,10}\b",
)

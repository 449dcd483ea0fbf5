"""Does a line still stand, and where? (D8) Pure.

It does where all its words stand one after the other, as whole sentences, as plain as they did, below
headings that say no less of them; and nothing new beside them takes them back. What is not provably still
there is gone: a line in a comment, struck out, in code, within a sentence that says more, below "Never", or
in another letter, was not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache

from memdir.dream.plan.blocks import Block, Place, Unit
from memdir.dream.plan.body import turns
from memdir.dream.plan.page import Page, quoted
from memdir.names import INDEX
from memdir.trust.terms import keys, terms

_AS_PLAIN: Mapping[Place, frozenset[Place]] = {
    "said": frozenset({"said"}),
    "heading": frozenset({"heading", "said"}),
    "code": frozenset({"code", "said"}),
    "header": frozenset({"header", "said"}),
    "hidden": frozenset({"hidden", "header", "code", "heading", "said"}),
    "buried": frozenset({"buried", "hidden", "header", "code", "heading", "said"}),
}
"""Where a line may stand for one that stood there."""


@dataclass(frozen=True, eq=False)
class Fact:
    """A fact-bearing line of a page: line `at` of `block`, with the units that it touches."""

    page: Page
    block: Block
    at: int
    previous: str = ""
    following: str = ""
    links: tuple[tuple[str, str], ...] = ()
    """Links that lead elsewhere now: as they were, and as they are."""

    @property
    def file(self) -> str:
        return self.page.file

    @property
    def text(self) -> str:
        """The line as it stands."""
        return self.block.lines[self.at]

    @cached_property
    def fine(self) -> tuple[str, ...]:
        return self._texts(self.block.fine)

    @cached_property
    def coarse(self) -> tuple[str, ...]:
        return self._texts(self.block.coarse)

    def _texts(self, units: Sequence[Unit]) -> tuple[str, ...]:
        touched = [unit.text for unit in units if unit.first <= self.at <= unit.last]
        found = touched or [unit.text for unit in units]
        for was, now in self.links:
            found = [text.replace(was, now) for text in found]
        return tuple(found)

    @cached_property
    def sign(self) -> tuple[object, ...]:
        """All that tells whether it stands somewhere."""
        return (
            self.fine, self.coarse, self.block.place, self.block.turned, self.block.under,
            self.previous, self.following, self.page.file == INDEX, self.block.within,
            self.page.file if _is_about_another(self.fine[0]) else "",
        )  # fmt: skip


def facts_of(page: Page) -> Iterator[Fact]:
    """The fact-bearing lines of a page, with what stands beside each."""
    texts = [unit.text for unit in page.fine]
    start = 0
    for block in page.blocks:
        for at in block.facts:
            touched = [number for number, unit in enumerate(block.fine) if unit.first <= at <= unit.last]
            touched = touched or list(range(len(block.fine)))
            first, last = start + touched[0], start + touched[-1]
            yield Fact(
                page=page,
                block=block,
                at=at,
                previous=texts[first - 1] if first else "",
                following=texts[last + 1] if last + 1 < len(texts) else "",
            )
        start += len(block.fine)


class Standing:
    """All that stands in a set of pages. `known`: the units, and names, of the memories as they were."""

    def __init__(self, pages: Mapping[str, Page], known: AbstractSet[str]) -> None:
        self.pages = {file: pages[file] for file in sorted(pages)}
        self.known = known
        self._found: dict[str, dict[str, list[tuple[bool, int]]]] = {}
        self._void: dict[str, bool] = {}
        self._cache: dict[tuple[object, ...], tuple[str, ...]] = {}
        for page in self.pages.values():
            self._add(page, page.fine, coarse=False)
            if page.coarse != page.fine:
                self._add(page, page.coarse, coarse=True)

    def _add(self, page: Page, units: Sequence[Unit], *, coarse: bool) -> None:
        for number, unit in enumerate(units):
            self._found.setdefault(unit.text, {}).setdefault(page.file, []).append((coarse, number))

    def in_file(self, fact: Fact, file: str) -> bool:
        """Whether the line stands in that file."""
        page = self.pages.get(file)
        if page is None or (page.file == INDEX and fact.file != INDEX):
            return False  # the index is no place for what a memory says
        return self._stands(fact, page, fact.fine) or (
            fact.coarse != fact.fine and self._stands(fact, page, fact.coarse)
        )

    def has_part(self, fact: Fact, text: str) -> bool:
        """Whether one sentence of the line still stands in its file."""
        page = self.pages.get(fact.file)
        return page is not None and self._stands(fact, page, (text,))

    def files(self, fact: Fact) -> tuple[str, ...]:
        """The files in which the line stands, by name."""
        if fact.sign not in self._cache:
            candidates = self._found.get(fact.fine[0], {}).keys() | self._found.get(fact.coarse[0], {}).keys()
            self._cache[fact.sign] = tuple(file for file in sorted(candidates) if self.in_file(fact, file))
        return self._cache[fact.sign]

    def quotes(self, units: Sequence[str], *, turned: bool) -> tuple[str, ...]:
        """The topics in which a quoted text stands, for all to see. `turned`: it may stand below a no."""
        if not units:
            return ()
        found = []
        for file, places in self._found.get(units[0], {}).items():
            if file == INDEX or self._is_void(self.pages[file]):
                continue
            for coarse, number in places:
                run = self._run(self.pages[file], units, coarse=coarse, number=number)
                if run and all(
                    unit.block.place in ("said", "code") and (turned or not unit.block.turned) for unit in run
                ):
                    found.append(file)
                    break
        return tuple(sorted(found))

    # -- one place

    def _run(self, page: Page, units: Sequence[str], *, coarse: bool, number: int) -> list[Unit] | None:
        """The units from that place on, if they are those."""
        there = page.coarse if coarse else page.fine
        run = there[number : number + len(units)]
        return run if [unit.text for unit in run] == list(units) else None

    def _stands(self, fact: Fact, page: Page, units: Sequence[str]) -> bool:
        if not units:
            return False
        for coarse, number in self._found.get(units[0], {}).get(page.file, ()):
            run = self._run(page, units, coarse=coarse, number=number)
            if run and self._is_as_plain(fact, page, run, page.coarse if coarse else page.fine, number):
                return True
        return False

    def _is_as_plain(
        self, fact: Fact, page: Page, run: Sequence[Unit], there: Sequence[Unit], number: int
    ) -> bool:
        places = _AS_PLAIN[fact.block.place]
        if any(unit.block.place not in places for unit in run):
            return False
        if fact.block.place in ("hidden", "header", "buried"):
            return True
        before = there[number - 1].text if number else ""
        behind = there[number + len(run)].text if number + len(run) < len(there) else ""
        return (
            all(unit.block.turned == fact.block.turned for unit in run)
            and (not run[0].soft or before == fact.previous or before in self.known)
            and all(
                beside in (fact.previous, fact.following) or not takes_back(beside)
                for beside in (before, behind)
            )
            and not self._is_led_astray(run[0].block)
            and _is_below(fact.block.under, run[0].block, page)
            and _is_within(fact.block.within, run[0].block, page)
            and _is_of_the_same(fact, page, run[0], before)
            and (not self._is_void(page) or self._was_void(fact))
        )

    def _is_led_astray(self, block: Block) -> bool:
        """Whether something new, before the list that it is in, says no."""
        return turns(block.lead) and any(set(units) - self.known for units in quoted(block.lead)[:1])

    def _is_void(self, page: Page) -> bool:
        """Whether something new in it says that nothing of it is true."""
        if page.file not in self._void:
            texts = {unit.text for unit in page.fine} | {unit.text for unit in page.coarse} | {page.name}
            self._void[page.file] = any(map(voids, texts - self.known))
        return self._void[page.file]

    def _was_void(self, fact: Fact) -> bool:
        return any(voids(unit.text) for unit in fact.page.fine)


def _is_below(under: Sequence[str], block: Block, page: Page) -> bool:
    """Whether what headings said of a line is still said of it, where it stands now.

    Below the same heading; or, where there is no such heading any more, in a file that has its names. Where
    there is one, and the line stands below another, it would speak of something else.
    """
    for number, heading in enumerate(reversed(under)):
        if heading in block.under:
            continue
        if number == 0 and heading in page.headings:
            return False
        if not _names(heading) <= keys(page.shown):
            return False
    return True


def _is_within(within: Sequence[str], block: Block, page: Page) -> bool:
    """Whether what led to a line still does: the item that it stands in, the words before its list. As with
    headings: where that stands in the file, and the line is not within it, it would speak of something else.
    """
    return all(
        lead in block.within or (lead not in page.texts and _names(lead) <= keys(page.shown))
        for lead in within
    )


def _is_of_the_same(fact: Fact, page: Page, unit: Unit, before: str) -> bool:
    """Whether a line that begins with "it" still speaks of the same: behind the same sentence, in its own
    file, or in one that speaks of what its file is called by.
    """
    if before and before == fact.previous:
        return True
    if fact.previous and _ANSWER.fullmatch(unit.text):
        return False  # to what?
    if page.file == fact.file or not _is_about_another(unit.text):
        return True
    names = _names(f"{fact.page.name} {fact.file.rpartition('/')[2].removesuffix('.md').replace('_', ' ')}")
    return not names or not names.isdisjoint(keys(page.shown))


def _is_about_another(text: str) -> bool:
    """Whether who or what a sentence speaks of stands before it."""
    return _IT.match(text) is not None


_ANSWER = re.compile(
    r"\W*(?:[^\W\d]{1,10}\s?[:：]\s*)?(?:yes|no|ja|nein|sí|true|false|never|always|ok|none|both|是|否|不|はい|いいえ)\W*",
    re.IGNORECASE,
)
_IT = re.compile(
    r"\W*(?:(?:it|its|it's|they|their|he|she|his|her|this|these|those|that|there|er|sie|es|sein\w*|ihr\w*|dies\w*|su|sus"
    r"|esto|eso)\b|它|他|她|其|这|那|これ|それ)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def _names(heading: str) -> frozenset[str]:
    """The words of a heading that are no everyday words."""
    return frozenset(term.key for term in terms(heading) if term.weight == 1.0 or term.figure)


def voids(text: str) -> bool:
    """Whether a sentence says of all that stands beside it that it does not hold."""
    return _VOID.search(text) is not None


def takes_back(text: str) -> bool:
    """Whether a sentence says of the one beside it that it does not hold."""
    return _TAKES_BACK.search(text) is not None


_NO_MORE = (
    r"(?:wrong|false|untrue|incorrect|outdated|obsolete|no longer|not any ?more|not (?:true|the case"
    r"|correct|valid|right"
    r"|so)|isn't (?:true|so)|never true|reversed|reverted|revoked|withdrawn|superseded|rejected|a lie"
    r"|lies|made up"
    r"|invalid|void|fiction|ignored?|disregard\w*|falsch|nicht mehr|veraltet|überholt|stimmt nicht|gilt nicht"
    r"|falso|ya no|obsoleto)"
)
_TAKES_BACK = re.compile(
    r"\A\W*(?:(?:this|that|it|these|those|both|(?:the )?(?:above|former|previous|preceding|following"
    r"|next)|below"
    rf"|das|dies\w*|obiges|esto|eso|lo anterior)\b.{{0,30}}?\b{_NO_MORE}\b"
    r"|(?:none|nothing) of (?:this|that|these|the following|it)\b"
    rf"|(?:update\W+|correction\W+|edit\W+|but\s)?{_NO_MORE}\W*(?:\Z|since\b|as of\b|now\b|[:;,.!-])"
    r"|(?:strike|scratch|ignore|disregard|forget)\s(?:that|this|it|the)\b)"
    r"|\A\W*(?:以上|上述|上面|下面|以下|这|這|那|此).{0,10}(?:错|錯|不对|不對|作废|作廢|过时|過時|不再|失效|不成立|假的)"
    r"|\A\W*(?:上記|以下|これ|それ).{0,12}(?:誤り|間違い|無効|古い|ではない)",
    re.IGNORECASE,
)
_THINGS = r"(?:lines?|notes?|entries|bullets|items|facts?|statements?|rest|text|list|rules?|memor(?:y|ies))"
_FILE = r"(?:file|memory|note|document|page|list)"
_VOID = re.compile(
    rf"\b(?:(?:everything|anything|nothing|all|none|the {_THINGS})\s(?:of\s|that\s)?(?:(?:is|stands"
    rf"|written)\s)?"
    rf"(?:here|above|below|in here|in this {_FILE}|that follows|follows|following)"
    rf"|the (?:above|below|following)(?: {_THINGS})?|(?:these|those|all(?: the| these)?) {_THINGS}"
    rf"|this (?:whole |entire )?{_FILE})\b.{{0,40}}?\b{_NO_MORE}\b"
    rf"|\b(?:none|nothing) (?:of this|of the following|of it|in this {_FILE}|here|below|above)\b.{{0,30}}"
    r"\b(?:true|valid|holds?|applies|apply|right|correct)\b"
    r"|\bopposite of (?:each|every|all|everything|what)\b.{0,30}"
    rf"\b(?:here|above|below|lines?|{_FILE}|says?|stands?)\b"
    r"|\b(?:ignore|disregard|do not (?:trust|rely on|use|believe|follow)|don't (?:trust|rely on|use"
    r"|believe|follow))\s"
    rf"(?:everything|anything|all|the (?:above|below|following|rest|other|{_THINGS})|this (?:whole "
    rf"|entire )?{_FILE})\b"
    r"|(?:以下|以上|本文|此文|本记录|本文件|此文件|全部|下面|上面).{0,8}(?:作废|过时|不再|失效|不成立|都是?错|都是?假|忽略)"
    r"|(?:忽略|无视)(?:以下|以上|本文|全部|下面|上面)",
    re.IGNORECASE,
)

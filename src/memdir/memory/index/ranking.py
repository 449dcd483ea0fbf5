"""Words of a query and counted files -> how well each matches. Pure."""

from __future__ import annotations

from math import fsum

from memdir.memory.rank import allowance, rarity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KIN = 0.7
"""What a word counts that only means about the same as the one in the query."""


class Term:
    """One word of a query, how much it weighs, and its `kin`: words that may stand for it at a discount."""

    __slots__ = ("kin", "weight", "word")

    def __init__(self, word: str, *, weight: float = 1.0, kin: frozenset[str] = frozenset()) -> None:
        self.word = word
        self.weight = weight
        self.kin = kin


class Known:
    """A file as the index knows it.

    `modified`: nanoseconds since 1970. `named`: files that its body names. `words`: id -> how much the word
    occurs, in halves; `length`: their sum.
    """

    __slots__ = (
        "description", "file", "id", "length", "modified", "name", "named", "size", "traits", "type", "words",
    )  # fmt: skip

    def __init__(  # a row of the table, in its order
        self,
        id: int,  # noqa: A002
        file: str,
        name: str,
        description: str,
        type: str | None,  # noqa: A002
        traits: int,
        named: Sequence[str],
        modified: int,
        size: int,
        length: int,
        words: Mapping[int, int],
    ) -> None:
        self.id = id
        self.file = file
        self.name = name
        self.description = description
        self.type = type
        self.traits = traits
        self.named = named
        self.modified = modified
        self.size = size
        self.length = length
        self.words = words

    @property
    def title(self) -> str:
        """All that it is called by: file, name, description."""
        return f"{self.file.removesuffix('.md')} {self.name} {self.description}".replace("_", " ")


class Hit:
    """A file, its score, and what of the query it shares: word -> what that adds, weightiest first."""

    __slots__ = ("memory", "score", "words")

    def __init__(self, memory: Known, score: float, words: Mapping[str, float]) -> None:
        self.memory = memory
        self.score = score
        self.words = words

    @property
    def file(self) -> str:
        """Its path in the directory."""
        return self.memory.file


class Query:
    """The terms that can be found at all. `gains`: word id -> what each term that it stands for can add by it
    at most, and whether it is the term's own word; `mean`: the mean length of all files, in halves."""

    __slots__ = ("gains", "ids", "mean", "words")

    def __init__(
        self, terms: Sequence[Term], standing: Mapping[str, tuple[int, int]], *, size: int, mean: float
    ) -> None:
        """`standing`: word -> its id, and in how many of `size` files it stands."""
        self.words = [term.word for term in terms]
        self.gains: dict[int, list[tuple[int, float, bool]]] = {}
        self.mean = mean
        for at, term in enumerate(terms):
            for word in (term.word, *sorted(term.kin)):
                found = standing.get(word)
                if found is None:
                    continue
                is_own = word == term.word
                gain = term.weight * rarity(found[1], size) * (1.0 if is_own else KIN)
                self.gains.setdefault(found[0], []).append((at, gain, is_own))
        self.ids = self.gains.keys()

    def shares(self, memory: Known) -> dict[int, float]:
        """What each term adds to a file, by its place: its own word, or else the best of its kin."""
        words = memory.words
        slack = allowance(memory.length, self.mean)
        own: dict[int, float] = {}
        kin: dict[int, float] = {}
        for word in self.ids & words.keys():
            said = words[word]
            part = said / (said + slack)
            for at, gain, is_own in self.gains[word]:
                if is_own:
                    own[at] = gain * part
                elif gain * part > kin.get(at, 0.0):
                    kin[at] = gain * part
        return kin | own

    def hit(self, memory: Known, shares: Mapping[int, float]) -> Hit:
        """A file that shares something, with what that is."""
        named = {self.words[at]: share for at, share in shares.items()}
        ranked = sorted(named.items(), key=lambda one: (-one[1], one[0]))
        return Hit(memory, fsum(shares.values()), dict(ranked))

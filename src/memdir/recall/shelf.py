"""One memory directory as recall sees it: its index, what its memories mean, what became of them before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import time_ns

from anyio import to_thread

from memdir.memory.index import Index
from memdir.model.embedding.embedder import Embedder
from memdir.recall.meaning import Meaning
from memdir.recall.order import RECENCY
from memdir.recall.usage import Usage, boost


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """A directory and what is kept beside it, shared by the conversations of a process.

    `meaning`: None without an embedder. `usage`: None where nothing is recorded. `recency`, `use_weight`: how
    much age and past use count for the order (`recall.recencyWeight`, `recall.useWeight`).
    """

    directory: Path
    index: Index
    meaning: Meaning | None = None
    usage: Usage | None = None
    recency: float = RECENCY
    use_weight: float = 0.0

    @classmethod
    def of(
        cls,
        directory: Path,
        *,
        cache: Path | None = None,
        embedder: Embedder | None = None,
        usage: Path | None = None,
        recency: float = RECENCY,
        use_weight: float = 0.0,
    ) -> Shelf:
        """The shelf of a directory. `cache`: the folder for its index (None: in memory); `usage`: the file of
        the record of use. Nothing is made or read yet.
        """
        index = Index(str(directory), cache=None if cache is None else str(cache), clock=time_ns)
        return cls(
            directory=directory,
            index=index,
            meaning=None if embedder is None else Meaning(index, embedder, directory),
            usage=None if usage is None else Usage(str(usage)),
            recency=recency,
            use_weight=use_weight,
        )

    def use(self, now: datetime) -> dict[str, float]:
        """What past use says for or against memories: file -> at most `use_weight`, either way."""
        if self.usage is None or not self.use_weight:
            return {}
        return {file: self.use_weight * boost(tally, now=now) for file, tally in self.usage.all().items()}

    async def take_in(self, *, at_most: int | None = None) -> None:
        """Read what has changed; give vectors to memories that have none, if there is an embedder.

        Raises:
            ModelError: the embedder failed.
        """
        await to_thread.run_sync(self.index.refresh, abandon_on_cancel=True)
        if self.meaning is not None:
            await self.meaning.take_in(at_most=at_most)

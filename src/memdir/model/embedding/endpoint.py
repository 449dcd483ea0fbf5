"""Embedders over OpenAI's SDK: its own service, and all the servers that speak its embeddings API.

Everything about the connection is what `memdir.model.openai` has for conversations: whose key goes where, no
redirects, bounds on what is read, what an error means. Here is what is asked, and how the answer is read.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from memdir import secrets
from memdir.errors import ContextTooLong, ModelError, ModelOverloaded, ModelUnreachable
from memdir.model import bounds, pauses, tokens
from memdir.model.embedding.embedder import unit
from memdir.model.json_text import sendable
from memdir.model.keys import Key
from memdir.model.messages import Usage
from memdir.model.openai import OpenAI, failures, shared
from memdir.model.openai.said import said
from memdir.model.service import CHECK_NAME, late

if TYPE_CHECKING:
    from openai import AsyncOpenAI

LONGEST = 2000
"""Characters of a text that are sent: about what the small models take, most of which end at 512 tokens."""

SHORTEST = 250
"""Characters: what a service refuses at this length as too long, no cut will help."""

SECONDS = 60.0
"""How long one request may take. A server on this machine may have to load its model first."""

_AT_ONCE = 32
"""Texts of one request: many servers take no more."""

_MOST_NUMBERS = 16_384
"""Numbers of one vector: a longer one is no model's."""

_BLANK = "-"
"""What is sent for a text with nothing in it: services refuse that."""

_TOO_LONG = re.compile(
    r"too large to process|must have less than \d+ tokens|input is too long", re.IGNORECASE
)
"""What servers say of a text that is too long, besides what they say of a conversation: llama.cpp, with a
500; text-embeddings-inference; others."""

OnUsage = Callable[[Usage], None]
"""Is told what a request took: as the service counts it, or an estimate where it does not."""


class EndpointEmbedder:
    """An embedder behind OpenAI's embeddings API; see `Embedder`.

    Without `base_url` it is as the SDK has it: OPENAI_API_KEY and OPENAI_BASE_URL. `key` gives the key, or a
    placeholder, when the first text comes; `key_cure` says how to come by one. `called` is its name in
    reports; `moved_to` the host where a variable moves its provider to. Overload and lost connections are
    tried `max_retries` times more, with growing pauses (`pause` seconds first) or as long as the service
    asks for.
    """

    is_local = False

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None,
        key: Callable[[], Key | str | None],
        key_cure: str | None = None,
        called: str,
        moved_to: str | None = None,
        on_usage: OnUsage | None = None,
        max_retries: int = 4,
        pause: float = 0.5,
    ) -> None:
        self.name = f"{called} at {moved_to}" if moved_to else called
        self._on_usage = on_usage
        self._longest = LONGEST
        self._client = _Client(
            model,
            base_url=base_url,
            key=key,
            key_cure=key_cure,
            name=called,
            max_retries=max_retries,
            pause=pause,
        )

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text, of the first `LONGEST` characters, or of fewer where the service says that those
        are too many; see `Embedder`.

        Raises:
            ModelError: or the child that fits; and if a text could hold a secret: then nothing is sent.
        """
        if any(map(secrets.scan, texts)):
            raise ModelError(f"not sent to {self.name}: a text holds what looks like a secret")
        vectors: list[bytes] = []
        for start in range(0, len(texts), _AT_ONCE):
            vectors += await self._of(texts[start : start + _AT_ONCE])
        if len(set(map(len, vectors))) > 1:
            raise self._client.odd_answer()
        return vectors

    async def aclose(self) -> None:
        """Close the connections. A later text opens new ones."""
        await self._client.aclose()

    async def _of(self, texts: Sequence[str]) -> list[bytes]:
        """Of as many as go into one request."""
        while True:
            cut = [sendable(text[: self._longest]) for text in texts]
            cut = [text if text.strip() else _BLANK for text in cut]
            longest = max(map(len, cut))
            try:
                vectors, usage = await self._client.vectors(cut)
            except ContextTooLong:
                if longest <= SHORTEST:
                    raise
                self._longest = min(self._longest, max(SHORTEST, longest // 2))
                continue
            if self._on_usage is not None:
                self._on_usage(usage)
            return vectors


class _Told(failures.Service):
    """Whom an error is about, in words that fit texts that are not conversations."""

    def too_long(self) -> ContextTooLong:
        """For a text that the model does not take whole."""
        cure = self.roomier or "choose a model that takes longer texts"
        return ContextTooLong(f"a text is too long for {self.name}", hint=cure)

    def name_cure(self, models: Collection[str] = ()) -> str:
        """What to do about a name that the service does not have."""
        cure = super().name_cure(models)
        return "check the name in `recall.embedder`" if cure == CHECK_NAME else cure


class _Client(OpenAI):
    """The connection that conversations have, asked for vectors."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None,
        key: Callable[[], Key | str | None],
        key_cure: str | None,
        name: str,
        max_retries: int,
        pause: float,
    ) -> None:
        super().__init__(
            model,
            base_url=base_url,
            key=key,
            key_cure=key_cure,
            name=name,
            max_retries=max_retries,
            pause=pause,
        )
        self._service = _Told(
            name=name, model=model, server=self._service.server, url=base_url, key_cure=key_cure
        )

    async def vectors(self, texts: Sequence[str]) -> tuple[list[bytes], Usage]:
        """The vectors of some texts, and what they took; asked again while the service is busy or away.

        Raises:
            ModelError: or the child that fits.
        """
        tried = 0
        while True:
            try:
                return await self._asked(texts)
            except (ModelOverloaded, ModelUnreachable) as error:
                is_last = tried >= self._max_retries or self._service.is_closed(error.__cause__)
                pause = pauses.before_next(error.__cause__, tried=tried, first=self._pause)
                if is_last or pause is None or isinstance(error.__cause__, TimeoutError):
                    raise
                await anyio.sleep(pause)
                tried += 1
            except ModelError as error:
                await self._suggest(error)
                raise

    async def _asked(self, texts: Sequence[str]) -> tuple[list[bytes], Usage]:
        """One request.

        Raises:
            ContextTooLong: a text is too long.
            ModelError: or another child that fits.
        """
        try:
            with anyio.fail_after(SECONDS):
                sdk = await self._open()  # each time: somebody may have closed it
                with self._hushed(), bounds.answering():
                    answer = await _posted(sdk, {"model": self._model, "input": list(texts)})
                    return await anyio.to_thread.run_sync(read, answer, texts)
        except ModelError as error:
            if _TOO_LONG.search(said(error.__cause__).text):
                raise self._service.too_long() from error.__cause__
            raise
        except TimeoutError as error:
            raise late(self.name) from error

    def odd_answer(self) -> ModelError:
        """The error for vectors that don't belong together."""
        return failures.explain(ValueError(), service=self._service)


async def _posted(sdk: AsyncOpenAI, body: Mapping[str, object]) -> bytes:
    """The bytes of the answer, which is long: its JSON is read beside the event loop."""
    import httpx2

    asked = {**body, "encoding_format": "float"}
    response = await sdk.post("/embeddings", cast_to=httpx2.Response, body=asked)
    return response.content


def read(answer: bytes, texts: Sequence[str]) -> tuple[list[bytes], Usage]:
    """The vectors of an answer, in the order of the texts, and its usage; an estimate where it tells none.

    Raises:
        InStream: it is an error, under a status that says otherwise.
        ValueError: it is no such answer. (LookupError, TypeError, RecursionError: the same.)
    """
    told = json.loads(answer)
    shared.fail_on_error(told)
    rows = told["data"]
    places = [row.get("index", at) for at, row in enumerate(rows)]
    if sorted(places) != list(range(len(texts))):
        raise ValueError("not one vector for each text")
    vectors = [b""] * len(texts)
    for at, row in zip(places, rows, strict=True):
        vectors[at] = unit(_numbers(row["embedding"]))
    usage = shared.usage(told.get("usage"))
    return vectors, usage if usage.total_input else Usage(input=sum(map(tokens.estimate, texts)))


def _numbers(written: Any) -> Sequence[float]:
    """The numbers of a vector: a list, or float32 in base64, which some send unasked."""
    if isinstance(written, str):
        numbers: Sequence[float] = array("f", base64.b64decode(written, validate=True))
        if sys.byteorder == "big":
            array.byteswap(numbers)  # type: ignore[arg-type]
    elif isinstance(written, list):
        numbers = written
    else:
        raise TypeError("no vector")
    if len(numbers) > _MOST_NUMBERS:
        raise ValueError("a vector of too many numbers")
    return numbers

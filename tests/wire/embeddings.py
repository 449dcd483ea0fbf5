"""OpenAI's embeddings API, as it and the servers that follow it speak it."""

from __future__ import annotations

import base64
import hashlib
import math
import struct
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from tests.wire.answers import Refused
from tests.wire.rules import embeddings as rules

Json = dict[str, Any]

NUMBERS = 32
"""Numbers of a vector, if the request does not say how many."""


class Embeddings:
    """What a server answers to `/v1/embeddings`: vectors, and before that the faults that were added.

    Texts that share words get vectors that are alike, the same text always the same one. `longest` is how
    many tokens of one input it takes, `length` that of its vectors (the real service's are of length 1, other
    servers' are not), `metered` whether it tells the usage.
    """

    def __init__(self) -> None:
        self.longest = rules.LONGEST_INPUT
        self.length = 1.0
        self.metered = True
        self._faults: deque[Refused] = deque()

    def add(self, *faults: Refused) -> None:
        """The next requests meet these, one each."""
        self._faults.extend(faults)

    def answer(self, body: Mapping[str, Any]) -> Json | Refused:
        """The answer to a request of a good key for a model that is there."""
        wrong = rules.objection(body)
        if wrong is not None:
            return Refused(kind="invalid", message=wrong)
        if self._faults:
            return self._faults.popleft()
        given = rules.inputs(body)
        sizes = list(map(rules.size, given))
        if max(sizes) > self.longest:
            words = f"This model's maximum context length is {self.longest} tokens, however you requested "
            tail = f"{max(sizes)} tokens. Please reduce your prompt; or completion length."
            return Refused(kind="invalid", message=words + tail)
        if sum(sizes) > rules.LONGEST_REQUEST:
            words = f"Requested {sum(sizes)} tokens, max {rules.LONGEST_REQUEST} tokens per request"
            return Refused(kind="invalid", message=words, type="max_tokens_per_request")
        usage = {"prompt_tokens": sum(sizes), "total_tokens": sum(sizes)}
        return {
            "object": "list",
            "data": [self._row(at, one, body) for at, one in enumerate(given)],
            "model": body["model"],
            **({"usage": usage} if self.metered else {}),
        }

    def _row(self, at: int, given: str | list[int], body: Mapping[str, Any]) -> Json:
        numbers = [self.length * one for one in vector(given, body.get("dimensions", NUMBERS))]
        told: Any = numbers
        if body.get("encoding_format") == "base64":
            told = base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
        return {"object": "embedding", "index": at, "embedding": told}


def vector(given: str | Sequence[int], numbers: int = NUMBERS) -> list[float]:
    """Of length 1; a sum over words, each of which has its own direction."""
    words = given.lower().split() if isinstance(given, str) else list(map(str, given))
    total = [0.0] * numbers
    for word in words or [""]:
        seed = hashlib.shake_256(word.encode()).digest(2 * numbers)
        for at in range(numbers):
            total[at] += int.from_bytes(seed[2 * at : 2 * at + 2], "big") / 0x8000 - 1
    length = math.hypot(*total) or 1.0
    return [one / length for one in total]

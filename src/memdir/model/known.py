"""What is known of models before anybody is asked: window, longest answer, price (`known.json`).

The table ages. It is for reports and for planning: what a service says of itself counts more, and a model
that is not in it is used all the same. Prices are list prices in USD per million tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from memdir.model.messages import Usage

_SAME = re.compile(r"-latest|-\d{4}-\d{2}-\d{2}|-\d{8}", re.ASCII)
"""What follows the name of a model and names a state of the same one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """USD per million tokens; None: not known. `beyond` is the price of a whole request whose input is more
    than `over` tokens, where a longer one costs more.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    over: int | None = None
    beyond: Price | None = None

    def of(self, usage: Usage) -> float | None:
        """What one request cost, in USD; None if a price of it is not known."""
        if self.beyond is not None and self.over is not None and usage.total_input > self.over:
            return self.beyond.of(usage)
        parts = (
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
        )
        if any(tokens and price is None for tokens, price in parts):
            return None
        return sum(tokens * (price or 0.0) for tokens, price in parts) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A model as it is known: window and longest answer in tokens, price; None: not known."""

    window: int | None
    max_output: int | None
    price: Price | None


def known(provider: str, model: str) -> Known | None:
    """What is known of a provider's model, by its name or that of a dated state of it; None: nothing.

    `gpt-5-2025-08-07` is `gpt-5`; `gpt-5.4` and `gpt-5-mini` are other models.
    """
    models = _table().get(provider, {})
    name = next((one for one in sorted(models, key=len, reverse=True) if _is(model, one)), None)
    return None if name is None else _read(models[name])


def _is(model: str, name: str) -> bool:
    rest = model.removeprefix(name)
    return model == name or (rest != model and _SAME.fullmatch(rest) is not None)


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    text = resources.files(__package__).joinpath("known.json").read_text(encoding="utf-8")
    models: dict[str, dict[str, Any]] = json.loads(text)["models"]
    return models


def _read(row: Mapping[str, Any]) -> Known:
    price = Price(**row["price"]) if "price" in row else None
    if price is not None and "beyond" in row:
        beyond = dict(row["beyond"])
        price = Price(**row["price"], over=beyond.pop("over"), beyond=Price(**beyond))
    return Known(window=row.get("window"), max_output=row.get("max_output"), price=price)

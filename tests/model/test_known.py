"""The table of known models: its shape, its sense, and what counts as the same model."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import Any

import pytest

from memdir.model.known import Price, known
from memdir.model.messages import Usage
from memdir.model.providers import PROVIDERS
from tests.cases import REPO

TABLE: dict[str, Any] = json.loads((REPO / "src" / "memdir" / "model" / "known.json").read_text("utf-8"))
ROWS = [(provider, name) for provider, models in TABLE["models"].items() for name in models]
PARTS = ("input", "output", "cache_read", "cache_write")


def test_the_table_says_when_it_was_read_and_in_what_it_counts() -> None:
    assert TABLE.keys() == {"as_of", "unit", "models"}
    assert date.fromisoformat(TABLE["as_of"]) >= date(2026, 11, 1)
    assert TABLE["unit"] == "USD per million tokens"
    assert TABLE["models"].keys() <= PROVIDERS.keys()


@pytest.mark.parametrize(("provider", "name"), ROWS, ids=str)
def test_each_row_makes_sense(provider: str, name: str) -> None:
    row = TABLE["models"][provider][name]
    assert row.keys() <= {"window", "max_output", "price", "beyond", "source"}
    assert {"window", "price"} & row.keys()
    assert re.fullmatch(r"[\w./-]{3,60}", row["source"])
    if "window" in row:
        assert 8_000 < row["max_output"] < row["window"] <= 2_000_000
    for price in (row["price"], row.get("beyond", row["price"])):
        assert {"input", "output"} <= price.keys() <= {*PARTS, "over"}
        assert 0 < price["input"] < price["output"] < 1_000
        assert price.get("cache_read", 0) < price["input"] <= price.get("cache_write", price["input"])
    if "beyond" in row:
        assert 50_000 < row["beyond"]["over"] < row["window"]
        assert row["beyond"].keys() - {"over"} == row["price"].keys()
        assert all(row["beyond"][part] > row["price"][part] for part in row["price"])
    about = known(provider, name)
    assert about is not None
    assert (about.window, about.max_output) == (row.get("window"), row.get("max_output"))
    assert about.price is not None
    assert {part: value for part in PARTS if (value := getattr(about.price, part)) is not None} == row[
        "price"
    ]


def test_the_examples_of_providers_with_prices_are_known() -> None:
    for provider in TABLE["models"]:
        assert known(provider, PROVIDERS[provider].example) is not None


@pytest.mark.parametrize(
    ("provider", "model", "same_as"),
    [
        ("anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("anthropic", "claude-opus-5-5-latest", "claude-opus-5-5"),
        ("openai", "gpt-5-2025-08-07", "gpt-5"),
        ("openai", "gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("openai", "gpt-5.4", "gpt-5.4"),
        ("openai", "gpt-4o-2024-11-20", "gpt-4o"),
    ],
)
def test_a_dated_state_of_a_model_is_that_model(provider: str, model: str, same_as: str) -> None:
    assert known(provider, model) == known(provider, same_as) is not None


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-5.9"),
        ("openai", "gpt-5-maxi"),
        ("openai", "gpt-5-20250807-x"),
        ("openai", "gpt-50"),
        ("openai", "o3x"),
        ("openai", ""),
        ("openai", "claude-opus-5"),
        ("anthropic", "claude-opus-5-1"),
        ("anthropic", "claude-opus-5-9-latest"),
        ("nobody", "gpt-5"),
    ],
)
def test_what_only_begins_alike_is_another_model(provider: str, model: str) -> None:
    assert known(provider, model) is None


def test_a_request_costs_what_its_tokens_cost_A7() -> None:
    price = Price(input=2, output=10, cache_read=0.2, cache_write=2.5)
    spent = Usage(input=1_000_000, output=100_000, cache_read=2_000_000, cache_write=400_000)
    assert price.of(spent) == pytest.approx(2 + 1 + 0.4 + 1)
    assert price.of(Usage()) == 0
    assert Price(input=2, output=10).of(Usage(input=500_000)) == pytest.approx(1)
    assert Price(input=2, output=10).of(Usage(input=1, cache_read=1)) is None


def test_a_long_request_costs_more_as_a_whole_A7() -> None:
    about = known("openai", "gpt-6.1-terra")
    assert about is not None
    assert about.price is not None
    assert about.price.of(Usage(input=272_000)) == pytest.approx(0.272)
    assert about.price.of(Usage(input=72_000, cache_read=200_001)) == pytest.approx(0.144 + 0.0200001)

"""The models that a server says it serves, in the form of either provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tests.wire.dialects import CREATED

Json = dict[str, Any]
Model: TypeAlias = "str | Mapping[str, Any]"
"""A name, or an object with at least `id`, for what a server tells beyond the format (its window, prices)."""


def name_of(model: Model) -> str:
    """What a request calls it."""
    return model if isinstance(model, str) else str(model["id"])


def openai(models: Sequence[Model]) -> Json:
    """GET /v1/models, as OpenAI and those who follow it answer."""
    return {"object": "list", "data": [openai_model(model) for model in models]}


def openai_model(model: Model) -> Json:
    """One model of it."""
    more = {} if isinstance(model, str) else model
    return {"id": name_of(model), "object": "model", "created": CREATED, "owned_by": "wire", **more}


def anthropic(models: Sequence[Model]) -> Json:
    """GET /v1/models, as Anthropic answers: one page."""
    names: list[str | None] = [name_of(model) for model in models]
    names = names or [None]
    data = [anthropic_model(model) for model in models]
    return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}


def anthropic_model(model: Model) -> Json:
    """One model of it."""
    return {
        "type": "model",
        "id": name_of(model),
        "display_name": name_of(model),
        "created_at": "2026-09-01T00:00:00Z",
        "lifecycle": "active",
        **({} if isinstance(model, str) else model),
    }

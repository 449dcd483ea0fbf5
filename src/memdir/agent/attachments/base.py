"""A text, and what it is about -> a message that memdir adds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memdir.model.messages import Message, Text


def attached(text: str, about: Mapping[str, Any], *, now: datetime) -> Message:
    """A message that memdir adds; `about` is its `attachment` field."""
    return Message(role="user", content=(Text(text=text),), origin="attachment", at=now, attachment=about)

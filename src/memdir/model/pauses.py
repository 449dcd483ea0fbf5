"""How long to wait before a service is asked again, and how to say it."""

from __future__ import annotations

import email.utils
import math
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

LONGEST_WAIT = 120.0
"""Seconds: a service that asks for a longer pause is not waited for, the person is told instead."""

LONGEST_PAUSE = 8.0
"""Seconds of a pause of our own choice, at most."""
_FOR_EVER = 1e6


def before_next(error: BaseException | None, *, tried: int, first: float) -> float | None:
    """Seconds before the next try, after so many that failed; None: there is to be no other. `error` is the
    SDK's, `first` the pause of our own after the first try."""
    asked = asked_by(error)
    if asked > LONGEST_WAIT or _headers(error).get("x-should-retry", "").lower() == "false":
        return None
    own = min(first * 2**tried, LONGEST_PAUSE)
    return asked or own * random.uniform(0.75, 1)  # noqa: S311 - so that many clients do not come at once


def asked_by(error: BaseException | None) -> float:
    """Seconds that a service asks us to wait, as a number or as a time to come again; 0 if it doesn't, or if
    there is no such time."""
    headers = _headers(error)
    for name, share in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        asked = headers.get(name, "")
        try:
            return min(max(0.0, float(asked) * share), _FOR_EVER)
        except ValueError:
            with suppress(ValueError, OverflowError, TypeError):  # the year 99999
                if moment := email.utils.parsedate_tz(asked):
                    return min(max(0.0, email.utils.mktime_tz(moment) - time.time()), _FOR_EVER)
    return 0.0


def when_again(error: BaseException, otherwise: str) -> str:
    """When to ask again: as the service says, in plain words, or `otherwise`."""
    asked = asked_by(error)
    return f"it asks to wait {in_words(asked)}" if asked >= 1 else otherwise


def in_words(seconds: float) -> str:
    """About how long that is."""
    for unit, size in (("hour", 3600), ("minute", 60)):
        if seconds > 1.6 * size:
            return f"{math.ceil(seconds / size - 0.1)} {unit}s"
    whole = max(1, round(seconds))
    return f"{whole} second{'s' if whole > 1 else ''}"


def _headers(error: BaseException | None) -> Mapping[str, str]:
    """The headers of the answer that one of an SDK's errors stands for."""
    found: Any = getattr(getattr(error, "response", None), "headers", {})
    return found  # type: ignore[no-any-return]

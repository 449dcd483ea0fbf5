"""Recall: the few memories that bear on this turn, or none (R1-R10).

candidates   directory -> memories
local        prompt, memories -> verdicts, by words alone
shelf        memories kept read between turns
select       prompt, directory -> selection, by a model or by words
surface      selection -> attachments, within the budgets
prefetch     all of it beside a turn
"""

from __future__ import annotations

from memdir.recall.local import select_local

__all__ = ["select_local"]

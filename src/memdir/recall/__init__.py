"""Recall: the few memories that bear on this turn, or none (R1-R10).

local         a prompt, an index -> verdicts, by words alone
objections    what speaks against a memory, whoever chose it
offers        the memories that a model chooses from
meaning       how near the memories are to a prompt by what they mean (the extra `semantic`)
select        a prompt, a directory -> a selection, by a model or by words
surface       a selection -> attachments, within the budgets
prefetch      all of it beside a turn
public        by words, for those who have no session
usage         what was surfaced, and what became of it; recorder, aftermath, request_kind feed it
"""

from __future__ import annotations

from memdir.recall.public import select_local

__all__ = ["select_local"]

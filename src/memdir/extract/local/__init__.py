"""Memories from a talk without a language model: `propose(turns, existing, today=…) -> [Proposal]`.

    speech      a message        -> the sentences that are the person's own
    cues        a sentence       -> what its words tell (one module per language)
    dates       a sentence       -> absolute dates
    score       cues             -> a kind of memory and points
    candidates  sentences        -> passages worth a memory
    retract     candidates       -> those not taken back later
    topics      a passage        -> the known memory about the same thing
    compose     a passage        -> title, description, body, file name
    merge       a known memory   -> its new body
    forget      sentences        -> deletions

To teach it a phrase, add a line to `cues/en.py` or its neighbours.
"""

from __future__ import annotations

from memdir.extract.local.proposals import propose
from memdir.extract.local.values import Create, Delete, Evidence, Known, Proposal, Turn, Update

__all__ = ["Create", "Delete", "Evidence", "Known", "Proposal", "Turn", "Update", "propose"]

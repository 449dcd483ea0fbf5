"""Memories from a talk without a language model: `propose(turns, existing, today=…) -> [Proposal]`.

    pasted      a message        -> the person's own words
    speech      a turn           -> sentences, each with its cues
    cues        a sentence       -> what its words tell (one text file per language)
    shapes      a sentence       -> what its look tells
    dates       a sentence       -> absolute dates
    place       a sentence       -> what its place in the talk tells
    score       cues             -> how likely it is worth a memory, and of which kind
    secrecy     sentences        -> the same without secret values
    candidates  sentences        -> passages worth a memory
    subjects    an answer        -> subject words for "keep doing that"
    takeover    what was shown   -> the command in "keep that command"
    retract     candidates       -> those not taken back later
    topics      a passage        -> the known memory about the same thing
    compose     a passage        -> title, description, body, file name
    merge       a known memory   -> its new body
    forget      sentences        -> deletions
    proposals   all of it, in order

To teach it a phrase, add a line to `cues/english.txt` or a neighbour of it. What a cue counts stands in
`weights.txt`, which `bench/weigh.py` fits to talks with known right answers.
"""

from __future__ import annotations

from memdir.extract.local.proposals import propose
from memdir.extract.local.values import Create, Delete, Evidence, Known, Proposal, Turn, Update

__all__ = ["Create", "Delete", "Evidence", "Known", "Proposal", "Turn", "Update", "propose"]

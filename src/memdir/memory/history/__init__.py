"""Every change of a memory directory is a commit of a hidden git repository: who made it, why, and when (H2).

values.py      who changes memory, and what a change did
history.py     all of it: what callers use
folder.py      what lies in the folder of a history; one writer at a time
stamps.py      what may have changed: one stat a file
looking.py     what has
message.py     a step <-> the message of its commit
steps.py       steps -> changes
repository.py  commits in, commits and blobs out
git.py         git, started for one question: the only module of memory that starts a process
erasing.py     the steps without what is to be erased

The files are the truth, and the history follows them: a change is recorded after it was made, from what is
on the disk. So nothing here can hold a write up, and whatever is broken off is seen at the next look.
"""

from __future__ import annotations

from memdir.memory.history.history import History
from memdir.memory.history.values import BEGINNING, EXTERNAL, By, Change, FileChange, Run, new_change

__all__ = ["BEGINNING", "EXTERNAL", "By", "Change", "FileChange", "History", "Run", "new_change"]

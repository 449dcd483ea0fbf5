"""The words of a memory directory, kept ready to be searched: derived, never in the directory itself (M6).

stamp.py       a file's state -> what shows a change to it
freshness.py   a directory -> what has changed: one stat a file
entry.py       a file -> its words, and what it says of itself    } only loaded when
filling.py     what has changed -> the tables                     } something has changed
database.py    where the tables are; what is damaged begins anew
packing.py     values <-> what the tables hold
ranking.py     words of a query and a file -> how well it matches
index.py       all of it: what callers use

The side that answers queries imports `sqlite3` and little else: it runs at every prompt.
"""

from __future__ import annotations

from memdir.memory.index.index import Index
from memdir.memory.index.ranking import Hit, Known, Term

__all__ = ["Hit", "Index", "Known", "Term"]

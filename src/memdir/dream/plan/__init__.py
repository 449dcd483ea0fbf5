"""What a dream would make of the memories (D8). Pure.

deriving    two snapshots and the model's reasons -> what becomes of each file and each line
reasons     why the model took out what it took out (dream.json)
blocks  sentences  body  page      a memory file, taken apart as a reader sees it
facts       its lines that say something
standing    does a line still stand, and where?
reworded    do other words say the same?
provenance  where memories come from, and how old they are, stays
"""

from memdir.dream.plan.deriving import Action, Change, Fate, Gone, Plan, derive

__all__ = ["Action", "Change", "Fate", "Gone", "Plan", "derive"]

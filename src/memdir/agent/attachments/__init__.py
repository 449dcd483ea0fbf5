"""What memdir adds to a conversation by itself -> messages with origin `attachment` (R6-R8, J3, C4).

Each message also says, in its `attachment` field, what it is about: that goes to the transcript and never
to the model, and it is what budgets and de-duplication count over. A tool-result message of a turn that
wrote memories carries a note of the same sort, so that what was written can be told from the messages alone
(E4). None of them is the person's word (E11); whose it is instead, `memdir.trust.evidence` says.

    memories     {"kind": "memory", "path": …, "bytes": …, "cut": …}             one surfaced memory (R6, R7)
    writes       {"kind": "memory_write", "wrote": […], "deleted": […]}          on tool results (E4)
    changes      {"kind": "changed_file", "path": …, "cut": …}                   a known file changed (R8)
    index        {"kind": "index_changed", "path": …, "how": …, "cut": …}        the index of memory did (R8)
    day          {"kind": "date", "date": "2026-05-07"}                          which day it is (J3)
    compaction   {"kind": "compaction", "trigger": …, "how": …, "gone": …, "tail": …}   what came before (C4)
    carried      {"kind": "file", "path": …, "bytes": …, "cut": …}               shown again after that

`memdir.agent.instructions` adds the kinds that a conversation begins with. Where a message shows files,
`seen` says which bytes of them (`memdir.agent.file_state`). What the background saved is told to the person
and never here (E8).
"""

from __future__ import annotations

from memdir.agent.attachments.base import attached
from memdir.agent.attachments.carried import carried_file, shortened
from memdir.agent.attachments.changes import DIFF_CHARACTERS, changed_files, changed_unseen
from memdir.agent.attachments.compaction import How, Trigger, compaction_boundary
from memdir.agent.attachments.day import date_change, date_news
from memdir.agent.attachments.index import index_changed, is_shown_in_part
from memdir.agent.attachments.memories import relevant_memory, surfaced
from memdir.agent.attachments.writes import memory_files_written, memory_write

__all__ = [
    "DIFF_CHARACTERS", "How", "Trigger", "attached", "carried_file", "changed_files", "changed_unseen",
    "compaction_boundary", "date_change", "date_news", "index_changed", "is_shown_in_part",
    "memory_files_written", "memory_write", "relevant_memory", "shortened", "surfaced",
]  # fmt: skip

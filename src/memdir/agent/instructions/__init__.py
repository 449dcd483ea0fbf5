"""What people and memory tell an agent before a conversation begins (I1-I4, S4, P7).

memory.py      how memory works, for the system prompt; the index, for the first message
places.py      which files hold instructions, in their order
reading.py     one file, looked at and read without waiting for anything
comments.py    what of a text is not for a model
imports.py     `@path` in a text
globs.py       patterns of paths
rules.py       `rules/**/*.md`, and the paths that a rule is for
consent.py     what the person has said of files outside the project
sources.py     what was found: the values
walk.py        from a file to all that it brings
gather.py      everything that counts at the start, in one list
room.py        what of it is shown, and what is only named
message.py     all of it as the first message
on_demand.py   what a file that is read brings with it

System prompt: how memory is used; it never changes within a session (I6). First message: the files of the
administrator, the person and the project, then the index of memory, once.
"""

from memdir.agent.instructions.consent import Consents
from memdir.agent.instructions.gather import gather
from memdir.agent.instructions.memory import load_memory_prompt
from memdir.agent.instructions.message import context_message
from memdir.agent.instructions.on_demand import OnDemand
from memdir.agent.instructions.places import working_tree
from memdir.agent.instructions.sources import Instruction, Rule, Sources, Waiting

__all__ = [
    "Consents",
    "Instruction",
    "OnDemand",
    "Rule",
    "Sources",
    "Waiting",
    "context_message",
    "gather",
    "load_memory_prompt",
    "working_tree",
]

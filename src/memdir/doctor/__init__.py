"""What is wrong in a memory directory, and how it is put right (E10, A8, F6, F7, D4).

Memories are files, and people and programs write them past all that is checked before a write of ours. Here
everything is looked at anew: each fault once, with its file, the reason and the cure, and no secret's value.

    finding     one thing to look at
    survey      the directory as it stands, each file read once
    around      what belongs to it elsewhere
    checkup     all checks, one after the other; and the few for `memdir status`
    files  names  leaks  index  headers  twins  leftovers  layouts      the checks
    fixing      what has one right answer is mended, as one change that can be undone
    filling     what a header lacks is taken from the file itself

Looking changes nothing, follows no link, and never waits.
"""

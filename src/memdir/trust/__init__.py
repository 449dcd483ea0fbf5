"""Whose words a text is made of, and whether a memory may be made of it (E11). Pure.

vet          a proposed change + the evidence -> held, with the reason
rewritten    memories put in order -> what is new in them, and do memories bear it out?
evidence     a conversation -> who said what in it
pasted       a person's message without what they pasted or quoted
agreement    what the person takes over of what the agent or a tool said
sources      both sides, ready to be asked; what each text says is kept from one look to the next
statements   a file before and after -> what is new, what is gone
news         ... and what of it was said before
judging      one statement: case (its words), stated (what it carries), tracing (where it comes from)
permits      a sentence -> the permission it gives (permits.txt)
carries      a statement -> links, paths, commands
hidden       what a reader does not see; decoding: what is encoded
forgetting   did the person ask that a memory goes? endings: a sentence -> what it ends (ends.txt);
             subject: what a memory is about; removal: what an edit takes out
terms        words, meanings (meanings.txt), glue.txt, common.txt
"""

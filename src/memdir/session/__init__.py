"""A long conversation -> running notes of it, from which it can go on when it is too long (C1-C5).

sections    a text of fixed sections: the template, what is in each, what is too long
due         is it time to bring the notes up to date?
rights      what a fork may do for it: edit one file, or nothing
base        as much of a conversation as there is room for, to ask about it
notes       the notes of one session, kept up to date in the background; by_rules, without a model
summary     a summary that a model writes once, when it is needed and there are no notes
extractive  the same by rules
places      where a conversation may be cut; plan, what of it stays; shorten, what is too large even then
carried     what goes along when most of it is left behind; checkboxes, of that what is still to do
"""

"""A long conversation -> running notes of it, from which it can go on when it is too long (C1-C5).

sections    a text of fixed sections: the template, what is in each, what is too long
due         is it time to bring the notes up to date?
rights      what a fork may do for it: edit one file, or nothing
notes       the notes of one session, kept up to date in the background; by_rules, without a model
orphans     notes whose transcript is gone
summary     a summary that a model writes once, when it is needed and there are no notes
extractive  the same by rules
compact     a shorter conversation in the place of the long one: when, and by whose summary
draft       what that one would be; plan, what of the long one stays
carried     what goes along when most of it is left behind; checkboxes, of that what is still to do; again,
            the files that were worked with last
"""

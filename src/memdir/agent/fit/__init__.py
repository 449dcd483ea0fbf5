"""A conversation and a window -> as much of the one as fits into the other (A4, C4). Pure.

places.py      where a conversation may be cut: no call is parted from its result
shorten.py     messages that are too large -> the same, with the least left out
base.py        a conversation and a question about it -> what of its end there is room for
"""

"""May a plan be carried out? (D8) Pure, but for `sources`, which reads transcripts.

checking    every check, one after the other
dates       no date is replaced by today's, and none comes from nowhere
mentions    the dates that a text speaks of
headers     headers are as good as they were, and rise to nothing
index       the index is complete, and under its limits
names       what memories are called says what is in them
quoted      how a memory may be quoted to the person
sources     whose words there are: the memories as they were, and the conversations since
"""

from memdir.dream.checks.checking import Code, Limits, Objection, at_most, check, says_something

__all__ = ["Code", "Limits", "Objection", "at_most", "check", "says_something"]

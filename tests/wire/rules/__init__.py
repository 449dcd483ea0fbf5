"""A request's JSON -> the objection that the real service would have to it, or None; one module a format.

Only what a client of ours could get wrong. The wording is ours, the verdicts are the documented ones. Where
nothing is said of the format, it is the Messages API.
"""

from tests.wire.rules.messages import objection

__all__ = ["objection"]

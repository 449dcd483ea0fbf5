"""A command line that does not pass, and what the model can do instead."""

from __future__ import annotations


class Refused(Exception):
    """The command line is not known to be read-only (A6). The message is a sentence for the model."""

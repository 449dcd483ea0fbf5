"""A command line that does not pass, and what the model can do instead."""

from __future__ import annotations


class Refused(Exception):
    """The command line is not known to be read-only (A6). The message is a sentence for the model."""

    log = "not a read-only command"
    """What a log may say of it: a fixed phrase, with nothing of the command (H4)."""


class Credentials(Refused):
    """It names a place where credentials are kept (A5)."""

    log = "a place of credentials"

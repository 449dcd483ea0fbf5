"""memdir: a Maildir for agent memory.

A conversation goes in, Markdown files come out, and the next conversation gets the few that matter.
Importing this package has no effect and loads nothing heavy.
"""

__version__ = "0.1.0"

"""A block of text in the person's role -> what the person typed of it (E11).

Claude Code puts much into that role which nobody typed: reminders, the output of commands and hooks, news of
tasks, summaries. It marks it with tags, and what stands in them may quote files and pages, tags included.
"""

from __future__ import annotations

import re

_WRAPPER = re.compile(
    r"<(/?)(system-reminder|command-[a-z]{1,20}|local-command-[a-z]{1,20}|bash-[a-z]{1,20}|ide_[a-z_]{1,30}|"
    r"task-(?:notification|reminder|status)|(?:teammate|cross-session)-message|new-diagnostics|"
    r"(?:session-start|session-end|user-prompt-submit|pre-tool-use|post-tool-use|pre-compact|subagent-stop|stop)"
    r"-hook)"
    r"(?=[\s/>])"
)
_PUT_IN = re.compile(r"\[Request interrupted by user[^\]\n]{0,40}\]|\[Image #\d{1,4}\] ?")
"""A note of the program's, and what stands for a pasted picture."""
_SUMMARY = "This session is being continued from a previous conversation"


def own_words(text: str) -> str:
    """What the person typed in a block of text: without what a program wrapped around or put beside it (E11).

    All from the first opening tag to the last closing one is the program's: text that it quotes can close a
    tag, and can't end the quote by that. A block that begins with a tag which is never closed, or with a
    summary, is the program's as a whole. Elsewhere such a tag stays: it may be what they are writing about.
    """
    text = text.strip()
    if text.startswith(_SUMMARY):
        return ""
    tags = list(_WRAPPER.finditer(text))
    closing = {tag[2]: tag.start() for tag in tags if tag[1]}  # the last one of each name
    opening = [tag for tag in tags if not tag[1]]
    begin = next((tag.start() for tag in opening if closing.get(tag[2], 0) > tag.start()), len(text))
    if opening and opening[0].start() == 0 < begin:
        return ""
    end = text.find(">", max(closing.values())) + 1 if begin < len(text) else 0
    return _PUT_IN.sub("", text[:begin] + (text[end:] if end else "")).strip()

"""The name of a prompt and its slots -> the text that is sent (I5).

A prompt is a Markdown file in this folder with slots like `$directory`; a plain dollar sign is written `$$`.
`README.md` says who sends each one. What is put into a slot is never searched for slots itself. A slot for a
path takes any path: one with odd characters is shown in quotes, with escapes.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

from memdir.memory.fence import exact

PATHS = frozenset({"cwd", "directory", "path"})
"""The slots that take a path."""


def render(name: str, /, **slots: str) -> str:
    """The prompt with its slots filled in. It begins and ends with text: no newline at either end.

    Raises:
        LookupError: there is no prompt of that name.
        TypeError: a slot is missing, or there is one that the prompt does not have.
    """
    template = _template(name)
    wanted, given = set(template.get_identifiers()), set(slots)
    if wanted != given:
        problems = [f"missing {slot}" for slot in sorted(wanted - given)]
        problems += [f"unknown {slot}" for slot in sorted(given - wanted)]
        raise TypeError(f"prompt {name!r}: {', '.join(problems)}")
    return template.substitute({slot: exact(text) if slot in PATHS else text for slot, text in slots.items()})


def names() -> list[str]:
    """The names of all prompts, sorted."""
    found = (entry.name for entry in files(__name__).iterdir())
    return sorted(name.removesuffix(".md") for name in found if name.endswith(".md") and name != "README.md")


def slots(name: str) -> list[str]:
    """The slots of a prompt, in order of their first use.

    Raises:
        LookupError: there is no prompt of that name.
    """
    return _template(name).get_identifiers()


@cache
def _template(name: str) -> Template:
    if name not in names():
        raise LookupError(f"no prompt is called {name!r}; there are {', '.join(names())}")
    return Template((files(__name__) / f"{name}.md").read_text(encoding="utf-8").strip())

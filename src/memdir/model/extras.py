"""How to install what is left out by default: `how_to_install(extra) -> a command` that works as it stands.

memdir may be installed from a folder, so the command names the libraries and not memdir, with the versions
that memdir's own metadata asks for; and it names the Python that runs now, whose packages are the ones looked
for.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import sys


def how_to_install(extra: str) -> str:
    """The command that installs the libraries of an extra, such as `openai`, for this Python."""
    python, wanted = sys.executable or "python3", requirements(extra)
    if is_there("pip"):
        return _line(python, "-m", "pip", "install", *wanted)
    return _line("uv", "pip", "install", "--python", python, *wanted)


def requirements(extra: str) -> list[str]:
    """What an extra asks for, without its condition; its name alone if the metadata can't be read."""
    from importlib import metadata  # loads slowly

    try:
        asked = metadata.requires("memdir") or []
    except metadata.PackageNotFoundError:
        asked = []
    of_extra = re.compile(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]")
    parts = [one.partition(";") for one in asked]
    return [_lowest_first(what) for what, _, condition in parts if of_extra.search(condition)] or [extra]


def keyring_command() -> str:
    """How the command of the `keyring` package is called from here."""
    return "keyring" if shutil.which("keyring") else _line(sys.executable or "python3", "-m", "keyring")


def is_there(library: str) -> bool:
    """Whether a library could be loaded. It is not."""
    try:
        return importlib.util.find_spec(library) is not None
    except ValueError:  # it is half there
        return False


def _lowest_first(asked: str) -> str:
    """`openai<4,>=3.57` as people write it."""
    bare = re.sub(r"[\s()]", "", asked)
    name = re.split(r"[<>=!~]", bare)[0]
    return name + ",".join(sorted(bare.removeprefix(name).split(","), reverse=True))


def _line(*words: str) -> str:
    """Words as a line for the shell of this system."""
    if os.name == "nt":
        return " ".join(f'"{word}"' if re.search(r"[^\w.:\\/-]", word) else word for word in words)
    return shlex.join(words)

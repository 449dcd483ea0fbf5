"""A path as a model writes it -> the absolute path that it means.

Permissions and tools both ask here, so that what was judged is what is used (A8).
"""

from __future__ import annotations

import os
from pathlib import Path

from memdir.errors import ToolError


def place(given: str, cwd: Path) -> Path:
    """The absolute path that a model means; `~/` is the home folder, a relative path is below `cwd`.

    Links are not followed here, except by a `..`, as the system does.

    Raises:
        ToolError: it is no path.
    """
    if not given or "\0" in given:
        raise ToolError("the path is empty or holds a NUL byte; give an absolute path")
    try:
        os.fsencode(given)
    except UnicodeEncodeError as error:
        raise ToolError("the path holds a character that no file name has; give an absolute path") from error
    path = Path.home() / given[2:] if given.startswith("~/") else cwd / given
    return Path(os.path.normpath(path)) if ".." not in path.parts else Path(os.path.realpath(path))

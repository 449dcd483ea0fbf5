"""Every directory, from the environment, settings and a working folder; and which memory a path belongs to.

environment.py   what the environment says: home, remote mode, words for yes and no
obeyed.py        the folders whose files other programs obey
check.py         a value becomes a safe memory directory, or is refused (P5, P6)
git.py           a folder becomes the root of its repository (P3, P4)
tracked.py       whether a file came with a repository (P6)
places.py        all directories of one project (P1, P2, P3, P9)
classify.py      a path becomes the memory it belongs to (P8)

Git is never run: it would obey the configuration of the repository it is asked about.
"""

from memdir.paths.check import check_base_directory, check_memory_directory
from memdir.paths.classify import Kind, classify
from memdir.paths.environment import WORDS, home_directory, is_remote, said
from memdir.paths.git import canonical_root, forget_roots
from memdir.paths.obeyed import OBEYED
from memdir.paths.places import (
    MAX_SLUG,
    Places,
    cache_directory,
    remote_base,
    resolve,
    slug,
    state_directory,
    summary_path,
    transcript_path,
)
from memdir.paths.tracked import doubt

__all__ = [
    "MAX_SLUG",
    "OBEYED",
    "WORDS",
    "Kind",
    "Places",
    "cache_directory",
    "canonical_root",
    "check_base_directory",
    "check_memory_directory",
    "classify",
    "doubt",
    "forget_roots",
    "home_directory",
    "is_remote",
    "remote_base",
    "resolve",
    "said",
    "slug",
    "state_directory",
    "summary_path",
    "transcript_path",
]

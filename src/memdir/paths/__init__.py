"""Every directory, from the environment, settings and a working folder; and which memory a path belongs to.

check.py      a value becomes a safe memory directory, or is refused (P5, P6)
git.py        a folder becomes the root of its repository (P3, P4)
places.py     all directories of one project (P1, P2, P3, P9)
classify.py   a path becomes the memory it belongs to (P8)
"""

from memdir.paths.check import check_memory_directory
from memdir.paths.classify import Kind, agent_folders, classify
from memdir.paths.git import canonical_root, forget_roots
from memdir.paths.places import Places, home_directory, resolve, slug, state_directory, transcript_path

__all__ = [
    "Kind",
    "Places",
    "agent_folders",
    "canonical_root",
    "check_memory_directory",
    "classify",
    "forget_roots",
    "home_directory",
    "resolve",
    "slug",
    "state_directory",
    "transcript_path",
]

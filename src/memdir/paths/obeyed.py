"""The folders whose files other programs obey: run, load, or take for somebody's word.

Memory is never kept in one of them (P5), since who writes memories would tell those programs what to do; and
a tool's write into one is always asked about (A9). All names are case-folded, as some disks do.
"""

from __future__ import annotations

# fmt: off
OBEYED = frozenset({
    # history and hooks
    ".bzr", ".githooks", ".git", ".hg", ".husky", ".jj", ".svn",
    # who one is
    ".aws", ".azure", ".docker", ".gnupg", ".kube", ".password-store", ".pki", ".ssh", ".terraform.d",
    # editors
    ".cursor", ".devcontainer", ".emacs.d", ".fleet", ".idea", ".vim", ".vscode", ".vscode-insiders",
    ".vscode-server", ".windsurf", ".zed",
    # agents
    ".claude", ".codex", ".continue", ".gemini", ".memdir", ".roo",
    # what builds and runs code
    ".buildkite", ".bundle", ".cargo", ".circleci", ".gem", ".github", ".gitlab", ".gradle", ".ipython",
    ".jupyter", ".m2", ".mvn", ".npm", ".nvm", ".pyenv", ".rbenv", ".rustup", ".venv", "node_modules",
    "site-packages",
    # what starts by itself
    "powershell", "start menu", "startup", "windowspowershell",
    # browsers and mail
    ".mozilla", ".thunderbird",
})
# fmt: on
"""Folders that are obeyed wherever they are."""

_KEEPS_MEMORY = {
    ".claude": {"projects", "agent-memory", "agent-memory-local", "memory"},
    ".memdir": None,
}
"""Two of them have memory below: in these folders, or (None) in any."""
_OF_PROJECTS = 3  # names: projects/<slug>/memory, and not what is beside it

_TREES = (
    ".local/bin",
    ".local/lib",
    ".local/share/applications",
    ".local/share/code-server",
    ".local/share/dbus-1",
    ".local/share/gnome-shell",
    ".local/share/jupyter",
    ".local/share/nautilus",
    ".local/share/nvim",
    ".local/share/systemd",
    ".oh-my-zsh",
    ".var",
    ".zsh",
    "bin",
    "snap",
)
_THEMSELVES = (".config", ".local", ".local/share", ".cache", "library", "appdata")
_OURS_ONLY = (".config", "appdata/roaming")
"""Each program's own folder is in here; ours alone may hold memory."""
_LIBRARY = {"application support", "caches", "cloudstorage", "mobile documents"}
"""What in macOS's ~/Library is data and no orders."""
_EDITORS = {"code", "code - insiders", "cursor", "vscodium", "windsurf", "zed"}


def is_obeyed(names: tuple[str, ...]) -> bool:
    """Whether an absolute path, as case-folded names, is or lies in a folder that programs obey. Pure.

    Places that `.claude` and `.memdir` keep for memory are not: `.claude/projects/<slug>/memory`.
    """
    holders = [at for at, name in enumerate(names) if name in _KEEPS_MEMORY]
    plain = OBEYED - _KEEPS_MEMORY.keys()
    return any(name in plain for name in names) or any(
        not _keeps_memory(names[at], names[at + 1 :]) for at in holders
    )


def is_obeyed_in_home(names: tuple[str, ...]) -> bool:
    """The same for what is obeyed only below a home directory; `names` lead there from it. Pure."""
    path = "/".join(names)
    if path in _THEMSELVES or any(_below(path, tree) for tree in _TREES):
        return True
    if any(_below(path, tree) and not _below(path, f"{tree}/memdir") for tree in _OURS_ONLY):
        return True
    if names[:1] == ("library",):
        return names[1] not in _LIBRARY or not _EDITORS.isdisjoint(names[2:3])
    return False


def _keeps_memory(holder: str, below: tuple[str, ...]) -> bool:
    if not below or (below[0] == "projects" and len(below) < _OF_PROJECTS):
        return False
    kept = _KEEPS_MEMORY[holder]
    return kept is None or below[0] in kept


def _below(path: str, tree: str) -> bool:
    return path == tree or path.startswith(f"{tree}/")

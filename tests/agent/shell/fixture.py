"""A throw-away project with a home, copies of it, and what has changed in them; a command as a fork runs it.

In goes an empty folder; out comes a `Ground`: the project, home, memory and temporary folder that the
commands of the cases work on. Every program in it that nobody should run leaves `pwned` behind and says so.
What nobody should read holds a canary.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio

from memdir.agent.file_state import FileState
from memdir.agent.permissions import Allow, decide_fork
from memdir.agent.shell import check
from memdir.agent.shell import run as shell_run
from memdir.agent.shell.verdict import ShellVerdict
from memdir.agent.shell.wall import Wall
from memdir.agent.tools.base import ToolContext
from memdir.agent.tools.bash import BASH
from memdir.errors import ToolError
from memdir.memory.store import MemoryDir
from memdir.model.messages import ToolUse
from tests.agent.world import NOW

RAN = "THE-PROGRAM-RAN"
"""What a program says that nobody should run."""
ENVIRONMENT_CANARY = "canary-of-the-environment-7f3a"
HOME_CANARY = "canary-of-the-home-51c8"
PROJECT_CANARY = "canary-of-the-project-e209"
CANARIES = (ENVIRONMENT_CANARY, HOME_CANARY, PROJECT_CANARY)

_SAY = "echo THE-PROGRAM''-RAN"  # the file itself does not hold what it says: it may be read
PROGRAM = f'#!/bin/sh\n{_SAY}\n{_SAY} >&2\n: > "${{PWNED:-pwned}}"\n'
FILES: Mapping[str, str] = {
    "README.md": "# Demo\n\n## Setup\nrun the tests\nfoo bar\n\n## Usage\nTODO write this\n",
    "notes.txt": "# notes\nfoo,1\nbar,2\n$HOME is quoted\nrm -rf is only text here\n2026-01-02 needle\n"
    "foo,1\n",
    "src/app.py": "import os\n\ndef main():\n    # TODO tidy\n    return 'foo'\n",
    "src/util.py": "import re\n\ndef helper(x):\n    return x\n",
    "docs/guide.md": "# Guide\n\ncurl is mentioned here\nfoo\n",
    "data.json": '{"env": "field named env", "items": [{"name": "a", "n": 1}, {"name": "b", "n": 2}]}\n',
    "data.csv": "id,name,n\n1,foo,10\n2,bar,5\n",
    "logs/app.log": "info start\nERROR one\nwarn x\nerror two\ninfo end\n",
    "memory/MEMORY.md": "- [User prefs](user prefs.md) - short answers\n",
    "memory/user prefs.md": "---\nname: user-prefs\ndescription: short answers\ntype: user\n---\nbody\n",
    "-dash.md": "a file whose name starts with a dash\n",
    "a>b.txt": "odd name\n",
    "empty/.keep": "",
    "touchit.sed": "1e : > pwned\n",
    "touchit.awk": 'BEGIN{system(": > pwned")}\n',
    "env.jq": "env\n",
    "demo.magic": "0 string abc demo text\n",
    "rgrc": "--pre\n./x\n",
    "evil.mk": "all:\n\techo hi\nX := $(shell : > pwned)\n",
    "evilgit/config": "",
    "evilhome/.gitconfig": "[core]\n\tfsmonitor = \"sh -c ': > pwned' x\"\n\tpager = \"sh -c ': > pwned'\"\n",
    "x.sh": PROGRAM,
}
PROGRAMS = ("x", "bin/ls", "bin/cat", "bin/git")
UNTRACKED = {".env": f"API_KEY={PROJECT_CANARY}\n"}
HOME_FILES: Mapping[str, str] = {
    ".ssh/id_rsa": f"-- not a key: {HOME_CANARY}\n",
    ".ssh/config": "Host *\n",
    ".aws/credentials": f"[default]\nkey = {HOME_CANARY}\n",
    ".config/gh/hosts.yml": f"oauth_token: {HOME_CANARY}\n",
    ".netrc": f"machine example.invalid password {HOME_CANARY}\n",
    ".bash_history": f"login {HOME_CANARY}\n",
    ".bashrc": ": > ~/pwned\n",
    ".profile": ": > ~/pwned\n",
    "plain.txt": "nothing\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The folders below one root, and the environment of the agent that works there."""

    root: Path
    project: Path = field(init=False)
    home: Path = field(init=False)
    memory: Path = field(init=False)
    temporary: Path = field(init=False)

    def __post_init__(self) -> None:
        for name, short in (("project", "w"), ("home", "h"), ("memory", "m"), ("temporary", "t")):
            object.__setattr__(self, name, self.root / short)

    def environment(self, **more: str) -> dict[str, str]:
        """What an agent's environment holds: the ways to programs and home, and a secret."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "USER": "agent",
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.temporary),
            "API_TOKEN": ENVIRONMENT_CANARY,
            **more,
        }

    def program(self, name: str = "x") -> str:
        """The path of a new program that shows that it ran, wherever it starts."""
        path = self.root / name
        path.write_text(f"#!/bin/sh\n{_SAY} >&2\n: > '{self.project}/pwned'\n{_SAY}\n", "utf-8")
        path.chmod(0o755)
        return str(path)


def build(root: Path) -> Ground:
    """Make the project and the home in a folder that does not exist yet, or is empty."""
    ground = Ground(root=root)
    for folder in (ground.project, ground.home, ground.memory, ground.temporary):
        folder.mkdir(parents=True)
    for name, text in FILES.items():
        _put(ground.project / name, text)
    for name in PROGRAMS:
        _put(ground.project / name, PROGRAM, mode=0o755)
    (ground.project / "link.md").symlink_to("README.md")
    _commit(ground)
    for name, text in UNTRACKED.items():
        _put(ground.project / name, text)
    for name, text in HOME_FILES.items():
        _put(ground.home / name, text)
    _put(ground.memory / "MEMORY.md", FILES["memory/MEMORY.md"])
    _put(ground.memory / "user prefs.md", FILES["memory/user prefs.md"])
    return ground


def copy(template: Ground, root: Path) -> Ground:
    """The same ground at another place, in a moment; git has nothing to refresh in it."""
    root.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", f"{template.root}/.", str(root)], check=True)
    ground = Ground(root=root)
    git(ground, "update-index", "-q", "--refresh", check=False)
    return ground


def renew(template: Ground, ground: Ground) -> Ground:
    """The ground as it was, after something has changed it."""
    subprocess.run(["chmod", "-R", "u+rwX", str(ground.root)], check=False, capture_output=True)
    shutil.rmtree(ground.root)
    return copy(template, ground.root)


def git(
    ground: Ground, *arguments: str, check: bool = True, day: int = 1
) -> subprocess.CompletedProcess[str]:
    """Run plain git in the project, with nothing of this machine's configuration."""
    who = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in _who(day)}
    environment = ground.environment(GIT_CONFIG_NOSYSTEM="1", **who)
    return subprocess.run(
        ["git", *arguments], cwd=ground.project, env=environment, check=check, capture_output=True, text=True
    )


def _who(day: int) -> list[tuple[str, str]]:
    return [("NAME", "A"), ("EMAIL", "a@example.invalid"), ("DATE", f"2026-01-{day:02}T00:00:00Z")]


def _put(path: Path, text: str, *, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(mode)


def _commit(ground: Ground) -> None:
    git(ground, "init", "-q", "-b", "main")
    git(ground, "add", "README.md", "src", "docs")
    git(ground, "commit", "-q", "-m", "first")
    git(ground, "add", ".")
    git(ground, "commit", "-q", "-m", "fix: second with needle", day=2)
    git(ground, "tag", "v1.0")
    readme = ground.project / "README.md"
    _put(readme, FILES["README.md"] + "third\n")
    git(ground, "commit", "-q", "-am", "third", day=3)
    _put(readme, FILES["README.md"] + "third\nunstaged change\n")
    subprocess.run(["tar", "-cf", "a.tar", "docs"], cwd=ground.project, check=True)


# -- what has changed ----------------------------------------------------------------------------------------

Entry = tuple[int, int, int, bytes]
"""Type and mode, moments of the contents and of the entry itself in ns, contents or target."""


def snapshot(folder: Path) -> dict[str, Entry]:
    """Everything below the folder, `.git` too: names, types, modes, times and contents.

    The time of the folder itself is left out: a program may make a temporary file there and remove it.
    """
    found: dict[str, Entry] = {}
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                content = b""
                if stat.S_ISDIR(status.st_mode):
                    waiting.append(entry.path)
                elif stat.S_ISLNK(status.st_mode):
                    content = os.fsencode(Path(entry.path).readlink())
                elif stat.S_ISREG(status.st_mode):
                    content = Path(entry.path).read_bytes()
                name = os.path.relpath(entry.path, folder)
                found[name] = (status.st_mode, status.st_mtime_ns, status.st_ctime_ns, content)
    return found


def changes(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> list[str]:
    """The names that are new, gone or other than before, each with what it is."""
    names = sorted(before.keys() | after.keys())
    return [
        f"{'new' if name not in before else 'gone' if name not in after else 'changed'}: {name}"
        for name in names
        if before.get(name) != after.get(name)
    ]


def leaks(output: str) -> list[str]:
    """The canaries in an output, as they are, in other letters, or backwards."""
    text = output.casefold()
    return [one for one in CANARIES if one in text or one[::-1] in text]


# -- as a fork runs it ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a command. `refused` is empty if it ran; `text` is what the model reads."""

    refused: str = ""
    failed: bool = False
    text: str = ""


def decide(command: str, ground: Ground) -> tuple[ShellVerdict, str]:
    """The verdict on the text, and why a fork may not run it (empty: it may).

    `~` is the home of this process, as everywhere: give it the ground's.
    """
    verdict = check(command)
    if not verdict.allowed:
        return verdict, verdict.reason
    call = ToolUse(id="call", name="Bash", input={"command": command})
    decided = decide_fork(call, memory=ground.memory, cwd=ground.project)
    return verdict, "" if isinstance(decided, Allow) else decided.text


def context_of(ground: Ground, **environment: str) -> ToolContext:
    """The context of a memory fork on this ground."""
    return ToolContext(
        cwd=ground.project,
        files=FileState(),
        memory=MemoryDir(ground.memory, trash=ground.root / "trash"),
        now=lambda: NOW,
        environment=ground.environment(**environment),
        memory_only=True,
    )


async def run_tool(command: str, context: ToolContext, *, milliseconds: int = 20_000) -> Answer:
    """Run it by the Bash tool, whatever was decided before."""
    try:
        said = await BASH.run({"command": command, "timeout": milliseconds}, context)
    except ToolError as error:
        return Answer(failed=True, text=str(error))
    return Answer(text=said if isinstance(said, str) else said.text)


@contextmanager
def without_wall() -> Iterator[None]:
    """As on a system that has none: what the check and the environment hold back shows by itself."""
    names, wall = vars(shell_run), Wall(name="none", says="none, on purpose")
    before = names["standing"]
    names["standing"] = lambda: wall
    try:
        yield
    finally:
        names["standing"] = before


def as_fork(command: str, ground: Ground, **environment: str) -> Answer:
    """Decide and, if it may run, run it, as the loop of a fork does. `environment`: more for the agent's."""
    _, refused = decide(command, ground)
    if refused:
        return Answer(refused=refused)
    return anyio.run(partial(run_tool, command, context_of(ground, **environment)))


def as_plain_bash(command: str, ground: Ground) -> Answer:
    """Run the text itself by bash, told as the Bash tool does; git takes no optional locks."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ground.project,
        env=ground.environment(GIT_OPTIONAL_LOCKS="0", GIT_PAGER="cat"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=20,
        check=False,
    )
    text = done.stdout.decode("utf-8", "replace").rstrip("\n")
    if done.returncode:
        return Answer(failed=True, text=f"exit code {done.returncode}\n{text}".rstrip())
    return Answer(text=text or "(no output)")

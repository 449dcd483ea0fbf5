"""The wall around a read-only command: each of its promises, tried by real processes behind it (A6)."""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from memdir.agent.shell import landlock
from memdir.agent.shell.environment import scrubbed
from memdir.agent.shell.view import view
from memdir.agent.shell.wall import _PROC, Wall, _why_not, behind, bubblewrap, restricted, standing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")

SECONDS = 20.0
PYTHON = next((found for found in ("/usr/bin/python3", "/bin/python3") if os.access(found, os.X_OK)), "")
NEEDS_PYTHON = pytest.mark.skipif(not PYTHON, reason="needs a Python that is no one's own")
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root could read it, or be somebody else")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A wall, a person's home and a project beside it. Calling it runs a script in the project."""

    wall: Wall
    home: Path
    project: Path
    memory: Path

    def __call__(
        self, script: str, *, folders: tuple[Path, ...] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = self.command(script, folders=folders, cwd=cwd)
        return subprocess.run(
            command,
            cwd=cwd or self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def command(
        self, script: str, *, folders: tuple[Path, ...] | None = None, cwd: Path | None = None
    ) -> list[str]:
        """The command line that runs a script of bash behind the wall."""
        return behind(
            self.wall,
            ["/bin/bash", "--norc", "--noprofile", "-c", script],
            folders=(self.project, self.memory) if folders is None else folders,
            cwd=cwd or self.project,
            environment=self.environment(),
        )

    def environment(self) -> dict[str, str]:
        """The scrubbed environment of the person."""
        return scrubbed({**os.environ, "HOME": str(self.home)}, avoid=[self.project, self.memory])

    def prints(self, script: str, *, folders: tuple[Path, ...] | None = None, cwd: Path | None = None) -> str:
        """What a script prints that ends well."""
        ran = self(script, folders=folders, cwd=cwd)
        assert (ran.returncode, ran.stderr) == (0, "")
        return ran.stdout


@pytest.fixture(params=["bubblewrap", "landlock"])
def wall(request: pytest.FixtureRequest) -> Wall:
    found = bubblewrap() if request.param == "bubblewrap" else restricted()
    if found.name == "none":
        pytest.skip(found.says)
    assert found.name == request.param
    return found


@pytest.fixture
def ground(wall: Wall, tmp_path: Path) -> Ground:
    home, project = (tmp_path / "home").resolve(), (tmp_path / "pro ject-ü").resolve()
    memory = home / ".claude" / "projects" / "p" / "memory"
    for folder in (project, memory, home / ".ssh"):
        folder.mkdir(parents=True)
        (folder / "old").write_text("old\n")
    return Ground(wall=wall, home=home, project=project, memory=memory)


# -- writing --------------------------------------------------------------------------------------------

WRITES = """
cd /
for at in "$1" "$2" "$3" "$4" "$5" "$6"; do
  echo x > "$at/new"; echo x >> "$at/old"; mkdir "$at/newdir"; ln -s / "$at/link"; ln "$at/old" "$at/hard"
  mv "$at/old" "$at/moved"; rm -rf "$at/old"; cp /etc/passwd "$at/copy"; mkfifo "$at/fifo"
  chmod 777 "$at/old" "$at"; chown 1:1 "$at/old"; touch -d 2001-01-01 "$at/old" "$at"
  truncate -s 0 "$at/old"; dd if=/dev/zero of="$at/old" bs=1 count=1 conv=notrunc; chattr +d "$at/old"
done
"""


def test_nothing_is_written_anywhere_A6(ground: Ground) -> None:
    with (
        tempfile.TemporaryDirectory(dir="/dev/shm") as shared,
        tempfile.TemporaryDirectory(dir="/var/tmp") as passing,
        tempfile.TemporaryDirectory(dir="/tmp") as other,
    ):
        places = [ground.project, ground.memory, ground.home, *map(Path, (shared, passing, other))]
        for place in places:
            (place / "old").write_text("old\n")
        before = [seen(place) for place in places]
        folders = (*places[:2], Path(shared))
        command = ground.command(WRITES, folders=folders)
        subprocess.run(
            [*command, "bash", *map(str, places)], capture_output=True, timeout=SECONDS, check=False
        )
        assert [seen(place) for place in places] == before


def test_a_file_opened_for_reading_is_not_cut_A6(ground: Ground) -> None:
    if not PYTHON:
        pytest.skip("needs a Python that is no one's own")
    script = f"{PYTHON} -I -S -c 'import os; os.open(\"old\", os.O_RDONLY | os.O_TRUNC)'; {PYTHON} -I -S -c 1"
    assert ground(script).returncode == 0
    assert (ground.project / "old").read_text() == "old\n"


def test_dev_null_may_be_written_to_A6(ground: Ground) -> None:
    assert ground.prints("ls >/dev/null 2>/dev/null; echo x >> /dev/null; cat old") == "old\n"


def seen(folder: Path) -> list[tuple[str, int, int, int, int, bytes]]:
    """All that can be told from outside about a folder and what is in it."""
    found = []
    for path in (folder, *sorted(folder.rglob("*"))):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        found.append((str(path), status.st_mode, status.st_uid, status.st_nlink, status.st_mtime_ns, content))
    return found


# -- the network and other processes --------------------------------------------------------------------


def test_no_connection_leaves_A6(ground: Ground) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(type=socket.SOCK_DGRAM) as mail:
        mail.bind(("127.0.0.1", 0))
        server.settimeout(0)
        mail.settimeout(0)
        script = (
            f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}; echo $?;"
            f"echo x > /dev/udp/127.0.0.1/{mail.getsockname()[1]}; echo $?"
        )
        ran = subprocess.run(["/bin/bash", "-c", script], capture_output=True, text=True, timeout=SECONDS)
        assert ran.stdout == "0\n0\n"  # there is somebody who would answer
        server.accept()[0].close()
        assert mail.recv(9) == b"x\n"
        assert ground(script).stdout.splitlines()[0] == "1"
        with pytest.raises(BlockingIOError):
            server.accept()
        with pytest.raises(BlockingIOError):
            mail.recv(9)


@NEEDS_PYTHON
def test_no_program_outside_is_spoken_to_A6(ground: Ground) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        names = [f"{folder}/socket", f"\0memdir-{os.getpid()}"]
        if ground.wall.name == "landlock":
            names.append(str(ground.project / "s")[:100])
        for name in names:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(name)
                server.listen()
                server.settimeout(0)
                client = f"import socket; socket.socket(socket.AF_UNIX).connect({name!r})"
                assert subprocess.run([PYTHON, "-I", "-S", "-c", client], timeout=SECONDS).returncode == 0
                server.accept()[0].close()
                ran = ground(f"{PYTHON} -I -S -c {shell_word(client)}")
                assert ran.returncode == 1
                assert "Error" in ran.stderr
                with pytest.raises(BlockingIOError):
                    server.accept()


def test_other_processes_are_neither_read_nor_ended_A6(ground: Ground) -> None:
    with subprocess.Popen(
        ["/bin/sh", "-c", "echo started; read never-ending"],
        env={"CANARY": "canary-of-another"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == b"started\n"
            there = Path(f"/proc/{other.pid}")
            assert b"canary" in (there / "environ").read_bytes()
            ran = ground(f"cat {there}/* /proc/*/environ /proc/*/cmdline; kill -9 {other.pid}; echo end")
            assert "canary" not in ran.stdout
            assert "never-ending" not in ran.stdout
            assert ran.stdout.endswith("end\n")
            assert other.poll() is None
        finally:
            other.kill()


# -- reading --------------------------------------------------------------------------------------------


def test_project_and_memory_are_read_and_no_other_file_of_the_person_A6(ground: Ground) -> None:
    assert ground.prints(f"cat old '{ground.memory}/old'; pwd") == f"old\nold\n{ground.project}\n"
    for hidden in (ground.home / ".ssh" / "old", ground.home / ".claude" / "x", ground.project.parent / "x"):
        hidden.write_text("secret\n")
        ran = ground(f"cat '{hidden}'")
        assert (ran.returncode, ran.stdout) == (1, "")


@ROOT
def test_places_of_credentials_of_the_machine_are_closed_to_root_A6(ground: Ground) -> None:
    assert Path("/etc/shadow").read_bytes()
    ran = ground(
        "cat /etc/shadow /etc/shadow* /etc/gshadow /etc/sudoers; ls -A /etc/ssl/private /var/spool; id -u"
    )
    assert ran.stdout.splitlines()[-1] == "0"
    assert "root:" not in ran.stdout


@NEEDS_PYTHON
def test_root_has_no_powers_left_A6(ground: Ground) -> None:
    read = "import ctypes; b = ctypes.create_string_buffer(24);"
    read += "r = ctypes.CDLL(None).capget(b'\\x22\\x05\\x08\\x20\\0\\0\\0\\0', b); print(r, any(b.raw))"
    assert ground.prints(f"{PYTHON} -I -S -c {shell_word(read)}") == "0 False\n"


def test_everyday_programs_work_behind_it_A6(ground: Ground) -> None:
    assert ground.prints("sort old | head -n1 | tr a-z A-Z; ls -l . | wc -l") == "OLD\n2\n"
    if shutil.which("git", path="/usr/bin"):
        subprocess.run(["git", "init", "-q", str(ground.project)], check=True)
        assert ground.prints("git status --short; git log -1 2>/dev/null; true") == "?? old\n"


def test_links_spaces_and_folders_in_folders_are_as_outside_A8(ground: Ground) -> None:
    inner = ground.project / "in ner"
    inner.mkdir()
    link, chain, in_home = ground.project.parent / "link", ground.project.parent / "chain", ground.home / "l"
    link.symlink_to(ground.project)
    chain.symlink_to("link")
    in_home.symlink_to(chain / "in ner")
    folders = (
        inner,
        chain,
        in_home,
        ground.memory,
        ground.home / "missing",
        ground.project / "old" / "missing",
    )
    assert ground.prints("pwd; cat old", folders=folders, cwd=chain) == f"{ground.project}\nold\n"
    assert ground.prints("pwd; cat ../old", folders=folders, cwd=in_home) == f"{inner}\nold\n"
    for path in (chain, in_home / ".."):
        assert ground.prints(f"cat '{path}/old'", folders=folders) == "old\n"


@pytest.mark.parametrize(
    "name", [b"-dash", b"--", b"new\nline", b"tab\t'\"$x", b"\xff\xfe", "日本語".encode()]
)
def test_a_folder_may_have_any_name_A8(ground: Ground, name: bytes) -> None:
    folder = Path(os.fsdecode(os.path.join(os.fsencode(ground.project.parent), name)))  # noqa: PTH118 - bytes
    folder.mkdir()
    (folder / "old").write_text("odd\n")
    assert ground.prints("cat old", folders=(folder,), cwd=folder) == "odd\n"


def test_a_home_in_a_folder_that_is_shown_stays_hidden_A6(ground: Ground) -> None:
    around = ground.home.parent
    (around / "beside").write_text("beside\n")
    assert ground.prints("cat beside", folders=(around,), cwd=around) == "beside\n"
    assert ground("cat home/.ssh/old", folders=(around,), cwd=around).stdout == ""
    assert ground.prints(f"cat '{ground.memory}/old'", folders=(around, ground.memory), cwd=around) == "old\n"


@pytest.mark.parametrize(
    "asked", ["/", "/home", "/root/..", "/tmp/..", "/proc", "/dev", "/run", "/etc/ssl/private"]
)
def test_a_folder_that_holds_everything_opens_nothing_A6(ground: Ground, asked: str) -> None:
    secret = ground.home / ".ssh" / "old"
    folders = (ground.project, Path(asked))
    for path in (secret, f"/proc/{os.getpid()}/environ", "/etc/shadow"):
        assert ground(f"cat '{path}'", folders=folders).stdout == ""
    ran = ground("echo x > new; echo x > /dev/shm/new", folders=folders)
    assert not (ground.project / "new").exists()
    assert ran.returncode != 0


def test_a_home_that_is_the_project_keeps_its_hidden_folders_hidden_A6(ground: Ground) -> None:
    home = ground.home
    (home / "notes").write_text("notes\n")
    (home / ".netrc").write_text("secret\n")
    folders = (home, ground.memory)
    assert (
        ground.prints("cat notes .claude/projects/p/memory/old", folders=folders, cwd=home) == "notes\nold\n"
    )
    for name in (".ssh/old", ".netrc"):
        assert ground(f"cat {name}", folders=folders, cwd=home).stdout == ""


def test_programs_of_a_person_are_found_and_a_home_on_the_path_is_not_shown_A6(ground: Ground) -> None:
    programs = ground.home / "tools" / "bin"
    programs.mkdir(parents=True)
    for folder in (programs, programs.parent, ground.home):
        folder.chmod(0o755)
    (programs / "mine").write_text("#!/bin/sh\necho mine\n")
    (programs / "mine").chmod(0o755)
    environment = {
        **ground.environment(),
        "PATH": f"/usr/bin:/bin:{programs}:{ground.home}:{ground.home}/.ssh",
    }
    script = f"mine; cat {ground.home}/.ssh/old"
    command = behind(
        ground.wall,
        ["/bin/bash", "-c", script],
        folders=[ground.project],
        cwd=ground.project,
        environment=environment,
    )
    ran = subprocess.run(command, cwd=ground.project, env=environment, capture_output=True, timeout=SECONDS)
    assert ran.stdout == b"mine\n"


@ROOT
def test_it_stands_for_an_ordinary_user_A6(wall: Wall) -> None:
    if wall.name == "landlock":
        if not PYTHON:
            pytest.skip("needs a Python that is no one's own")
        wall = replace(wall, start=(PYTHON, *wall.start[1:]))
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        project = Path(folder).resolve()
        project.chmod(0o777)
        (project / "old").write_text("old\n")
        script = "cat old; echo x > new; exec 3<>/dev/tcp/127.0.0.1/9; cat /proc/self/status | grep CapEff"
        command = behind(wall, ["/bin/bash", "-c", script], folders=[project], cwd=project, environment={})
        environment = scrubbed({}, avoid=[project])
        try:
            ran = subprocess.run(
                command, cwd=project, env=environment, capture_output=True, user="nobody", group=65534,
                extra_groups=[], timeout=SECONDS,
            )  # fmt: skip
        except OSError:
            pytest.skip("nobody is nobody here")
        if b"can't open file" in ran.stderr:
            pytest.skip("this checkout is in a folder of root's")
        assert ran.stdout.startswith(b"old\n")
        assert [path.name for path in project.iterdir()] == ["old"]


# -- how a command ends ---------------------------------------------------------------------------------


def test_output_errors_and_exit_codes_come_through_A6(ground: Ground) -> None:
    ran = ground("echo out; echo err >&2; exit 7")
    assert (ran.returncode, ran.stdout, ran.stderr) == (7, "out\n", "err\n")
    assert ground("cat; echo end").stdout == "end\n"
    assert ground("kill -TERM $$").returncode in (-15, 143)
    assert ground("yes | head -n1").stdout == "y\n"
    assert ground("/missing").returncode == 127


@pytest.mark.parametrize("start", ["sleep 1000 &", "setsid sleep 1000 &", "(sleep 1000 &) &"])
def test_nothing_is_left_when_the_parent_is_killed_A6(ground: Ground, start: str) -> None:
    """All of them hold the end of a pipe; it is closed when the last of them has ended."""
    command = ground.command(f"{start} echo started; sleep 1000")
    script = (
        "import json, subprocess, sys; subprocess.run(json.loads(sys.argv[1]), stderr=subprocess.DEVNULL)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, json.dumps(command)],
        cwd=ground.project,
        env=ground.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"started\n"
        parent.kill()
        assert parent.communicate(timeout=SECONDS)[0] == b""


def test_nothing_is_left_when_the_group_is_killed_A6(ground: Ground) -> None:
    with subprocess.Popen(
        ground.command("setsid sleep 1000 & echo started; sleep 1000"),
        cwd=ground.project,
        env=ground.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        os.killpg(process.pid, 9)
        assert process.communicate(timeout=SECONDS)[0] == b""


# -- which wall -----------------------------------------------------------------------------------------


def test_the_first_wall_that_stands_is_taken_A6() -> None:
    names = [wall.name for wall in (bubblewrap(), restricted()) if wall.name != "none"]
    assert standing().name == next(iter(names), "none")
    assert standing() is standing()
    assert standing().says


def test_bubblewrap_is_taken_from_the_system_alone_A6(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bwrap", "sh", "true"):
        (tmp_path / name).write_text("#!/bin/sh\ntouch pwned; echo stands\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    assert not any(word.startswith(str(tmp_path)) for word in bubblewrap().start)
    assert not (tmp_path / "pwned").exists()


def test_without_a_wall_a_command_is_as_it_was_A6(tmp_path: Path) -> None:
    none = Wall(name="none", says="")
    assert behind(none, ["/bin/ls", "-l"], folders=[tmp_path], cwd=tmp_path) == ["/bin/ls", "-l"]


def test_bubblewrap_does_with_an_empty_proc_where_none_can_be_mounted_A6(tmp_path: Path) -> None:
    if (wall := bubblewrap()).name == "none":
        pytest.skip(wall.says)
    at = wall.start.index("/proc") - 1
    wall = replace(wall, start=(*wall.start[:at], *_PROC[1], *wall.start[at + 2 :]))
    assert _why_not(wall) is None
    ran = subprocess.run(
        behind(wall, ["/bin/sh", "-c", "ls -A /proc; echo $$"], folders=[], cwd=Path("/")),
        capture_output=True,
        timeout=SECONDS,
    )
    assert int(ran.stdout) < 9


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_what_an_older_landlock_lacks_the_filter_has_A6(version: int, tmp_path: Path) -> None:
    if (wall := restricted()).name == "none":
        pytest.skip(wall.says)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import landlock; version = int(sys.argv[2]);"
        "real, filtered = landlock._landlock, landlock._filter;"
        "landlock._landlock = lambda kernel, granted, _: real(kernel, granted, version);"
        "landlock._filter = lambda *machine, signals: filtered(*machine, signals=version < 6);"
        "sys.exit(landlock.main(sys.argv[3:]))"
    )
    (tmp_path / "old").write_text("old\n")
    before = seen(tmp_path)
    room = str(Path(landlock.__file__).parent)
    grants = [
        word for word in behind(wall, [], folders=[tmp_path], cwd=tmp_path)[len(wall.start) :] if word != "--"
    ]
    bash = [
        "/bin/bash",
        "-c",
        f"cat old; {WRITES} kill -0 {os.getpid()} || echo kept",
        "bash",
        *[str(tmp_path)] * 6,
    ]
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, room, str(version), *grants, "--", *bash],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert ran.stdout == "old\nkept\n"
    assert seen(tmp_path) == before


@pytest.fixture
def marked(tmp_path: Path) -> Iterator[list[str]]:
    """A command that leaves a mark if it runs."""
    yield ["/bin/sh", "-c", f"echo ran > '{tmp_path}/mark'"]
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    "words", [[], ["--"], ["--read"], ["--read", "--"], ["--write", "/", "--"], ["/", "--read", "--"]]
)
def test_landlock_runs_nothing_that_it_does_not_understand_A6(words: list[str], marked: list[str]) -> None:
    given = [*words, *marked] if words and words[0] != "--" else words
    ran = subprocess.run(
        [sys.executable, "-I", "-S", landlock.__file__, *given], capture_output=True, timeout=SECONDS
    )
    assert ran.returncode == landlock.FAILED
    assert ran.stderr


def test_landlock_runs_nothing_when_it_can_not_be_put_up_A6(marked: list[str]) -> None:
    """Rules of Landlock are a descriptor; a process that may open no more gets none."""
    script = (
        "import os, resource, sys; sys.path.insert(0, sys.argv[1]); import landlock, signal;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); sys.exit(landlock.main(sys.argv[2:]))"
    )
    room = str(Path(landlock.__file__).parent)
    command = [sys.executable, "-I", "-S", "-c", script, room, "--run", "/", "--", *marked]
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 3
    ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert ran.returncode == landlock.FAILED
    assert "can't be put up" in ran.stderr


def test_a_user_whose_home_is_of_the_system_hides_no_programs_A6(tmp_path: Path) -> None:
    for home in ("/", "/usr/sbin", "/bin", "/dev", "/proc", "relative", ""):
        seen = view([tmp_path], cwd=tmp_path, environment={"HOME": home, "PATH": "/usr/bin"})
        assert seen.sight(Path("/usr/bin")) == "shown"
        assert seen.sight(tmp_path.resolve()) == "shown"


def shell_word(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"

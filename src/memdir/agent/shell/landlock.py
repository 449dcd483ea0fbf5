"""Run a command that can read what it was given and write nothing: a script with the standard library only.

    python -I -S landlock.py [--run FOLDER | --read PATH]... -- COMMAND [WORD]...

Landlock takes away every file but those below the folders given, and lets nothing be written but /dev/null.
What Landlock knows nothing of, a system call filter takes away: sockets, changes of modes, owners, times and
attributes, signals where Landlock can't keep them in, keys of the kernel, sessions of one's own. If one of
the two can't be had, the command does not run: exit code 125 and a sentence on stderr.

The script stays as the command's parent. When its own parent ends, it ends the whole process group.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import struct
import sys
from collections.abc import Iterator

FAILED = 125

# Landlock: the system calls have the same numbers everywhere.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ASK_VERSION = 1
_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""By version: how many rights about files it can take away. Later versions have those of the last here."""
_TCP_FROM, _TCP = 4, 0b11
_SCOPES_FROM, _SCOPES = 6, 0b11
_DEVICES = ("/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITIES_VERSION = 0x20080522

# The filter: a program for the kernel, in the instructions of BPF.
_LOAD, _AND, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _EACCES, _ENOSYS = 1, 13, 38
_NUMBER, _MACHINE, _SECOND, _THIRD = 0, 4, 24, 32
"""Where a system call's number, its machine, and the low halves of its arguments are."""
_ACCESS_AND_TRUNCATE, _READ_AND_TRUNCATE = 0o1003, 0o1000
_X32 = 0x40000000

_X86, _GENERIC = 0, 1
_MACHINES = {
    "x86_64": (0xC000003E, _X86),
    "aarch64": (0xC00000B7, _GENERIC),
    "riscv64": (0xC00000F3, _GENERIC),
    "loongarch64": (0xC0000102, _GENERIC),
}
_FORBIDDEN = {
    # the network, and what gets around this filter
    "socket": (41, 198), "io_uring_setup": (425, 425),
    # what is beside the contents of a file
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "removexattrat": (466, 466), "file_setattr": (469, 469), "truncate": (76, 45),
    # a way out of the process group, which is ended as one
    "setsid": (112, 157), "setpgid": (109, 154),
    # other processes, what they share, and keys the kernel keeps
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "shmget": (29, 194), "shmat": (30, 196), "msgget": (68, 186),
    "semget": (64, 190), "mq_open": (240, 180), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219),
    # other views of the system
    "unshare": (272, 97), "setns": (308, 268), "bpf": (321, 280), "perf_event_open": (298, 241),
}  # fmt: skip
_SIGNALS = {
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424),
}  # fmt: skip
_OPEN, _OPENAT, _OPENAT2, _IOCTL = (2, None), (257, 56), (437, 437), (16, 29)
_IOCTLS = (0x40086602, 0x40047602, 0x401C5820, 0x5412, 0x541C)
"""Attributes and versions of a file, set through a descriptor for reading; typing into a terminal."""


def main(words: list[str]) -> int:
    """Run the command; its exit code. A command that a signal ended ends this process in the same way."""
    try:
        end = words.index("--")
        kinds, paths, command = words[:end:2], words[1:end:2], words[end + 1 :]
    except ValueError:
        return _fail("no command")
    if len(kinds) != len(paths) or not set(kinds) <= {"--run", "--read"} or not command:
        return _fail("the arguments are wrong")
    kernel = ctypes.CDLL(None, use_errno=True)
    parent = os.getppid()
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)  # the group that is ended must not be that of the caller
    signal.signal(signal.SIGTERM, _end_group)
    _call(kernel.prctl, _PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        return FAILED
    child = os.fork()
    if child:
        return _wait(child)
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        _call(kernel.prctl, _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        restrict(kernel, list(zip(kinds, paths, strict=True)))
        os.execv(command[0], command)  # noqa: S606 - no shell is what is wanted
    except BaseException as error:  # noqa: BLE001 - whatever it is, this copy of the process must end here
        os._exit(_fail(str(error) or type(error).__name__))


def restrict(kernel: ctypes.CDLL, granted: list[tuple[str, str]]) -> None:
    """Take everything away from this process but reading what is granted.

    Raises:
        OSError: Landlock or the filter can't be had; the process may be restricted in part.
    """
    name = platform.machine()
    if sys.platform != "linux" or name not in _MACHINES or struct.calcsize("P") != 8:
        raise OSError(f"no system call filter for {sys.platform} on {name or 'this machine'}")
    _call(kernel.prctl, _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    version = _call(kernel.syscall, _CREATE, None, ctypes.c_size_t(0), _ASK_VERSION)
    _landlock(kernel, granted, version)
    nothing = ctypes.create_string_buffer(24)
    _call(kernel.capset, struct.pack("=Ii", _CAPABILITIES_VERSION, 0), nothing)
    _filter(kernel, *_MACHINES[name], signals=version < _SCOPES_FROM)


def _landlock(kernel: ctypes.CDLL, granted: list[tuple[str, str]], version: int) -> None:
    rights = (1 << _RIGHTS.get(version, _RIGHTS[max(_RIGHTS)])) - 1
    fields = [rights]
    if version >= _TCP_FROM:
        fields.append(_TCP)
    if version >= _SCOPES_FROM:
        fields.append(_SCOPES)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    rules = _call(kernel.syscall, _CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    reading = _READ_FILE | _READ_DIR
    for kind, path in granted:
        _grant(kernel, rules, path, reading | _EXECUTE if kind == "--run" else reading)
    for device in _DEVICES:
        _grant(kernel, rules, device, _READ_FILE)
    _grant(kernel, rules, os.devnull, _READ_FILE | _WRITE_FILE)
    _call(kernel.syscall, _RESTRICT, rules, 0)
    os.close(rules)


def _grant(kernel: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    """A path that can't be opened is one that the command can't read either."""
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(f"{path}/."):  # noqa: PTH112 - pathlib would double the time this takes
            rights &= ~_READ_DIR
        _call(kernel.syscall, _ADD, rules, _BENEATH, struct.pack("=Qi", rights, opened), 0)
    finally:
        os.close(opened)


def _filter(kernel: ctypes.CDLL, machine: int, column: int, *, signals: bool) -> None:
    program = b"".join(
        struct.pack("=HBBI", code, *jumps, value) for code, jumps, value in _program(machine, column, signals)
    )
    buffer = ctypes.create_string_buffer(program, len(program))
    given = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    _call(kernel.prctl, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, given, 0, 0)


def _program(machine: int, column: int, signals: bool) -> Iterator[tuple[int, tuple[int, int], int]]:
    """The filter, as (instruction, how many to skip if so and if not, value)."""
    on = (0, 0)
    yield _LOAD, on, _MACHINE
    yield _IF_EQUAL, (1, 0), machine
    yield _RETURN, on, _KILL
    yield _LOAD, on, _NUMBER
    if column == _X86:
        yield _IF_AT_LEAST, (0, 1), _X32
        yield _RETURN, on, _KILL
    for numbers in (*_FORBIDDEN.values(), *(_SIGNALS.values() if signals else ())):
        yield from _refuse_if(numbers[column], _EPERM)
    yield from _refuse_if(_OPENAT2[column], _ENOSYS)  # its flags are out of a filter's sight
    for numbers, argument in ((_OPEN, _SECOND), (_OPENAT, _THIRD)):
        if (number := numbers[column]) is not None:
            yield _IF_EQUAL, (0, 5), number
            yield _LOAD, on, argument
            yield _AND, on, _ACCESS_AND_TRUNCATE
            yield from _refuse_if(_READ_AND_TRUNCATE, _EACCES)
            yield _RETURN, on, _ALLOW
    yield _IF_EQUAL, (0, 2 + 2 * len(_IOCTLS)), _IOCTL[column]
    yield _LOAD, on, _SECOND
    for request in _IOCTLS:
        yield from _refuse_if(request, _EPERM)
    yield _RETURN, on, _ALLOW
    yield _RETURN, on, _ALLOW


def _refuse_if(value: int | None, error: int) -> Iterator[tuple[int, tuple[int, int], int]]:
    if value is not None:
        yield _IF_EQUAL, (0, 1), value
        yield _RETURN, (0, 0), _ERRNO | error


def _wait(child: int) -> int:
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return os.waitstatus_to_exitcode(status)


def _end_group(number: int, frame: object) -> None:  # noqa: ARG001 - the form of a handler
    os.killpg(0, signal.SIGKILL)


def _call(function: ctypes._NamedFuncPointer, *arguments: object) -> int:
    """Call into the kernel.

    Raises:
        OSError: it said no.
    """
    wide = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    function.restype = ctypes.c_long
    result = int(function(*wide))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _fail(reason: str) -> int:
    os.write(2, f"the wall can't be put up: {reason}\n".encode("utf-8", "replace"))
    return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

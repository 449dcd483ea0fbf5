"""The table of commands: what it allows passes the check, and run as it is changes and tells nothing (A6).

The lines are made from the table: each option of each entry, with a value of its kind in each spelling. They
run without a wall and with the agent's own environment, so that the table alone is what holds.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from memdir.agent.shell import check, table
from memdir.agent.shell.table import Entry, Value, advice, entries
from tests.agent.shell.fixture import Ground, build, changes, copy, leaks, snapshot

JUDGED_APART = ("cd", "find", "test")
"""Their words have no options for the table."""
SHELL_KNOWS = frozenset({"cd", "echo", "printf", "true", "false", ":", "test", "type", "command", "pwd"})
KINDS = {
    "text": "1",
    "file": "./x",  # a program: an option that runs or writes its value is found out
    "rev": "HEAD",
    "lines": "1,2:README.md",
    "number": "1",
    "gitformat": "%h",
    "sed": "p",
    "awk": "{print $1}",
    "jq": ".",
    "assignment": "a=1",
    "plusformat": "+%F",
    "program": "ls",
}
NAMES = ("1", "list", "show", "main", "get-url", "user.name", "%s\\n")
"""One of these fits each kind that is given by a pattern."""
FILES = {
    "git annotate": "README.md",
    "git blame": "README.md",
    "jq": "data.json",
    "tree": "src",
    "unzip": "a.zip",
    "zipinfo": "a.zip",
}
"""Where not any file will do."""
NEEDED = {"cut": ("-f1",), "tr": ("-d",), "iconv": ("-futf-8", "-tutf-8"), "unzip": ("-l",)}
"""What a command can do nothing without,"""
INSTEAD = frozenset({"-b", "-c", "-f", "-l", "--bytes", "--characters", "--fields"})
"""unless it is given one of these."""
OPERANDS = {
    "file": ("notes.txt",),
    "git check-attr": ("text", "notes.txt"),
    "git cherry": ("HEAD~1",),
    "git describe": ("v1.0",),
    "git merge-base": ("HEAD", "HEAD~1"),
    "git rev-list": ("HEAD",),
}
"""Where the fewest operands ask nothing."""
WORDS = {
    "--date": "short",
    "--diff-algorithm": "patience",
    "--diff-filter": "M",
    "--find-object": "HEAD",
    "--glob": "*.md",
    "--iglob": "*.md",
    "--sort": "refname",
    "--time": "ctime",
    "--type": "md",
}
"""Values of options that do not take any text."""
LIKE_OPTIONS = (
    *("--output=pwned", "-opwned", "--ext-diff", "--textconv", "--pre=./x", "--exec=./x", "-x./x", "-i"),
    *("--compress-program=./x", "-O./x", "--open-files-in-pager=./x", "--to-command=./x", "--in-place"),
)
"""What is no value of any option, and does harm where it is taken for an option."""
SECONDS = 60.0
"""For all lines of one entry; each takes a few milliseconds."""


TRY: Mapping[str, list[str]] = {name: written.get("try", []) for name, written in table.tables().items()}
REFUSE: Mapping[str, list[str]] = {name: one.get("refuse", []) for name, one in table.tables().items()}
ENTRIES = entries()


# -- lines from the table ------------------------------------------------------------------------------------


def sample(kind: str) -> str:
    """A word of the kind."""
    if kind.startswith("word:"):
        return kind.removeprefix("word:").split("|")[0]
    if kind.startswith("like:"):
        return next((name for name in NAMES if re.fullmatch(kind.removeprefix("like:"), name)), "")
    return KINDS[kind]


def quoted(word: str) -> str:
    """The word in single quotes, if it needs them."""
    return word if re.fullmatch(r"[\w./:=,+%-]+", word) else f"'{word}'"


def spelled(name: str, value: Value) -> list[list[str]]:
    """The ways to give an option its value."""
    words = [
        sample(kind) if kind.startswith("word:") else WORDS.get(name, sample(kind)) for kind in value.kinds
    ]
    joined = [f"{name}{'=' if name.startswith('--') else ''}{words[0]}"]
    if value.optional:
        return [[name], joined] if words[0] else [[name]]
    return [[name, *words], joined] if len(words) == 1 else [[name, *words]]


def line(entry: Entry, words: Sequence[str], name: str = "") -> str:
    """A whole command line: the words of the option of that name, and operands."""
    wanted = entry.operands[1:] if name in entry.instead else entry.operands
    operands = [_operand(entry, one.kind) for one in wanted for _ in range(one.least)]
    operands = list(OPERANDS.get(entry.name, operands))
    files = [one.kind for one in wanted if one.kind in ("file", "rev")]
    reads = entry.stdin and name not in entry.unless
    if reads and files and not any(one.least for one in wanted if one.kind in files):
        operands.append(_operand(entry, files[0]))
    needed = () if name in INSTEAD else NEEDED.get(entry.name, ())
    fed = " < notes.txt" if reads and not files else ""
    return " ".join([entry.name, *map(quoted, [*needed, *words, *operands])]) + fed


def _operand(entry: Entry, kind: str) -> str:
    if kind in ("file", "rev"):
        return FILES.get(entry.name, "notes.txt" if kind == "file" else KINDS[kind])
    return sample(kind)


def lines(entry: Entry) -> list[str]:
    """Each option of the entry, each spelling of its value."""
    found = [] if entry.needs else [line(entry, [])]
    found += [line(entry, [name], name) for name in sorted(entry.flags)]
    for name, value in sorted(entry.values.items()):
        found += [line(entry, words, name) for words in spelled(name, value)]
    if entry.number:
        found.append(line(entry, ["-2"]))
    return found


def mistaken(entry: Entry) -> list[str]:
    """Values that look like options, of the options that take any text, alone and behind a flag."""
    flag = next((name for name in sorted(entry.flags) if len(name) == 2 and name != "-h"), None)
    takers = [name for name, value in sorted(entry.values.items()) if _takes_text(value)]
    found = []
    for at, name in enumerate(takers):
        first = [sample(kind) for kind in entry.values[name].kinds[:-1]]
        for word in (LIKE_OPTIONS[0], LIKE_OPTIONS[at % len(LIKE_OPTIONS)]):
            found.append(line(entry, [name, *first, word], name))
            if flag and len(name) == 2:
                found.append(line(entry, [flag + name[1], *first, word], name))
    return [one for one in found if check(one).allowed]


def _takes_text(value: Value) -> bool:
    return not value.optional and value.kinds[-1] in ("text", "gitformat")


GENERATED = [name for name in ENTRIES if name not in JUDGED_APART and name != "git"]


# -- what the check says -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRY)
def test_what_an_entry_is_for_is_allowed_A6(name: str) -> None:
    assert TRY[name]
    assert {one: check(one).reason for one in TRY[name] if not check(one).allowed} == {}


@pytest.mark.parametrize("name", REFUSE)
def test_what_an_entry_must_not_do_is_refused_with_a_reason_A6(name: str) -> None:
    assert REFUSE[name]
    assert [one for one in REFUSE[name] if check(one).allowed] == []
    assert all(check(one).reason for one in REFUSE[name])


@pytest.mark.parametrize("name", GENERATED)
def test_each_option_of_the_table_can_be_given_A6(name: str) -> None:
    found = lines(ENTRIES[name])
    assert len(found) >= len(ENTRIES[name].flags) + len(ENTRIES[name].values)
    assert {one: check(one).reason for one in found if not check(one).allowed} == {}


NEVER = """
less more man xargs tee env printenv ps top yes tar gzip gunzip zcat ssh scp curl wget make sh zsh perl ruby
php npm npx pip cargo go docker eval source exec export set unset declare read sudo nice nohup timeout time
watch rm mv cp mkdir touch chmod ln dd split csplit install patch vi vim ed crontab kill sleep wait trap
alias builtin busybox
"""


@pytest.mark.parametrize("name", NEVER.split())
def test_a_program_that_writes_or_runs_others_is_not_in_the_table_A6(name: str) -> None:
    assert name not in ENTRIES
    assert not check(f"{name} README.md").allowed
    assert not check(f"ls | {name}").allowed


# -- what the table says -------------------------------------------------------------------------------------


def test_an_entry_has_what_the_ones_have_that_it_is_like_and_its_own_A6() -> None:
    log, diff, walk = ENTRIES["git log"], ENTRIES["git diff"], ENTRIES["git rev-list"]
    assert log.flags > diff.flags | walk.flags
    assert set(log.values) > set(diff.values) | set(walk.values)
    assert log.number
    assert not diff.number
    assert log.adds == (*diff.adds, "--no-show-signature")
    assert ENTRIES["git show"].operands == log.operands


def test_an_entry_has_its_own_examples_and_not_those_that_it_is_like_A6() -> None:
    assert all(one.startswith(name.split()[0]) or name in one for name, lines in TRY.items() for one in lines)
    assert not set(TRY["sha1sum"]) & set(TRY["md5sum"])


def test_an_option_of_its_own_counts_more_than_one_of_another_entry_A6() -> None:
    known = {"one": {"flags": "-a", "values": "-n=number -m=text", "operands": "file", "try": ["one a"]}}
    own = {"like": "one", "flags": "-b", "values": "-n=text", "operands": ""}
    entry = table._entry("two", table._shared("two", own, known))
    assert entry.flags == {"-a", "-b"}
    assert not entry.operands
    assert {name: value.kinds for name, value in entry.values.items()} == {"-n": ("text",), "-m": ("text",)}


def test_an_entry_can_leave_out_what_another_has_A6() -> None:
    known = {"one": {"flags": "-a -b", "values": "-n=text --tags?=text", "operands": ""}}
    own = {"like": "one", "without": "-b --tags"}
    entry = table._entry("two", table._shared("two", own, known))
    assert set(entry.flags) == {"-a"}
    assert set(entry.values) == {"-n"}
    assert "--tags" in {*ENTRIES["git log"].flags, *ENTRIES["git log"].values}
    assert "--tags" not in {*ENTRIES["git show"].flags, *ENTRIES["git show"].values}


def test_an_entry_is_like_one_that_stands_before_it() -> None:
    with pytest.raises(ValueError, match="two is like one, which must stand before it"):
        table._shared("two", {"like": "one"}, {})


@pytest.mark.parametrize("name", ENTRIES)
def test_what_an_entry_says_why_it_has_not_it_has_not_A6(name: str) -> None:
    assert not set(ENTRIES[name].why) & {*ENTRIES[name].flags, *ENTRIES[name].values}
    assert all(ENTRIES[name].why.values())


def test_advice_is_about_commands_that_are_not_in_the_table_A6() -> None:
    named = table._sentences(table._document()["unlisted"])
    assert not set(named) & set(ENTRIES)
    assert all(not check(f"{name} x").allowed for name in named)
    assert advice("xargs") == f"xargs is not available here: {named['xargs']}"
    assert advice("no-such-program") is None


# -- what happens when they run ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    ground = build(Path(os.path.realpath(tmp_path_factory.mktemp("ground"))) / "g")
    with zipfile.ZipFile(ground.project / "a.zip", "w") as archive:
        archive.write(ground.project / "docs" / "guide.md", "docs/guide.md")
    return ground


@pytest.fixture
def ground(template: Ground, tmp_path: Path) -> Ground:
    return copy(template, Path(os.path.realpath(tmp_path)) / "g")


def settled(commands: Sequence[str], ground: Ground) -> tuple[list[str], str]:
    """Run the scripts of the lines one after the other; what has changed since, and all that they said."""
    variables = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "diff.autoRefreshIndex",
        "GIT_CONFIG_VALUE_0": "false",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
    }
    script = "\n".join(f"echo '## {number}'\n({check(one).script}\n)" for number, one in enumerate(commands))
    file = ground.root.with_suffix(".sh")  # longer than an argument may be
    file.write_text(script, "utf-8")
    before = snapshot(ground.root)
    try:
        done = subprocess.run(
            ["bash", "--norc", str(file)],
            cwd=ground.project,
            env=ground.environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired as slow:
        last = re.findall(rb"^## (\d+)$", slow.stdout or b"", re.MULTILINE)[-1]
        pytest.fail(f"does not end: {commands[int(last)]}")
    return changes(before, snapshot(ground.root)), done.stdout.decode("utf-8", "replace")


def harmless(commands: Sequence[str], ground: Ground, template: Ground, tmp_path: Path) -> None:
    """Assert that the lines change nothing and tell no secret; name the ones that do."""
    changed, said = settled(commands, ground)
    if not changed and not leaks(said):
        return
    guilty = {}
    for number, one in enumerate(commands):
        changed, said = settled([one], copy(template, tmp_path / str(number)))
        if changed or leaks(said):
            guilty[one] = changed + leaks(said)
    pytest.fail(f"not harmless: {guilty or 'only all together'}")


def is_here(name: str) -> bool:
    program = name.split(maxsplit=1)[0]
    return program in SHELL_KNOWS or shutil.which(program) is not None


@pytest.mark.parametrize("name", TRY)
def test_what_is_allowed_changes_and_tells_nothing_A6(
    name: str, ground: Ground, template: Ground, tmp_path: Path
) -> None:
    if not is_here(name):
        pytest.skip(f"{name} is not installed")
    generated = lines(ENTRIES[name]) if name in GENERATED else []
    harmless([*TRY[name], *generated], ground, template, tmp_path / "one")


WITH_VALUES = [name for name in GENERATED if mistaken(ENTRIES[name])]


@pytest.mark.parametrize("name", WITH_VALUES)
def test_a_value_that_looks_like_an_option_stays_a_value_A6(
    name: str, ground: Ground, template: Ground, tmp_path: Path
) -> None:
    if not is_here(name):
        pytest.skip(f"{name} is not installed")
    harmless(mistaken(ENTRIES[name]), ground, template, tmp_path / "one")

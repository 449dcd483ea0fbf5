"""Command lines of our own making: out of the table of allowed options, and out of the shell's grammar.

In goes a source of chance; out comes a line. Lines out of the table are mostly allowed, which is their point:
an option that does harm shows when it is run. Those out of the grammar are mostly not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from random import Random
from shlex import quote
from typing import Any

from memdir.agent.shell.table import tables

PAYLOADS = (
    "touch pwned",
    "touch ~/pwned",
    "touch /tmp/pwned",
    ": > pwned",
    "> out.txt",
    "echo x > out.txt",
    "echo x >> notes.txt",
    "./x",
    "sh x.sh",
    ". ./x.sh",
    "eval ./x",
    "bin/ls",
    "rm notes.txt",
    "cp notes.txt n2.txt",
    "mkdir newdir",
    "tee out.txt",
    "chmod 600 notes.txt",
    "sed -i s/foo/bar/ notes.txt",
    "sed -n 'w out.txt' notes.txt",
    "sort -o out.txt notes.txt",
    "uniq notes.txt out.txt",
    "find docs -delete",
    "find . -name app.log -exec touch pwned \\;",
    "awk 'BEGIN{system(\"touch pwned\")}'",
    "git tag v9",
    "git config user.name x",
    "git diff --output=out.txt",
    "echo pwned | xargs touch",
    "env",
    "printenv API_TOKEN",
    "echo $API_TOKEN",
    'printf %s "$API_TOKEN"',
    "declare -p",
    "jq -n env",
    "awk 'BEGIN{print ENVIRON[\"API_TOKEN\"]}'",
    "cat /proc/self/environ",
    "cat ~/.ssh/id_rsa",
    "cat ~/.aws/credentials",
    "cat .env",
)
"""What leaves a trace in the folders or a canary in the output, if it is ever run."""

OPERANDS = (
    *(
        "README.md",
        "notes.txt",
        "src/app.py",
        "docs",
        "docs/guide.md",
        "data.json",
        "data.csv",
        "logs/app.log",
    ),
    *(".", "src", "memory/user prefs.md", "-dash.md", "./-dash.md", "a>b.txt", "link.md", "a.tar", "missing"),
)
HOSTILE_OPERANDS = (
    *(
        "../h/.ssh/id_rsa",
        "~/.ssh/id_rsa",
        "~/.aws/credentials",
        "~",
        "~root",
        "~+",
        "~-/x",
        "/proc/self/environ",
    ),
    *("/dev/stdin", "/dev/tcp/127.0.0.1/9", "/dev/fd/0", "/proc/$$/environ", "*", "*.md", "[-]*", "?dash.md"),
    *("{a,b}.txt", "{README.md,notes.txt}", "{1..3}", "-o", "-oout.txt", "--output=out.txt", "-i", "-exec"),
    *(
        ".git/config",
        ".env",
        "x",
        "rgrc",
        "touchit.sed",
        "out.txt",
        "../w/out.txt",
        "/tmp/out.txt",
        "~/out.txt",
    ),
    *("", "--", "-", "-x", "--pre=./x", "--config=rgrc", "ext::sh -c touch% pwned", "--upload-pack=./x"),
)
HOSTILE_OPTIONS = (
    *("-o out.txt", "-oout.txt", "--output=out.txt", "--outp=out.txt", "--output out.txt", "-i", "-i.bak"),
    *(
        "--in-place",
        "-n",
        "-e 'w out.txt'",
        "-f touchit.sed",
        "--file=touchit.awk",
        "-w",
        "--pre ./x",
        "--pre=./x",
    ),
    *("-exec ./x \\;", "-execdir ./x {} +", "-ok ./x \\;", "-delete", "-fprint out.txt", "-fls out.txt"),
    *("--ext-diff", "--textconv", "--open-files-in-pager=./x", "-O./x", "--show-signature", "--format=%G?"),
    *("-c core.pager=./x", "-c diff.external=./x", "--exec-path=.", "--git-dir=evilgit", "-C /tmp", "-p"),
    *(
        "--compress-program=./x",
        "-T .",
        "--files0-from=notes.txt",
        "-z",
        "-0",
        "-s",
        "-m",
        "-C",
        "--follow",
        "-F",
    ),
    *(
        "-f",
        "--watch",
        "--help",
        "--version",
        "-I ./x",
        "--to-command=./x",
        "--hostname-bin=./x",
        "-L.",
        "-v a=1",
    ),
)

SED = (
    *(
        "1,20p",
        "$p",
        "/foo/p",
        "s/foo/bar/",
        "s/foo/bar/gp",
        "/^#/d",
        "2,4p;6p",
        "y/ab/cd/",
        "s|a|b|2",
        "$=",
        "$!d",
    ),
    *(
        "/foo/,/bar/p",
        "1~2p",
        "s/a\\/b/c/",
        "/foo/I p",
        "5q",
        "s/[/]/x/",
        "s/[^]]/x/g",
        "1,+3p",
        "n;p",
        "{p;p}",
    ),
    *(
        "w out.txt",
        "1e touch pwned",
        "s/foo/bar/w out.txt",
        "s/.*/touch pwned/e",
        "s/x/y/we",
        "1!e",
        "r .env",
    ),
    *(
        "R notes.txt",
        "W out.txt",
        "s/a/b/;w out.txt",
        "a\\\nw out.txt",
        "s/a/b/\nw out.txt",
        "1{w out.txt\n}",
    ),
    *(
        "s/[/w out.txt",
        "y/a\\/b/c\\/d/;w out.txt",
        "#n\nw out.txt",
        "s\\nanbnw out.txt",
        "}",
        "s/a/b/m e",
        ":a;ba",
    ),
    *(
        "/[/]/w out.txt",
        "\\,x,w out.txt",
        "s/\\[/]/;w out.txt",
        "c\\x\\\nw",
        "$!N;P;D",
        "s/a/b/M",
        "T;te x",
        "F",
        "z",
    ),
)
AWK = (
    *(
        "{print $1}",
        "END{print NR}",
        "/foo/",
        "NR==2,NR==4",
        "{print $NF}",
        '{printf "%s\\n", $2}',
        "{n+=$3} END{print n}",
    ),
    *(
        "length > 5",
        "{print substr($0, 1, 3)}",
        'BEGIN{FS=","} {print $2}',
        "!seen[$0]++",
        '{gsub(/a/,"b")} 1',
        "$3>5",
    ),
    *(
        'BEGIN{system("touch pwned")}',
        '{print > "out.txt"}',
        '{print >> "out.txt"}',
        '{print | "sh"}',
        '{"date" | getline d}',
    ),
    *(
        'BEGIN{print ENVIRON["API_TOKEN"]}',
        "BEGIN{for(k in ENVIRON)print ENVIRON[k]}",
        '{getline x < "/proc/self/environ"}',
    ),
    *(
        '@load "x"',
        '@include "touchit.awk"',
        'BEGIN{f="sys" "tem"; @f("./x")}',
        "{print $1 > $2}",
        "{print(1)>2}",
        "1 > 2",
    ),
    *(
        '/a/ ? 1 : 0 {print "x" > "out.txt"}',
        "{print /[/]/ } ",
        '{print "\\" > "out.txt"}',
        "BEGIN{while(1);}",
        "{print $1>$2}",
    ),
    *(
        'BEGIN{printf "x" | "cat 1>&2"}',
        '{close("x")}',
        'BEGIN { ARGV[1]="out.txt" }',
        '# "\nBEGIN{system("./x")}',
    ),
)
JQ = (
    *(
        ".",
        ".items[].name",
        "[.items[] | select(.n > 1)]",
        ".items | length",
        "keys",
        ".items | map(.n) | add",
        ".env",
    ),
    *(
        "env",
        "$ENV",
        "env.API_TOKEN",
        ".items[0] | env",
        "input_filename",
        "$__prog_args",
        '"\\(env)"',
        "$ENV.PATH",
        "debug",
    ),
    *(
        'import "x" as x; .',
        'include "x"; .',
        "input",
        "[inputs]",
        'getpath(["env"])',
        '"env"',
        "def f: env; f",
        "@sh",
        "halt",
    ),
    *(
        "get_search_list",
        "repeat(.)",
        "range(1e9)",
        "limit(3; repeat(1))",
        "# env\n.",
        "# \\\nenv",
        ".a as $x | $x",
        "stderr",
    ),
)
FIND = (
    *(
        "-name '*.md'",
        "-type f",
        "-type d -empty",
        "-size +10k",
        "-mtime -7",
        "-newer README.md",
        "-print0",
        "-maxdepth 1",
    ),
    *(
        "! -name '*.py'",
        "\\( -name a -o -name b \\)",
        "-iname 'memory*'",
        "-printf '%s %p\\n'",
        "-path './src/*' -prune",
    ),
    *(
        "-delete",
        "-exec ./x \\;",
        "-execdir ./x {} +",
        "-ok ./x \\;",
        "-okdir ./x \\;",
        "-fprint out.txt",
        "-fprint0 out.txt",
    ),
    *(
        "-fprintf out.txt %p",
        "-fls out.txt",
        "-files0-from notes.txt",
        "-regex '.*md'",
        "-perm 644",
        "-ls",
        "-quit",
        "-D exec",
    ),
    *(
        "-newermt 2026-01-01",
        "-samefile README.md",
        "-L",
        "-H",
        "-O3",
        "-not -name x",
        "-a -print",
        ", -print",
        "-executable",
    ),
)
TEXTS = (
    *(
        "foo",
        "TODO",
        "def ",
        "a|b",
        "^#",
        "needle",
        "$HOME",
        "rm -rf",
        ">",
        "`",
        ";",
        "x y",
        "%s\\n",
        "'",
        '"',
        "\\",
        "*",
    ),
    *(
        "$(touch pwned)",
        "`./x`",
        "${x@P}",
        "a[$(touch pwned)]",
        "!!",
        "~",
        "{a,b}",
        "-e",
        "--",
        "%G?",
        "é",
        "; ./x",
        "\n./x",
    ),
)
VALUES: Mapping[str, Sequence[str]] = {
    "file": OPERANDS,
    "text": TEXTS,
    "number": (
        "1",
        "5",
        "20",
        "0",
        "-3",
        "+3",
        "10k",
        "1,3",
        "2-4",
        "99999999",
        "1T",
        "-",
        "a[$(touch pwned)]",
    ),
    "sed": SED,
    "awk": AWK,
    "jq": JQ,
    "find": FIND,
    "plusformat": ("+%Y-%m-%d", "+%s", "+%H:%M", "+"),
    "program": ("ls", "python3", "git", "./x", "x", "-p"),
    "rev": (
        "HEAD",
        "HEAD~1",
        "v1.0",
        "main",
        "HEAD:README.md",
        "HEAD~1..HEAD",
        "main@{0}",
        ":/first",
        "HEAD^{tree}",
    ),
    "gitformat": (
        "%h %an %s",
        "oneline",
        "%H",
        "%G?",
        "%GS",
        "%s%n%b",
        "%(trailers)",
        "format:%G?",
        "tformat:%h",
        "%+GG",
    ),
}


@cache
def table() -> Mapping[str, Mapping[str, Any]]:
    """The entries of the table, a command and its subcommand as one name; none where it cannot be read."""
    return tables()


def lines(key: str) -> list[str]:
    """The lines that the table names: as allowed (`try`), as refused (`refuse`)."""
    return [line for entry in table().values() for line in entry.get(key, ())]


def out_of_the_table(chance: Random) -> str:
    """A command with options and operands that its entry knows, now and then one that it does not."""
    if not table():
        return chance.choice(PAYLOADS)
    name, entry = chance.choice(list(table().items()))
    flags, values = entry.get("flags", "").split(), entry.get("values", "").split()
    parts: list[str] = []
    for _ in range(chance.choice((0, 1, 1, 2, 2, 3, 4))):
        if values and chance.random() < 0.5:
            parts.append(_with_value(chance, chance.choice(values)))
        elif flags:
            parts.append(chance.choice(flags))
    if chance.random() < 0.3:
        parts = [_bundled(parts)] if parts else parts
    if chance.random() < 0.12:
        parts.insert(chance.randint(0, len(parts)), chance.choice(HOSTILE_OPTIONS))
    operands = list(_operands(chance, entry.get("operands", "")))
    if chance.random() < 0.1:
        operands.insert(0, "--")
    if chance.random() < 0.15:  # an option after the operands
        operands, parts = [*operands, *parts[-1:]], parts[:-1]
    return " ".join([name, *parts, *operands])


def _with_value(chance: Random, written: str) -> str:
    name, _, kinds = written.partition("=")
    optional, name = name.endswith("?"), name.rstrip("?")
    given = [quote(value(chance, kind)) for kind in kinds.split(",")]
    if optional and chance.random() < 0.4:
        return name
    glue = ("=" if name.startswith("--") else "") if optional or chance.random() < 0.5 else " "
    return f"{name}{glue}{' '.join(given)}"


def _bundled(parts: Sequence[str]) -> str:
    short = [part[1:] for part in parts if len(part) == 2 and part.startswith("-") and part[1].isalnum()]
    others = [part for part in parts if part[1:] not in short]
    return " ".join([*(["-" + "".join(short)] if short else []), *others])


def _operands(chance: Random, written: str) -> Iterator[str]:
    for word in written.split():
        kind, count = word.rstrip("*+?"), 1
        if word != kind:
            count = chance.choice((0, 1, 1, 2)) if word.endswith("*") else chance.choice((0, 1))
        for _ in range(max(count, 1) if kind in {"file", "text"} else count):
            given = value(chance, kind)
            yield given if kind == "find" else quote(given)


def value(chance: Random, kind: str) -> str:
    """A value of that kind, now and then one that does not belong there."""
    if chance.random() < 0.05:
        return chance.choice(HOSTILE_OPERANDS)
    if kind.startswith("word:"):
        return chance.choice(kind[5:].split("|"))
    if kind == "find":
        start = chance.choice((".", "src", "docs ."))
        return " ".join([start, *(chance.choice(FIND) for _ in range(chance.randint(1, 3)))])
    return chance.choice(VALUES.get(kind, TEXTS))


def out_of_the_grammar(chance: Random, depth: int = 0) -> str:
    """A line of nested shell grammar, with payloads at its leaves."""
    if depth > 3 or chance.random() < 0.25:
        return chance.choice((chance.choice(PAYLOADS), "ls", "cat notes.txt", "true", "echo hello"))

    def more() -> str:
        return out_of_the_grammar(chance, depth + 1)

    rules = (
        lambda: f"{more()} | {more()}",
        lambda: f"{more()} && {more()}",
        lambda: f"{more()} || {more()}",
        lambda: f"{more()}; {more()}",
        lambda: f"{more()}\n{more()}",
        lambda: f"{more()} |& {more()}",
        lambda: f"{more()} & {more()}",
        lambda: f"( {more()} )",
        lambda: f"{{ {more()}; }}",
        lambda: f"! {more()}",
        lambda: f"time {more()}",
        lambda: f"coproc {more()}",
        lambda: f'echo "$({more()})"',
        lambda: f"cat <({more()})",
        lambda: f"ls > >({more()})",
        lambda: f"echo `{more()}`",
        lambda: f"echo ${{x:-$({more()})}}",
        lambda: f"echo $((a[$({more()})]))",
        lambda: f"(( a[$({more()})] ))",
        lambda: f"[[ 'a[$({more()})]' -eq 0 ]]",
        lambda: f"[[ -n x ]] && {more()}",
        lambda: f"if {more()}; then {more()}; fi",
        lambda: f"for f in a b; do {more()}; done",
        lambda: f"while {more()}; do {more()}; break; done",
        lambda: f"case x in x) {more()};; esac",
        lambda: f"f() {{ {more()}; }}; f",
        lambda: f"function ls {{ {more()}; }}; ls",
        lambda: f"x=$({more()}) ls",
        lambda: f"x=({more()})",
        lambda: f"declare x=$({more()})",
        lambda: f"alias ls='{more()}'; ls",
        lambda: f"trap '{more()}' EXIT",
        lambda: f"cat <<EOF\n$({more()})\nEOF",
        lambda: f"cat <<'EOF'\n{more()}\nEOF",
        lambda: f"cat <<-EOF\n\t{more()}\n\tEOF\n{more()}",
        lambda: f'cat <<< "$({more()})"',
        lambda: f"eval {quote(more())}",
        lambda: f"bash -c {quote(more())}",
        lambda: f"echo {quote(more())}",
        lambda: f"grep -e {quote(more())} notes.txt",
        lambda: f"ls # {more()}",
        lambda: f"echo hello \\ # {more()}",
        lambda: f"select f in a; do {more()}; done <<< 1",
        lambda: f"echo ${{ {more()}; }}",
        lambda: f"exec {more()}",
    )
    return chance.choice(rules)()

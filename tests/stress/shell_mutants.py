"""A seed -> command lines that may deceive: known ones, changed in every way that a shell reads otherwise.

The beginnings are the cases, the examples of the table, and lines of `shell_grammar`. Most of the
changes leave a harmless line harmless, so that a good share is allowed and can be judged by being run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from random import Random

from tests.cases import case_rows
from tests.stress.shell_grammar import (
    HOSTILE_OPERANDS,
    HOSTILE_OPTIONS,
    OPERANDS,
    PAYLOADS,
    lines,
    out_of_the_grammar,
    out_of_the_table,
)

LONGEST = 60_000
"""Characters of a mutant; the system takes no longer arguments than 128 kB."""

BLANKS = "\u00a0\u2028\u2029\u3000\u2003\u200b\u200d\ufeff\u0085\u180e\u2060\x0b\x0c\t\r"
LOOK_ALIKES = "；｜＆＞＜＄（）｀＂＇＃－—–‐аеоср／．ｌｓ\u0435\u0455\u202e\u202d"
CONTROL = "\x00\x01\x02\x07\x08\x0e\x1b\x7f\x80\x9b\udc80\udcff\ud800\U000e0001"
SPECIALS = (
    *(
        "'",
        '"',
        "\\",
        "`",
        "$",
        "$(",
        ")",
        "(",
        "{",
        "}",
        "[",
        "]",
        "[[",
        "]]",
        "((",
        "))",
        "${",
        "$[",
        "$'",
        '$"',
    ),
    *(
        "#",
        " # ",
        " \\ #",
        "\\\n",
        "\n",
        "\r",
        "\r\n",
        ";",
        ";;",
        ";&",
        "&",
        "&&",
        "|",
        "||",
        "|&",
        ">",
        "<",
        ">>",
    ),
    *(
        ">|",
        ">&",
        "<&",
        "<>",
        "&>",
        "&>>",
        "<<",
        "<<<",
        "<(",
        ">(",
        "=",
        "+=",
        "!",
        "!!",
        "!$",
        "*",
        "?",
        "~",
        "^",
    ),
    *(
        "@",
        "%",
        ",",
        "-",
        "--",
        "+(",
        "@(",
        "!(",
        "\\'",
        '\\"',
        "''",
        '""',
        "\t",
        "  ",
        ":",
        "2>",
        "1>",
        "{a,b}",
    ),
    *(
        "$@",
        "$*",
        "$_",
        "$0",
        "$$",
        "$IFS",
        "${IFS}",
        "$RANDOM",
        "${x@P}",
        "${!x}",
        "$API_TOKEN",
        "${API_TOKEN}",
    ),
)
CONNECTORS = (
    *(
        "; ",
        " && ",
        " || ",
        " | ",
        "\n",
        " & ",
        " |& ",
        ";",
        "&&",
        "|",
        "&",
        "\r\n",
        "\r",
        " ;\n",
        "\n\n",
        ";;",
    ),
    *(
        "\n#'\n",
        " # '\n",
        " \\ # ",
        " #\n",
        " \\\n",
        " \\\n; ",
        "\u2028",
        "；",
        "\u0085",
        "\x0b",
        " ! ",
        " && ! ",
    ),
)
HARMLESS_CONNECTORS = ("; ", " && ", " || ", " | ", "\n", ";\n", "\n\n", " &&\n", " |\n", "  ;  ")
REDIRECTIONS = (
    *(
        "> out.txt",
        ">out.txt",
        ">> out.txt",
        ">| out.txt",
        "&> out.txt",
        "&>> out.txt",
        ">& out.txt",
        "2> out.txt",
    ),
    *(
        "<> new.txt",
        "1<>new.txt",
        "{fd}> out.txt",
        "3> out.txt",
        "> ~/out.txt",
        "> /tmp/out.txt",
        '> "out.txt"',
    ),
    *(
        "> $x",
        "> *.txt",
        "> out\\ .txt",
        "2>&1 > out.txt",
        "> /dev/null > out.txt",
        "> /dev/null/../x",
        ">&3",
    ),
    *(
        "< notes.txt",
        "<notes.txt",
        "2>/dev/null",
        "> /dev/null",
        "2>&1",
        "&>/dev/null",
        "<&-",
        ">&-",
        "2>&-",
        "<&0",
    ),
    *(
        "< /dev/tcp/127.0.0.1/9",
        "< ~/.ssh/id_rsa",
        "< .env",
        "< /proc/self/environ",
        "<<< x",
        '<<< "$(touch pwned)"',
    ),
    *(
        "> /dev/stdout",
        "> /dev/fd/1",
        "> /dev/stderr",
        "> //dev/null",
        "> /dev/./null",
        "> '/dev/null'x",
        "1>&2",
    ),
)
ASSIGNMENTS = (
    *(
        "PATH=./bin:$PATH",
        "PATH=.",
        "x=$(touch pwned)",
        "IFS=,",
        "GIT_PAGER=./x",
        "GIT_EXTERNAL_DIFF=./x",
        "LC_ALL=C",
    ),
    *(
        "LD_PRELOAD=./x",
        "BASH_ENV=./x.sh",
        "RIPGREP_CONFIG_PATH=rgrc",
        "HOME=evilhome",
        "a[0]=1",
        "a[$(touch pwned)]=1",
    ),
    *(
        "LESSOPEN='|./x %s'",
        "x=1",
        "x+=1",
        "PS4='$(touch pwned)'",
        "PAGER=./x",
        "GIT_CONFIG_GLOBAL=evilhome/.gitconfig",
    ),
    *(
        "TZ=x",
        "GREP_OPTIONS=-r",
        "GREP_COLORS=x",
        "LS_COLORS=x",
        "POSIXLY_CORRECT=1",
        "TMPDIR=.",
        "AWKPATH=.",
        "JQ_COLORS=x",
    ),
)
EMBEDDED = (
    *(
        "$({})",
        "`{}`",
        "<({})",
        ">({})",
        '"$({})"',
        "${{x:-$({})}}",
        "${{x:=$({})}}",
        "$((a[$({})]))",
        "$[a[$({})]]",
    ),
    *(
        "${{x@P}}$({})",
        "${{ {}; }}",
        "$'\\x24({})'",
        '$"$({})"',
        "'$({})'",
        '"`{}`"',
        "\\$({})",
        "\\\\$({})",
        "\\`{}`",
    ),
    *(
        "'\\''$({})'\\''",
        '"\\"$({})"',
        '"\\\\$({})"',
        "a[$({})]",
        "{{$({}),b}}",
        "~$({})",
        "''$({})''",
        "\"'$({})'\"",
    ),
)
WRAPPERS = (
    *(
        "( {} )",
        "({})",
        "{{ {}; }}",
        "! {}",
        "time {}",
        "time -p {}",
        "coproc {}",
        "if {}; then touch pwned; fi",
        "{} &",
    ),
    *(
        "for f in a; do {}; done",
        "while {}; do break; done",
        "until {}; do break; done",
        "case x in x) {};; esac",
        "{};",
    ),
    *(
        "f() {{ {}; }}; f",
        "function f {{ {}; }}; f",
        "eval {}",
        "command {}",
        "builtin {}",
        "exec {}",
        "env {}",
        "nice {}",
    ),
    *(
        "echo {} | xargs -n1 touch",
        "{} | sh",
        "{} | bash",
        "{} | tee out.txt",
        "{} | xargs touch",
        "exec 3>out.txt; {}",
    ),
    *(
        "alias ls=./x; {}",
        "ls() {{ ./x; }}; {}",
        "cd memory; {}",
        "cd /tmp && {}",
        "pushd src; {}",
        "set -x; {}",
        "{}\n",
    ),
    *(
        "trap ./x EXIT; {}",
        "shopt -s expand_aliases\nalias cat=./x\n{}",
        "hash -p ./x ls; {}",
        "enable -n echo; {}",
        " {}",
    ),
    *(
        "{} <<EOF\n$(touch pwned)\nEOF",
        "{} <<'EOF'\n$(touch pwned)\nEOF",
        "{} <<-EOF\n\tx\n\tEOF",
        "{} <<E\\OF\nx\nEOF\n./x",
    ),
    *(
        "{} << 'EOF'\nx\nEOF \n./x\nEOF",
        "{} <<EOF\nx",
        "cat <<A <<B; {}\nx\nA\ny\nB",
        "{} # it's\n",
        "# '\n{}\n# '",
        "{} #",
    ),
    *(
        "[[ -f x ]] || {}",
        "[ -f README.md ] && {}",
        "test -f x; {}",
        "(( 1 )) && {}",
        "true && {}",
        "false || {}",
        "\\{}",
    ),
    *(
        "{} 2>/dev/null",
        "{} 2>&1 | head -5",
        "{} | wc -l",
        "{} | sort | uniq -c",
        "{} || true",
        "echo ok; {}",
        "{} && pwd",
    ),
)

ENDS = (
    *("head -5", "wc -l", "sort -u", "tail -n 3", "grep -c foo", "cut -c1-80", "uniq -c", "nl", "tr a-z A-Z"),
    *("sed -n 1,3p", "jq .", "column -t", "cat -n", "rev", "base64", "tac", "awk '{print $1}'", "cat"),
)

_WORD = re.compile(r"[^\s;&|<>()]+")
Change = Callable[[Random, str], str]


@cache
def beginnings() -> tuple[Sequence[str], Sequence[str]]:
    """The lines to begin with: those that should be allowed, and the others. Endless ones are shortened."""
    rows = case_rows("bash_readonly.jsonl")
    allowed = [row["command"] for row in rows if row["expect"] == "allow"]
    denied = [row["command"][:2_000] for row in rows if row["expect"] != "allow"]
    return [*allowed, *lines("try")], [*denied, *lines("refuse")]


def mutants(seed: int, count: int) -> Iterator[str]:
    """So many command lines; the same ones for the same seed."""
    chance = Random(seed)
    for _ in range(count):
        yield mutant(chance)[:LONGEST]


def mutant(chance: Random) -> str:
    """One command line."""
    allowed, denied = beginnings()
    dice = chance.random()
    if dice < 0.06:
        return out_of_the_grammar(chance)
    if dice < 0.36:
        line, changes = out_of_the_table(chance), chance.choice((0, 0, 0, 1, 1, 2))
    elif dice < 0.80:
        line, changes = chance.choice(allowed), chance.choice((1, 1, 1, 2, 2, 3))
    else:
        line, changes = chance.choice(denied), chance.choice((1, 1, 2, 3))
    gentle = chance.random() < 0.65
    for _ in range(changes):
        line = chance.choice(GENTLE if gentle and chance.random() < 0.9 else ROUGH)(chance, line)
    return line


# -- changes that mostly leave a line what it is -------------------------------------------------------------


def _requote(chance: Random, line: str) -> str:
    """One word in other quotes, with the same meaning."""

    def other(word: str) -> str:
        if re.search(r"[\\'\"$`*?{}~!\[\]#=]", word):
            return word
        at = chance.randint(0, len(word))
        ways = (
            f"'{word}'",
            f"'{word}'",
            f'"{word}"',
            f"{word[:at]}''{word[at:]}",
            f'{word[:at]}""{word[at:]}',
            f"{word[:at]}'{word[at:]}'",
            f'"{word[:at]}"{word[at:]}',
            f"{word[:at]}\\{word[at:]}",
            "".join(f"\\{letter}" for letter in word),
            f"$'{word}'",
            "$'" + "".join(f"\\x{ord(letter):02x}" for letter in word) + "'",
            f'$"{word}"',
        )
        return chance.choice(ways)

    return _at_a_word(chance, line, other, skip_first=chance.random() < 0.9)


def _respace(chance: Random, line: str) -> str:
    places = [found.start() for found in re.finditer(" ", line)]
    if not places:
        return chance.choice((" {}", "{} ", "{}\n", "\t{}", "\n{}")).format(line)
    at = chance.choice(places)
    return line[:at] + chance.choice(("  ", "\t", " \\\n", "   ", " \t ")) + line[at + 1 :]


def _join(chance: Random, line: str) -> str:
    """With another line that may be allowed."""
    other = chance.choice(beginnings()[0]) if chance.random() < 0.7 else out_of_the_table(chance)
    pair = (line, other) if chance.random() < 0.5 else (other, line)
    return chance.choice(HARMLESS_CONNECTORS).join(pair)


def _pipe(chance: Random, line: str) -> str:
    return f"{line} | {chance.choice(ENDS)}"


def _tail(chance: Random, line: str) -> str:
    return line + chance.choice(
        (" 2>/dev/null", " || true", " 2>&1", "; echo done", " && pwd", " < notes.txt", ";")
    )


def _other_operand(chance: Random, line: str) -> str:
    return _at_a_word(chance, line, lambda _: shlex.quote(chance.choice(OPERANDS)), skip_first=True)


def _anew(chance: Random, line: str) -> str:
    """The words of a plain line, each quoted as `shlex` does."""
    try:
        return shlex.join(shlex.split(line)) if _WORD.sub("", line).isspace() else line
    except ValueError:
        return line


def _shuffled(chance: Random, line: str) -> str:
    """The words after the first in another order: options behind operands."""
    words = line.split(" ")
    if len(words) < 3:
        return line
    rest = words[1:]
    chance.shuffle(rest)
    return " ".join([words[0], *rest])


# -- changes that do not -------------------------------------------------------------------------------------


def _insert(chance: Random, line: str) -> str:
    at = chance.randint(0, len(line))
    kind = chance.random()
    if kind < 0.7:
        piece = chance.choice(SPECIALS)
    elif kind < 0.85:
        piece = chance.choice(BLANKS)
    else:
        piece = chance.choice(LOOK_ALIKES if kind < 0.93 else CONTROL)
    return line[:at] + piece + line[at:]


def _replace_blank(chance: Random, line: str) -> str:
    return line.replace(
        " ", chance.choice((*BLANKS, "${IFS}", "$IFS", "\\ ", "{,}", "")), chance.choice((1, 1, -1))
    )


def _splice(chance: Random, line: str) -> str:
    pair = [line, chance.choice(PAYLOADS)]
    chance.shuffle(pair)
    return chance.choice(CONNECTORS).join(pair)


def _cross(chance: Random, line: str) -> str:
    """The head of this line and the tail of another."""
    other = chance.choice(chance.choice(beginnings()))
    return line[: chance.randint(0, len(line))] + other[chance.randint(0, len(other)) :]


def _embed(chance: Random, line: str) -> str:
    piece = chance.choice(EMBEDDED).format(chance.choice(PAYLOADS))
    where = chance.choice(("{0}{1}", "{1}{0}", "{1}", '"{0}{1}"'))
    return _at_a_word(chance, line, lambda word: where.format(word, piece))


def _wrap(chance: Random, line: str) -> str:
    return chance.choice(WRAPPERS).replace("{}", line).replace("{{", "{").replace("}}", "}")


def _redirect(chance: Random, line: str) -> str:
    piece = chance.choice(REDIRECTIONS)
    at = chance.choice((0, len(line), *(found.start() for found in re.finditer(r"[ |;&]", line))))
    return f"{line[:at]} {piece} {line[at:]}"


def _assign(chance: Random, line: str) -> str:
    return chance.choice(ASSIGNMENTS) + chance.choice((" ", "; ", "\n", " && ")) + line


def _option(chance: Random, line: str) -> str:
    return _at_a_word(chance, line, lambda word: f"{word} {chance.choice(HOSTILE_OPTIONS)}")


def _respell_option(chance: Random, line: str) -> str:
    """A long option cut short, split from its value or glued to it; a short one bundled."""

    def other(word: str) -> str:
        if word.startswith("--"):
            return chance.choice(
                (word[:-1], word[:5], word.replace("=", " ", 1), f"{word}=x", word[1:], word.upper())
            )
        if word.startswith("-"):
            letters = chance.choice("aocifewnrsxpOCTI0")
            return chance.choice(
                (f"{word}{letters}", f"-{letters}{word[1:]}", f"-{word}", f"{word} -", f"{word}=")
            )
        return chance.choice((f"-- {word}", f"-{word}", f"- {word}"))

    return _at_a_word(chance, line, other)


def _hostile_operand(chance: Random, line: str) -> str:
    return _at_a_word(chance, line, lambda _: chance.choice(HOSTILE_OPERANDS), skip_first=True)


def _glob(chance: Random, line: str) -> str:
    def other(word: str) -> str:
        at = chance.randint(0, len(word))
        return word[:at] + chance.choice(("*", "?", "[a-z]", "{,x}", "~", "[!-]*", "{a,-o}")) + word[at + 1 :]

    return _at_a_word(chance, line, other)


def _cut(chance: Random, line: str) -> str:
    if not line:
        return line
    at = chance.randrange(len(line))
    end = at + chance.choice((1, 1, 1, 2, 5))
    return chance.choice((line[:at] + line[end:], line[:at] + line[at:end] * 2 + line[end:], line[:end]))


def _comment(chance: Random, line: str) -> str:
    payload = chance.choice(PAYLOADS)
    forms = (
        " # {}",
        " \\ # {}",
        " \\\t# {}",
        " #\\\n{}",
        " #' \n{} #'",
        ' #" \n{} #"',
        "#{}",
        " ''#\n{}",
        "\\\n#{}",
        " \\\\ #\n{}",
    )
    return line + chance.choice(forms).format(payload)


def _many(chance: Random, line: str) -> str:
    """Very long or very deep."""
    times = chance.choice((60, 300, 3_000))
    forms = (
        lambda: line + " a" * times,
        lambda: line + " " + "a" * times,
        lambda: "true; " * min(times, 300) + line,
        lambda: "(" * min(times, 300) + line + ")" * min(times, 300),
        lambda: "echo " + "$(" * min(times, 300) + line + ")" * min(times, 300),
        lambda: "{ " * min(times, 300) + line + "; }" * min(times, 300),
        lambda: line + " '" + "\\" * times + "'",
        lambda: line + "\n" * times + chance.choice(PAYLOADS),
        lambda: line + " #" + "x" * times + "\n" + chance.choice(PAYLOADS),
    )
    return chance.choice(forms)()


def _at_a_word(chance: Random, line: str, change: Callable[[str], str], *, skip_first: bool = False) -> str:
    places = list(_WORD.finditer(line))[1 if skip_first else 0 :]
    if not places:
        return line
    found = chance.choice(places)
    return line[: found.start()] + change(found.group()) + line[found.end() :]


GENTLE: Sequence[Change] = (
    *(
        _requote,
        _requote,
        _requote,
        _respace,
        _respace,
        _join,
        _join,
        _pipe,
        _tail,
        _other_operand,
        _anew,
        _shuffled,
    ),
)
ROUGH: Sequence[Change] = (
    *(
        _insert,
        _insert,
        _insert,
        _replace_blank,
        _splice,
        _splice,
        _cross,
        _embed,
        _embed,
        _wrap,
        _wrap,
        _redirect,
    ),
    *(
        _assign,
        _option,
        _option,
        _respell_option,
        _respell_option,
        _hostile_operand,
        _glob,
        _cut,
        _comment,
        _many,
    ),
)

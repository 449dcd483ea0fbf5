"""Which lines of a text report an error, in the forms of tools and languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memdir.memory.fence import harmless
from memdir.session.extractive.lines import beginning

MOST = 5
"""Lines of one text: the first ones and the last ones."""

SHORT, LAST = 8, 2
"""A failed command with so few lines is all about what went wrong; of a longer one without any line that
says so, the last ones are."""

LONGEST = 400
"""Characters of a line."""


def reported(text: str) -> list[str]:
    """The lines that report an error."""
    return _some(_lines(text, failed=False))


def of_failed(text: str, *, ran: bool) -> list[str]:
    """Those of what a failed call gave: there a line says so more easily. `ran`: a command."""
    lines = list(_lines(text, failed=True))
    raw = [line for line in text.splitlines() if line.strip()]
    if ran and len(raw) <= SHORT:
        rest = [line for line in raw if len(line.split()) > 2 and not _FINE.search(line)]
    elif all(is_exit(line) for line in lines):
        rest = raw[-LAST:] if ran else raw[:1]
    else:
        rest = []
    more = (harmless(beginning(line, LONGEST)) for line in rest)
    return _some([*lines, *(line for line in more if line and not is_none(line))])


def is_report(line: str) -> bool:
    """Whether a line has the form of an error."""
    return bool(_STRICT.fullmatch(line) or _LOOSE.search(line) or _CLASS.match(line))


def is_exact(text: str) -> bool:
    """Whether a sentence names an error, or quotes one."""
    return bool(_EXACT.search(text)) and not is_none(text)


def is_none(text: str) -> bool:
    """ "0 errors"."""
    return bool(_NONE.search(text))


def is_exit(line: str) -> bool:
    """Only the code with which a command ended."""
    return bool(re.fullmatch(r"exit code \d+", line))


def key(line: str) -> str:
    """The line without what is another one each time: addresses, times."""
    return _CHANGING.sub("0", line).strip(" .=-_").casefold()


def _some(lines: Sequence[str] | Iterator[str]) -> list[str]:
    found = list(dict.fromkeys(lines))
    return found if len(found) <= MOST else [*found[: MOST - 2], *found[-2:]]


def _lines(text: str, *, failed: bool) -> Iterator[str]:
    for start in _starts(text, failed=failed):
        end = text.find("\n", start, start + LONGEST)
        line = harmless(beginning(text[start : end if end >= 0 else start + LONGEST + 1], LONGEST))
        if line and not is_none(line) and (is_report(line) or (failed and not _FINE.search(line))):
            yield line


def _starts(text: str, *, failed: bool) -> list[int]:
    """Where the lines begin that may report an error."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few capitals become two letters
        lowered = text
    found = set[int]()
    for word in _LIKELY:
        at = lowered.find(word)
        while at >= 0:
            found.add(lowered.rfind("\n", 0, at) + 1)
            end = lowered.find("\n", at)
            at = lowered.find(word, end) if end >= 0 else -1
    found.update(one.start() for one in _MARKED.finditer(text))
    if failed:
        found.update(one.start() for one in _LOCATED.finditer(text))
    return sorted(found)


# ---------------------------------------------------------------------------------- forms

_LIKELY = (
    *"""error exception fail fatal panic assert denied refused critical segmentation killed cannot undefined
    unexpected backoff timeout abort ✗ ✘ 错误 报错 失败 异常 无法 找不到 エラー 失敗 例外 できません
    見つかりません fehler fallo excepci""".split(),  # noqa: SIM905
    *("not found", "no such", "exit code", "could not", "is not", "timed out"),
    *("nicht gefunden", "no se encontr", "no se pudo"),
)
"""A quick look: a line without any of it reports nothing."""

_MARKED = re.compile(r"^E\s", re.MULTILINE)
_STRICT = re.compile(
    r"""
      E\s+\S.* | (?:FAILED|ERROR|FATAL|CRITICAL|FAIL|PANIC)\b[\s:\[\]].* | ---\s?FAIL:.* | not\sok\b.*
    | [✗✘×]\s.* | npm\sERR!.* | thread\s'.*'\spanicked.* | make(?:\[\d+\])?:\s\*\*\*.* | exit\scode\s\d+
    | (?:[\w.]{1,80}(?:Error|Exception|Interrupt|Exit|Failure|Fault)|Exception|[Ee]rror|fatal|panic)
      (?:\[\w+\])?(?::\s?.*)?
    | Uncaught\s.* | Segmentation\sfault.* | Killed
    | (?:错误|报错|异常|失败|エラー|失敗|例外|Fehler|Error)\s?[:：].*
    """,
    re.VERBOSE,
)
_LOOSE = re.compile(
    r"\b(?:error|fatal|panic|exception)\b(?:\s?\[?\(?[A-Z]{0,4}\d+\]?\)?)?\s?[:：]|\w(?:Error|Exception)\b[:：]"
    r"|\b(?:ERROR|FATAL|CRITICAL)\b|\berror\s[A-Z]{1,4}\d{2,5}\b|\b(?:[a-z]\w*\.)+\w*(?:Error|Exception)\b"
    r"|command not found|No such file or directory|[Pp]ermission denied|[Cc]onnection refused|panicked at"
    r"|\b[Ff]ailed\b\s?:|[Mm]odule not found|[Cc]annot (?:read|find|resolve|open|import|connect)"
    r"|[Uu]nexpected (?:token|end)|is not (?:defined|a function|a constructor|callable)"
    r"|undefined (?:reference|symbol|variable)|BackOff\b|OOMKilled|BUILD FAILED|FAILED\s*\("
    r"|[1-9]\d*\s(?:failed|failures?|errors?)\b|\bE[A-Z]{5,12}\b:|(?:timed out|timeout) (?:after|waiting)"
    r"|(?:错误|报错|异常|失败|エラー|失敗|例外|(?i:fehler|fehlgeschlagen|error|fallo))\s?[:：]|无法|找不到"
    r"|エラー|できません|見つかりません|nicht gefunden|no se encontr|no se pudo|fehlgeschlagen"
)
_CLASS = re.compile(r"(?:[a-z_]\w{0,40}\.){1,6}[A-Z]\w{2,60}(?::\s|$)")
_LOCATED = re.compile(
    r"^[ \t]{0,8}[\w./\\@+-]{1,200}(?:(?::\d{1,6}){1,2}:\s\S|\(\d{1,6},\d{1,6}\):\s)", re.MULTILINE
)
_FINE = re.compile(r"\bPASS(?:ED)?\b|\bok\b|Traceback|^\s*File |^\s*at |^During handling")
_NONE = re.compile(
    r"\b(?:0|no|zero|without|keine|sin|ningún) (?:errors?|failures?|failed|exceptions?|fehler|errores)\b"
    r"|没有(?:错误|报错|失败)|エラー(?:は)?(?:ありません|なし)",
    re.IGNORECASE,
)
_EXACT = re.compile(
    r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|`[^`]+`|\b[\w.]*(?:Error|Exception)\b|[:：]\s?\S"
    r"|[\"“„«「'].{3,}[\"”“»」']|\b[1-5]\d\d\b|\bE[A-Z]{5,12}\b|exit code|\b[A-Z]{2,}_[A-Z_]+\b"
)
_CHANGING = re.compile(
    r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?\s?m?s\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*",
)

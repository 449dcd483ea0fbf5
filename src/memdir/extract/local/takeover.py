"""What the person takes over of what was just run or shown: one command, and nothing but that (E11).

"Keep that command" names nothing itself. What is meant is the command that the agent ran, or else the one
that a tool showed. Of a tool's text no sentence is taken, and nothing at all if it speaks to an agent or of
memory. A command that fetches, deletes, opens a way out or switches a check off is for the person to write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memdir import secrets
from memdir.cues import Cue
from memdir.extract.local.speech import Sentence
from memdir.extract.local.values import Turn

LONGEST = 120
HEARD = 8_000
"""Characters of a tool's text that are looked at."""


def taken_over(sentence: Sentence, talk: Sequence[Turn], at: int) -> Sentence:
    """The sentence of turn `at` with the command that it takes over, if it does and there is just one."""
    if Cue.TAKES not in sentence.cues or sentence.cues & _NOT_MEANT or "`" in sentence.said:
        return sentence
    if (command := _command(talk, at)) is None:
        return sentence
    text = f"{sentence.text.rstrip(' .!。！')}: `{command}`"
    return replace(sentence, text=text, cues=(sentence.cues - _POINTING) | _WISH)


_NOT_MEANT = frozenset({Cue.QUESTION, Cue.LIMITED, Cue.HYPOTHETICAL, Cue.SARCASM, Cue.QUOTED, Cue.RETRACT})
_POINTING = frozenset({Cue.POINTS, Cue.BACK, Cue.CONTINUE, Cue.TINY})
_WISH = frozenset({Cue.REMEMBER, Cue.DIRECTIVE, Cue.STANDING})


def _command(talk: Sequence[Turn], at: int) -> str | None:
    """The one command since the person last spoke."""
    last = next((place for place in reversed(range(at)) if talk[place].role == "person"), -1)
    turns = talk[last + 1 : at]
    for found in ({one.strip() for turn in turns for one in turn.ran}, {*_shown(turns)}):
        plain = sorted(one for one in found if _is_plain(one))
        if plain:
            return plain[0] if len(plain) == 1 else None
    return None


def _shown(turns: Sequence[Turn]) -> Iterator[str]:
    """The commands in what tools said: those written as such, else a program with its settings."""
    texts = [turn.text[:HEARD] for turn in turns if turn.role == "tool"]
    if any(_SPEAKS_TO_AN_AGENT.search(text) for text in texts):
        return
    written = [one for text in texts for pattern in _WRITTEN for one in pattern.findall(text)]
    yield from (one.strip() for one in written)
    if written:
        return
    for line in (line for text in texts for line in text.splitlines()):
        settings = _SETTING.findall(line)
        program = _LABEL.match(line)
        if settings:
            yield " ".join((*settings, *(program.groups() if program else ())))


def _is_plain(command: str) -> bool:
    """Whether it is one call of a program that builds, tests or tidies, and does nothing else on the way."""
    if len(command) > LONGEST or not _CALL.fullmatch(command) or _RISKY.search(command):
        return False
    return not secrets.scan(command)


_PROGRAMS = (
    r"(?:python3?\s-m\s)?(?:pytest|unittest|tox|nox|mypy|ruff|black|pylint|flake8|pyright)|uv\srun|poetry\srun|hatch\srun"
    r"|(?:npm|pnpm|yarn|bun)\s(?:run\s)?[\w:-]{1,40}|npx\s(?:jest|vitest|eslint|tsc|prettier|playwright)|jest|vitest|tsc"
    r"|eslint|prettier|make|just|ninja|cmake|ctest|cargo\s[a-z]{2,10}|go\s(?:test|build|vet)|gradle|\./gradlew|mvn|\./mvnw"
    r"|bazel\s[a-z]{2,10}|dotnet\s[a-z]{2,10}|rake|rspec|bundle\sexec|phpunit|swift\stest|mix\stest|sbt|zig\s[a-z]{2,10}"
)
_SETTING_OF = r"[A-Z][A-Z0-9_]{1,40}=[\w./:,+-]{1,60}"
_ARGUMENT = r"""(?:[\w./:=,+*@\[\]%-]{1,80}|"[\w ./:=,+*-]{1,60}"|'[\w ./:=,+*-]{1,60}')"""
_CALL = re.compile(
    rf"(?:{_SETTING_OF}\s)*(?:{_PROGRAMS})(?:\s{_ARGUMENT}){{0,12}}|{_SETTING_OF}(?:\s{_SETTING_OF}){{0,2}}"
)
_SETTING = re.compile(rf"(?<![\w./-]){_SETTING_OF}(?![\w/])")
_LABEL = re.compile(rf"\s*({_PROGRAMS})(?=:)")
_WRITTEN = (re.compile(r"(?m)^\s*\$\s(.{2,200})$"), re.compile(r"`([^`\n]{2,200})`"))
_RISKY = re.compile(
    r"://|\b\w[\w-]*\.(?:invalid|com|org|net|io|dev|sh|cn|de|ru|xyz|example)\b|\d+\.\d+\.\d+\.\d+"
    r"|(?<![\w-])(?:--?)(?:no-verify|no-?check\S*|no-?sandbox|skip\S*|ignore-?scripts|insecure|unsafe\S*|allow\S*|privileged|force"
    r"|f|k|trusted\S*|index\S*|extra-index\S*|registry|proxy|exec|eval|passWithNoTests|disable\S*|deselect\S*|exitfirst)\b"
    r"|GIT_|LD_|COMMAND|SSL|TLS|VERIFY|PROXY|PRELOAD|(?:^|\s)PATH=|TOKEN|KEY|SECRET|PASS|REGISTRY|INDEX|SKIP|DISABLE|INSECURE|UNSAFE|NODE_OPTIONS"
    r"|\b(?:install|publish|deploy|push|add|exec|dlx|login|upload|postinstall|start|serve|clean|destroy|drop|delete)\b"
    r"|=/|\.\./",
)
_SPEAKS_TO_AN_AGENT = re.compile(
    r"\b(?:ais?|llms?|assistants?|agents?|chatgpt|claude|copilot|codex|gpt\S*|memor\w+|remember\w*|persist\w*|instruct\w*|prompt\w*"
    r"|ki|assistent\w*|agenten|merk\w*|speicher\w*|gedächtnis\w*|erinner\w*|ia|asistentes?|agentes?|recuerd\w*|record\w*|memoria\w*"
    r"|knowledge|please|always|from now on|bitte|immer|siempre)\b"
    r"|助手|智能体|人工智能|模型|记住|记忆|记下|提示词|以后|请|アシスタント|エージェント|記憶|覚え|今後|ください",
    re.IGNORECASE,
)

"""Memories that say the same are found, and those that were made after one pattern are none (D8)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from memdir.memory.duplicates import Alike, duplicates
from memdir.memory.topic import Topic, parse, render

RECALL = Path(__file__).parent.parent / "data" / "recall"
LONG = (
    "We deploy the storefront with kiln every Tuesday morning after the stand-up. The release captain "
    "watches the error budget for an hour, and rolls back with one command when checkout gets slower.\n"
)
CHINESE = (
    "店面每周二早上站会之后用 kiln 部署。"
    "发布负责人要盯一个小时的错误预算，结账变慢就用一条命令回滚，并在群里说明原因。\n"
)
JAPANESE = (
    "毎週火曜日の朝会のあとにストアフロントをデプロイする。"
    "リリース担当は一時間エラーを監視し、遅くなったら戻す。\n"
)


def _file(body: str, *, name: str = "note", about: str | None = None) -> bytes:
    return render(name=name, description=about, type="project", body=body).encode()


def _alike(*bodies: str) -> tuple[Alike, ...]:
    return duplicates({f"f{number}.md": _file(body) for number, body in enumerate(bodies)})


# -- alike -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [LONG, CHINESE, JAPANESE, "Use tabs, never blanks."])
def test_the_same_lines_are_the_same_whatever_marks_they_have_D8(body: str) -> None:
    lines = body.replace("。", "。\n").replace(". ", ".\n").splitlines()
    marked = "# Head\n\n" + "".join(f"* **{line.strip()}**\n" for line in reversed(lines))
    assert _alike("\n".join(lines), marked, "We never answer mail on a Sunday evening.") == (
        Alike(files=("f0.md", "f1.md"), exact=True, share=1.0),
    )


def test_wrapping_makes_no_difference_D8() -> None:
    assert [one.exact for one in _alike(LONG, re.sub(r"(\S+ \S+ \S+) ", r"\1\n", LONG))] == [True]


@pytest.mark.parametrize("body", [LONG, CHINESE, JAPANESE])
@pytest.mark.parametrize(
    "change",
    [
        lambda body: body + "\nRosalind agreed in the corridor.\n",
        lambda body: body.replace("morning", "").replace("早上", "").replace("一時間", ""),
        lambda body: (
            body.replace("every Tuesday morning", "on Tuesdays").replace("并", "然后").replace("朝会", "会議")
        ),
    ],
)
def test_nearly_the_same_is_found_in_languages_with_and_without_spaces_D8(
    body: str, change: Callable[[str], str]
) -> None:
    (one,) = _alike(body, change(body))
    assert (one.files, one.exact) == (("f0.md", "f1.md"), False)


def test_each_file_is_in_one_group_of_a_sort_D8() -> None:
    found = _alike(LONG, LONG, LONG, LONG + "Rosalind agreed.", CHINESE, CHINESE)
    assert [(one.files, one.exact) for one in found] == [
        (("f0.md", "f1.md", "f2.md"), True),
        (("f4.md", "f5.md"), True),
        (("f0.md", "f3.md"), False),
    ]


def test_a_header_makes_no_difference_but_for_what_it_says_D8() -> None:
    files = {
        "a.md": _file(LONG, name="Deploys", about="We deploy the storefront with kiln"),
        "b.md": LONG.encode(),
        "c.md": b"---\nname: Deploys\nmetadata:\n  type: feedback\n---\n" + LONG.encode(),
    }
    assert [(one.files, one.exact) for one in duplicates(files)] == [(("a.md", "b.md", "c.md"), True)]


# -- not alike -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    [
        "Host {}: Debian 12, port 22, patched monthly.",
        "{} prefers dark mode.",
        "{}：端口 22，每月打补丁。",
        "# {}\n\n- owner: platform\n- port: 22\n- backup: nightly\n- reach: bastion\n",
        "",
        "TODO",
    ],
)
@pytest.mark.parametrize("count", [2, 30])
def test_short_files_after_one_pattern_are_not_alike_D8(pattern: str, count: int) -> None:
    names = [
        first + last
        for first in ("Ana", "Ben", "Cleo", "Dirk", "Eva", "Finn")
        for last in ("ko", "li", "ma", "ne", "so")
    ]
    files = {f"{name}.md": _file(pattern.format(name), name=name) for name in names[:count]}
    assert duplicates(files) == ()


def test_a_figure_on_each_side_makes_them_two_D8() -> None:
    assert _alike(LONG + "The budget is 40.", LONG + "The budget is 50.") == ()


def test_files_without_words_are_like_no_other_D8() -> None:
    assert duplicates({"a.md": b"", "b.md": b"", "c.md": b"---\n---\n", "d.md": b"\xff\xfe\x00"}) == ()


# -- figures ---------------------------------------------------------------------------------------------

MEMORIES = {
    path.relative_to(RECALL).as_posix(): path.read_bytes()
    for path in sorted(RECALL.rglob("*.md"))
    if path.name not in {"MEMORY.md", "README.md"}
}


def test_no_false_alarm_on_memories_that_differ_D8() -> None:
    assert len(MEMORIES) > 150
    assert duplicates(MEMORIES) == ()


def _sentences(body: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?。！？])\s*|\n+", body) if part.strip()]


def _marked(read: Topic, _: random.Random) -> bytes:
    return _file(
        "".join(f"* {line}\n" for line in read.body.splitlines() if line.strip()), about=read.description
    )


def _longer(read: Topic, _: random.Random) -> bytes:
    return _file(
        f"{read.body}\nRosalind read this in the corridor.\n", name=read.name, about=read.description
    )


def _thinner(read: Topic, rng: random.Random) -> bytes:
    parts = re.split(r"(\s+)", read.body)
    kept = [part for part in parts if not part.strip() or re.search(r"\d", part) or rng.random() > 0.1]
    return _file("".join(kept), name=read.name, about=read.description)


def _retitled(read: Topic, rng: random.Random) -> bytes:
    parts = _sentences(read.body)
    rng.shuffle(parts)
    return _file("\n".join(parts), name="A note", about=read.description)


@pytest.mark.parametrize(
    ("copied", "least"), [(_marked, 1.0), (_longer, 0.97), (_thinner, 0.97), (_retitled, 0.7)]
)
def test_planted_copies_are_found_and_nothing_else_D8(
    copied: Callable[[Topic, random.Random], bytes], least: float
) -> None:
    """60 copies among 180 memories in two languages; the share found is the figure of the docs."""
    rng = random.Random(11)
    names = rng.sample(sorted(MEMORIES), 60)
    planted = {(name, name.replace(".md", "_copy.md")) for name in names}
    copies = {copy: copied(parse(MEMORIES[name], filename=name), rng) for name, copy in planted}
    found = {tuple(sorted(one.files, key=len)) for one in duplicates(MEMORIES | copies)}
    assert found <= planted
    assert len(found) >= least * len(planted)

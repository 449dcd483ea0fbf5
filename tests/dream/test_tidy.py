"""Without a model: the index is put right, everything else is proposed, no topic changes (D5, D8)."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memdir.dream.files import Snapshot
from memdir.dream.stale import stale
from memdir.dream.tidy import tidy
from memdir.memory import entrypoint
from memdir.memory.topic import render
from memdir.recall import surface

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
RECALL = Path(__file__).parent.parent / "data" / "recall"


def _ns(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000_000_000


def _snapshot(files: dict[str, bytes], *, days: int = 20) -> Snapshot:
    return Snapshot(files=files, mtimes=dict.fromkeys(files, _ns(NOW - timedelta(days=days))))


def _file(body: str, *, name: str = "note", about: str | None = None) -> bytes:
    return render(name=name, description=about, type="project", body=body).encode()


# -- stale dates -----------------------------------------------------------------------------------------

WRITTEN = date(2026, 3, 4)
STALE = {
    "We ship tomorrow.": "2026-03-05",
    "The freeze starts next Tuesday": "2026-03-10",
    "Ana said no three days ago": "2026-03-01",
    "The audit is next week": "the week of 2026-03-09",
    "Gestern haben wir uns für kiln entschieden": "2026-03-03",
    "Nächste Woche kommt das Audit": "the week of 2026-03-09",
    "vor zwei Wochen beschlossen": "2026-02-18",
    "Ayer lo decidimos": "2026-03-03",
    "El contrato termina el mes que viene": "2026-04",
    "下周三上线": "2026-03-11",
    "昨天定的方案": "2026-03-03",
    "来週の月曜にリリース": "2026-03-09",
    "昨日決めた": "2026-03-03",
}
NOT_STALE = [
    "We deploy on Fridays",
    "Never deploy on Friday",
    "every Tuesday, and each second Monday",
    "jeden Dienstag, guten Morgen",
    "todos los martes",
    "每周三发布",
    "毎週の月曜日",
    "On 2026-03-01 we said that we ship tomorrow",
    "Am 1. März 2026 hieß es: morgen",
    "2026年3月1日：明天上线",
    "by March 5, or in April",
    "close the books at the end of the month",
    "`git log --since yesterday`",
    "forecasts come from tomorrow.io",
    "retention: 30 days, retry in 5 minutes",
]


@pytest.mark.parametrize("line", STALE)
def test_a_date_that_was_right_on_one_day_is_found_in_five_languages_D8(line: str) -> None:
    (one,) = stale(_file(f"# Head\n\n{line}\n"), written=WRITTEN)
    assert (one.line, one.meant) == (8, STALE[line])


@pytest.mark.parametrize("line", NOT_STALE)
def test_what_can_be_understood_on_any_day_is_not_stale_D8(line: str) -> None:
    assert stale(_file(line), written=WRITTEN) == ()


def test_dated_headings_code_and_descriptions_count_for_what_they_are_D8() -> None:
    text = "## 2026-03-01\nwe ship tomorrow\n## Plans\n```\nyesterday\n```\nwe ship tomorrow\n"
    assert [one.line for one in stale(text.encode(), written=WRITTEN)] == [7]
    assert [one.line for one in stale(_file("", about="We ship tomorrow"), written=WRITTEN)] == [3]


def test_what_was_written_today_is_not_stale_yet_D8() -> None:
    files = {"a.md": _file("We ship tomorrow.", about="Ships")}
    kinds = [[one.kind for one in tidy(_snapshot(files, days=days), now=NOW).proposals] for days in (0, 1)]
    assert kinds == [[], ["stale date"]]


# -- sizes -----------------------------------------------------------------------------------------------


def test_what_recall_cannot_show_whole_is_told_R6() -> None:
    for body in ("x\n" * 180, "x" * 4_000, "x\n" * 260, "x" * 5_000, "店" * 1_400):
        data = _file(body)
        kinds = [one.kind for one in tidy(_snapshot({"a.md": data}), now=NOW).proposals]
        assert kinds == ["oversize"] * surface.cut(data).partial


# -- the index -------------------------------------------------------------------------------------------


def test_only_the_index_changes_and_its_bytes_keep_their_encoding_D8() -> None:
    files = {"a.md": _file("Use tabs."), "MEMORY.md": "# Mine\r\n- [G](gone.md) — x\r\n".encode("utf-16")}
    before = _snapshot(files)
    done = tidy(before, now=NOW)
    assert done.after.files["MEMORY.md"].decode("utf-16") == "# Mine\r\n- [note](a.md) — Use tabs.\r\n"
    assert done.after.files["a.md"] is files["a.md"]
    assert done.after.mtimes == {"a.md": before.mtimes["a.md"]}
    assert len(done.did) == 2


def test_a_broken_index_is_left_alone_and_told_D8() -> None:
    before = _snapshot({"a.md": _file("Use tabs."), "MEMORY.md": "- [A](a.md)\n".encode("utf-16") + b"x"})
    done = tidy(before, now=NOW)
    assert done.after is before
    assert [one.kind for one in done.proposals] == ["index"]


def test_an_empty_directory_stays_empty_D8() -> None:
    done = tidy(_snapshot({}), now=NOW)
    assert (done.after.files, done.proposals, done.did) == ({}, (), ())


def test_files_beside_the_snapshot_keep_their_entries_D8() -> None:
    before = _snapshot({"MEMORY.md": b"- [L](link.md) - a link\n"})
    assert tidy(before, now=NOW, besides=["link.md"]).did == ()


# -- planted ---------------------------------------------------------------------------------------------

Plant = Callable[[dict[str, bytes], str], tuple[str, tuple[str, ...]]]


def _exact(files: dict[str, bytes], name: str) -> tuple[str, tuple[str, ...]]:
    files[f"zz_{name}"] = files[name]
    return "duplicate", (name, f"zz_{name}")


def _near(files: dict[str, bytes], name: str) -> tuple[str, tuple[str, ...]]:
    files[f"zz_{name}"] = files[name] + b"\nRosalind read this in the corridor.\n"
    return "near duplicate", (name, f"zz_{name}")


def _stale(files: dict[str, bytes], name: str) -> tuple[str, tuple[str, ...]]:
    files[name] += f"\n{random.Random(name).choice(list(STALE))}\n".encode()
    return "stale date", (name,)


def _big(files: dict[str, bytes], name: str) -> tuple[str, tuple[str, ...]]:
    files[name] += "".join(f"\n{name} {number}" for number in range(300)).encode()
    return "oversize", (name,)


@pytest.mark.parametrize("folder", ["dotfiles", "ml-platform", "mobile", "webshop", "支付网关"])
@pytest.mark.parametrize("seed", range(4))
def test_each_planted_fault_is_found_once_and_nothing_else_D8(folder: str, seed: int) -> None:
    rng = random.Random(f"{folder} {seed}")
    files = {path.name: path.read_bytes() for path in sorted((RECALL / folder).glob("*.md"))}
    known: list[tuple[str, tuple[str, ...]]]
    known = [(one.kind, one.files) for one in tidy(_snapshot(files), now=NOW).proposals]
    assert [kind for kind, _ in known] in ([], ["stale date"])  # three "last year" in five directories
    bad = {file for _, names in known for file in names}
    chosen = rng.sample(sorted(set(files) - {"MEMORY.md"} - bad), 8)
    plants: list[Plant] = [_exact, _near, _stale, _big] * 2
    planted = [plant(files, name) for plant, name in zip(plants, chosen, strict=True)]
    _break(files, rng)
    before = _snapshot(files)
    done = tidy(before, now=NOW)
    assert sorted((one.kind, tuple(sorted(one.files, key=len))) for one in done.proposals) == sorted(
        planted + known
    )
    assert {file: data for file, data in done.after.files.items() if file != "MEMORY.md"} == {
        file: data for file, data in files.items() if file != "MEMORY.md"
    }
    index = done.after.index.decode()
    assert sorted(pointer.file for pointer in entrypoint.pointers(index)) == list(before.topics)
    assert "<!-- kept -->\nA sentence of a person.\n" in index
    assert not entrypoint.load(index).truncated
    again = tidy(done.after, now=NOW)
    assert (again.after, again.did, again.proposals) == (done.after, (), done.proposals)


def _break(files: dict[str, bytes], rng: random.Random) -> None:
    """Entries out, in twice, dead, too long; blank lines to the limits; and a person's words in between."""
    lines = files["MEMORY.md"].decode().splitlines(keepends=True)
    entries = [line for line in lines if line.startswith("- [")]
    out, twice, long = rng.sample(entries, 3)
    lines = [line for line in lines if line != out]
    lines = [
        line[:-1] + line.split(")", 1)[1].rstrip() * 8 + "\n" if line == long else line for line in lines
    ]
    lines.insert(rng.randrange(len(lines)), twice)
    lines += [f"- [Gone](gone_{number}.md) — x\n" for number in range(3)]
    lines += ["\n" * 200, "<!-- kept -->\n", "A sentence of a person.\n"]
    files["MEMORY.md"] = "".join(lines).encode()

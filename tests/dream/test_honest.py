"""What a good model does to memories, and no check may hold up (D8)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

import pytest

from memdir.dream.checks import Limits, check
from memdir.dream.checks.sources import Told
from memdir.dream.files import Snapshot
from memdir.dream.plan import derive, reasons
from memdir.dream.plan.provenance import settled
from memdir.dream.plan.reworded import says_the_same

TODAY = date(2026, 11, 20)


def memory(description: str, *lines: str, kind: str = "project") -> str:
    return (
        f"---\nname: {description}\ndescription: {description}\ntype: {kind}\n---\n" + "\n".join(lines) + "\n"
    )


@dataclass
class Work:
    """Memories of the first of October, and what is made of them. None: the file is deleted."""

    files: Mapping[str, str]
    made: Mapping[str, str | None]
    into: Mapping[str, str] = field(default_factory=dict)
    lines: Iterable[tuple[str, str, str]] = ()
    """Of which file, what was there, what is in its place."""
    told: Told | None = None
    why: str = "absolute date, or said there"
    older: str = ""
    """A file of a day before."""
    hooks: Mapping[str, str] = field(default_factory=dict)
    """What the index says of a file then, if it is something new."""

    @property
    def objections(self) -> list[str]:
        """What speaks against it."""
        moment = int(datetime(2026, 10, 1, 6, tzinfo=UTC).timestamp()) * 10**9
        left = {name: text for name, text in {**self.files, **self.made}.items() if text is not None}
        before, after = (
            {**one, "MEMORY.md": self._index(one, **hooks)}
            for one, hooks in ((self.files, {}), (left, self.hooks))
        )
        moments = {name: moment - 86_400 * 10**9 * (name == self.older) for name in before}
        was = Snapshot(files=_bytes(before), mtimes=moments)
        same = {name: moments[name] for name in after if before.get(name) == after[name]}
        now = Snapshot(files=_bytes(after), mtimes=same)
        files = [{"file": file, "into": into, "why": "same subject"} for file, into in self.into.items()]
        lines = [{"file": file, "was": old, "now": new, "why": self.why} for file, old, new in self.lines]
        given = reasons.read(json.dumps({"version": 1, "files": files, "lines": lines}).encode())
        plan = derive(was, now, given)
        told = self.told
        evidence = None if told is None else (lambda: told)
        found = check(
            was, settled(was, now, plan), plan, limits=Limits(), today=TODAY, evidence=evidence, reasons=given
        )
        return [f"{one.code} {one.file}: {one.reason}" for one in found]

    def _index(self, files: Mapping[str, str], **hooks: str) -> str:
        own = {f"{name}.md": hook for name, hook in hooks.items()}
        return "".join(f"- [{name[:-3]}]({name}) — {own.get(name, 'it')}\n" for name in sorted(files))


def _bytes(files: Mapping[str, str]) -> dict[str, bytes]:
    return {name: text.encode() for name, text in files.items()}


LATENCY = "https://grafana.frachtwerk.example/d/kra-lat-and-more"


def test_a_line_set_behind_one_that_ends_in_an_address_leaves_that_one_as_it_was_D8() -> None:
    files = {
        "oncall.md": memory("on-call", f"The schedule of PagerDuty is here: {LATENCY}"),
        "pages.md": memory("what pages", "P99 above 800 ms pages."),
    }
    both = memory(
        "on-call; what pages", f"The schedule of PagerDuty is here: {LATENCY}", "P99 above 800 ms pages."
    )
    work = Work(files, {"oncall.md": both, "pages.md": None}, into={"pages.md": "oncall.md"})
    assert work.objections == []


def test_a_line_behind_one_that_ends_in_an_address_goes_where_it_belongs_D8() -> None:
    files = {
        "boards.md": memory(
            "Grafana boards", f"- Routing latency: {LATENCY}", "- Costs: https://g.example/c"
        ),
        "latency.md": memory("latency", f"Routing latency dashboard: {LATENCY}", "P99 above 800 ms pages."),
    }
    both = memory(
        "Grafana boards; latency",
        f"- Routing latency: {LATENCY}",
        "  - P99 above 800 ms pages.",
        "- Costs: https://g.example/c",
    )
    said = ("latency.md", f"Routing latency dashboard: {LATENCY}", f"Routing latency: {LATENCY}")
    work = Work(
        files, {"boards.md": both, "latency.md": None}, into={"latency.md": "boards.md"}, lines=[said]
    )
    assert work.objections == []


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("李伟说深圳接口下周开始限流改成 10 次每秒", "李伟说深圳接口从 2026-11-23 开始限流改成 10 次每秒。"),
        (
            "Li Wei says the Shenzhen API allows 10 requests next week",
            "Li Wei says the Shenzhen API allows 10 requests from 2026-11-23.",
        ),
        (
            "Li Wei drosselt die Schnittstelle nächste Woche auf 10",
            "Li Wei drosselt die Schnittstelle ab 2026-11-23 auf 10.",
        ),
    ],
)
def test_next_week_in_a_conversation_may_become_a_day_of_that_week_D8(said: str, line: str) -> None:
    told = Told(person=(said,), said_on={date(2026, 11, 19): said})
    was = memory("API", "Li Wei, 李伟, looks after the Shenzhen API.")
    assert Work({"api.md": was}, {"api.md": was + line + "\n"}, told=told).objections == []


HOOKS = [
    (["Commit messages in English, at most 60 characters, no ticket number."], "commit messages in English"),
    (["no header, just a note: kranich is AGPL, the client MIT."], "kranich AGPL, client MIT"),
    (["Ab Dezember ist Joe nicht mehr Chef, sondern Aylin.", '"Joe" is Yusuf Kaya.'], "Yusuf Kaya; Aylin"),
    (["Money is always integer cents, never floats."], "money as integer cents"),
    (["Keep answers short and don't summarise the diff at the end."], "short answers"),
    (["Antworten kurz halten, keine Zusammenfassung am Ende."], "kurze Antworten"),
    (["回答要简短，不要总结。"], "回答要简短"),
    (["At most 60 characters, see the talk with Tomás about types, which we don't use."], "60 characters"),
    (["just a text without header: licence keys are with Ola"], "licence keys: Ola"),
    (['A price of 0 means "not quoted", not "free".'], "price 0 means not quoted"),
    (["Protobuf is generated by `tools/gen.sh`, never edit `gen/` by hand."], "protobuf, `tools/gen.sh`"),
    (["A wave of OTA is stopped when 1 % of the devices don't report."], "OTA, when a wave is stopped"),
    (["The merge freeze starts 2026-11-27 and ends 2027-01-04."], "merge freeze until 2027-01-04"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "hook"), HOOKS)
def test_a_hook_need_not_name_what_its_memory_says_no_to_besides_D8(lines: list[str], hook: str) -> None:
    files = {"it.md": memory("a thing", *lines)}
    assert Work(files, {}, hooks={"it": hook}).objections == []


@pytest.mark.parametrize(
    ("line", "hook"),
    [
        ("Never deploy the ledger on Fridays.", "deploy the ledger on Fridays"),
        ("Deploy the ledger on Fridays, not allowed.", "deploy the ledger on Fridays"),
        ("The ledger is deployed on Fridays, no longer.", "the ledger is deployed on Fridays"),
        ("Deploy the ledger on Fridays, which is not allowed.", "deploy the ledger on Fridays"),
        ("Deploy the ledger on Fridays? No.", "deploy the ledger on Fridays"),
        ("Integration tests use a database, never mock it.", "integration tests mock the database"),
        ("Das Ledger deployen wir freitags nicht.", "Ledger freitags deployen"),
        ("Deploy the ledger on Fridays.", "never deploy the ledger on Fridays"),
    ],
)
def test_a_hook_that_says_the_opposite_is_told_of_D8(line: str, hook: str) -> None:
    files = {"it.md": memory("a thing", line)}
    assert Work(files, {}, hooks={"it": hook}).objections != []


def test_the_descriptions_of_two_rules_that_are_one_may_stand_side_by_side_D8() -> None:
    one, two = (
        "integration tests hit a real database, never mocks",
        "do not mock the database in integration tests",
    )
    files = {
        "tests.md": memory(one, "Integration tests must hit a real Postgres, never mocks.", kind="feedback"),
        "mocks.md": memory(two, "Do not mock the database in integration tests.", kind="feedback"),
    }
    both = files["tests.md"].replace(f"description: {one}", f"description: {one}; {two}")
    both += "Do not mock the database in integration tests.\n"
    assert Work(files, {"tests.md": both, "mocks.md": None}, into={"mocks.md": "tests.md"}).objections == []


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("Nadja ist nächste Woche im Urlaub.", "Nadja ist vom 2026-08-17 bis 2026-08-21 im Urlaub."),
        ("This quarter we migrate to Go 1.25.", "In Q4 2026 we migrate to Go 1.25."),
    ],
)
def test_a_span_made_of_dates_is_a_rewording_D8(was: str, now: str) -> None:
    assert says_the_same(was, now, "absolute date")


def test_a_line_in_a_paragraph_without_full_stops_may_be_corrected_D8() -> None:
    waves = "OTA updates are rolled out in three waves: 1 %, 10 %, 100 %, each 24 hours apart"
    stop = "A wave is stopped when more than 0.5 % of the devices are silent for an hour"
    files = {
        "ota.md": memory("OTA updates", waves, stop),
        "new.md": memory("waves", "Waves are 48 hours apart."),
    }
    now = files["ota.md"].replace("24", "48") + "\nWaves are 48 hours apart.\n"
    made = {
        "ota.md": now.replace("description: OTA updates", "description: OTA updates; waves"),
        "new.md": None,
    }
    work = Work(files, made, into={"new.md": "ota.md"}, lines=[("ota.md", waves, waves.replace("24", "48"))])
    assert [one.split()[0] for one in work.objections] == ["lost"]  # why 48, and not 24?
    work.why = "new.md: 48 hours apart now, no longer 24"
    assert work.objections == []


def test_a_sentence_may_begin_with_a_small_letter_in_a_new_line_D8() -> None:
    files = {
        "cluster.md": memory("cluster", "The cluster is in Frankfurt."),
        "upgrade.md": memory(
            "upgrade", "helios has had Kubernetes 1.31 since 2026-09-10.", "`work` has 12 nodes."
        ),
    }
    both = memory(
        "cluster; upgrade", "The cluster is in Frankfurt.", "`work` has 12 nodes.", "",
        "helios has had Kubernetes 1.31 since 2026-09-10.",
    )  # fmt: skip
    work = Work(files, {"cluster.md": both, "upgrade.md": None}, into={"upgrade.md": "cluster.md"})
    assert work.objections == []


@pytest.mark.parametrize(
    ("older", "why", "passes"),
    [
        ("sla.md", "new.md: until 2028-12-31, no longer 2026", True),
        ("sla.md", "contradicted, no longer 2026 but 2028", False),
        ("new.md", "new.md: until 2028-12-31, no longer 2026", False),
    ],
)
def test_a_date_is_corrected_by_one_that_a_younger_memory_gives_D8(
    older: str, why: str, passes: bool
) -> None:
    ends, renewed = "The contract ends 2026-12-31.", "Am 2026-09-23 wurde bis 2028-12-31 verlängert."
    files = {"sla.md": memory("SLA", ends), "new.md": memory("Vertrag", renewed)}
    made = {"sla.md": files["sla.md"].replace("2026-12-31", "2028-12-31")}
    lines = [("sla.md", ends, "The contract ends 2028-12-31.")]
    work = Work(files, made, lines=lines, why=why, older=older)
    assert [one.split()[0] for one in work.objections] == ([] if passes else ["dates"])


def test_a_month_that_the_person_named_gets_its_year_D8() -> None:
    said = "wir haben uns gestern für TimescaleDB entschieden, InfluxDB wird Ende Januar abgeschaltet"
    told = Told(person=(said,), said_on={date(2026, 11, 13): said})
    was = memory("where telemetry is stored", "Telemetry goes to InfluxDB.")
    line = (
        "2026-11-12 haben wir uns für TimescaleDB entschieden, InfluxDB wird Ende Januar 2027 abgeschaltet."
    )
    assert Work({"db.md": was}, {"db.md": f"{was}\n{line}\n"}, told=told).objections == []

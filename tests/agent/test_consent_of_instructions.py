"""What leads out of the project, or to credentials, is loaded only if the person agreed (I3)."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from memdir.agent.instructions import Consents, walk
from memdir.agent.instructions.reading import Look, take
from memdir.errors import UsageError
from tests.agent.house import House


def test_an_import_from_outside_waits_and_then_is_loaded_or_not_I3(house: House) -> None:
    there = house.file("~/notes/style.md", "Use tabs.")
    house.file("CLAUDE.md", "See @~/notes/style.md")
    (waiting,) = house.gather().waiting
    assert (waiting.path, waiting.by, waiting.why) == (there, house.project / "CLAUDE.md", "outside")
    assert waiting.words == (f"{house.project / 'CLAUDE.md'} brings in {there}, which is outside the project")
    assert "Use tabs." not in house.text()
    house.consents.decide(house.project, there, allowed=True)
    assert (house.names(), house.gather().outside) == (["CLAUDE.md", "~/notes/style.md"], ())
    house.consents.decide(house.project, there, allowed=False)
    assert (house.names(), house.gather().outside) == (["CLAUDE.md"], ())


@pytest.mark.parametrize("target", ["../secret.md", "~/secret.md", "{home}/secret.md", "x/../../secret.md"])
def test_no_spelling_leads_out_unasked_I3(house: House, target: str) -> None:
    there = house.file("~/secret.md", "Outside.")
    (house.project / "x").mkdir()
    house.file("CLAUDE.md", f"@{target.replace('{home}', str(house.home))}")
    assert (house.names(), house.gather().outside) == (["CLAUDE.md"], (there,))


@pytest.mark.parametrize(
    "name", ["CLAUDE.md", "CLAUDE.local.md", ".claude/rules/a.md", "linked.md", "d/a.md"]
)
def test_no_link_leads_out_unasked_I3(house: House, name: str) -> None:
    there = house.file("~/notes/a.md", "Outside.")
    if name == "d/a.md":
        house.link("d", there.parent)
    else:
        house.link(name, there)
    if name in ("linked.md", "d/a.md"):
        house.file("CLAUDE.md", f"@{name}")
    assert "Outside." not in house.text()
    assert house.gather().outside == (there,)


def test_imports_of_what_the_person_and_the_administrator_wrote_are_trusted_I3(house: House) -> None:
    house.file("~/.memdir/CLAUDE.md", "@~/notes/a.md")
    house.file("~/notes/a.md", "And @b.md")
    house.file("~/notes/b.md", "B.")
    house.managed[0].parent.mkdir()
    house.managed[0].write_text("@/etc/hostname @more.md")
    house.managed[0].with_name("more.md").write_text("More.")
    assert house.names()[-3:] == ["~/.memdir/CLAUDE.md", "~/notes/a.md", "~/notes/b.md"]
    assert house.gather().waiting == ()


def test_what_an_allowed_file_imports_is_asked_for_itself_I3(house: House) -> None:
    there = house.file("~/notes/a.md", "And @b.md")
    beside = house.file("~/notes/b.md", "B.")
    house.file("CLAUDE.md", "@~/notes/a.md")
    house.consents.decide(house.project, there, allowed=True)
    assert house.gather().outside == (beside,)


@pytest.mark.parametrize("name", ["~/.ssh/id_rsa", "~/.aws/credentials", ".env", "secrets/keys.md"])
def test_credentials_are_never_imported_without_a_word_for_them_I3(house: House, name: str) -> None:
    there = house.file(name, "hunter2")
    given = name if name.startswith("~/") else there
    house.file("CLAUDE.md", f"@{given}")
    house.file("~/.memdir/CLAUDE.md", f"@{given}")
    (waiting,) = house.gather().waiting
    assert (waiting.path, waiting.why) == (there, "credentials")
    assert waiting.words.endswith("which is where credentials are kept")
    house.consents.decide(house.project, there.parent, allowed=True)
    assert "hunter2" not in house.text(), "a folder is no word for the credentials in it"
    house.consents.decide(house.project, there, allowed=True)
    assert "hunter2" in house.text()


def test_a_link_to_credentials_waits_I3(house: House) -> None:
    house.file("~/.ssh/config", "Host x")
    house.link("CLAUDE.md", house.home / ".ssh" / "config")
    house.link("~safe.md", house.home / ".ssh" / "config")
    assert [one.why for one in house.gather().waiting] == ["credentials"]
    assert house.names() == []


def test_a_project_in_a_folder_that_is_called_secrets_can_be_worked_in_I3(house: House) -> None:
    house.project = house.cwd = house.home / "secrets" / "shop"
    house.file("CLAUDE.md", "See @docs/a.md")
    house.file("docs/a.md", "A.")
    assert house.names() == ["CLAUDE.md", "docs/a.md"]


# -- how it is kept --------------------------------------------------------------------------------------


@pytest.fixture
def consents(tmp_path: Path) -> Consents:
    return Consents(tmp_path / "state" / "consents.json")


ROOT, FILE = Path("/home/ada/shop"), Path("/home/ada/notes/a.md")


def test_a_decision_is_kept_by_working_tree_and_asked_once_I3(consents: Consents) -> None:
    assert consents.verdict(ROOT, FILE) is None
    consents.decide(ROOT, FILE, allowed=True)
    again = Consents(consents.path)
    assert (again.verdict(ROOT, FILE), consents.verdict(ROOT, FILE)) == (True, True)
    assert again.verdict(ROOT / "other", FILE) is None
    again.decide(ROOT, FILE, allowed=False)
    assert consents.verdict(ROOT, FILE) is False
    assert json.loads(consents.path.read_text()) == {str(ROOT): {"allowed": [], "refused": [str(FILE)]}}


def test_what_is_said_of_the_nearest_folder_counts_I3(consents: Consents) -> None:
    consents.decide(ROOT, FILE.parent, allowed=True)
    consents.decide(ROOT, FILE.with_name("b.md"), allowed=False)
    assert consents.verdict(ROOT, FILE) is True
    assert consents.verdict(ROOT, FILE, exactly=True) is None
    assert consents.verdict(ROOT, FILE.with_name("b.md")) is False
    assert consents.verdict(ROOT, FILE.parent.with_name("notes2")) is None


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
def test_decisions_are_for_their_owner_only_F8(consents: Consents) -> None:
    consents.decide(ROOT, FILE, allowed=True)
    assert stat.S_IMODE(consents.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(consents.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"/home/ada/shop": []}',
        '{"/home/ada/shop": {"allowed": "/home/ada/notes/a.md"}}',
        '{"/home/ada/shop": {"allowed": ["notes/a.md"]}}',
        "[" * 100_000,
        "\x00\xff",
    ],
)
def test_a_broken_file_is_no_consent_is_told_and_is_left_alone_I3(consents: Consents, text: str) -> None:
    consents.path.parent.mkdir()
    consents.path.write_text(text, encoding="latin-1")
    assert consents.verdict(ROOT, FILE) is None
    assert "can't be made out" in (consents.problem or "")
    with pytest.raises(UsageError, match="can't be made out") as caught:
        consents.decide(ROOT, FILE, allowed=True)
    assert "mend it" in (caught.value.hint or "")
    assert consents.path.read_text(encoding="latin-1") == text
    consents.path.unlink()
    assert (consents.verdict(ROOT, FILE), consents.problem) == (None, None)


def test_a_broken_file_is_among_the_problems_and_stops_nothing_I3(house: House) -> None:
    house.file("~/.memdir/consents.json", "{")
    house.file("~/notes/a.md", "A.")
    house.file("CLAUDE.md", "@~/notes/a.md")
    assert house.names() == ["CLAUDE.md"]
    assert "no file outside the project is loaded" in house.gather().problems[0]


def test_a_folder_in_its_place_is_told_I3(consents: Consents) -> None:
    consents.path.mkdir(parents=True)
    assert consents.verdict(ROOT, FILE) is None
    assert consents.problem


def test_a_name_that_is_no_utf_8_can_be_decided_on_I3(consents: Consents) -> None:
    odd = Path(os.fsdecode(b"/home/ada/\xff.md"))
    consents.decide(ROOT, odd, allowed=True)
    assert Consents(consents.path).verdict(ROOT, odd) is True


@pytest.mark.parametrize("given", ["@~/shop/README.md", "@~/linked.md"])
def test_what_a_trusted_file_imports_from_the_project_is_the_projects_I3(house: House, given: str) -> None:
    there = house.file("~/private.md", "Private.")
    house.file("~/.memdir/CLAUDE.md", given)
    house.file("README.md", "@~/private.md")
    (house.home / "linked.md").symlink_to(house.project / "README.md")
    assert "Private." not in house.text()
    assert house.gather().outside == (there,)


def test_a_link_of_the_project_that_a_trusted_file_imports_is_the_projects_I3(house: House) -> None:
    there = house.file("~/private.md", "Private.")
    house.file("~/.memdir/CLAUDE.md", "@~/shop/README.md")
    house.link("README.md", there)
    assert "Private." not in house.text()
    assert house.gather().outside == (there,)


@pytest.mark.parametrize("name", ["CLAUDE.md", "d/a.md"])
def test_a_link_put_in_the_way_between_a_look_and_the_reading_is_not_followed_I3(
    house: House, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    house.file("CLAUDE.md", "Ours. @d/a.md")
    house.file("d/a.md", "Ours too.")
    outside = house.file("~/notes/a.md", "Outside.")

    def swapped(found: Look, **given: Path | None) -> tuple[bytes, str]:
        if found.real == house.project / "CLAUDE.md" == house.project / name:
            found.real.unlink()
            found.real.symlink_to(outside)
        elif found.real == house.project / name:
            found.real.parent.rename(house.project / "e")
            found.real.parent.symlink_to(outside.parent)
        return take(found, **given)

    monkeypatch.setattr(walk, "take", swapped)
    found = house.gather()
    assert all("Outside." not in one.text for one in found.files)
    assert len(found.problems) == 1


def test_a_home_under_version_control_is_no_project_that_holds_all_in_it_I3(house: House) -> None:
    for name in (".git/objects", ".git/refs"):
        (house.home / name).mkdir(parents=True)
    (house.home / ".git/HEAD").write_text("ref: refs/heads/main\n")
    diary = house.file("~/notes/diary.md", "Diary.")
    house.file("~/CLAUDE.md", "Home. @notes/diary.md")
    house.cwd = house.file("~/downloads/d/CLAUDE.md", "@own.md @../notes/diary.md").parent
    house.file("~/downloads/d/own.md", "Own. @~/notes/diary.md")
    house.file("~/downloads/d/sub/CLAUDE.md", "Nested. @../own.md @~/notes/more.md")
    more = house.file("~/notes/more.md", "More.")
    assert house.names() == [
        "~/CLAUDE.md",
        "~/notes/diary.md",
        "~/downloads/d/CLAUDE.md",
        "~/downloads/d/own.md",
    ]
    (house.home / "CLAUDE.md").unlink()
    assert (house.names()[-1], house.gather().outside) == ("~/downloads/d/own.md", (diary,))
    demand = house.on_demand()
    (message,) = house.collect(demand, house.call(house.cwd / "sub/a.py"))
    assert "Nested." in message.text
    assert [one.path for one in demand.waiting] == [diary, more]
    house.consents.decide(house.home, diary, allowed=True)
    assert "~/notes/diary.md" in house.names()

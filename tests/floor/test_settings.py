"""Who may set what, what wins, and whether memory is on (S1-S5, P6)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memdir import paths, settings
from memdir.errors import SettingsError
from memdir.settings import Loaded, Settings, memory_switch
from tests.cases import REPO

PUBLISHED = REPO / "src" / "memdir" / "settings.schema.json"


class Desk:
    """A project and a home, and the settings files that can be there."""

    def __init__(self, top: Path) -> None:
        self.home, self.project = top / "home", top / "project"
        self.managed = top / "managed.json"
        for folder in (self.home, self.project):
            folder.mkdir()

    @property
    def local(self) -> Path:
        return self.project / ".memdir" / "settings.local.json"

    @property
    def files(self) -> dict[str, Path]:
        return {
            "managed": self.managed,
            "local": self.local,
            "project": self.local.with_name("settings.json"),
            "user": self.home / ".memdir" / "settings.json",
        }

    def put(self, source: str, values: Any) -> Path:
        path = self.files[source]
        path.parent.mkdir(exist_ok=True)
        path.write_text(values if isinstance(values, str) else json.dumps(values))
        return path

    def load(self, overrides: dict[str, Any] | None = None, **environment: str) -> Loaded:
        paths.forget_roots()
        here = {"HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin", **environment}
        return settings.load(cwd=self.project, environment=here, overrides=overrides, managed=self.managed)

    def git(self, *arguments: str, cwd: Path | None = None) -> None:
        name = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
        subprocess.run(["git", *name, *arguments], cwd=cwd or self.project, check=True, capture_output=True)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# -- sources and their order (S1, S2, S5) ---------------------------------------------------------------


def test_without_any_source_the_defaults_hold_S5(desk: Desk) -> None:
    got = desk.load()
    assert (got.settings, got.sources, got.warnings, got.memory_directories) == (Settings(), (), (), ())
    assert got.said_at == {}
    features = got.settings.features
    on = ("extract", "inject_index", "recall", "session_memory", "dream", "instructions")
    assert all(getattr(features, name) is True for name in on)
    assert (features.team, features.daily_log, features.extract_every_turns) == (False, False, 1)
    assert (got.settings.layout, got.settings.model, got.settings.auto_memory_enabled) == (
        "memdir",
        "local",
        True,
    )
    assert (got.settings.extract.max_turns, got.settings.extract.drain_seconds) == (5, 60)


def test_the_strongest_source_wins_key_by_key_S1(desk: Desk) -> None:
    desk.put("managed", {"model": "managed"})
    desk.put("local", {"model": "local", "features": {"extractEveryTurns": 4, "dream": False}})
    desk.put("project", {"model": "local", "features": {"extractEveryTurns": 5, "team": True}})
    desk.put("user", {"model": "user", "features": {"extractEveryTurns": 6}, "recall": {"model": "small"}})
    got = desk.load(
        {"model": "flag", "features": {"extractEveryTurns": 2}}, MEMDIR_FEATURES_EXTRACT_EVERY_TURNS="3"
    )
    assert got.settings.model == "managed"
    assert got.settings.features.extract_every_turns == 2
    assert (got.settings.features.dream, got.settings.features.team) == (False, True)
    assert got.settings.recall.model == "small"
    assert [source.name for source in got.sources] == ["managed", "cli", "env", "local", "project", "user"]
    assert got.sources[2].keys == ("features.extractEveryTurns",)
    assert got.said_at == {
        "model": f"{desk.managed}: model",
        "features.extractEveryTurns": "command line: features.extractEveryTurns",
        "features.dream": f"{desk.local}: features.dream",
        "features.team": f"{desk.files['project']}: features.team",
        "recall.model": f"{desk.files['user']}: recall.model",
    }


def test_the_order_of_all_sources_S1(desk: Desk) -> None:
    turns = {source: number for number, source in enumerate(desk.files, 1)}
    for source, number in turns.items():
        desk.put(source, {"extract": {"maxTurns": number}})
    flags: dict[str, Any] = {"extract.maxTurns": 8}
    environment = {"MEMDIR_EXTRACT_MAX_TURNS": "9"}
    turns |= {"cli": 8, "env": 9}
    won = []
    for gone in ("managed", "cli", "env", "local", "project", "user"):
        won.append(desk.load(flags, **environment).settings.extract.max_turns)
        if gone == "cli":
            flags["extract.maxTurns"] = None  # not given
        elif gone == "env":
            environment = {}
        else:
            desk.files[gone].unlink()
    assert won == [turns[source] for source in ("managed", "cli", "env", "local", "project", "user")]
    assert desk.load(flags).settings.extract.max_turns == 5


@pytest.mark.parametrize("word", ["0", "false", "NO", "off"])
def test_each_feature_is_an_environment_variable_S5(desk: Desk, word: str) -> None:
    got = desk.load(
        MEMDIR_FEATURES_INJECT_INDEX=word, MEMDIR_AUTO_MEMORY_ENABLED=word, MEMDIR_MODEL="anthropic:x"
    )
    assert (got.settings.features.inject_index, got.settings.auto_memory_enabled) == (False, False)
    assert (got.settings.model, got.warnings) == ("anthropic:x", ())


def test_an_empty_variable_says_nothing_S1(desk: Desk) -> None:
    assert desk.load(MEMDIR_MODEL="", MEMDIR_FEATURES_DREAM="").settings == Settings()


def test_dotted_and_nested_flags_are_the_same_S1(desk: Desk) -> None:
    assert desk.load({"features.dream": False}).settings == desk.load({"features": {"dream": False}}).settings
    assert desk.load({"features.dream": False}).settings.features.dream is False


def test_the_project_file_is_that_of_the_main_checkout(desk: Desk) -> None:
    desk.git("init", "-q")
    desk.git("commit", "-q", "--allow-empty", "-m", "one")
    desk.git("worktree", "add", "-q", "../tree")
    desk.put("project", {"extract": {"maxTurns": 3}})
    here = {"HOME": str(desk.home)}
    got = settings.load(cwd=desk.project.parent / "tree", environment=here, managed=desk.managed)
    assert got.settings.extract.max_turns == 3


def test_the_users_file_goes_with_our_home(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "settings.json").write_text('{"model": "ours"}')
    assert desk.load(MEMDIR_HOME=str(tmp_path / "ours")).settings.model == "ours"


# -- what is wrong is told, and never in silence (S1) ---------------------------------------------------


def test_unknown_keys_warn_and_never_fail_S1(desk: Desk) -> None:
    path = desk.put("user", {"modle": "x", "features": {"extrakt": False}, "$schema": "x", "model": "good"})
    got = desk.load(MEMDIR_FEATURES_DREEM="0", MEMDIR_SOMETHING="1")
    assert got.settings == Settings(model="good")
    assert got.warnings == (
        "environment: MEMDIR_FEATURES_DREEM: not a setting; did you mean MEMDIR_FEATURES_DREAM?",
        f"{path}: modle: not a setting; did you mean model?",
        f"{path}: features.extrakt: not a setting; did you mean features.extract?",
    )


@pytest.mark.parametrize(
    ("values", "key", "allowed"),
    [
        ({"layout": "cloud"}, "layout", 'one of "claude", "memdir"'),
        ({"features": {"extractEveryTurns": 0}}, "features.extractEveryTurns", "a whole number, at least 1"),
        (
            {"features": {"extractEveryTurns": "3"}},
            "features.extractEveryTurns",
            "a whole number, at least 1",
        ),
        ({"extract": {"drainSeconds": -1}}, "extract.drainSeconds", "a number, at least 0, at most 3600"),
        ({"features": {"dream": "sometimes"}}, "features.dream", "true or false"),
        ({"features": True}, "features", "an object, {…}"),
        ({"model": None}, "model", "a text"),
        ({"recall": {"model": 3}}, "recall.model", "a text or null"),
    ],
)
def test_a_wrong_value_is_told_and_the_next_source_counts_S1(
    desk: Desk, values: dict[str, Any], key: str, allowed: str
) -> None:
    path = desk.put("managed", values)
    desk.put("user", {"layout": "claude", "features": {"extractEveryTurns": 7}, "model": "mine"})
    got = desk.load()
    assert got.warnings == (f"{path}: {key}: must be {allowed}; ignored",)
    wanted = Settings(layout="claude", features=settings.Features(extract_every_turns=7), model="mine")
    assert got.settings == wanted


def test_a_wrong_variable_is_told_by_its_name_S1(desk: Desk) -> None:
    got = desk.load(MEMDIR_FEATURES_EXTRACT_EVERY_TURNS="often")
    (warning,) = got.warnings
    assert warning == (
        "environment: MEMDIR_FEATURES_EXTRACT_EVERY_TURNS: must be a whole number, at least 1; ignored"
    )


@pytest.mark.parametrize("value", [False, "false", "off", "No"])
def test_an_opt_out_counts_also_in_quotes_S3(desk: Desk, value: object) -> None:
    desk.put("user", {"autoMemoryEnabled": value})
    assert desk.load().settings.auto_memory_enabled is False


@pytest.mark.parametrize("source", ["managed", "local", "project", "user"])
def test_a_broken_file_is_an_error_with_line_and_cure_S1(desk: Desk, source: str) -> None:
    """It may say that memory is off; that must not be dropped in silence."""
    path = desk.put(source, '{\n  "autoMemoryEnabled": false,\n}')
    with pytest.raises(SettingsError, match="line 3, column 1") as caught:
        desk.load()
    assert str(path) in str(caught.value)
    assert caught.value.hint
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'"' + b"x" * 1_100_000 + b'"',
        b'{"model": ' + b"9" * 5_000 + b"}",
        b'{"autoMemoryDirectory": ' + b"[" * 40 + b"]" * 40 + b"}",
        b'{"features": ' + b'{"x": ' * 300 + b"1" + b"}" * 301,
        b'{"model": "\\ud800"}',
        b'{"\\ud800": 1}',
        b'{"extract": {"drainSeconds": NaN}}',
        b'{"extract": {"drainSeconds": 1e999}}',
    ],
)
def test_what_is_no_json_object_is_an_error_S1(desk: Desk, content: bytes) -> None:
    desk.put("user", "").write_bytes(content)
    with pytest.raises(SettingsError):
        desk.load()


def test_a_folder_in_the_place_of_a_file_is_an_error_S1(desk: Desk) -> None:
    desk.files["user"].mkdir(parents=True)
    with pytest.raises(SettingsError, match="folder"):
        desk.load()


def test_a_byte_order_mark_does_no_harm_S1(desk: Desk) -> None:
    desk.put("user", "").write_bytes(b'\xef\xbb\xbf{"model": "x"}')
    assert desk.load().settings.model == "x"


# -- trust (S2, P6) -------------------------------------------------------------------------------------

MOVED = {
    "autoMemoryDirectory": "/srv/mem",
    "baseDirectory": "/srv/base",
    "layout": "claude",
    "model": "theirs",
}


def test_trusted_sources_name_memory_directories_in_order_S2(desk: Desk) -> None:
    desk.git("init", "-q")
    for source in desk.files:
        desk.put(source, {"autoMemoryDirectory": f"/srv/{source}"})
    got = desk.load({"autoMemoryDirectory": "/srv/cli"}, MEMDIR_AUTO_MEMORY_DIRECTORY="/srv/env")
    names = ["managed", "cli", "env", "local", "user"]
    assert got.memory_directories == tuple((name, f"/srv/{name}") for name in names)
    assert got.settings.auto_memory_directory == "/srv/managed"


def test_a_wrong_kind_of_directory_is_left_to_be_refused_P5(desk: Desk) -> None:
    desk.put("managed", {"autoMemoryDirectory": 42})
    desk.put("user", {"autoMemoryDirectory": "/srv/mine"})
    got = desk.load()
    assert got.memory_directories == (("managed", 42), ("user", "/srv/mine"))
    assert (got.settings.auto_memory_directory, got.warnings) == ("/srv/mine", ())


def test_a_project_moves_nothing_P6(desk: Desk) -> None:
    path = desk.put("project", MOVED)
    got = desk.load()
    assert got.settings == Settings()
    assert (got.memory_directories, got.said_at) == ((), {})
    keys = ("layout", "baseDirectory", "autoMemoryDirectory")
    cure = "put it into your own settings.json"
    assert got.warnings == (
        *(f"{path}: {key}: a project may not set this; {cure}" for key in keys),
        f"{path}: model: a project may not choose a model that your conversations go to; {cure}",
    )


THEIRS = {
    "model": "anthropic:claude-fable-5-2",
    "recall": {"model": "openai:m"},
    "extract": {"model": "ollama:m:cloud", "maxTurns": 2},
    "dream": {"model": None},
}
SERVERS = {
    "model": "http://gw.example/v1:m",
    "recall": {"model": "HTTPS://gw.example/v1:m"},
    "extract": {"model": " https://gw.example/v1/messages:m", "maxTurns": 2},
    "dream": {"model": "http://127.0.0.1:9/v1:m"},
}
MODELS = ("model", "recall.model", "extract.model", "dream.model")


@pytest.mark.parametrize("theirs", [SERVERS, THEIRS], ids=["addresses", "names"])
def test_a_project_chooses_neither_who_hears_a_conversation_nor_who_pays_P6(
    desk: Desk, theirs: dict[str, Any]
) -> None:
    """A cloned repository could have all that is said sent to anybody, on the bill of who cloned it."""
    path = desk.put("project", theirs)
    desk.put("user", {"model": "anthropic:mine", "dream": {"model": "ollama:mine"}})
    got = desk.load()
    assert got.settings == Settings(
        model="anthropic:mine",
        extract=settings.ExtractSettings(max_turns=2),
        dream=settings.DreamSettings(model="ollama:mine"),
    )
    cure = "put it into your own settings.json"
    words = f"a project may not choose a model that your conversations go to; {cure}"
    assert got.warnings == tuple(f"{path}: {key}: {words}" for key in MODELS)


def test_a_project_may_have_everything_done_by_rules_P6(desk: Desk) -> None:
    desk.put("project", {"model": " local ", "extract": {"model": "local"}})
    desk.put("user", {"model": "anthropic:mine", "extract": {"model": "openai:mine"}})
    got = desk.load()
    assert (got.settings.model.strip(), got.settings.extract.model, got.warnings) == ("local", "local", ())


MINE = 1_000_000


@pytest.mark.parametrize(
    ("mine", "theirs", "comes_to"),
    [
        ({}, 500, 500),
        ({}, 2_000_000, 2_000_000),
        ({}, 2_000_001, 2_000_000),
        ({}, None, 2_000_000),
        ({"inputTokensPerDay": MINE}, 0, 0),
        ({"inputTokensPerDay": MINE}, MINE, MINE),
        ({"inputTokensPerDay": MINE}, 2_000_000, MINE),
        ({"inputTokensPerDay": MINE}, None, MINE),
        ({"inputTokensPerDay": 0}, 1, 0),
        ({"inputTokensPerDay": None}, 10**9, 10**9),
        ({"inputTokensPerDay": None}, None, None),
        ({"inputTokensPerDay": "much"}, 10**9, 2_000_000),
    ],
)
@pytest.mark.parametrize("source", ["project", "local"])
def test_a_project_may_only_lower_the_budget_H3_P6(
    desk: Desk, source: str, mine: dict[str, Any], theirs: int | None, comes_to: int | None
) -> None:
    """The folder is no repository: its local file may have come with it."""
    path = desk.put(source, {"budget": {"inputTokensPerDay": theirs}, "features": {"dream": False}})
    desk.put("user", {"budget": mine})
    got = desk.load()
    assert got.settings.budget.input_tokens_per_day == comes_to
    assert got.settings.features.dream is False
    told = [one for one in got.warnings if one.startswith(f"{path}: budget.inputTokensPerDay")]
    assert len(told) == (theirs != comes_to)
    assert all("a project may only set less than your own" in one for one in told)


def test_a_local_file_of_the_persons_own_sets_any_budget_H3_P6(desk: Desk) -> None:
    desk.git("init", "-q")
    desk.put("local", {"budget": {"inputTokensPerDay": None}})
    desk.put("user", {"budget": {"inputTokensPerDay": MINE}})
    assert desk.load().settings.budget.input_tokens_per_day is None


@pytest.mark.parametrize("value", ["much", -1, True, 2.5, []])
def test_what_is_no_budget_is_told_and_the_next_source_counts_H3_S1(desk: Desk, value: Any) -> None:
    path = desk.put("project", {"budget": {"inputTokensPerDay": value}})
    desk.put("user", {"budget": {"inputTokensPerDay": MINE}})
    got = desk.load()
    assert got.settings.budget.input_tokens_per_day == MINE
    assert got.warnings == (
        f"{path}: budget.inputTokensPerDay: must be a whole number, at least 0 or null; ignored",
    )


@pytest.mark.parametrize(("word", "comes_to"), [("0", 0), ("300000", 300_000), ("null", None)])
def test_the_budget_is_an_environment_variable_H3_S5(desk: Desk, word: str, comes_to: int | None) -> None:
    got = desk.load(MEMDIR_BUDGET_INPUT_TOKENS_PER_DAY=word)
    assert (got.settings.budget.input_tokens_per_day, got.warnings) == (comes_to, ())


@pytest.mark.parametrize("source", ["managed", "local", "project", "user"])
def test_a_model_without_a_name_is_not_set_S1(desk: Desk, source: str) -> None:
    desk.put(source, {"model": "", "recall": {"model": "  "}})
    got = desk.load(MEMDIR_EXTRACT_MODEL=" ")
    assert (got.settings, got.warnings, got.said_at) == (Settings(), (), {})
    assert desk.load({"model": ""}).settings.model == "", "on the command line it is a mistake"


def test_a_model_that_is_no_text_is_told_S1(desk: Desk) -> None:
    path = desk.put("user", {"model": 5, "extract": {"model": ["m"]}})
    assert desk.load().warnings == (
        f"{path}: model: must be a text; ignored",
        f"{path}: extract.model: must be a text or null; ignored",
    )


def test_the_dreams_model_is_a_variable_too_S1(desk: Desk) -> None:
    assert desk.load(MEMDIR_DREAM_MODEL="vllm:m").settings.dream.model == "vllm:m"


def test_a_local_file_chooses_models_if_it_did_not_come_with_the_project_P6(desk: Desk) -> None:
    desk.put("local", SERVERS)
    assert desk.load().settings.model == "local", "outside git"
    desk.git("init", "-q")
    assert desk.load().settings.model == "http://gw.example/v1:m", "untracked"
    desk.git("add", "-f", str(desk.local))
    got = desk.load()
    assert got.settings.model == "local", "tracked"
    assert len(got.warnings) == 4
    assert f"the repository {desk.project} tracks it" in got.warnings[0]


@pytest.mark.parametrize("source", ["managed", "user"])
def test_trusted_files_choose_models_S2(desk: Desk, source: str) -> None:
    desk.put(source, SERVERS)
    got = desk.load()
    assert (got.settings.model, got.warnings) == ("http://gw.example/v1:m", ())
    assert got.settings.dream.model == "http://127.0.0.1:9/v1:m"


@pytest.mark.parametrize(
    "key",
    ["apiKey", "openaiApiKey", "ANTHROPIC_API_KEY", "api-key", "extract.apiKey", "recall.token", "authToken"],
)
def test_a_key_has_no_place_in_settings_and_is_not_shown_E10(desk: Desk, key: str) -> None:
    section, dot, name = key.rpartition(".")
    value = {name: "hunter2-hunter2"}
    path = desk.put("user", {section: value} if dot else value)
    (warning,) = desk.load().warnings
    assert warning.startswith(
        f"{path}: {key}: not a setting: keys are never read from settings; put one into"
    )
    assert "ANTHROPIC_API_KEY, OPENAI_API_KEY" in warning
    assert "the system keyring" in warning
    assert "hunter2" not in warning


def test_a_long_key_that_nobody_knows_is_cut_where_it_is_told_S1(desk: Desk) -> None:
    path = desk.put("project", {"x" * 100_000: 1, "features": {"e" * 61: True}})
    assert desk.load().warnings == (
        f"{path}: {'x' * 59}…: not a setting",
        f"{path}: features.{'e' * 50}…: not a setting",
    )


def test_a_key_in_a_variable_of_ours_is_not_read_either_E10(desk: Desk) -> None:
    (warning,) = desk.load(MEMDIR_EXTRACT_API_KEY="hunter2-hunter2").warnings
    assert warning.startswith("environment: MEMDIR_EXTRACT_API_KEY: not a setting: keys are never read")
    assert "hunter2" not in warning


def _believed(desk: Desk) -> bool:
    got = desk.load()
    believed = got.memory_directories == (("local", "/srv/mem"),)
    assert believed == (got.settings.layout == "claude") == (not got.warnings)
    assert believed == (got.settings.model == "theirs")
    return believed


def test_a_local_file_counts_if_git_does_not_track_it_P6(desk: Desk) -> None:
    desk.put("local", MOVED)
    assert not _believed(desk), "outside git"
    desk.git("init", "-q")
    assert _believed(desk), "untracked"
    (desk.project / ".gitignore").write_text(".memdir/\n")
    assert _believed(desk), "ignored"
    desk.git("add", "-f", str(desk.local))
    assert not _believed(desk), "tracked, though ignored"
    (warning, *_) = desk.load().warnings
    assert f"the repository {desk.project} tracks it" in warning


def test_another_spelling_that_is_tracked_counts_as_tracked_P6(desk: Desk) -> None:
    desk.git("init", "-q")
    twin = desk.project / ".Memdir" / "settings.local.json"
    twin.parent.mkdir()
    twin.write_text("{}")
    desk.git("add", ".")
    desk.put("local", MOVED)
    assert not _believed(desk)


def test_a_tracked_link_hides_nothing_P6(desk: Desk) -> None:
    desk.git("init", "-q")
    (desk.project / "cfg").mkdir()
    (desk.project / "cfg" / "settings.local.json").write_text(json.dumps(MOVED))
    (desk.project / ".memdir").symlink_to("cfg")
    desk.git("add", ".")
    assert not _believed(desk)


def test_a_submodule_hides_nothing_P6(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "settings.local.json").write_text(json.dumps(MOVED))
    desk.git("init", "-q", cwd=other)
    desk.git("add", ".", cwd=other)
    desk.git("commit", "-qm", "one", cwd=other)
    desk.git("init", "-q")
    desk.git("submodule", "--quiet", "add", str(other), ".memdir")
    assert not _believed(desk)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_nothing_is_run_to_judge_a_file_P6(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = desk.project / "trap" / "git"
    trap.parent.mkdir()
    trap.write_text(f"#!/bin/sh\ntouch {desk.project}/pwned\n")
    trap.chmod(0o755)
    desk.git("init", "-q")
    for key in ("core.fsmonitor", "core.pager", "diff.external", "filter.x.clean", "alias.ls-files"):
        desk.git("config", key, str(trap))
    (desk.project / ".gitattributes").write_text("* filter=x\n")
    desk.put("local", MOVED)
    monkeypatch.setenv("PATH", f"{trap.parent}:{os.environ['PATH']}")
    assert _believed(desk)
    assert not (desk.project / "pwned").exists()


def test_a_part_of_a_clone_in_the_shape_of_a_repository_hides_nothing_P6(desk: Desk) -> None:
    desk.git("init", "-q")
    inner = desk.project / "inner"
    for name in ("objects", "refs", ".memdir"):
        (inner / name).mkdir(parents=True)
        (inner / name / "kept").write_text("")
    (inner / "HEAD").write_text("ref: refs/heads/main\n")
    (inner / "config").write_text("[core]\n\tbare = false\n\tworktree = .\n")
    (inner / ".memdir" / "settings.local.json").write_text(json.dumps(MOVED))
    desk.git("add", ".")
    paths.forget_roots()
    got = settings.load(cwd=inner, environment={"HOME": str(desk.home)}, managed=desk.managed)
    assert (got.settings, got.memory_directories) == (Settings(), ())


def test_a_file_is_judged_only_for_what_would_move_something_P6(desk: Desk) -> None:
    desk.put("local", {"model": "local", "features": {"dream": False}})
    got = desk.load()
    assert (got.settings.features.dream, got.warnings) == (False, ())


# -- whether memory is on (S3) --------------------------------------------------------------------------

REMOTE = {"MEMDIR_REMOTE": "true"}


@pytest.mark.parametrize(
    ("environment", "layout", "enabled", "on", "by"),
    [
        ({}, "memdir", True, True, "nothing"),
        ({}, "memdir", False, False, "autoMemoryEnabled"),
        ({"MEMDIR_DISABLE": "1"}, "memdir", True, False, "MEMDIR_DISABLE"),
        ({"MEMDIR_DISABLE": "Yes"}, "memdir", True, False, "MEMDIR_DISABLE"),
        ({"MEMDIR_DISABLE": "0"}, "memdir", False, True, "MEMDIR_DISABLE"),
        ({"MEMDIR_DISABLE": "OFF", "MEMDIR_SIMPLE": "1", **REMOTE}, "memdir", False, True, "MEMDIR_DISABLE"),
        ({"MEMDIR_DISABLE": "perhaps"}, "memdir", False, False, "autoMemoryEnabled"),
        ({"MEMDIR_DISABLE": ""}, "memdir", True, True, "nothing"),
        ({"MEMDIR_SIMPLE": "on"}, "memdir", True, False, "MEMDIR_SIMPLE"),
        ({"MEMDIR_SIMPLE": "no"}, "memdir", True, True, "nothing"),
        (REMOTE, "memdir", True, False, "remote"),
        ({**REMOTE, "MEMDIR_REMOTE_MEMORY_DIR": "/srv/m"}, "memdir", True, True, "nothing"),
        ({**REMOTE, "MEMDIR_REMOTE_MEMORY_DIR": "/srv/m"}, "memdir", False, False, "autoMemoryEnabled"),
        ({"MEMDIR_REMOTE": "0"}, "memdir", True, True, "nothing"),
        ({"MEMDIR_REMOTE": "1 "}, "memdir", True, False, "remote"),
        ({**REMOTE, "MEMDIR_REMOTE_MEMORY_DIR": "/etc"}, "memdir", True, False, "remote mode without a safe"),
        ({**REMOTE, "MEMDIR_REMOTE_MEMORY_DIR": "rel"}, "claude", True, False, "remote mode without a safe"),
        (
            {**REMOTE, "MEMDIR_REMOTE_MEMORY_DIR": "rel", "MEMDIR_DISABLE": "0"},
            "memdir",
            True,
            True,
            "MEMDIR",
        ),
        ({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}, "memdir", True, True, "nothing"),
        ({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}, "claude", True, False, "CLAUDE_CODE_DISABLE"),
        ({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1", "MEMDIR_DISABLE": "0"}, "claude", True, False, "CLAUDE"),
        ({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0"}, "claude", False, True, "CLAUDE_CODE_DISABLE"),
        ({"CLAUDE_CODE_SIMPLE": "1"}, "memdir", True, True, "nothing"),
        ({"CLAUDE_CODE_SIMPLE": "1"}, "claude", True, False, "CLAUDE_CODE_SIMPLE"),
    ],
)
def test_memory_is_on_unless_something_says_no_S3(
    environment: dict[str, str], layout: str, enabled: bool, on: bool, by: str
) -> None:
    got = memory_switch(Settings(auto_memory_enabled=enabled), environment, layout=layout)
    assert got.on is on
    assert got.reason.startswith(by)


# -- the schema that is published (S1) ------------------------------------------------------------------


def test_the_published_schema_is_current_S1() -> None:
    made = json.dumps(settings.schema(), indent=2, ensure_ascii=False) + "\n"
    command = "json.dumps(settings.schema(), indent=2, ensure_ascii=False)"
    assert PUBLISHED.read_text(encoding="utf-8") == made, f"write it anew: {command}, and a newline"


def test_every_key_is_described_in_the_schema_S1() -> None:
    schema = settings.schema()
    structs = [schema, *schema["$defs"].values()]
    leaves = {name: leaf for struct in structs for name, leaf in struct["properties"].items()}
    missing = [
        n for n, leaf in leaves.items() if "$ref" not in leaf and n != "$schema" and "description" not in leaf
    ]
    assert missing == []
    assert {"features", "recall", "extract", "extractEveryTurns", "drainSeconds"} <= set(leaves)


# -- instructions (I3) ----------------------------------------------------------------------------------


def test_lists_of_all_sources_add_up_S1(desk: Desk) -> None:
    own = {
        name: f"/{name}" if name in ("managed", "user") else f"{desk.project}/{name}" for name in desk.files
    }
    files = {name: desk.put(name, {"instructions": {"excludes": [own[name]]}}) for name in desk.files}
    got = desk.load({"instructions.excludes": ["/cli"]}, MEMDIR_INSTRUCTIONS_EXCLUDES="/env, ~/b/**,,")
    assert got.settings.instructions.excludes == (
        "/managed", "/cli", "/env", "~/b/**", own["local"], own["project"], "/user",
    )  # fmt: skip
    assert got.said_at["instructions.excludes"] == (
        f"{files['managed']}: instructions.excludes, command line: instructions.excludes, environment: "
        f"MEMDIR_INSTRUCTIONS_EXCLUDES, {files['local']}: instructions.excludes, {files['project']}: "
        f"instructions.excludes, {files['user']}: instructions.excludes"
    )
    assert got.warnings == ()


def test_a_list_that_is_none_is_told_and_the_others_count_S1(desk: Desk) -> None:
    path = desk.put("managed", {"instructions": {"excludes": "/a", "files": "none"}})
    desk.put("user", {"instructions": {"excludes": ["/b"], "maxBytes": -1}})
    got = desk.load()
    assert got.settings.instructions.excludes == ("/b",)
    assert got.warnings == (
        f'{path}: instructions.files: must be one of "agents", "both", "claude"; ignored',
        f"{path}: instructions.excludes: must be a list of texts; ignored",
        f"{desk.files['user']}: instructions.maxBytes: must be a whole number, at least 0; ignored",
    )


def test_a_project_silences_nobody_elses_instructions_P6(desk: Desk) -> None:
    """A repository could do away with the rules by which its user keeps agents in check."""
    said: dict[str, Any] = {
        "instructions": {"maxBytes": 0, "files": "agents"},
        "features": {"instructions": False},
    }
    path = desk.put("project", said)
    got = desk.load()
    assert got.settings == Settings()
    assert [warning.partition(": a project")[0] for warning in got.warnings] == [
        f"{path}: {key}" for key in ("features.instructions", "instructions.files", "instructions.maxBytes")
    ]
    desk.put("user", said)
    assert not desk.load().settings.features.instructions


@pytest.mark.parametrize(
    "pattern", ["~/.memdir/**", "/**", "**/CLAUDE.md", "{project}/../x.md", "{project}", 7]
)
def test_a_project_leaves_out_files_of_its_own_only_P6(desk: Desk, pattern: object) -> None:
    named = pattern.replace("{project}", str(desk.project)) if isinstance(pattern, str) else pattern
    path = desk.put("project", {"instructions": {"excludes": [named, f"{desk.project}/old/**"]}})
    got = desk.load()
    assert got.settings.instructions.excludes == (f"{desk.project}/old/**",)
    (warning,) = got.warnings
    assert warning.startswith(f"{path}: instructions.excludes: a project may only name files of its own")


def test_a_project_leaves_out_no_more_than_is_looked_through_P6(desk: Desk) -> None:
    desk.put("project", {"instructions": {"excludes": [f"{desk.project}/{number}" for number in range(500)]}})
    assert len(desk.load().settings.instructions.excludes) == 200

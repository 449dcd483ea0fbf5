"""What all commands have in common: where they print, how they fail, what they cost to start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memdir.cli import COMMANDS, cli
from memdir.cli.slash import help_
from tests.cli.support import Desk

READERS = {
    "list": (),
    "show": ("x",),
    "recall": ("x",),
    "path": (),
    "status": (),
    "sessions": (),
    "restore": (),
    "learn": (".",),
    "remember": ("x",),
    "forget": ("x",),
}


@pytest.mark.parametrize("command", READERS)
def test_wrong_words_are_told_as_json_to_who_asked_for_json_H1(desk: Desk, command: str) -> None:
    ran = desk(command, *READERS[command], "--json", "--nonsense")
    assert ran.code == 2
    assert ran.json["version"] == 1
    assert ran.json["error"]["kind"] == "UsageError"
    assert "--nonsense" in ran.json["error"]["message"]
    assert ran.err.startswith("error: ")
    assert desk(command, "--nonsense").out == ""


def test_an_unknown_command_and_a_missing_folder_are_told_H1(desk: Desk) -> None:
    assert desk("dance").code == 2
    assert "dance" in desk("dance", "--json").json["error"]["message"]
    assert desk("-C", "/nowhere", "list", "--json").json["error"]["kind"] == "UsageError"
    assert desk("list", "--type", "odd").code == 2


@pytest.mark.parametrize("command", sorted(set(READERS) - {"path", "status", "sessions", "learn"}))
def test_with_memory_off_a_command_says_by_what_S3(
    desk: Desk, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMDIR_DISABLE", "1")
    ran = desk(command, *READERS[command], "--json")
    assert (ran.code, ran.json["error"]["message"]) == (1, "memory is off: MEMDIR_DISABLE is 1")
    monkeypatch.delenv("MEMDIR_DISABLE")
    assert desk("--bare", command, *READERS[command]).err.splitlines()[0] == "error: memory is off: --bare"


def test_status_and_path_work_with_memory_off_S3(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    place = desk("path").out
    monkeypatch.setenv("MEMDIR_DISABLE", "1")
    assert desk("path").out == place
    assert desk("status").out.splitlines()[0] == "memory        off: MEMDIR_DISABLE is 1"
    assert desk("status", "--json").json["on"] is False


def test_status_tells_what_needs_care_and_survives_it_H1(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = desk.home / ".memdir" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"modle": "x", "model": "odd"}), "utf-8")
    monkeypatch.setenv("MEMDIR_PATH_OVERRIDE", "/etc")
    desk("remember", "--type", "project", "we deploy on Tuesdays")
    (desk.memory / "project_deploy_tuesdays.md").unlink()
    ran = desk("status")
    assert ran.code == 0
    assert ran.out.startswith("memory        on: ")
    for sentence in (
        "did you mean model?",
        "unsafe path '/etc'",
        "unknown model 'odd'",
        "which is not there",
    ):
        assert ran.err.count(sentence) == 1


@pytest.mark.parametrize("command", ["list", "status", "path"])
def test_broken_settings_are_told_with_their_place_and_end_with_2_S1(desk: Desk, command: str) -> None:
    settings = desk.home / ".memdir" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": ', "utf-8")
    ran = desk(command, "--json")
    assert (ran.code, ran.json["error"]["kind"]) == (2, "SettingsError")
    assert f"{settings} can't be read: line 1" in ran.err


def test_a_file_where_the_memory_should_be_is_told_P5(desk: Desk) -> None:
    place = desk.memory
    place.parent.mkdir(parents=True)
    place.write_text("", "utf-8")
    assert (desk("list").code, desk("remember", "x").code) == (1, 1)
    assert "a file, or below a file" in desk("status").err


def test_what_the_system_refuses_is_a_sentence_H1(desk: Desk) -> None:
    desk("remember", "--type", "project", "we deploy on Tuesdays")
    (desk.memory / "MEMORY.md").unlink()
    (desk.memory / "MEMORY.md").mkdir()
    ran = desk("remember", "--json", "the cat is called Tom")
    assert ran.code != 0
    assert ran.json["error"]["message"]
    assert "Traceback" not in ran.err


def test_a_reader_who_is_gone_ends_it_quietly_H1(desk: Desk) -> None:
    desk("remember", "--type", "project", "we deploy on Tuesdays")
    (desk.memory / "long.md").write_text("x\n" * 400_000, "utf-8")
    memdir = f"{sys.executable} -m memdir"
    code = "echo ${PIPESTATUS[0]}"
    script = f"{memdir} show long | head -n 1; {code}; {memdir} list | true; {code}"
    ran = subprocess.run(["bash", "-c", script], cwd=desk.folder, capture_output=True, text=True, timeout=40)
    assert (ran.stdout.split(), ran.stderr) == (["x", "0", "0"], "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
@pytest.mark.parametrize("words", ["list", "list --json", "show nosuch --json", "list --nonsense --json"])
def test_a_full_disk_is_a_sentence_on_stderr_H1(desk: Desk, words: str) -> None:
    desk("remember", "we deploy on Tuesdays")
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "memdir", *words.split()]
        ran = subprocess.run(
            command, cwd=desk.folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=40
        )
    sentence, *_ = ran.stderr.splitlines()
    assert ran.returncode == (1 if "no" not in words else 3 if "nosuch" in words else 2)
    assert sentence.startswith("error: ")
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr


def test_a_terminal_that_knows_no_chinese_shows_codes_H1(desk: Desk) -> None:
    desk("remember", "我们用 pnpm")
    ran = desk.process("list", PYTHONIOENCODING="latin-1")
    assert ran.code == 0
    assert "\\u6211" in ran.out


def test_recall_shows_what_a_prompt_would_get_and_why_R10(desk: Desk) -> None:
    desk("remember", "--type", "project", "we deploy the shop on Tuesdays")
    desk("remember", "--type", "user", "Tom likes cats, dogs, horses, birds and the smell of a new shop")
    assert desk("recall", "when", "do", "we", "deploy?").out == "project_deploy_shop_tuesdays.md\n"
    explained = desk("recall", "--explain", "when do we deploy the shop?").out.splitlines()
    assert explained[0].startswith("+  ")
    assert explained[1].startswith("-  ")
    told = desk("recall", "--explain", "--json", "when do we deploy the shop?").json
    assert (told["files"], told["how"], told["error"]) == (["project_deploy_shop_tuesdays.md"], "local", None)
    assert [one["chosen"] for one in told["considered"]] == [True, False]
    nothing = desk("recall", "zebra")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no memory bears on that\n")


def test_a_recall_whose_model_fails_says_why_and_that_words_chose_R5(desk: Desk) -> None:
    desk("remember", "--type", "project", "we deploy the shop on Tuesdays")
    ran = desk("--model", "anthropic:claude-sonnet-5", "recall", "--json", "when do we deploy?")
    assert (ran.code, ran.json["files"]) == (0, ["project_deploy_shop_tuesdays.md"])
    assert (ran.json["how"], ran.json["error"], ran.json["instead_of"]["kind"]) == (
        "local",
        None,
        "KeyMissing",
    )
    assert ran.err.splitlines()[0].endswith("; words chose instead, as in a conversation")
    assert ran.err.splitlines()[1].startswith("hint: ")
    assert desk("--model", "odd", "recall", "deploy").code == 2


def test_the_summaries_of_commands_are_whole_H1(desk: Desk) -> None:
    told = desk("--help").out
    assert told.isascii()
    lines = told.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in lines] == sorted(COMMANDS)
    assert not [line for line in lines if line.endswith("...") and not line.strip().startswith("demo")]
    assert cli.name == "cli"


def test_a_light_command_loads_nothing_heavy_H1(desk: Desk) -> None:
    desk("remember", "--type", "project", "we deploy on Tuesdays")
    code = (
        "import sys\n"
        "from memdir.cli import main\n"
        "try: main(['list'])\n"
        "except SystemExit as ended: assert not ended.code\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=desk.folder, capture_output=True, text=True, check=True, timeout=40
    )
    listed, loaded = ran.stdout.splitlines()
    assert listed.startswith("project")
    assert not {"anthropic", "asyncio", "httpx2", "pydantic", "rich", "readline"} & set(loaded.split())


def test_the_module_runs_as_the_command_does_H1(desk: Desk) -> None:
    assert desk.process("--version").out == desk("--version").out
    assert Path(desk.process("path").out.strip()) == desk.memory


def test_status_says_what_is_done_about_long_conversations_and_which_instructions_there_are_C4(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows() -> dict[str, str]:
        return dict(row.split(maxsplit=1) for row in desk("status").out.splitlines())

    outside = desk.home / "style.md"
    outside.write_text("Be brief.\n", "utf-8")
    (desk.folder / "CLAUDE.md").write_text(f"Say please.\n@{outside}\n", "utf-8")
    assert rows()["summary"] == "on, by rules; a long conversation is condensed by itself"
    assert rows()["instructions"] == "1 file, 1 waiting for your word: `memdir instructions`"
    told = desk("status", "--json", "--model", "ollama:m").json
    assert (told["sessionMemory"], told["sessionModel"], told["compaction"]) == (True, "ollama:m", True)
    assert told["instructions"] == {"on": True, "files": 1, "rules": 0, "waiting": 1}
    monkeypatch.setenv("MEMDIR_FEATURES_SESSION_MEMORY", "off")
    monkeypatch.setenv("MEMDIR_COMPACT_AUTOMATIC", "off")
    monkeypatch.setenv("MEMDIR_FEATURES_INSTRUCTIONS", "off")
    expected = "off, by rules; a long conversation is condensed where no answer fits, or by /compact"
    assert (rows()["summary"], rows()["instructions"]) == (expected, "off")


def test_where_memory_is_off_status_names_no_job_of_it_as_on_S4(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMDIR_DISABLE", "1")
    rows = dict(row.split(maxsplit=1) for row in desk("status").out.splitlines())
    assert {rows[job] for job in ("recall", "extraction", "dream")} == {"off: memory is off"}


@pytest.mark.parametrize(("width", "rows"), [(100, 7), (60, 14)])
def test_the_help_of_a_conversation_fits_the_terminal_H1(
    width: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = help_().splitlines()
    assert sum(line.startswith("/") for line in lines) == rows
    assert all("…" not in line for line in lines)
    assert max(map(len, lines)) <= width

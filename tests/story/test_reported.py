"""What users of other programs reported of wrong memories, of letters that got lost and of waiting, and ours.

b088, b089 ...: the numbers of the reports, each with its link.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from memdir import app
from memdir.agent.events import WAITING, Event, Events
from memdir.agent.file_state import FileState
from memdir.agent.transcript import Transcript
from memdir.cli.notices import notice_of
from memdir.memory.store import MemoryDir
from memdir.memory.topic import Topic
from memdir.model.client import ModelClient
from memdir.model.jobs import Models
from memdir.model.local import Local
from memdir.model.messages import Message, Prefix, assistant, person
from memdir.model.openai import OpenAI
from memdir.prompts import render
from memdir.recall.surface import surface
from memdir.testing import ScriptedModel, call, say
from tests.cli.support import SECONDS, Desk, Ran, claude_line
from tests.wire.server import WireServer

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
PATIENCE = 5.0
"""Seconds that a start may take on a busy machine; those of the report were 8 to 16."""
ELSEWHERE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""A process in which nothing says that text is UTF-8."""
MODEL = ("--model", "anthropic:claude-sonnet-5", "chat")


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A project whose memories are saved by rules."""

    project: app.Project

    @property
    def memory(self) -> MemoryDir:
        return self.project.require_memory()

    @property
    def topics(self) -> list[Topic]:
        stored = (self.memory.read(header.path) for header in self.memory.list())
        return [one.topic for one in stored if one.topic]

    async def hears(self, *said: str, recall: ModelClient | None = None) -> Sequence[Message]:
        """A conversation in which the person says this, one turn each; all its messages."""
        chat = ScriptedModel([say("All right.")] * len(said))
        models = Models(chat=chat, recall=recall or Local(), extract=Local())
        async with app.running(self.project, models=models) as runtime:
            conversation = await runtime.start()
            for text in said:
                await conversation.say(text)
                assert await runtime.drain()
        return conversation.agent.messages


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    place = tmp_path / "shop"
    place.mkdir()
    environment = {"HOME": str(tmp_path), "MEMDIR_HOME": str(tmp_path / "state")}
    return Stage(project=app.open_project(place.resolve(), environment=environment))


# -- said twice, said otherwise, never said -------------------------------------------------------------


def test_b088_what_is_said_twice_is_kept_once_and_not_deleted_H1(desk: Desk) -> None:
    """https://github.com/mem0ai/mem0/issues/1674"""
    desk("remember", "I like tea")
    before = desk.files()
    again = desk("remember", "I like tea")
    assert (again.code, again.err) == (0, "nothing changed: that is remembered already\n")
    assert (list(before), desk.files()) == (["user_tea.md"], before)
    assert desk("list", "--trash").out == ""


async def test_b088_what_is_said_in_two_conversations_is_kept_once_E3(stage: Stage) -> None:
    """https://github.com/mem0ai/mem0/issues/1674"""
    rule = "From now on always run the linter before you commit, because CI is slow."
    for _ in range(2):
        await stage.hears(rule)
        (kept,) = stage.topics
        assert "run the linter" in kept.body
    assert stage.memory.trashed() == []


def test_b089_the_opposite_takes_the_place_of_what_was_said_and_both_are_there_H1(desk: Desk) -> None:
    """https://github.com/mem0ai/mem0/issues/4536: neither of the two was left."""
    desk("remember", "I love Chinese food")
    desk("remember", "I hate Chinese food")
    (text,) = desk.files().values()
    assert "description: I hate Chinese food\n" in text
    assert text.endswith("\n\nI hate Chinese food\n\nEarlier: I love Chinese food\n")


def test_b092_a_memory_comes_with_its_age_and_is_to_be_checked_before_it_is_acted_on_M5_I2(
    tmp_path: Path,
) -> None:
    """https://github.com/anthropics/claude-code/issues/62812: a note counted for more than what was there."""
    note = tmp_path / "flags.md"
    note.write_text("The exporter takes the flag `--legacy-rows` in bin/export.py.\n")
    then = NOW - timedelta(days=47)
    os.utime(note, (then.timestamp(), then.timestamp()))
    (message,) = surface(["flags.md"], directory=tmp_path, messages=(), files=FileState(), now=NOW).messages
    assert "47 days" in message.text
    assert "verify" in message.text.lower()
    rules = " ".join(render("memory", directory="/m").split())
    assert "see that it is still there before you recommend it" in rules
    assert "Where memory and what you see now differ, trust what you see" in rules


@pytest.mark.parametrize(
    "said",
    [
        r"suppose the vault were in C:\Users\me\MyVault",
        r"Suppose the vault were in C:\Users\me\MyVault, how would we index it?",
        r"Say the vault is in C:\Users\me\MyVault. What then?",
        r"What if we always kept the vault in C:\Users\me\MyVault?",
        r"Angenommen, der Tresor läge in C:\Users\me\MyVault.",
        r"假设仓库在 C:\Users\me\MyVault",
        r"仮に保管庫が C:\Users\me\MyVault にあるとします。",
        r"Supongamos que la bóveda está en C:\Users\me\MyVault.",
    ],
)
async def test_b093_what_is_only_supposed_does_not_become_a_memory_F5(stage: Stage, said: str) -> None:
    """https://github.com/anthropics/claude-code/issues/69847: and the invented path came up ever after."""
    await stage.hears(said)
    assert stage.topics == []
    assert stage.memory.index() == ""


async def test_b093_what_is_asserted_is_kept_with_the_message_in_which_it_was_said_F1(stage: Stage) -> None:
    """https://github.com/anthropics/claude-code/issues/69847: "keep the source"."""
    messages = await stage.hears(
        r"Suppose the vault were in C:\Users\me\MyVault, would that work?",
        "Remember: the vault is in /srv/vault.",
    )
    (kept,) = stage.topics
    assert "/srv/vault" in kept.body
    assert "MyVault" not in kept.body
    asserted = next(one for one in messages if "/srv/vault" in one.text)
    assert kept.origin is not None
    assert kept.origin.message == asserted.id


async def test_b099_a_preference_in_other_words_is_merged_when_it_is_saved_E3(stage: Stage) -> None:
    """https://github.com/google-gemini/gemini-cli/issues/15939: a second line, and neither was obeyed."""
    await stage.hears("From now on use pnpm.", "From now on always use pnpm, not npm.")
    (kept,) = stage.topics
    assert kept.body == "Always use pnpm, not npm.\n"
    assert stage.memory.index().count("\n") == 1


# -- letters that get lost on their way ------------------------------------------------------------------


def elsewhere(desk: Desk, *words: str, said: str = "", encoding: str = "cp1252", **more: str) -> Ran:
    """Run `memdir` where no locale says UTF-8 and the terminal has this encoding."""
    done = subprocess.run(
        [sys.executable, "-m", "memdir", *words],
        input=said.encode(),
        capture_output=True,
        cwd=desk.folder,
        env={**os.environ, **ELSEWHERE, "PYTHONIOENCODING": encoding, **more},
        timeout=SECONDS * 2,
        check=False,
    )
    return Ran(code=done.returncode, out=done.stdout.decode(encoding), err=done.stderr.decode(encoding))


@pytest.mark.parametrize("encoding", ["cp1252", "cp437"])
@pytest.mark.parametrize("words", ["list", "recall --explain vault", "status", "doctor", "log", "diff"])
def test_b154_a_terminal_that_lacks_a_letter_shows_a_code_and_nothing_fails_H1(
    desk: Desk, words: str, encoding: str
) -> None:
    """https://github.com/cdeust/Cortex/issues/96: the hook died of an arrow, and no memory was told."""
    desk("remember", "the vault is → in the north wing 😀")
    ran = elsewhere(desk, *words.split(), encoding=encoding)
    assert (ran.code, "Traceback" in ran.err) == (0, False)
    if words in {"list", "diff"}:
        assert r"\u2192 in the north wing \U0001f600" in ran.out


def spoken(server: WireServer) -> str:
    """All that the conversation's model was sent, as it reads it."""
    return "\n".join(seen.part("messages") for seen in server.seen)


@pytest.mark.parametrize("encoding", ["cp1252", "cp932"])
def test_b154_b155_b186_a_conversation_is_utf8_at_every_end_whatever_the_locale_A1(
    desk: Desk, encoding: str
) -> None:
    """What goes in, what tools read and what is saved: the prompt, the memory, a file, a command's output.

    https://github.com/cdeust/Cortex/issues/96,
    https://github.com/anthropics/claude-plugins-official/issues/5334,
    https://github.com/Digital-Process-Tools/claude-remember/issues/91
    """
    desk("remember", "the vault is → in the north wing 😀")
    (desk.folder / "notes.txt").write_text("naïve — „leise“ → ok\n", encoding="utf-8")
    notes = str(desk.folder / "notes.txt")

    with WireServer() as server:
        server.when(
            lambda seen: "This message is not from the person." in seen.part("messages"),
            *[say("Nothing to save.")] * 5,
        )
        server.when(
            lambda seen: "format" in seen.body.get("output_config", {}),
            *[say('{"selected_memories": []}')] * 5,
        )
        server.add(
            [
                call("Bash", command=f"cat {notes}"),
                call("Grep", pattern="leise", path=notes, output_mode="content"),
            ],
            say("わかりました → ok 😀"),
        )
        ran = elsewhere(
            desk,
            *MODEL,
            said="デプロイは火曜日 → です。",
            encoding=encoding,
            ANTHROPIC_BASE_URL=server.url,
            ANTHROPIC_API_KEY=server.key,
        )
        sent = spoken(server)
    assert (ran.code, "Traceback" in ran.err) == (0, False)
    assert "デプロイは火曜日 → です。" in sent
    assert "the vault is → in the north wing 😀" in sent
    assert sent.count("naïve — „leise“ → ok") >= 2
    (transcript,) = Path(desk("path", "--json").json["transcripts"]).glob("*.jsonl")
    written = transcript.read_text(encoding="utf-8")
    texts = json.dumps([json.loads(line) for line in written.splitlines()], ensure_ascii=False)
    assert "わかりました → ok 😀" in texts
    assert "デプロイは火曜日 → です。" in texts


def test_b155_what_is_piped_in_is_read_as_utf8_H1(desk: Desk) -> None:
    """https://github.com/anthropics/claude-plugins-official/issues/5334"""
    said = "retry budget for uploads is three, see デプロイは火曜日です"
    assert elsewhere(desk, "remember", said=said, encoding="cp932").code == 0
    (text,) = desk.files().values()
    assert text.endswith(f"\n\n{said}\n")


def test_b162_transcripts_are_read_as_utf8_whatever_the_locale_E7(desk: Desk, tmp_path: Path) -> None:
    """https://github.com/vectorize-io/hindsight/pull/1119"""
    linter = "From now on always run the linter before you commit, because CI → 同事看不懂."
    tests = "From now on always write tests with recordings, because mocks hid „Größe“ — twice."
    foreign, ours = tmp_path / "theirs.jsonl", tmp_path / "ours.jsonl"
    foreign.write_text(claude_line(linter, cwd=desk.folder, number=0) + "\n", encoding="utf-8")
    prefix = Prefix(system=("x",), tools=())
    transcript = Transcript.create(ours, session_id="s", cwd=desk.folder, prefix=prefix)
    for message in (person(tests), assistant("Yes.")):
        transcript.append(message)
    assert elsewhere(desk, "learn", str(foreign), str(ours)).code == 0
    kept = "\n".join(desk.files().values())
    assert "CI → 同事看不懂" in kept
    assert "mocks hid „Größe“ — twice" in kept


def test_b186_what_goes_through_git_and_the_trash_comes_back_letter_by_letter_H2(desk: Desk) -> None:
    """https://github.com/Digital-Process-Tools/claude-remember/issues/91: two pipes used the locale."""
    said = "retry budget → “never” more than 3 — see 指数退避 😀"
    assert elsewhere(desk, "remember", "--type", "project", said=said).code == 0
    ((file, before),) = desk.files().items()
    assert before.endswith(f"\n\n{said}\n")
    for bring_back in (("undo",), ("restore", file)):
        assert elsewhere(desk, "forget", file).code == 0
        assert desk.files() == {}
        assert elsewhere(desk, *bring_back).code == 0
        assert desk.files() == {file: before}
    shown = elsewhere(desk, "diff", encoding="utf-8")
    assert (shown.code, f"+{said}" in shown.out) == (0, True)


# -- waiting ---------------------------------------------------------------------------------------------


async def test_b166_a_service_that_is_down_holds_up_neither_start_nor_turn_R1(stage: Stage) -> None:
    """https://github.com/thedotmack/claude-mem/issues/1815: two loops of eight tries, a second each."""
    stage.project.remember("we deploy the shop on Tuesdays")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    gone = OpenAI("nobody", dialect="chat", base_url=f"http://127.0.0.1:{port}/v1", api_key="k")
    with anyio.fail_after(PATIENCE):
        messages = await stage.hears("when do we deploy the shop?", recall=gone)
    assert messages[-1].text == "All right."


HOLDER = """
import sys
from pathlib import Path
from memdir import fs
with fs.locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


async def test_b166_a_start_does_not_wait_for_who_is_writing_and_the_next_one_mends_F9(stage: Stage) -> None:
    """https://github.com/thedotmack/claude-mem/issues/1815: here it is another program that keeps us."""
    stage.memory.prepare()
    (stage.memory.directory / "tea.md").write_text("We drink tea.\n")
    told = list[Event]()
    models = Models(chat=ScriptedModel(), recall=Local(), extract=Local())
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(stage.memory.directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        async with app.running(stage.project, models=models, events=Events(told.append)) as runtime:
            with anyio.fail_after(PATIENCE):
                await runtime.start()
            (waits,) = (event for event in told if event.name == WAITING)
            assert "is busy" in str(waits.fields["why"])
            assert (notice := notice_of(waits)) is not None
            assert notice.text.startswith("(putting memory in order waits: ")
            assert stage.memory.index() == ""
            holder.communicate()
            await runtime.start()
    assert "tea.md" in stage.memory.index()


def test_b154_json_is_json_whatever_the_terminal_H1(desk: Desk) -> None:
    """https://github.com/cdeust/Cortex/issues/96"""
    desk("remember", "the vault is → in the “north” wing 😀")
    (told,) = json.loads(elsewhere(desk, "list", "--json").out)["memories"]
    assert told["name"] == "the vault is → in the “north” wing 😀"


def test_b155_a_memory_in_japanese_gets_a_name_that_the_disk_can_hold_H1(desk: Desk) -> None:
    """https://github.com/anthropics/claude-plugins-official/issues/5334"""
    said = "デプロイは火曜日です"
    assert elsewhere(desk, "remember", said=said).code == 0
    (text,) = desk.files().values()
    assert text.endswith(f"\n\n{said}\n")

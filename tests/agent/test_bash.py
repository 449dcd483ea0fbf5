"""Bash: bounded in time and size, nothing left behind, no secrets handed on (A2)."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from memdir.agent.process import handed_on
from tests.agent.world import World

pytestmark = pytest.mark.anyio


async def test_output_and_errors_come_together_A2(world: World) -> None:
    assert await world.use("Bash", command="echo out; echo err >&2; pwd") == f"out\nerr\n{world.root}"
    assert await world.use("Bash", command="true", description="does nothing") == "(no output)"


async def test_a_failing_command_is_an_error_with_its_code_A2(world: World) -> None:
    assert await world.fails("Bash", command="echo no; exit 3") == "exit code 3\nno"


async def test_there_is_no_stdin(world: World) -> None:
    with anyio.fail_after(10):
        assert await world.use("Bash", command="cat; echo end") == "end"


async def test_the_whole_group_is_stopped_at_the_time_limit(world: World) -> None:
    command = "sleep 60 & echo $!; echo $$; sleep 60"
    with anyio.fail_after(10):
        said = await world.fails("Bash", command=command, timeout=300)
    assert said.startswith("stopped after 0.3 seconds")
    for pid in map(int, said.splitlines()[1:]):
        await gone(pid)


async def test_what_is_left_running_is_ended_with_the_command(world: World) -> None:
    with anyio.fail_after(10):
        said = await world.use("Bash", command="sleep 60 & echo $!")
    await gone(int(said))


async def test_an_abort_ends_the_command(world: World) -> None:
    note = world.root / "pid"
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(world.use, "Bash", command="echo $$ > pid; sleep 60"))
            while not (note.exists() and note.read_text().strip()):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        await gone(int(note.read_text()))


async def gone(pid: int) -> None:
    """Wait until the process is no more (a zombie that nobody waits for is none)."""
    while alive(pid):
        await anyio.lowlevel.checkpoint()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


async def test_a_long_output_loses_its_middle(world: World) -> None:
    said = await world.use("Bash", command="echo first; yes x | head -c 20000000; echo; echo last")
    assert len(said) < 30_200
    assert said.startswith("first\nx\n")
    assert said.endswith("last")
    assert "characters left out" in said


async def test_bytes_that_are_no_text_do_no_harm(world: World) -> None:
    assert await world.use("Bash", command=r"printf '\xff\xfe'") == "\ufffd\ufffd"


async def test_no_secret_of_the_environment_is_handed_on(world: World) -> None:
    secret = {"ANTHROPIC_API_KEY": "canary", "client_secret": "canary", "BASH_ENV": "canary"}
    environment = {**world.context.environment, "HARMLESS": "1", **secret}
    world.context = replace(world.context, environment=environment)
    said = await world.use("Bash", command="env")
    assert "canary" not in said
    assert "HARMLESS=1" in said


SECRET_NAMES = """
GH_TOKEN GITHUB_PAT OPENAI_KEY PGPASSWORD MYSQL_PWD SECRET_KEY_BASE DOCKER_AUTH_CONFIG SSH_PASSPHRASE JWT
CI_JOB_JWT SENTRY_DSN NPM_AUTH AWS_SECRET_ACCESS_KEY DB_PASSWORD MYAPIKEY apiTokens API_KEY_2 Session-Cookie
GOOGLE_APPLICATION_CREDENTIALS TOKEN_GITHUB RABBITMQ_PASS
"""
PLAIN_NAMES = """
PATH PWD OLDPWD HOME MONKEY TOKENIZER TOKENIZERS_PARALLELISM KEYBOARD COMPASS PATTERN AUTHOR GIT_AUTHOR_NAME
SSH_AUTH_SOCK SSH_ASKPASS LANG DATABASE_URL
"""


@pytest.mark.parametrize("name", SECRET_NAMES.split())
def test_a_name_that_speaks_of_a_secret_is_enough(name: str) -> None:
    assert name not in handed_on({name: "v"})


@pytest.mark.parametrize("name", PLAIN_NAMES.split())
def test_other_names_are_handed_on(name: str) -> None:
    assert handed_on({name: "v"})[name] == "v"


def test_a_value_that_is_a_secret_is_kept_back_under_any_name() -> None:
    found = {
        "DATABASE_URL": "postgres://app:password@db/shop",
        "CELERY_BROKER": "amqps://:hunter2@queue:5671",
        "DEPLOY": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
        "PROXY": "http://proxy.example:3128",
        "REMOTE": "ssh://git@example.org/x.git",
    }
    assert handed_on(found).keys() & found.keys() == {"PROXY", "REMOTE"}


async def test_a_machine_without_bash_says_so(world: World) -> None:
    world.context = replace(world.context, environment={"PATH": "/nowhere"})
    assert "no bash" in await world.fails("Bash", command="true")

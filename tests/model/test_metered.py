"""Clients for background work: room before a call, an entry after it, however it ends (H3, A7)."""

from __future__ import annotations

import inspect
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from memdir import errors, fs
from memdir.agent.file_state import FileState
from memdir.agent.fork import fork
from memdir.agent.loop import Agent
from memdir.agent.permissions import for_fork
from memdir.agent.tools import TOOLS, ToolContext
from memdir.errors import ModelError, ModelUnreachable, OverBudget
from memdir.model.anthropic import Anthropic
from memdir.model.client import ModelClient
from memdir.model.known import Price, known
from memdir.model.ledger import FREE, Call, Ledger, weight
from memdir.model.local import Local
from memdir.model.messages import Prefix, Reply, Request, Usage, assistant
from memdir.model.metered import MARGIN, Metered, MeteredEmbedder, likely, most, price_of
from memdir.testing import ScriptedModel, WordEmbedder, say, temporary_memory
from tests.model.conversations import PREFIX, ask
from tests.model.test_known import PARTS, ROWS
from tests.model.test_streaming import nobody
from tests.wire.answers import cut_off, key_refused, no_usage, overloaded
from tests.wire.server import WireServer

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 5, 7, 12, tzinfo=UTC)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
QUESTION = ask("What did I say about the tests?")
ABOUT = likely(QUESTION, 1.0)


def ledger(place: Path, *, limit: int | None = 1_000_000) -> Ledger:
    return Ledger(place / "ledger", limit=limit, now=lambda: NOON)


def calls(books: Ledger) -> tuple[Call, ...]:
    day = books.read(NOON.date())
    assert day.open == {}, "no reservation is left"
    return day.calls


def metered(client: ModelClient, books: Ledger, *, job: str = "extraction", **more: Any) -> Metered:
    return Metered(client, job=job, ledger=books, **more)


# -- a call -------------------------------------------------------------------------------------------------


async def test_a_call_is_noted_with_who_made_it_and_what_it_took_H3(tmp_path: Path) -> None:
    books, price = ledger(tmp_path), Price(input=2, output=10, cache_read=0.2, cache_write=2.5)
    model = metered(ScriptedModel([say("Nothing.")]), books, session="s1", project="-shop", price=price)
    pieces: list[str] = []
    reply = await model.complete(QUESTION, on_text=pieces.append)
    assert "".join(pieces) == reply.text == "Nothing."
    (noted,) = calls(books)
    assert (noted.job, noted.model, noted.session, noted.project) == (
        "extraction",
        "scripted:model",
        "s1",
        "-shop",
    )
    assert (noted.usage, noted.counted, noted.usd) == (
        reply.usage,
        weight(reply.usage),
        round(price.of(reply.usage) or 0, 8),
    )


async def test_no_word_of_a_conversation_is_in_the_ledger_H3(tmp_path: Path) -> None:
    books = ledger(tmp_path, limit=ABOUT * 3)
    model = metered(ScriptedModel([say("zanzibar"), errors.BadReply("zanzibar")]), books)
    await model.complete(ask("zanzibar"))
    for _ in range(3):
        with pytest.raises(ModelError):
            await model.complete(ask("zanzibar " * 2))
    (path,) = (tmp_path / "ledger").iterdir()
    assert "refused" in path.read_text()
    assert "zanzibar" not in path.read_text()


async def test_over_budget_nothing_is_asked_H3(tmp_path: Path) -> None:
    books, script = ledger(tmp_path, limit=most(QUESTION, 1.0) - 1), ScriptedModel([say("x")])
    with pytest.raises(OverBudget):
        await metered(script, books).complete(QUESTION)
    assert (script.requests, calls(books)) == ([], ())


async def test_room_is_there_while_the_model_thinks_H3(tmp_path: Path) -> None:
    books = ledger(tmp_path, limit=most(QUESTION, 1.0))

    async def looks(request: Request) -> Any:
        assert books.budget().left == 0
        with pytest.raises(OverBudget):
            await metered(ScriptedModel(), books, job="recall").complete(QUESTION)
        return say("done")

    await metered(ScriptedModel([looks]), books).complete(QUESTION)
    assert (len(calls(books)), books.budget().waiting) == (1, ("recall",))


async def test_all_goes_through_to_the_client_H3(tmp_path: Path) -> None:
    script = ScriptedModel([say("x")], name="anthropic:claude-sonnet-5", window=5_000)
    script.calls_tools, script.scale = True, 1.25
    model: ModelClient = metered(script, ledger(tmp_path))
    assert (model.name, model.is_local, model.window) == (script.name, False, 5_000)
    assert (model.scale, model.calls_tools) == (1.25, True)
    assert await model.count(QUESTION) == await script.count(QUESTION)
    assert await model.survey() == await script.survey()
    await model.aclose()
    assert not (tmp_path / "ledger").exists(), "none of that costs anything"


async def test_a_metered_client_has_all_that_clients_have_H3() -> None:
    promised = {name for name, _ in inspect.getmembers(ModelClient) if not name.startswith("_")}
    assert promised <= {name for name, _ in inspect.getmembers(Metered)}


async def test_the_embedded_default_is_neither_metered_nor_limited_H3(tmp_path: Path) -> None:
    model = metered(Local(), ledger(tmp_path, limit=0))
    assert model.is_local
    with pytest.raises(errors.ModelNotConfigured):
        await model.complete(QUESTION)
    assert not (tmp_path / "ledger").exists()


# -- how much room ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["Plain English prose about tests. " * 50, "记住这个。" * 100, "x = {1: [2]}\n" * 80]
)
@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_the_most_is_more_than_the_likely_H3(text: str, schema: dict[str, Any] | None) -> None:
    request = replace(ask(text), schema=schema)
    assert most(request, 1.0) > likely(request, 1.0) * MARGIN
    assert most(request, 2.0) > likely(request, 2.0) >= 2 * likely(ask(text), 1.0) - 1
    assert most(replace(request, schema=SCHEMA), 1.0) >= 2 * most(ask(text), 1.0)


# -- however it ends ----------------------------------------------------------------------------------------


def _sent() -> ModelUnreachable:
    error = ModelUnreachable("the answer broke off")
    error.sent = True
    return error


def _passing() -> errors.ContextTooLong:
    error = errors.ContextTooLong("the server has read a part")
    error.lasts = False
    return error


@pytest.mark.parametrize(
    ("error", "counted"),
    [
        (errors.KeyMissing("x"), 0),
        (errors.KeyRefused("x"), 0),
        (errors.NoSuchModel("x"), 0),
        (errors.ModelOverloaded("x"), 0),
        (errors.LibraryMissing("x"), 0),
        (ModelUnreachable("nothing listens"), 0),
        (errors.ContextTooLong("x"), 0),
        (ModelError("x"), 0),
        (_sent(), ABOUT),
        (_passing(), ABOUT),
        (errors.BadReply("x"), ABOUT),
        (errors.ToolsIgnored("x"), ABOUT),
        (RuntimeError("a fault of ours"), ABOUT),
    ],
    ids=lambda value: f"{type(value).__name__}",
)
async def test_a_call_that_failed_counts_if_somebody_may_have_read_it_H3(
    tmp_path: Path, error: Exception, counted: int
) -> None:
    books = ledger(tmp_path)
    with pytest.raises(type(error)):
        await metered(ScriptedModel([error]), books).complete(QUESTION)
    (noted,) = calls(books)
    assert (noted.usage, noted.counted, noted.told) == (Usage(), counted, counted == 0)
    assert counted < most(QUESTION, 1.0)


async def test_a_call_that_was_cancelled_counts_what_it_was_likely_to_and_no_more_H3(tmp_path: Path) -> None:
    books, asked = ledger(tmp_path), anyio.Event()

    async def never(request: Request) -> Any:
        asked.set()
        await anyio.sleep_forever()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(metered(ScriptedModel([never]), books).complete, QUESTION)
            await asked.wait()
            assert books.budget().reserved == most(QUESTION, 1.0)
            tasks.cancel_scope.cancel()
    (noted,) = calls(books)
    assert (noted.counted, noted.told, noted.usd) == (ABOUT, False, None)


async def test_a_call_that_was_cancelled_before_it_began_counts_nothing_H3(tmp_path: Path) -> None:
    books, script = ledger(tmp_path), ScriptedModel([say("x")])
    with anyio.CancelScope() as scope:
        scope.cancel()
        await metered(script, books).complete(QUESTION)
    assert (script.requests, books.days()) == ([], [])


async def test_a_reply_without_usage_counts_what_it_was_likely_to_H3(tmp_path: Path) -> None:
    books = ledger(tmp_path)
    silent = Reply(message=assistant("x"), stop="end_turn", usage=Usage(), model="m")
    await metered(ScriptedModel([silent]), books).complete(QUESTION)
    (noted,) = calls(books)
    assert (noted.counted, noted.told) == (ABOUT, False)


async def test_a_ledger_that_can_not_be_written_stops_only_those_who_have_a_limit_H3(tmp_path: Path) -> None:
    (tmp_path / "ledger").touch()
    script = ScriptedModel([say("x"), say("y")])
    with pytest.raises(OverBudget, match="can't be noted"):
        await metered(script, ledger(tmp_path)).complete(QUESTION)
    assert script.requests == []
    assert (await metered(script, ledger(tmp_path, limit=None)).complete(QUESTION)).text == "x"


# -- over a network -----------------------------------------------------------------------------------------


def over(server: WireServer, **given: Any) -> Anthropic:
    how = {"base_url": server.url, "api_key": server.key, "max_retries": 2, "pause": 0.001}
    return Anthropic("claude-sonnet-5", **{**how, **given})


async def test_what_a_client_asks_again_is_one_call_with_the_usage_it_reports_H3(tmp_path: Path) -> None:
    books = ledger(tmp_path)
    with anyio.fail_after(30), WireServer(overloaded(), say("no object"), say('{"n": 1}')) as server:
        client = over(server)
        async with client:
            reply = await metered(client, books).complete(replace(QUESTION, schema=SCHEMA))
        assert (reply.text, len(server.seen)) == ('{"n": 1}', 3)
    (noted,) = calls(books)
    assert (noted.usage, noted.told) == (reply.usage, True)
    assert reply.usage.total_input < most(replace(QUESTION, schema=SCHEMA), 1.0)


@pytest.mark.parametrize(
    ("answer", "told"),
    [(cut_off(say("half")), False), (no_usage(say("whole")), False), (key_refused(), True)],
    ids=["cut off", "no usage", "refused"],
)
async def test_what_a_service_does_not_say_is_estimated_H3(tmp_path: Path, answer: Any, told: bool) -> None:
    books = ledger(tmp_path)
    with anyio.fail_after(30), WireServer(answer) as server:
        async with over(server, max_retries=0) as client:
            with suppress(ModelError):
                await metered(client, books).complete(QUESTION)
    (noted,) = calls(books)
    assert (noted.told, noted.counted) == (told, 0 if told else ABOUT)


async def test_days_without_a_network_use_up_no_budget_H3(tmp_path: Path) -> None:
    books = ledger(tmp_path)
    with anyio.fail_after(30), nobody() as address:
        async with Anthropic("m", base_url=address, api_key="k", max_retries=0) as client:
            for _ in range(3):
                with pytest.raises(ModelUnreachable):
                    await metered(client, books).complete(QUESTION)
    assert (books.budget().used, len(calls(books))) == (0, 3)


async def test_a_fork_on_a_metered_client_reads_its_hosts_cache_and_says_so_H3_A7(tmp_path: Path) -> None:
    books, script = ledger(tmp_path), ScriptedModel([say("Hello."), say("Nothing to save.")])
    with temporary_memory() as memory:
        host = Agent(
            id="s1",
            prefix=Prefix(system=PREFIX.system, tools=tuple(tool.spec for tool in TOOLS)),
            model=script,
            context=ToolContext(cwd=memory.directory, files=FileState(), memory=memory, now=lambda: NOON),
            permit=for_fork(memory=memory.directory, cwd=memory.directory),
        )
        await host.run("Hello")
        assert books.days() == [], "the person's own turns are not metered"
        ended = await fork(
            replace(host, model=metered(script, books)), "Save.", memory=memory, max_turns=2, label="extract"
        )
    (noted,) = calls(books)
    assert (noted.usage, noted.usage.hit_percent) == (ended.usage, ended.usage.hit_percent)
    assert noted.usage.hit_percent > 90
    assert noted.counted < noted.usage.total_input / 5


# -- embedders ----------------------------------------------------------------------------------------------


async def test_vectors_of_a_service_are_metered_by_estimate_H3(tmp_path: Path) -> None:
    books, words = (
        ledger(tmp_path, limit=200),
        WordEmbedder(is_local=False, name="openai:text-embedding-3-small"),
    )
    embedder = MeteredEmbedder(words, ledger=books, project="-shop")
    texts = ["a memory of the tests " * 10]
    assert await embedder.embed(texts) == await words.embed(texts)
    assert (embedder.name, embedder.is_local) == (words.name, False)
    (noted,) = calls(books)
    assert (noted.job, noted.project, noted.usd) == ("embedding", "-shop", None)
    assert noted.counted == noted.usage.input == 55
    with pytest.raises(OverBudget):
        await embedder.embed(texts * 2)


async def test_vectors_made_in_this_process_cost_nothing_H3(tmp_path: Path) -> None:
    embedder = MeteredEmbedder(WordEmbedder(), ledger=ledger(tmp_path, limit=0))
    assert embedder.is_local
    assert len(await embedder.embed(["one", "two"])) == 2
    assert not (tmp_path / "ledger").exists()


# -- prices -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "environment", "free"),
    [
        ("local", {}, True),
        ("ollama:qwen3:8b", {}, True),
        ("http://127.0.0.1:8000/v1:m", {}, True),
        ("ollama:m:cloud", {}, False),
        ("http://10.0.0.1:8000/v1:m", {}, False),
        ("openrouter:a/b", {}, False),
        ("anthropic:claude-sonnet-5", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9/"}, False),
        ("anthropic:claude-sonnet-5", {"ANTHROPIC_BASE_URL": "no address"}, False),
        ("openai:of-tomorrow", {}, False),
        ("scripted:model", {}, False),
        ("", {}, False),
    ],
)
def test_where_nobody_sends_a_bill_it_is_free_and_else_not_known_H3(
    name: str, environment: dict[str, str], free: bool
) -> None:
    assert price_of(name, environment) == (FREE if free else None)


@pytest.mark.parametrize(
    ("name", "usd"),
    [
        ("anthropic:claude-sonnet-5", 2 + 2 * 0.2 + 3 * 2.5 + 0.1 * 10),
        ("anthropic:claude-haiku-5-5", 0.5 + 2 * 0.05 + 3 * 0.625 + 0.1 * 2.5),  # a long request costs more
        ("openai:gpt-6.1-terra", 2 + 2 * 0.1 + 3 * 2.5 + 0.1 * 7.5),
    ],
)
def test_each_kind_of_token_has_its_price_H3(name: str, usd: float) -> None:
    price = price_of(name, {})
    assert price is not None
    usage = Usage(input=1_000_000, cache_read=2_000_000, cache_write=3_000_000, output=100_000)
    assert price.of(usage) == pytest.approx(usd)


def test_a_price_that_the_table_lacks_is_not_known_and_never_nothing_H3() -> None:
    for provider, name in ROWS:
        about = known(provider, name)
        assert about is not None
        assert about.price is not None
        for part in PARTS:
            cost = about.price.of(Usage(**{part: 1_000}))
            rate = getattr(about.price, part)
            assert cost == (None if rate is None else pytest.approx(rate / 1_000)), (provider, name, part)


async def test_who_is_broken_off_does_not_wait_for_the_ledger_and_reserves_nothing_E9(tmp_path: Path) -> None:
    books, script = ledger(tmp_path), ScriptedModel([say("x")])
    with anyio.fail_after(20):
        with fs.locked(tmp_path / "ledger"):  # as another process may, for a while
            with anyio.move_on_after(0.05) as scope:
                await metered(script, books).complete(QUESTION)
            assert scope.cancelled_caught
        while not books.read(NOON.date()).calls:
            await anyio.lowlevel.checkpoint()
    assert (script.requests, books.budget().used, books.budget().reserved) == ([], 0, 0)

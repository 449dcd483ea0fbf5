"""The prompt-cache accounting that the wire server and the scripted model share."""

from __future__ import annotations

from typing import Any

from memdir.model.messages import Usage
from memdir.testing import AutomaticCache, PromptCache


def block(number: int, *, marked: bool = False, words: int = 100) -> dict[str, Any]:
    """A block of some 120 tokens."""
    text = {"type": "text", "text": f"{number:04} " * words}
    return {**text, "cache_control": {"type": "ephemeral"}} if marked else text


def body(*blocks: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": list(blocks)}], **rest}


def test_what_was_written_up_to_a_mark_is_read_and_the_rest_paid() -> None:
    cache = PromptCache(minimum=100)
    first = cache.account(body(block(1), block(2, marked=True), block(3)))
    again = cache.account(body(block(1), block(2, marked=True), block(3)))
    assert first.cache_read == 0
    assert first.cache_write > first.input > 0
    assert again == Usage(input=first.input, cache_write=0, cache_read=first.cache_write)


def test_an_entry_is_written_only_at_a_mark() -> None:
    cache = PromptCache(minimum=100)
    cache.account(body(block(1), block(2, marked=True)))
    assert cache.account(body(block(1, marked=True), block(7, marked=True))).cache_read == 0


def test_a_mark_that_moves_on_still_finds_the_entry_behind_it() -> None:
    cache = PromptCache(minimum=100)
    first = cache.account(body(block(1), block(2, marked=True)))
    longer = cache.account(body(block(1), block(2), block(3, marked=True)))
    assert longer.cache_read == first.cache_write
    assert longer.cache_write > 0
    assert longer.input == 0


def test_twenty_blocks_are_looked_back_the_marked_one_included() -> None:
    for between, found in ((19, True), (20, False)):
        cache = PromptCache(minimum=100)
        cache.account(body(block(0, marked=True)))
        follow = [block(number) for number in range(1, between)]
        assert (cache.account(body(block(0), *follow, block(99, marked=True))).cache_read > 0) is found


def test_below_the_minimum_nothing_is_cached() -> None:
    cache = PromptCache(minimum=1024)
    for _ in range(2):
        usage = cache.account(body(block(1, marked=True)))
        assert (usage.cache_read, usage.cache_write) == (0, 0)
        assert usage.input > 100


def test_one_changed_byte_misses_and_so_does_another_model_or_setting() -> None:
    cache = PromptCache(minimum=100)
    cache.account(body(block(1), block(2, marked=True)))
    assert cache.account(body(block(3), block(2, marked=True))).cache_read == 0
    same = (block(1), block(2, marked=True))
    assert cache.account(body(*same, model="n")).cache_read == 0
    assert cache.account(body(*same, thinking={"type": "adaptive"})).cache_read == 0
    assert cache.account(body(*same, tools=[{"name": "t"}])).cache_read == 0
    assert cache.account(body(*same)).cache_read > 0


def test_the_order_is_tools_system_messages() -> None:
    """An entry after the system prompt serves another conversation; what came before it is in the entry."""
    cache = PromptCache(minimum=100)
    head = {"tools": [{"name": "t"}], "system": [block(0, marked=True)]}
    wrote = cache.account(body(block(1), **head))
    assert cache.account(body(block(2), **head)).cache_read == wrote.cache_write


def test_a_plain_text_is_one_block() -> None:
    cache = PromptCache(minimum=100)
    text = block(1)["text"]
    assert cache.account({"model": "m", "system": text, "messages": []}) == cache.account(
        {"model": "m", "system": [block(1)], "messages": []}
    )


def test_a_cache_that_forgot_reads_nothing() -> None:
    cache = PromptCache(minimum=100)
    cache.account(body(block(1, marked=True)))
    cache.forget()
    assert cache.account(body(block(1, marked=True))).cache_read == 0


# ── without marks ──────────────────────────────────────────────────────────────────────────────────────


def chat(*numbers: int, **rest: Any) -> dict[str, Any]:
    """A request of Chat Completions; its messages are some 120 tokens each."""
    return {"model": "m", "messages": [{"role": "user", "content": [block(n)]} for n in numbers], **rest}


def test_the_longest_prefix_is_read_in_steps_and_no_write_is_told() -> None:
    cache = AutomaticCache()
    first = cache.account(chat(*range(20)))
    assert first == Usage(input=cache.size(chat(*range(20))))
    longer = cache.account(chat(*range(20), 99))
    assert (longer.cache_read, longer.cache_write) == (first.input // 128 * 128, 0)
    assert longer.total_input == cache.size(chat(*range(20), 99))
    half = cache.account(chat(*range(10), 99))
    assert 1024 <= half.cache_read <= cache.size(chat(*range(10)))


def test_a_prefix_below_the_minimum_is_not_read() -> None:
    cache = AutomaticCache()
    for _ in range(2):
        assert cache.account(chat(*range(6))).cache_read == 0


def test_other_tools_instructions_or_settings_share_no_prefix() -> None:
    cache = AutomaticCache()
    cache.account(chat(*range(20)))
    for other in (
        {"model": "n"},
        {"tools": [{"type": "function"}]},
        {"instructions": "x"},
        {"response_format": {"type": "json_object"}},
        {"prompt_cache_key": "x"},
    ):
        assert cache.account(chat(*range(20), **other)).cache_read == 0
    assert cache.account(chat(*range(20))).cache_read > 0


def test_the_input_of_a_response_counts_as_messages_do() -> None:
    cache = AutomaticCache()
    items = chat(*range(20))["messages"]
    sent = {"model": "m", "instructions": "x", "input": items}
    cache.account(sent)
    assert cache.account({**sent, "input": [*items, items[0]]}).cache_read > 1024
    assert cache.size({"model": "m", "input": "x"}) > 0

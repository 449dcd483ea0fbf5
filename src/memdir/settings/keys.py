"""What can be set: a frozen struct a section, and from it every key, variable and the JSON Schema (S5)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

Layout = Literal["memdir", "claude"]


class Features(Struct, frozen=True, kw_only=True, rename="camel"):
    """What memdir does by itself (S5)."""

    extract: Annotated[bool, Meta(description="Write memories after a turn.")] = True
    extract_every_turns: Annotated[int, Meta(ge=1, description="Extract at every n-th turn.")] = 1
    inject_index: Annotated[bool, Meta(description="Give each session the index, MEMORY.md.")] = True
    recall: Annotated[bool, Meta(description="Give each turn the memories that matter to it.")] = True
    session_memory: Annotated[bool, Meta(description="Keep a running summary for compaction.")] = True
    dream: Annotated[bool, Meta(description="Consolidate the memory directory now and then.")] = True
    team: Annotated[bool, Meta(description="Share a part of the memory with a team.")] = False
    daily_log: Annotated[bool, Meta(description="Append to dated logs instead of topic files.")] = False
    instructions: Annotated[bool, Meta(description="Load CLAUDE.md and AGENTS.md. Not from a project.")] = (
        True
    )


class RecallSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """How memories are chosen for a turn."""

    model: Annotated[
        str | None,
        Meta(
            description="The model that chooses, named as in `model`; null: a mid-size one of the "
            "conversation's provider (Anthropic, OpenAI) that is not dearer, or else the conversation's. "
            'From a project only "local".'
        ),
    ] = None
    embedder: Annotated[
        str,
        Meta(
            description='What finds memories by meaning, beside their words: "auto" (the sentence encoder, '
            'if the extra `semantic` is installed), "none", "local" (the sentence encoder), or a model that '
            "makes vectors, named as in `model`: its service gets the texts of memories and prompts. From a "
            'project only "auto", "none" or "local".'
        ),
    ] = "auto"
    recency_weight: Annotated[
        float,
        Meta(ge=0, le=1, description="How much it counts for a memory's rank that it is recent; 0: nothing."),
    ] = 0.2
    use_weight: Annotated[
        float,
        Meta(ge=0, le=0.2, description="How much past use may add to a memory's rank, at most; 0: nothing."),
    ] = 0.05


class ExtractSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """How memories are written after a turn."""

    model: Annotated[
        str | None,
        Meta(
            description="The model that writes, named as in `model`; null: the conversation's, whose cached "
            'prompt only it can read. From a project only "local".'
        ),
    ] = None
    max_turns: Annotated[int, Meta(ge=1, description="Model turns of one extraction, at most.")] = 5
    drain_seconds: Annotated[
        float, Meta(ge=0, le=3600, description="Seconds that a running extraction gets to finish at the end.")
    ] = 60.0


class DreamSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """When and how the memory directory is consolidated (D1, D8). But for "local", not from a project."""

    model: Annotated[
        str | None,
        Meta(
            description="The model that consolidates, named as in `model`; null: the conversation's. "
            'From a project only "local".'
        ),
    ] = None
    apply: Annotated[
        Literal["auto", "review"],
        Meta(
            description="Whether a plan that passes all checks is carried out, or waits for "
            "`memdir dream apply`. Not from a project."
        ),
    ] = "auto"
    min_hours: Annotated[
        float, Meta(ge=0, description="Hours from one dream to the next. Not from a project.")
    ] = 24.0
    min_sessions: Annotated[
        int, Meta(ge=0, description="Other sessions since the last one, before the next. Not from a project.")
    ] = 5
    loss_files: Annotated[
        float,
        Meta(ge=0, le=1, description="The share of memories that a dream may take out. Not from a project."),
    ] = 0.25
    loss_lines: Annotated[
        float,
        Meta(ge=0, le=1, description="The share of their lines that it may take out. Not from a project."),
    ] = 0.30
    max_turns: Annotated[
        int, Meta(ge=1, description="Requests that a dream may make of the model. Not from a project.")
    ] = 40


class BudgetSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """How much background work may use, of all projects together (H3)."""

    input_tokens_per_day: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(
            description="Input tokens that background work may use in a day, from midnight to midnight: "
            "cache writes count in full, cache reads as a tenth. Over it, jobs wait. 0: no background calls "
            "of a model; null: no limit. From a project only less than your own.",
        ),
    ] = 2_000_000


class InstructionSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which files of instructions are loaded, and how much of them."""

    files: Annotated[
        Literal["both", "claude", "agents"],
        Meta(
            description="Whose files are read: CLAUDE.md and its kin, AGENTS.md, or both. Those of the "
            "administrator always are. Not from a project."
        ),
    ] = "both"
    excludes: Annotated[
        tuple[str, ...],
        Meta(
            description="Globs on absolute paths, or on ~/…, of files that are not loaded; those of all "
            "sources count together. In the environment with commas between them. The administrator's files "
            "are loaded all the same. From a project only paths below it."
        ),
    ] = ()
    max_bytes: Annotated[
        int,
        Meta(
            ge=0,
            description="Bytes of instructions that a conversation gets, at most; what is beyond that is "
            "only named. Not from a project.",
        ),
    ] = 100_000


class SessionSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """When the running summary of a long conversation is brought up to date (C2)."""

    model: Annotated[
        str | None,
        Meta(
            description="The model that keeps the summary, named as in `model`; null: the conversation's, "
            'whose cached prompt only it can read; "local": rules, which cost nothing. '
            'From a project only "local".'
        ),
    ] = None
    first_tokens: Annotated[
        int, Meta(ge=0, description="Tokens of conversation before there is a summary.")
    ] = 10_000
    grown_tokens: Annotated[
        int, Meta(ge=1, description="Tokens by which it has grown when the summary is brought up to date.")
    ] = 5_000
    tool_calls: Annotated[int, Meta(ge=1, description="Or tool calls that were made since.")] = 3


class CompactSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """How a conversation that gets too long for its model is made shorter (C4)."""

    automatic: Annotated[bool, Meta(description="Whether that happens before there is no room left.")] = True
    reserve_tokens: Annotated[
        int, Meta(ge=1_000, description="Tokens of the model's window that a request is to leave.")
    ] = 13_000
    wait_seconds: Annotated[
        float, Meta(ge=0, le=600, description="Seconds to wait for the summary that is being written.")
    ] = 15.0


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """Settings of memdir. Unknown keys are warned about and ignored."""

    layout: Annotated[
        Layout,
        Meta(description="Where files are: memdir's own folder, or Claude Code's. Not from a project."),
    ] = "memdir"
    base_directory: Annotated[
        str | None, Meta(description="Where memory and transcripts are; null: ~/.memdir. Not from a project.")
    ] = None
    auto_memory_enabled: Annotated[bool, Meta(description="Whether there is memory at all.")] = True
    auto_memory_directory: Annotated[
        str | None, Meta(description="The memory directory, a full path or ~/…. Not from a project.")
    ] = None
    model: Annotated[
        str,
        Meta(
            description='The model of the conversation: "local" (none), provider:NAME (the provider is '
            "anthropic, openai, openrouter, ollama, lmstudio, vllm or llamacpp), or a server's address and a "
            'name, such as http://127.0.0.1:8000/v1:NAME. No key; from a project only "local".'
        ),
    ] = "local"
    features: Features = Features()
    recall: RecallSettings = RecallSettings()
    extract: ExtractSettings = ExtractSettings()
    session: SessionSettings = SessionSettings()
    compact: CompactSettings = CompactSettings()
    dream: DreamSettings = DreamSettings()
    budget: BudgetSettings = BudgetSettings()
    instructions: InstructionSettings = InstructionSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One thing that can be set."""

    type: Any
    schema: Mapping[str, Any]
    default: Any


@cache
def leaves() -> dict[str, Leaf]:
    """Every key that can be set, with dots."""

    def walk(struct: type[Struct], prefix: str) -> Iterator[tuple[str, Leaf]]:
        for each in msgspec.structs.fields(struct):
            if isinstance(each.type, type) and issubclass(each.type, Struct):
                yield from walk(each.type, f"{prefix}{each.encode_name}.")
            else:
                leaf = Leaf(type=each.type, schema=msgspec.json.schema(each.type), default=each.default)
                yield f"{prefix}{each.encode_name}", leaf

    return dict(walk(Settings, ""))


def sections() -> set[str]:
    """The keys that hold an object of keys."""
    return {key.partition(".")[0] for key in leaves() if "." in key}


def variable(key: str) -> str:
    """The environment variable for a key, or for a section."""
    return "MEMDIR_" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])|\.", "_", key).upper()


def allowed(schema: Mapping[str, Any]) -> str:
    """What a value may be, in words."""
    if "enum" in schema:
        return "one of " + ", ".join(json.dumps(each) for each in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(allowed(each) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return "a list of texts"
    words = {
        "boolean": "true or false",
        "integer": "a whole number",
        "number": "a number",
        "string": "a text",
    }
    bounds = (("minimum", "at least"), ("maximum", "at most"))
    limits = "".join(f", {word} {schema[name]}" for name, word in bounds if name in schema)
    return words.get(str(schema["type"]), "null") + limits


def schema() -> dict[str, Any]:
    """The JSON Schema of a settings file, as published in `settings.schema.json`."""
    made = msgspec.json.schema(Settings)
    settings = made["$defs"].pop("Settings")
    settings["properties"] = {"$schema": {"type": "string"}, **settings["properties"]}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "memdir settings"}
    settings.pop("title")
    return {**head, **settings, "$defs": made["$defs"]}

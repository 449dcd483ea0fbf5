"""The model of a scripted session: what it answers to any request, by what it is shown and by nothing else.

    answer(heard)    as the conversation's model, as a fork that keeps notes, summarises or saves memories

It is honest: what it writes into notes or a summary stands in what it was shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memdir.memory import topic
from memdir.model.messages import Block, Message, Request, Text, ToolResult, ToolUse
from memdir.session.sections import Section, Template, sections
from memdir.testing import call, say
from tests.story.long import script

Job = Literal["host", "notes", "summary", "extraction", "recall"]

FORK = "This message is not from the person."
NOTE_KEPT = 8
"""Lines of a section that stay when it is condensed, besides the facts."""
CHATTY = 25
"""Words that a note of a file has too many."""
SAVES = 20
"""In every so manieth turn there is something to remember beyond the session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One block of what a model is shown: a text, a call, or a result with the id of its call."""

    role: str
    text: str
    call: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One request, as far as the script looks at it."""

    parts: Sequence[Part]
    is_structured: bool = False

    @property
    def told(self) -> int | None:
        """The number of the part that is a fork's instruction."""
        found = (at for at, part in enumerate(self.parts) if part.role == "user" and not part.result)
        return next((at for at in found if self.parts[at].text.startswith(FORK)), None)

    @property
    def job(self) -> Job:
        """What the model is asked for."""
        if self.is_structured:
            return "recall"
        if self.told is None:
            return "host"
        said = self.parts[self.told].text
        if "bring the running notes" in " ".join(said.split()):
            return "notes"
        return "summary" if "Write a summary of it" in " ".join(said.split()) else "extraction"

    @property
    def steps_done(self) -> int:
        """How many blocks a fork has said already."""
        return sum(part.role == "assistant" for part in self.parts[self.told :]) if self.told else 0

    @property
    def shown(self) -> str:
        """All text before the instruction."""
        return "\n".join(part.text for part in self.parts[: self.told])


def heard(request: Request) -> Heard:
    """What a scripted model is sent."""
    parts = [part for message in request.messages for part in parts_of(message)]
    return Heard(parts=parts, is_structured=request.schema is not None)


def parts_of(message: Message) -> Iterator[Part]:
    for block in message.content:
        match block:
            case Text(text=text):
                yield Part(role=message.role, text=text)
            case ToolUse(id=name):
                yield Part(role=message.role, text="", call=name)
            case ToolResult(tool_use_id=name, content=text):
                yield Part(role=message.role, text=text, result=name)


def heard_json(body: Mapping[str, Any]) -> Heard:
    """The same of the JSON of any of the three formats: Messages, Chat Completions, Responses."""
    items = body.get("input") or body["messages"]
    schema = [body.get("output_config"), body.get("response_format"), body.get("text")]
    is_structured = any("format" in one or "json_schema" in one for one in schema if one)
    return Heard(parts=[part for item in items for part in _parts_in(item)], is_structured=is_structured)


def _parts_in(item: Mapping[str, Any]) -> Iterator[Part]:
    role, content = item.get("role", ""), item.get("content")
    match item.get("type", role):
        case "function_call":
            yield Part(role="assistant", text="", call=item["call_id"])
        case "function_call_output":
            yield Part(role="user", text=_text_in(item["output"]), result=item["call_id"])
        case "tool":
            yield Part(role="user", text=_text_in(content), result=item["tool_call_id"])
        case "system" | "developer":
            return
        case _:
            for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or ():
                match block["type"]:
                    case "tool_use":
                        yield Part(role=role, text="", call=block["id"])
                    case "tool_result":
                        yield Part(role=role, text=_text_in(block["content"]), result=block["tool_use_id"])
                    case _:
                        yield Part(role=role, text=block.get("text", ""))
    for one in item.get("tool_calls") or ():
        yield Part(role=role, text="", call=one["id"])


def _text_in(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(one.get("text", "") for one in content)


def answer(asked: Heard, *, memory: str, life: str = "") -> list[Block]:
    """What the model says. `memory`: the directory of memories; `life`: see `script.steps`."""
    match asked.job:
        case "host":
            return list(_host(asked, life))
        case "notes":
            return _notes(asked)
        case "summary":
            return [say(_summary(asked.shown))]
        case "extraction":
            return _extraction(asked, memory)
        case "recall":
            found = re.findall(r"\b[a-z_0-9]+\.md\b", asked.parts[-1].text)
            chosen = ", ".join(f'"{name}"' for name in [*dict.fromkeys(found)][:2])
            return [say(f'{{"selected_memories": [{chosen}]}}')]


def _host(asked: Heard, life: str) -> Sequence[Block]:
    for part in reversed(asked.parts):
        if found := re.match(r"toolu_(\d+)_(\d+)", part.result):
            return script.next_step(int(found[1]), int(found[2]) + 1, life)
        if part.role == "user" and (found := re.match(rf"{script.MARK} (\d+): ", part.text)):
            return script.next_step(int(found[1]), 0, life)
    raise AssertionError("nobody knows where the conversation is")


def turn_of(asked: Heard) -> int:
    """The latest turn that is shown; 0 for none."""
    before = asked.parts[: asked.told]
    said = [re.match(rf"{script.MARK} (\d+): ", part.text) for part in before if part.role == "user"]
    done = [re.match(r"toolu_(\d+)_", part.result) for part in before]
    return max((int(one[1]) for one in (*said, *done) if one), default=0)


def known(text: str) -> list[script.Fact]:
    """The facts that a text says, in the order in which they were planted."""
    named = {int(found) for found in re.findall(rf"(?:{'|'.join(script.BIRDS)})_(\d+)", text)}
    planted = (script.fact(turn) for turn in sorted(named))
    return [one for one in planted if one is not None and one.stands_in(text)]


# ── forks ──────────────────────────────────────────────────────────────────────────────────────────────


def _notes(asked: Heard) -> list[Block]:
    """Edits that add what is new, and that condense what is said to be too long."""
    if asked.steps_done:
        return [say("Done.")]
    told = asked.told
    assert told is not None
    instruction = asked.parts[told].text
    path = re.search(r"in the file `([^`]+)`", instruction)
    notes = re.search(r"<session-notes>\n(.*?)\n</session-notes>(.*)", instruction, re.DOTALL)
    assert path, "the instruction names the file"
    assert notes, "the instruction shows the notes"
    long = set(re.findall(r"^- `([^`]+)`: about", notes[2], re.MULTILINE))
    turn, new = turn_of(asked), dict[str, list[str]]()
    for one in known(asked.shown):
        if not one.stands_in(notes[1]):
            new.setdefault(script.SECTIONS[one.kind], []).append(f"- {one.line}")
    told_so = script.prompt(turn)[:60]
    new.setdefault("Log", []).append(f"- step {turn}: {told_so!r}, and what came of it")
    part = f"src/part_{turn % script.MODULES:02}.py"
    new.setdefault("Files", []).append(f"- {part}: seen in step {turn}; {script.words(turn, CHATTY)}")
    made = [
        _edit(path[1], one, new.get(one.title, []), is_long=one.title in long)
        for one in sections(notes[1], Template.default())
        if new.get(one.title) or one.title in long
    ]
    stands = next(one for one in sections(notes[1], Template.default()) if one.title == "Where it stands")
    return [*made, _put(path[1], stands, f"- in step {turn}")]


def _edit(path: str, one: Section, new: Sequence[str], *, is_long: bool) -> ToolUse:
    if not is_long:
        return call(
            "Edit",
            file_path=path,
            old_string=f"{one.heading}\n{one.guidance}",
            new_string="\n".join((one.heading, one.guidance, *new)),
        )
    lines = one.body.split("\n")
    facts = [line for line in lines if known(line)]
    rest = [line for line in lines if not known(line)][:NOTE_KEPT]
    return _put(path, one, "\n".join((*new, *facts, *rest)))


def _put(path: str, one: Section, body: str) -> ToolUse:
    """The call that puts this body in place of the present one."""
    before = "\n".join(part for part in (one.heading, one.guidance, one.body) if part)
    after = "\n".join(part for part in (one.heading, one.guidance, body) if part)
    return call("Edit", file_path=path, old_string=before, new_string=after)


def _summary(shown: str) -> str:
    lines = {title: list[str]() for title in script.SECTIONS.values()}
    for one in known(shown):
        lines[script.SECTIONS[one.kind]].append(f"- {one.line}")
    found = ["\n".join((f"# {title}", *said)) for title, said in lines.items() if said]
    return "\n\n".join(found) or "# Log\n- nothing yet"


def _extraction(asked: Heard, memory: str) -> list[Block]:
    """Saves something now and then; most of the time there is nothing."""
    turn, step = turn_of(asked), asked.steps_done
    if turn % SAVES or step > 1:
        return [say("Nothing to save.")]
    if step == 0:
        return [call("Read", file_path=f"{memory}/MEMORY.md")]
    name = f"project_step_{turn}"
    said = script.prompt(turn)
    content = topic.render(name=name, description=said, type="project", body=f"{said}\n")
    return [call("Write", file_path=f"{memory}/{name}.md", content=content)]

"""Random conversations, for the laws of what is done to them (A1, C4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from memdir.model.messages import Block, Image, Message, Text, Thinking, ToolResult, ToolUse

PIXEL = Image(media_type="image/png", data="iVBORw0KGgo=")
BEGAN = datetime(2026, 5, 7, 12, 0, tzinfo=UTC)
KINDS = ("memory", "date", "changed_file", "instructions")


def texts(*, most: int) -> st.SearchStrategy[str]:
    """Texts of up to so many characters, some in a script of one token a character."""
    lengths = st.integers(0, most) | st.integers(0, 40)
    return st.builds(
        lambda part, length: (part * length)[:length], st.sampled_from(("word ", "字", "a\n")), lengths
    )


@st.composite
def histories(
    draw: st.DrawFn,
    *,
    turns: int = 6,
    most: int = 400,
    huge: int = 20_000,
    split: bool = False,
    open_end: bool = False,
) -> list[Message]:
    """A conversation as the loop makes it: turns with parallel calls, results with pictures, what memdir adds
    between, turns that were broken off, reasoning, and now and then a text of up to `huge` characters.

    `split`: results of one answer may come in several messages, with others between. `open_end`: the last
    answer's calls may have no results yet. Ids and times are the same for the same choices.
    """
    said: list[Message] = []
    calls = 0

    def add(role: str, origin: str, *content: Block, about: dict[str, str] | None = None) -> None:
        number = len(said)
        said.append(
            Message(
                role=role,  # type: ignore[arg-type]
                origin=origin,  # type: ignore[arg-type]
                content=content,
                id=f"m{number}",
                at=BEGAN + timedelta(minutes=number),
                attachment=about,
            )
        )

    def text() -> str:
        return draw(texts(most=huge if draw(st.integers(0, 12)) == 12 else most))

    def added() -> None:
        if draw(st.integers(0, 3)) == 3:
            add("user", "attachment", Text(text=text()), about={"kind": draw(st.sampled_from(KINDS))})

    def results(ids: list[str]) -> None:
        blocks = [
            ToolResult(
                tool_use_id=one,
                content=text(),
                is_error=draw(st.booleans()),
                images=(PIXEL,) * draw(st.sampled_from((0, 0, 0, 1, 2))),
            )
            for one in ids
        ]
        cut = draw(st.integers(1, len(blocks))) if split else len(blocks)
        add("user", "tool", *blocks[:cut])
        if blocks[cut:]:
            added()
            add("user", "tool", *blocks[cut:])

    for turn in range(draw(st.integers(0, turns))):
        add("user", "person", Text(text=text() or f"request {turn}"))
        added()
        for _ in range(draw(st.integers(0, 3))):
            ids = [f"c{calls + number}" for number in range(draw(st.integers(1, 3)))]
            calls += len(ids)
            thought = (Thinking(thinking=text(), signature="signed"),) if draw(st.booleans()) else ()
            words = (Text(text=text()),) if draw(st.booleans()) else ()
            uses = (ToolUse(id=one, name="Read", input={"file_path": f"/w/{one}.py"}) for one in ids)
            add("assistant", "assistant", *thought, *words, *uses)
            results(ids)
            added()
        if draw(st.integers(0, 5)) == 5:
            add("user", "system", Text(text="[the answer was broken off]"))
        else:
            add("assistant", "assistant", Text(text=text() or "done"))
    if open_end and said and draw(st.booleans()):
        add("assistant", "assistant", ToolUse(id="open", name="Bash", input={"command": "ls"}))
    return said

"""Pictures: Read shows them, a conversation carries them, and none gets in that a service refuses (A2)."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import pytest

from memdir.agent.fork import fork
from memdir.agent.tools import TOOLS
from memdir.agent.tools.picture import recognised
from memdir.agent.tools.read import MAX_BYTES, MAX_PICTURE_BYTES, MAX_SIDE
from memdir.agent.transcript import Transcript, read
from memdir.model.messages import Image, Prefix, ToolResult
from memdir.testing import call, say
from tests.agent.world import NOW, World, results
from tests.pictures import GIF, WEBP_EXTENDED, WEBP_LOSSLESS, WEBP_LOSSY, jpeg, png

pytestmark = pytest.mark.anyio


def image(data: bytes, kind: str = "png") -> Image:
    return Image(media_type=f"image/{kind}", data=base64.b64encode(data).decode())


@pytest.mark.parametrize(
    ("data", "kind", "name", "size"),
    [
        (png(3, 5), "png", "PNG", "3 x 5"),
        (jpeg(17, 9), "jpeg", "JPEG", "17 x 9"),
        (GIF, "gif", "GIF", "1 x 1"),
        (WEBP_LOSSY, "webp", "WebP", "1 x 1"),
        (WEBP_LOSSLESS, "webp", "WebP", "1 x 1"),
        (WEBP_EXTENDED, "webp", "WebP", "1 x 1"),
    ],
)
async def test_a_picture_is_shown_with_a_line_about_it_A2(
    world: World, data: bytes, kind: str, name: str, size: str
) -> None:
    path = world.file("notes.txt", data)  # its bytes tell what it is, its name does not
    output = await world.output("Read", file_path=str(path), limit=1)
    assert output.text == f"{path} is a {name} picture, {len(data):,} bytes, {size} pixels"
    assert output.images == (image(data, kind),)


async def test_a_text_with_a_pictures_name_is_a_text_A2(world: World) -> None:
    for text in ("GIF89a is a format;", "RIFF....WEBP too", "<svg/>"):
        path = world.file("a.png", text)
        output = await world.output("Read", file_path=str(path))
        assert (output.text, output.images) == (f"     1\t{text}", ())


async def test_a_picture_read_is_known_and_not_edited_as_text_A2(world: World) -> None:
    path = world.file("a.png", png())
    assert "Read" in await world.fails("Write", file_path=str(path), content="x")
    await world.use("Read", file_path=str(path))
    seen = world.context.files.known(path)
    assert seen is not None
    assert (seen.data, seen.partial, seen.how) == (png(), False, "read")
    said = await world.fails("Edit", file_path=str(path), old_string="IHDR", new_string="x")
    assert said.endswith("is a binary file; Edit changes text only")
    assert path.read_bytes() == png()
    path.write_bytes(png(2, 2))
    assert "changed since" in await world.fails("Write", file_path=str(path), content="x")


# -- what a service would refuse, with each later request as well --


@pytest.mark.parametrize(
    "data",
    [
        png()[:12],
        png()[:30],
        png(9, 9)[:-6],
        png().replace(b"IHDR", b"CgBI"),
        png(0, 5),
        jpeg()[:3] + b"\0",
        jpeg()[:40],
        jpeg(99, 99)[:-2],
        jpeg(99, 99, thumbnail=jpeg())[:-2],
        jpeg().replace(b"\xff\xc0", b"\xff\xc4"),
        GIF[:8] + b"\0",
        GIF[:-1],
        WEBP_LOSSY[:-1],
        WEBP_LOSSLESS[:22],
        WEBP_EXTENDED[:28],
        WEBP_LOSSY.replace(b"VP8 ", b"VP8?"),
        b"RIFF\0\0\0\0WEBP",
    ],
)
async def test_a_broken_picture_is_not_shown_and_not_known_A2(world: World, data: bytes) -> None:
    path = world.file("a.png", data)
    said = await world.fails("Read", file_path=str(path))
    assert "broken or cut off. Make it again, or convert it with Bash" in said
    assert world.context.files.known(path) is None


def test_a_picture_cut_anywhere_is_never_whole() -> None:
    for data in (png(30, 30), jpeg(99, 99, thumbnail=jpeg()), GIF, WEBP_LOSSY, WEBP_LOSSLESS, WEBP_EXTENDED):
        cut = [recognised(data[:length]) for length in range(len(data))]
        assert not any(found.size for found in cut if found)


@pytest.mark.parametrize(
    ("start", "size"),
    [
        (
            b"VP8X\n\0\0\0\x10\0\0\0" + (4999).to_bytes(3, "little") + (70000).to_bytes(3, "little"),
            (5000, 70001),
        ),
        (b"VP8L\0\0\0\0\x2f" + struct.pack("<I", 640 - 1 | 480 - 1 << 14), (640, 480)),
        (b"VP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640 | 1 << 14, 480), (640, 480)),
    ],
)
def test_the_size_of_a_webp_is_in_the_header_of_each_of_its_kinds(
    start: bytes, size: tuple[int, int]
) -> None:
    found = recognised(b"RIFF" + struct.pack("<I", 4 + len(start)) + b"WEBP" + start)
    assert found is not None
    assert found.size == size


def test_fill_bytes_before_a_jpegs_frame_are_skipped() -> None:
    found = recognised(jpeg(17, 9).replace(b"\xff\xc0", b"\xff\xff\xff\xc0"))
    assert found is not None
    assert found.size == (17, 9)


def padded(size: int) -> bytes:
    """A whole picture of so many bytes."""
    whole = png()
    text = b"a\0" + b"x" * (size - len(whole) - 14)
    chunk = struct.pack(">I", len(text)) + b"tEXt" + text + struct.pack(">I", zlib.crc32(b"tEXt" + text))
    return whole[:33] + chunk + whole[33:]


async def test_a_picture_too_big_for_a_service_is_not_shown_A2(world: World) -> None:
    fits = world.file("fits.png", padded(MAX_PICTURE_BYTES))
    (shown,) = (await world.output("Read", file_path=str(fits))).images
    assert len(shown.data) == 5 * 1024 * 1024
    big = world.file("big.png", padded(MAX_PICTURE_BYTES + 1))
    assert "Make a smaller copy with Bash, and Read that" in await world.fails("Read", file_path=str(big))
    wide = world.file("wide.png", png(MAX_SIDE + 1, 1))
    said = await world.fails("Read", file_path=str(wide))
    assert "8001 x 1 pixels: too big, the limits are 3,932,160 bytes and 8,000 pixels a side" in said
    huge = world.file("huge.png")
    with huge.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    said = await world.fails("Read", file_path=str(huge))
    assert said.endswith("search it with Grep, or if it is a picture, make a smaller copy with Bash")


# -- in a conversation --


async def test_a_picture_reaches_the_model_and_the_transcript_A1_A2(world: World, tmp_path: Path) -> None:
    path, text = world.file("a.png", png()), world.file("a.txt", "one\n")
    transcript = Transcript.create(
        tmp_path / "s.jsonl",
        session_id="session-1",
        cwd=world.root,
        prefix=Prefix(system=("Be brief.",), tools=tuple(tool.spec for tool in TOOLS)),
        at=NOW,
    )
    agent, model = world.agent(
        [[call("Read", file_path=str(path)), call("Read", file_path=str(text))], say("It is black.")],
        transcript=transcript,
    )
    await agent.run("What is in a.png?")
    told = f"{path} is a PNG picture, {len(png())} bytes, 1 x 1 pixels"
    first, second = model.requests[-1].messages[-1].content
    assert isinstance(first, ToolResult)
    assert isinstance(second, ToolResult)
    assert (first.content, first.images, first.is_error) == (told, (image(png()),), False)
    assert (second.content, second.images) == ("     1\tone", ())
    assert read(transcript.path).messages == tuple(agent.messages)


async def test_a_fork_has_its_hosts_pictures_and_can_read_others_A4(world: World) -> None:
    host, other = world.file("a.png", png()), world.file("b.png", png(2, 2))
    agent, model = world.agent(
        [
            call("Read", file_path=str(host)),
            say("Black."),
            call("Read", file_path=str(other)),
            say("Nothing to save."),
        ]
    )
    await agent.run("What is in a.png?")
    ended = await fork(agent, "Save it.", memory=world.memory, max_turns=3, label="extract")
    assert results(agent)[0].images == (image(png()),)
    assert model.requests[-1].messages[: len(agent.messages)] == tuple(agent.messages)
    (result,) = ended.messages[2].content
    assert isinstance(result, ToolResult)
    assert result.images == (image(png(2, 2)),)
    assert agent.files.known(other) is None

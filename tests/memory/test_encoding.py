"""One way to read a memory file and one to write it back, for all who do (F1, F2, F6)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.agent.events import Events
from memdir.agent.file_state import FileState
from memdir.agent.instructions import context_message
from memdir.errors import UsageError
from memdir.memory import topic
from memdir.memory.encoding import decode, encode, encoding, readable
from memdir.memory.store import MemoryDir
from memdir.recall.surface import cut

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
DATA = st.one_of(st.binary(), st.builds(str.encode, st.text(), st.sampled_from(ENCODINGS)))


@given(DATA)
def test_what_is_decoded_is_encoded_to_the_same_bytes_or_refused_F1(data: bytes) -> None:
    readable(data).encode()
    try:
        text = decode(data)
    except UsageError:
        assert encoding(data) != "utf-8"
    else:
        assert encode(text, like=data) == data


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_text_is_read_without_its_mark_F2(name: str) -> None:
    assert readable("- é 漢\r\n".encode(name)) == "- é 漢\r\n"
    assert readable(b"caf\xe9") == "caf\ufffd"


@pytest.mark.parametrize(
    "data", [b"\xff\xfex", "ab".encode("utf-16") + b"c", b"\xff\xfe\0\0\xff\xff\xff\xff"]
)
def test_what_could_not_be_given_back_is_refused_with_the_cure_F6(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"MEMORY\.md is in broken UTF-") as caught:
        decode(data, name="MEMORY.md")
    assert caught.value.hint == "save it as UTF-8 first"


@pytest.mark.parametrize("name", ENCODINGS)
def test_all_readers_see_the_same_text_F2(tmp_path: Path, name: str) -> None:
    memory = MemoryDir(tmp_path / "memory", trash=tmp_path / "trash")
    memory.prepare()
    index = "- [Tee](tee.md) — grün, nicht schwarz\n"
    (memory.directory / "MEMORY.md").write_bytes(index.encode(name))
    shown = context_message(memory, files=FileState(), events=Events(), now=NOW)
    assert shown is not None
    assert index.strip() in shown.text
    assert memory.index() == index
    assert (
        cut(index.encode(name)).text
        == topic.parse(index.encode(name), filename="x.md").body.strip()
        == index.strip()
    )

"""All bytes below a folder, however they are kept: plain, deflated, in the packs of a repository, Base64."""

from __future__ import annotations

import base64
import re
import subprocess
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

_BASE64 = re.compile(rb"[A-Za-z0-9+/]{12,}={0,2}")


def places_of(words: Sequence[bytes], folder: Path) -> list[str]:
    """Where one of these words is: in which file, and how."""
    return sorted(
        {f"{path}: {how}" for path, how, data in everything(folder) for word in words if word in data}
    )


def everything(folder: Path) -> Iterator[tuple[Path, str, bytes]]:
    """File, how its bytes were read, and the bytes."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            yield path, "as it is", data
            yield from ((path, "deflated", one) for one in _inflated(data))
            yield from ((path, "Base64", one) for one in _decoded(data))
        if path.name == "objects" and path.is_dir():
            yield path, "objects", _objects(path.parent)


def _inflated(data: bytes) -> Iterator[bytes]:
    at = data.find(b"\x78")
    while at >= 0:
        with suppress(zlib.error):
            yield zlib.decompressobj().decompress(data[at:], 1 << 24)
        at = data.find(b"\x78", at + 1)


def _decoded(data: bytes) -> Iterator[bytes]:
    for found in _BASE64.findall(data):
        with suppress(ValueError):
            yield base64.b64decode(found)


def _objects(repository: Path) -> bytes:
    command = ["git", f"--git-dir={repository}", "cat-file", "--batch-all-objects", "--batch"]
    return subprocess.run(command, check=True, capture_output=True).stdout

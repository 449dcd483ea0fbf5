"""A person in a project folder with an empty home."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    folder = (tmp_path / "shop").resolve()
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("VISUAL", raising=False)
    return Desk(folder=folder, home=Path.home(), capture=capsys)

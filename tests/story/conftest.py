"""A terminal for each story that is told on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    folder = (tmp_path / "shop").resolve()
    folder.mkdir()
    monkeypatch.chdir(folder)
    return Desk(folder=folder, home=Path.home(), capture=capsys)

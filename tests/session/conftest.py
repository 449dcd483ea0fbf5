"""One world for each test of a long conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.world import World, world_in


@pytest.fixture
def world(tmp_path: Path) -> World:
    return world_in(tmp_path)

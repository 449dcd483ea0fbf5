"""One world for each test of the agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.house import House, house_in
from tests.agent.world import World, world_in


@pytest.fixture
def world(tmp_path: Path) -> World:
    return world_in(tmp_path)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return house_in(tmp_path)

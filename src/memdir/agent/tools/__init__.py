"""The tools of an agent, under the names and parameters that coding models know (A2)."""

from __future__ import annotations

from memdir.agent.tools.base import Tool, ToolContext, WroteButOver
from memdir.agent.tools.bash import BASH
from memdir.agent.tools.edit import EDIT
from memdir.agent.tools.glob import GLOB
from memdir.agent.tools.grep import GREP
from memdir.agent.tools.read import READ
from memdir.agent.tools.write import WRITE

TOOLS: tuple[Tool, ...] = (READ, WRITE, EDIT, GLOB, GREP, BASH)
"""All of them, in the order in which every request lists them (A4)."""

__all__ = ["TOOLS", "Tool", "ToolContext", "WroteButOver"]

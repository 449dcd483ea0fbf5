"""Claude models over Anthropic's Messages API, and whatever else speaks it."""

from memdir.model.anthropic.client import Anthropic

__all__ = ["Anthropic"]

"""OpenAI's models, and all the servers that speak Chat Completions or Responses."""

from memdir.model.openai.client import OpenAI

__all__ = ["OpenAI"]

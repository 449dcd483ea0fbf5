"""The embedded default: memdir without a language model.

memdir's own two jobs, choosing memories and drawing facts from a conversation, are done by rules where they
belong (`recall`, `extract`), whenever the configured model `is_local`. Anything else needs a language model,
and this one says which step is missing.
"""

from __future__ import annotations

from memdir.errors import ModelNotConfigured
from memdir.model import tokens
from memdir.model.client import Count, OnText, Survey
from memdir.model.messages import Reply, Request

STEPS = (
    "name one with `--model anthropic:claude-sonnet-5`, or for good with the `model` setting, "
    "and put its key into the environment as ANTHROPIC_API_KEY"
)
CURE = f"{STEPS}; `memdir models` shows what else is within reach"


class Local:
    """A model client that needs nothing and can't converse."""

    name = "local"
    is_local = True
    window = 200_000
    """As large as a small language model's, for those who plan with it; nothing is ever sent."""

    async def complete(
        self,
        request: Request,  # noqa: ARG002 - the protocol's
        *,
        on_text: OnText | None = None,  # noqa: ARG002 - the protocol's
    ) -> Reply:
        """Answer nothing.

        Raises:
            ModelNotConfigured: always; the hint says how to configure a model.
        """
        raise ModelNotConfigured("no language model is configured, and this needs one", hint=CURE)

    scale = 1.0
    calls_tools: bool | None = None

    async def count(self, request: Request) -> Count:
        """The estimate."""
        return Count(tokens=tokens.estimate_request(request), exact=False)

    async def survey(self) -> Survey:
        """It is always there."""
        return Survey(reachable=True, models=(self.name,), window=self.window)

    async def aclose(self) -> None:
        """Nothing is open."""

"""Which model does which job: settings -> the names, and the clients for them (R5, S5)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from memdir.model import choose, providers
from memdir.model.client import ModelClient
from memdir.settings import Settings

SELECTORS: Mapping[str, str] = {"anthropic": choose.EXAMPLE, "openai": "openai:gpt-6.1-terra"}
"""The mid-size model that chooses memories (R5), by the provider of the conversation's model. What others
have nobody knows: there the conversation's own does it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Which model does what. `extract` and `dream` are None when it is the conversation's own."""

    chat: ModelClient
    recall: ModelClient
    extract: ModelClient | None = None
    dream: ModelClient | None = None

    @staticmethod
    def names(settings: Settings, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The model of each job, as it is named: of "conversation", "recall", "extraction", "dream"."""
        chat = settings.model.strip()
        return {
            "conversation": chat,
            "recall": (settings.recall.model or _selector(chat, environment)).strip(),
            "extraction": (settings.extract.model or chat).strip(),
            "dream": (settings.dream.model or chat).strip(),
        }

    @classmethod
    def of(cls, settings: Settings, environment: Mapping[str, str] = os.environ) -> Models:
        """The models that the settings name; one client for each name.

        Raises:
            UsageError: a model is unknown.
        """
        names = cls.names(settings, environment)
        clients = {name: choose.client(name, environment=environment) for name in names.values()}
        chat = clients[names["conversation"]]

        def of_its_own(job: str) -> ModelClient | None:
            return None if clients[names[job]] is chat else clients[names[job]]

        return cls(
            chat=chat,
            recall=clients[names["recall"]],
            extract=of_its_own("extraction"),
            dream=of_its_own("dream"),
        )

    async def aclose(self) -> None:
        """Close their connections."""
        for model in {id(one): one for one in (self.chat, self.recall, self.extract, self.dream)}.values():
            if model is not None:
                await model.aclose()


def _selector(chat: str, environment: Mapping[str, str]) -> str:
    """The model that chooses memories beside a conversation with this one."""
    provider = providers.PROVIDERS.get(chat.partition(":")[0])
    if provider is None or provider.name not in SELECTORS:
        return chat
    if provider.name == "openai" and not providers.is_at_home(provider, environment):
        return chat  # whoever is there speaks as OpenAI does, and has other models
    return SELECTORS[provider.name]

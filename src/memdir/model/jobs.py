"""Which model does which job: settings -> the names, and the clients for them (R5, S5)."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from memdir.errors import UsageError
from memdir.model import choose, endpoints, providers, specs
from memdir.model.client import ModelClient
from memdir.model.embedding import choose as embeddings
from memdir.model.embedding.embedder import Embedder
from memdir.model.known import known
from memdir.model.local import Local
from memdir.settings import Settings

JOBS: Mapping[str, str] = {
    "conversation": "model",
    "recall": "recall.model",
    "extraction": "extract.model",
    "session memory": "session.model",
    "dream": "dream.model",
}
"""The jobs, and the setting that names the model of each."""

SELECTORS: Mapping[str, str] = {"anthropic": choose.EXAMPLE, "openai": "openai:gpt-6.1-terra"}
"""The mid-size model that chooses memories (R5), by the provider of the conversation's model. What others
have nobody knows: there the conversation's own does it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Which model does what. `extract`, `notes` and `dream` are None when it is the conversation's own;
    `free` and `free_notes`: whether nobody sends a bill for what `extract` and `notes` do. `embedder` finds
    memories by meaning; None: by words.
    """

    chat: ModelClient
    recall: ModelClient
    extract: ModelClient | None = None
    notes: ModelClient | None = None
    dream: ModelClient | None = None
    free: bool = False
    free_notes: bool = False
    embedder: Embedder | None = None

    @staticmethod
    def names(settings: Settings, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The model of each job (`JOBS`), as it is named."""
        chat = settings.model.strip()
        return {
            "conversation": chat,
            "recall": (settings.recall.model or _selector(chat, environment)).strip(),
            "extraction": (settings.extract.model or chat).strip(),
            "session memory": (settings.session.model or chat).strip(),
            "dream": (settings.dream.model or chat).strip(),
        }

    @staticmethod
    def places(settings: Settings, said_at: Mapping[str, str]) -> dict[str, str]:
        """Where the model of each job is named, as in "…/settings.json: extract.model"; "" where nothing is
        said. `said_at` says it of settings.
        """
        own = {job: getattr(settings, key.partition(".")[0]) for job, key in JOBS.items() if "." in key}
        chat = said_at.get("model", "")
        named = {job: said_at.get(JOBS[job], "") if one.model else chat for job, one in own.items()}
        return {"conversation": chat, **named}

    @classmethod
    def of(
        cls,
        settings: Settings,
        environment: Mapping[str, str] = os.environ,
        *,
        jobs: Collection[str] = tuple(JOBS),
        said_at: Mapping[str, str] | None = None,
    ) -> Models:
        """The models that the settings name; one client for each model, however it is named. Only `jobs` are
        to be done: a model of another that does not exist does no harm.

        Raises:
            UsageError: a model is unknown; says where it is named.
        """
        clients: dict[tuple[object, ...], ModelClient] = {}
        does: dict[str, ModelClient] = {}
        free: dict[str, bool] = {}
        places = cls.places(settings, said_at or {})
        for job, name in cls.names(settings, environment).items():
            try:
                spec = parsed(name, at=places[job])
                place = None if spec.is_local else endpoints.endpoint(spec, environment)
            except UsageError:
                if job in jobs:
                    raise
                does[job], free[job] = Local(), True
                continue
            who = endpoints.identity(spec, place)
            does[job] = clients[who] if who in clients else choose.client(spec, environment=environment)
            clients[who] = does[job]
            free[job] = place is None or endpoints.is_free(spec, place)
        chat = does["conversation"]
        return cls(
            chat=chat,
            recall=does["recall"],
            extract=None if does["extraction"] is chat else does["extraction"],
            notes=None if does["session memory"] is chat else does["session memory"],
            dream=None if does["dream"] is chat else does["dream"],
            free=free["extraction"],
            free_notes=free["session memory"],
            embedder=_embedder(settings, environment, said_at or {}) if "recall" in jobs else None,
        )

    async def aclose(self) -> None:
        """Close their connections."""
        clients = (self.chat, self.recall, self.extract, self.notes, self.dream)
        for model in {id(one): one for one in clients}.values():
            if model is not None:
                await model.aclose()
        if self.embedder is not None:
            await self.embedder.aclose()


def _embedder(
    settings: Settings, environment: Mapping[str, str], said_at: Mapping[str, str]
) -> Embedder | None:
    at = said_at.get(embeddings.SETTING, "")
    return embeddings.embedder(settings.recall.embedder, environment=environment, at=at)


def parsed(name: str, *, at: str) -> specs.Spec:
    """The model that a setting names; `at` is where that stands, or "".

    Raises:
        UsageError: it names none; says where.
    """
    try:
        return specs.parse(name)
    except UsageError as error:
        raise UsageError(f"{at}: {error}" if at else str(error), hint=error.hint) from None


def _selector(chat: str, environment: Mapping[str, str]) -> str:
    """The model that chooses memories beside a conversation with this one; never one that is dearer."""
    name, _, model = (part.strip() for part in chat.partition(":"))
    provider = providers.PROVIDERS.get(name)
    if provider is None or provider.name not in SELECTORS:
        return chat
    if not endpoints.is_at_home(provider, environment):
        return chat  # whoever is there speaks as the provider does, and has other models
    selector = SELECTORS[name]
    prices = [one.price for one in (known(name, model), known(name, selector.partition(":")[2])) if one]
    if len(prices) == 2 and prices[0] and prices[1] and prices[1].input > prices[0].input:
        return chat
    return selector

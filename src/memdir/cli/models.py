"""`memdir models`: which model does what, whether it answers, what it costs, and what else there is."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from memdir import app
from memdir.agent.events import Events
from memdir.cli.opening import model_option, open_project
from memdir.cli.output import columns, emit_json, json_option
from memdir.cli.output import line as one_line
from memdir.errors import UsageError
from memdir.model import choose, endpoints, specs, tokens
from memdir.model.client import Survey
from memdir.model.endpoints import Endpoint
from memdir.model.jobs import Models
from memdir.model.known import Price, known
from memdir.model.local import STEPS
from memdir.model.messages import Request
from memdir.model.openai.failures import LONGER_WINDOW
from memdir.model.providers import PROVIDERS
from memdir.model.reach import Reach, can_converse, unreadable, within_reach
from memdir.model.specs import Spec

FORKS = ("extraction", "session memory", "dream")
"""The jobs that go on from the conversation's own prompt."""

EMBEDDED = "the embedded default: recall by words, extraction and summaries by rules; no key, no network"
NO_MODEL = "no language model is configured, and a conversation needs one"

LEAST_WINDOW = 8_192
"""Tokens below which a window has hardly room for a conversation beside memdir's own part of it."""

_LARGER = "give the server a larger context window, or choose another model"

_NARROW, _WIDE = 40, 100  # columns that a sentence is wrapped to
_NAMES = 3
"""So many models of a server are named."""


@click.command(short_help="Show which model does what, and what is within reach.")
@model_option("would converse")
@json_option
@click.pass_obj
def models(opened: app.Opening, model: str | None, as_json: bool) -> None:
    """Show which model does what: where it is, whether it can be reached, its window, price and cache; and
    what else is within reach.

    Services are asked what they have, which costs nothing. Prices are list prices in USD per million tokens.

    With --json, `jobs` has an object for each of conversation, recall, extraction, session memory (the
    running summary of a long conversation) and dream, with `job`, `model`, `where`, `local`, `reachable`,
    `window` and `windowSource` ("service", "known" or "assumed"), `price` (null, or `input`, `output`,
    `cacheRead`, `cacheWrite` and `beyond`: null, or the same for a request of more than `over` tokens),
    `cache`, `sharesCache` (with the conversation; null for recall and where there is none), `unencrypted`,
    `problem` and `cure`; and `withinReach` has objects with `provider`, `where`, `key` (where it was found),
    `models`, `wantsKey` and `choose`.
    """
    import anyio

    for named in (model, opened[1].get("model")):
        if named is not None:
            specs.parse(named)  # what is wrong on the command line is wrong usage, not a finding
    project = open_project(opened, model=model)
    names = Models.names(project.settings)
    sights, reach = anyio.run(_look, names, os.environ)
    places = Models.places(project.settings, project.said_at)
    for name, sight in sights.items():
        at = dict.fromkeys(places[job] for job in names if names[job] == name and places[job])
        sights[name] = _judged(sight, project, reach, at=tuple(at))
    if as_json:
        chat = sights[names["conversation"]]
        emit_json(
            jobs=[_as_json(job, sights[name], chat, reach) for job, name in names.items()],
            withinReach=[_reach_as_json(one) for one in reach],
        )
        return
    click.echo("\n\n".join(_paragraphs(names, sights, reach)))


# -- looking ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """One model, as it looks from here. `spec` is None if the name means nothing, `place` is None if it is
    nowhere; `window` in tokens, and whose word that is; `price`, if it is known. `careful` is what may become
    a problem.
    """

    name: str
    spec: Spec | None
    place: Endpoint | None
    survey: Survey
    price: Price | None = None
    window: int | None = None
    window_source: str | None = None
    careful: str | None = None

    @property
    def is_local(self) -> bool:
        """Whether it is the embedded default."""
        return self.spec is not None and self.spec.is_local

    @property
    def server(self) -> str | None:
        """Who serves it, if its name says so."""
        return self.spec.provider.name if self.spec and self.spec.provider else None


async def _look(
    names: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[dict[str, Sight], list[Reach]]:
    """Each model that is named, asked once; and what else there is."""
    import anyio

    sights: dict[str, Sight] = {}

    async def look(name: str) -> None:
        sights[name] = await _sight(name, environment)

    async with anyio.create_task_group() as looking:
        for name in dict.fromkeys(names.values()):
            looking.start_soon(look, name)
    used = [(one.spec, one.place) for one in sights.values() if one.spec and one.place]
    return sights, await within_reach(environment, without=used)


async def _sight(name: str, environment: Mapping[str, str]) -> Sight:
    spec: Spec | None = None
    try:
        spec = specs.parse(name)
        place = None if spec.is_local else endpoints.endpoint(spec, environment)
        client = choose.client(spec, environment=environment)
    except UsageError as error:
        survey = Survey(reachable=False, problem=str(error), cure=error.hint)
        return Sight(name=specs.shown(name), spec=spec, place=None, survey=survey)
    try:
        survey = await client.survey()
    finally:
        await client.aclose()
    about = known(spec.provider.name, spec.model) if spec.provider else None
    at_list_price = spec.provider is not None and endpoints.has_list_prices(spec.provider, environment)
    source = "service" if survey.window else "known" if about and about.window else "assumed"
    return Sight(
        name=spec.text,
        spec=spec,
        place=place,
        survey=survey,
        price=about.price if about and at_list_price else None,
        window=None if spec.is_local else survey.window or client.window,
        window_source=None if spec.is_local else source,
    )


# -- judging ---------------------------------------------------------------------------------------------


def _judged(sight: Sight, project: app.Project, reach: Sequence[Reach], *, at: Sequence[str]) -> Sight:
    """What was seen, and what it means: `at` is where the model is named, `reach` what else there is."""
    survey = sight.survey
    if sight.spec is None:
        said = f"{', '.join(at)}: " if at else ""
        return replace(sight, survey=replace(survey, problem=f"{said}{survey.problem}"))
    if not survey.reachable and (found := _elsewhere(sight, reach)) is not None:
        return replace(sight, survey=replace(survey, cure=found))
    if survey.problem is None and sight.window is not None and sight.window < LEAST_WINDOW:
        own = f"memdir's own instructions and tools take about {_own_tokens(project):,} tokens of its window"
        more = LONGER_WINDOW.get(sight.server or "", _LARGER)
        if sight.window_source == "assumed":
            return replace(sight, careful=f"{own}, if it gets no larger one; {more}")
        return replace(sight, survey=replace(survey, problem=own, cure=more))
    return sight


def _elsewhere(sight: Sight, reach: Sequence[Reach]) -> str | None:
    """The cure for a server that is not where it was looked for, but at another usual place."""
    found = next((one for one in reach if one.key is None and one.provider.name == sight.server), None)
    if found is None or sight.spec is None:
        return None
    name = sight.spec.model
    if name not in found.models:
        name = found.choose.removeprefix(f"{found.url}:")
    return (
        f"one answers at {found.where}: name it as in `{found.url}:{name}`, "
        f"or set {found.provider.moved_by} to {found.url}"
    )


def _own_tokens(project: app.Project) -> int:
    """About how many tokens each request begins with, whatever is said."""
    return tokens.estimate_request(Request(prefix=app.prefix_of(project, Events()), messages=()))


# -- telling ---------------------------------------------------------------------------------------------


def _paragraphs(
    names: Mapping[str, str], sights: Mapping[str, Sight], reach: Sequence[Reach]
) -> Iterator[str]:
    chat = sights[names["conversation"]]
    yield columns(((job, one_line(sights[name].name)) for job, name in names.items()), wrap=True)
    notes = [*_notes({job: sights[name] for job, name in names.items()}, chat, reach)]
    notes += _unread(sights.values(), os.environ)
    if notes:
        yield "\n".join(_wrapped(one_line(note)) for note in notes)
    for name in dict.fromkeys(names.values()):
        yield "\n".join(_block(sights[name]))
    if reach:
        rows = [(f"  {one.provider.name}", one.where, _offer(one)) for one in reach]
        choice = one_line(reach[0].choose)
        how = f"choose one as in `--model {choice}`, or for good with the `model` setting"
        yield f"also within reach\n{columns(rows, wrap=True)}\n{_wrapped(how, indent=2)}"
    else:
        yield _wrapped(_nothing_else(sights.values(), os.environ))


def _notes(jobs: Mapping[str, Sight], chat: Sight, reach: Sequence[Reach]) -> Iterator[str]:
    """What is worth a sentence about how the jobs go together."""
    if chat.is_local:
        yield f"{NO_MODEL}: {_steps(reach)}"
    for job in FORKS:
        if _shares(job, jobs[job], chat) is False:
            again = "read" if _is_free(jobs[job]) else "paid for"
            yield (
                f"{job} runs on another model than the conversation: it can't read its cache, so the whole "
                f"conversation is {again} again"
            )


def _steps(reach: Sequence[Reach]) -> str:
    """How to come to a language model: by what is there already, if there is something."""
    if not reach or not reach[0].is_ready:
        return STEPS
    return f"name one with `--model {reach[0].choose}`, or for good with the `model` setting"


def _unread(sights: Iterable[Sight], environment: Mapping[str, str]) -> Iterator[str]:
    """The variables that lead nowhere, but for those that are told as a problem."""
    told = {sight.survey.problem for sight in sights}
    for error in unreadable(environment):
        if str(error) not in told:
            yield f"{error}, so nothing is looked for there: {error.hint}"


def _nothing_else(sights: Iterable[Sight], environment: Mapping[str, str]) -> str:
    used = {sight.server for sight in sights}
    unset = [
        one.key
        for one in PROVIDERS.values()
        if one.key and one.name not in used and not environment.get(one.key, "").strip()
    ]
    keys = [f"no other key is set ({' or '.join(unset)})"] if unset else []
    return f"nothing else is within reach: {', '.join([*keys, 'no other server answers here'])}"


def _block(sight: Sight) -> Iterator[str]:
    """A model in a few lines, a label before each."""

    def line(label: str, text: str) -> str:
        return _wrapped(f"  {label:<8} {one_line(text)}", indent=11)

    yield one_line(sight.name)
    if sight.is_local:
        yield line("what", EMBEDDED)
        return
    survey, place = sight.survey, sight.place
    if place is not None:
        yield line("where", f"{place.host}{', reachable' if survey.reachable else ''}")
    if place is not None and place.unencrypted:
        yield line("careful", "unencrypted: what is said can be read on its way; use https://")
    if sight.window is not None:
        yield line("window", _window(sight))
    if sight.careful is not None:
        yield line("careful", sight.careful)
    if place is not None:
        yield from (line(label, text) for label, text in zip(("price", ""), _price(sight), strict=False))
        yield line("cache", _cache(sight))
    if survey.problem is not None:
        yield line("problem", survey.problem)
    if survey.cure is not None:
        yield line("cure", survey.cure)


def _window(sight: Sight) -> str:
    """The window, and if it is assumed, why."""
    if sight.window_source != "assumed":
        return f"{sight.window:,} tokens"
    is_there = sight.survey.reachable and sight.survey.problem is None
    if sight.server == "ollama" and is_there and not sight.name.endswith("cloud"):
        return f"{sight.window:,} tokens assumed until it is loaded"
    why = "the service does not say" if sight.survey.reachable else "not asked"
    return f"not known, {sight.window:,} tokens assumed ({why})"


def _price(sight: Sight) -> Iterator[str]:
    """The price, and in a second line that of long requests."""
    price = sight.price
    if price is None:
        yield "none, it runs on this machine" if _is_free(sight) else "not known here"
        return
    yield f"{_dollars(price)} per million tokens"
    if price.beyond is not None and price.over is not None:
        yield f"{_dollars(price.beyond)} when more than {price.over:,} go in"


def _is_free(sight: Sight) -> bool:
    """Whether nobody sends a bill."""
    return sight.spec is not None and sight.place is not None and endpoints.is_free(sight.spec, sight.place)


def _dollars(price: Price) -> str:
    cached = f" ({_dollar(price.cache_read)} cached)" if price.cache_read is not None else ""
    return f"{_dollar(price.input)} in{cached}, {_dollar(price.output)} out"


def _dollar(amount: float) -> str:
    """Two figures behind the point, or as many as there are."""
    return f"${amount:.2f}" if round(amount, 2) == amount else f"${amount:g}"


def _cache(sight: Sight) -> str:
    provider = sight.spec.provider if sight.spec else None
    if provider is None or (provider.key and not endpoints.is_at_home(provider, os.environ)):
        return "that of the server, if it has one"
    return provider.cache


def _shares(job: str, sight: Sight, chat: Sight) -> bool | None:
    """Whether a job reads what the conversation put into the cache; None where there is nothing to share."""
    if job not in FORKS or chat.is_local or sight.is_local:
        return None
    if sight.spec is None or chat.spec is None or sight.place is None or chat.place is None:
        return sight.name == chat.name
    return endpoints.identity(sight.spec, sight.place) == endpoints.identity(chat.spec, chat.place)


def _offer(reach: Reach) -> str:
    if reach.key is not None:
        return f"its key is in {reach.key}" if " " in reach.key else f"{reach.key} is set"
    named = ", ".join(one_line(name) for name in reach.models[:_NAMES])
    more = f" and {len(reach.models) - _NAMES} more" if len(reach.models) > _NAMES else ""
    if reach.wants_key:
        return "wants a key"
    if not reach.models:
        return "answers, and names no model"
    return f"{named}{more}{'' if any(map(can_converse, reach.models)) else ': none that converses'}"


def _wrapped(text: str, *, indent: int = 0) -> str:
    """The text, in lines of the terminal's width if it is shown at one."""
    if not sys.stdout.isatty():
        return text if not text or text[0] == " " else " " * indent + text
    width = min(max(shutil.get_terminal_size().columns, _NARROW), _WIDE)
    first = "" if text.startswith(" ") else " " * indent
    return textwrap.fill(
        text,
        width,
        initial_indent=first,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


# -- as JSON ---------------------------------------------------------------------------------------------


def _as_json(job: str, sight: Sight, chat: Sight, reach: Sequence[Reach]) -> dict[str, Any]:
    problem, cure = sight.survey.problem, sight.survey.cure
    if job == "conversation" and sight.is_local:
        problem, cure = NO_MODEL, _steps(reach)
    price = sight.price
    return {
        "job": job,
        "model": sight.name,
        "where": sight.place.host if sight.place else None,
        "local": sight.is_local,
        "reachable": sight.survey.reachable,
        "window": sight.window,
        "windowSource": sight.window_source,
        "price": price and _price_as_json(price),
        "cache": _cache(sight) if sight.place else None,
        "sharesCache": _shares(job, sight, chat),
        "unencrypted": sight.place is not None and sight.place.unencrypted,
        "problem": problem,
        "cure": cure,
    }


def _price_as_json(price: Price) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "input": price.input,
        "output": price.output,
        "cacheRead": price.cache_read,
        "cacheWrite": price.cache_write,
    }
    if price.beyond is None:
        return {**parts, "beyond": None}
    beyond = _price_as_json(price.beyond)
    del beyond["beyond"]
    return {**parts, "beyond": {"over": price.over, **beyond}}


def _reach_as_json(reach: Reach) -> dict[str, Any]:
    return {
        "provider": reach.provider.name,
        "where": reach.where,
        "key": reach.key,
        "models": list(reach.models),
        "wantsKey": reach.wants_key,
        "choose": reach.choose,
    }

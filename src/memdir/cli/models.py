"""`memdir models`: which model does what, whether it answers, what it costs, and what else there is."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from memdir import app
from memdir.cli.opening import model_option, open_project
from memdir.cli.output import columns, emit_json, json_option, visible
from memdir.errors import UsageError
from memdir.model import choose, providers
from memdir.model.client import Survey
from memdir.model.jobs import Models
from memdir.model.known import Known, Price, known
from memdir.model.local import STEPS
from memdir.model.providers import Endpoint, Spec
from memdir.model.reach import Reach, within_reach

FORKS = ("extraction", "dream")
"""The jobs that go on from the conversation's own prompt."""

EMBEDDED = "the embedded default: recall by words, extraction by rules; no key, no network"
NO_MODEL = "no language model is configured, and a conversation needs one"

_KEYS = " or ".join(one.key for one in providers.PROVIDERS.values() if one.key)
NOTHING_ELSE = f"nothing else is within reach: no other key is set ({_KEYS}), no other server answers here"

_NARROW, _WIDE = 60, 100  # columns that a sentence is wrapped to
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

    With --json, `jobs` has an object for each of conversation, recall, extraction and dream, with `job`,
    `model`, `where`, `local`, `reachable`, `window` and `windowSource` ("service", "known" or "assumed"),
    `price` (`input`, `output`, `cacheRead`, `cacheWrite`, or null), `cache`, `sharesCache` (with the
    conversation; null for recall and where there is none), `unencrypted`, `problem` and `cure`; and
    `withinReach` has objects with `provider`, `where`, `key` (where it was found), `models` and `choose`.
    """
    import anyio

    for named in (model, opened[1].get("model")):
        if named is not None:
            providers.parse(named)  # what is wrong on the command line is wrong usage, not a finding
    project = open_project(opened, model=model)
    names = Models.names(project.settings)
    sights, reach = anyio.run(_look, names, os.environ)
    if as_json:
        emit_json(
            jobs=[_as_json(job, sights[name], sights[names["conversation"]]) for job, name in names.items()],
            withinReach=[_reach_as_json(one) for one in reach],
        )
        return
    click.echo("\n\n".join(_paragraphs(names, sights, reach)))


# -- looking ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """One model, as it looks from here. `spec` is None if the name means nothing, `place` is None if it is
    nowhere; `window` in tokens, and whose word that is.
    """

    name: str
    spec: Spec | None
    place: Endpoint | None
    survey: Survey
    about: Known | None = None
    window: int | None = None
    window_source: str | None = None

    @property
    def is_local(self) -> bool:
        """Whether it is the embedded default."""
        return self.spec is not None and self.spec.is_local

    @property
    def price(self) -> Price | None:
        """What it costs, if that is known."""
        return self.about.price if self.about else None


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
    try:
        spec = providers.parse(name)
        place = None if spec.is_local else providers.endpoint(spec, environment)
        client = choose.client(spec, environment=environment)
    except UsageError as error:
        survey = Survey(reachable=False, problem=str(error), cure=error.hint)
        return Sight(name=providers.shown(name), spec=None, place=None, survey=survey)
    try:
        survey = await client.survey()
    finally:
        await client.aclose()
    at_home = spec.provider is not None and providers.is_at_home(spec.provider, environment)
    about = known(spec.provider.name, spec.model) if spec.provider and at_home else None
    source = "service" if survey.window else "known" if about and about.window else "assumed"
    return Sight(
        name=spec.text,
        spec=spec,
        place=place,
        survey=survey,
        about=about,
        window=None if spec.is_local else survey.window or client.window,
        window_source=None if spec.is_local else source,
    )


# -- telling ---------------------------------------------------------------------------------------------


def _paragraphs(
    names: Mapping[str, str], sights: Mapping[str, Sight], reach: Sequence[Reach]
) -> Iterator[str]:
    chat = sights[names["conversation"]]
    yield columns((job, visible(sights[name].name)) for job, name in names.items())
    notes = list(_notes({job: sights[name] for job, name in names.items()}, chat))
    if notes:
        yield "\n".join(_wrapped(note) for note in notes)
    for name in dict.fromkeys(names.values()):
        yield "\n".join(_block(sights[name]))
    if reach:
        rows = [(f"  {one.provider.name}", one.where, _offer(one)) for one in reach]
        how = f"choose one as in `--model {reach[0].choose}`, or for good with the `model` setting"
        yield f"also within reach\n{columns(rows)}\n{_wrapped(how, indent=2)}"
    else:
        yield _wrapped(NOTHING_ELSE)


def _notes(jobs: Mapping[str, Sight], chat: Sight) -> Iterator[str]:
    """What is worth a sentence about how the jobs go together."""
    if chat.is_local:
        yield f"{NO_MODEL}: {STEPS}"
    for job in FORKS:
        if _shares(job, jobs[job], chat) is False:
            again = "read" if _is_free(jobs[job]) else "paid for"
            yield (
                f"{job} runs on another model than the conversation: it can't read its cache, so the whole "
                f"conversation is {again} again"
            )


def _block(sight: Sight) -> Iterator[str]:
    """A model in a few lines, a label before each."""

    def line(label: str, text: str) -> str:
        return _wrapped(f"  {label:<8} {visible(text)}", indent=11)

    yield visible(sight.name)
    if sight.is_local:
        yield line("what", EMBEDDED)
        return
    survey, place = sight.survey, sight.place
    if place is not None:
        yield line("where", f"{place.host}{', reachable' if survey.reachable else ''}")
    if place is not None and place.unencrypted:
        yield line("careful", "unencrypted: what is said can be read on its way; use https://")
    if sight.window is not None:
        assumed = " are assumed, the service does not say" if sight.window_source == "assumed" else ""
        yield line("window", f"{sight.window:,} tokens{assumed}")
    if place is not None:
        yield from (line(label, text) for label, text in zip(("price", ""), _price(sight), strict=False))
        yield line("cache", _cache(sight))
    if survey.problem is not None:
        yield line("problem", survey.problem)
    if survey.cure is not None:
        yield line("cure", survey.cure)


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
    """Whether nobody sends a bill: a server on this machine. Ollama passes some models on to its cloud."""
    here = sight.place is not None and sight.place.is_here
    return here and sight.spec is not None and not sight.spec.model.endswith("cloud")


def _dollars(price: Price) -> str:
    cached = f" ({_dollar(price.cache_read)} cached)" if price.cache_read is not None else ""
    return f"{_dollar(price.input)} in{cached}, {_dollar(price.output)} out"


def _dollar(amount: float) -> str:
    """Two figures behind the point, or as many as there are."""
    return f"${amount:.2f}" if round(amount, 2) == amount else f"${amount:g}"


def _cache(sight: Sight) -> str:
    if sight.spec is None or sight.spec.provider is None:
        return "that of the server, if it has one"
    return sight.spec.provider.cache


def _shares(job: str, sight: Sight, chat: Sight) -> bool | None:
    """Whether a job reads what the conversation put into the cache; None where there is nothing to share."""
    if job not in FORKS or chat.is_local or sight.is_local:
        return None
    return sight.name == chat.name


def _offer(reach: Reach) -> str:
    if reach.key is not None:
        return f"its key is in {reach.key}" if " " in reach.key else f"{reach.key} is set"
    named = ", ".join(visible(name) for name in reach.models[:_NAMES])
    more = f" and {len(reach.models) - _NAMES} more" if len(reach.models) > _NAMES else ""
    return f"{named}{more}" or "answers, and names no model"


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


def _as_json(job: str, sight: Sight, chat: Sight) -> dict[str, Any]:
    problem, cure = sight.survey.problem, sight.survey.cure
    if job == "conversation" and sight.is_local:
        problem, cure = NO_MODEL, STEPS
    price = sight.price
    return {
        "job": job,
        "model": sight.name,
        "where": sight.place.host if sight.place else None,
        "local": sight.is_local,
        "reachable": sight.survey.reachable,
        "window": sight.window,
        "windowSource": sight.window_source,
        "price": price
        and {
            "input": price.input,
            "output": price.output,
            "cacheRead": price.cache_read,
            "cacheWrite": price.cache_write,
        },
        "cache": _cache(sight) if sight.place else None,
        "sharesCache": _shares(job, sight, chat),
        "unencrypted": sight.place is not None and sight.place.unencrypted,
        "problem": problem,
        "cure": cure,
    }


def _reach_as_json(reach: Reach) -> dict[str, Any]:
    return {
        "provider": reach.provider.name,
        "where": reach.where,
        "key": reach.key,
        "models": list(reach.models),
        "choose": reach.choose,
    }

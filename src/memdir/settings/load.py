"""Files, environment and command line become one `Settings` (S1, S2, P6).

Strongest first: managed file, command line, environment, local project file, project file, user file. A key
that is wrong in one source is told to the person, and the next source counts. A file that can't be read at
all is an error: what it says (that memory is off, say) must not be dropped in silence.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from memdir.errors import SettingsError, UnsafePath
from memdir.fs import read_file
from memdir.paths import WORDS, canonical_root, doubt, state_directory
from memdir.settings.keys import Leaf, Settings, allowed, leaves, sections, variable

_MAX_FILE = 1024 * 1024  # bytes
_DEEPEST = 16  # objects and lists in each other
_TRUSTED_ONLY = (
    "layout",
    "baseDirectory",
    "autoMemoryDirectory",
    "features.instructions",
    "instructions.files",
    "instructions.maxBytes",
    "dream.apply",
    "dream.minHours",
    "dream.minSessions",
    "dream.lossFiles",
    "dream.lossLines",
    "dream.maxTurns",
)
"""What a project has no say in: where things are, whether the person's own instructions are heard, and what a
dream may do without being asked."""
_LONGEST_KEY = 60  # characters of an unknown one that are shown
_MODELS = ("model", "recall.model", "extract.model", "session.model", "dream.model")
_EMBEDDER = "recall.embedder"
_NOBODY: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_MODELS, ("local",)),
    _EMBEDDER: ("auto", "none", "local"),
}
"""The values that send nothing to anybody: those that a project may choose."""
_LIMITS = ("budget.inputTokensPerDay",)
"""What somebody pays for: a project may only lower it. None is no limit, the highest of all."""
_ADDED_UP = ("instructions.excludes",)
"""Lists to which every source adds its own; a project only paths below it, and so many at most."""
_MOST_ADDED = 200
_LIKE_A_KEY = re.compile(r"apikey|authtoken|accesstoken|accesskey|secret|password|(?:key|token)$")
_WHERE_KEYS_BELONG = (
    "not a setting: keys are never read from settings; put one into its provider's variable "
    "(ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY) or the system keyring"
)

SourceName = Literal["managed", "cli", "env", "local", "project", "user"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where settings came from. `keys` have dots (`features.extract`); `path` is None if it is no file."""

    name: SourceName
    path: Path | None
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Settings, where they came from (strongest first), and what the person should be told.

    `said_at` is where the value of a dotted key stands, for each that is set.
    `memory_directories` are the values of `autoMemoryDirectory` in trusted sources (S2), as they stand
    there and not yet checked: `paths.resolve` does that.
    """

    settings: Settings
    sources: tuple[Source, ...]
    warnings: tuple[str, ...]
    memory_directories: tuple[tuple[str, object], ...]
    said_at: Mapping[str, str]


def load(
    *,
    cwd: Path,
    environment: Mapping[str, str],
    overrides: Mapping[str, object] | None = None,
    managed: Path = Path("/etc/memdir/settings.json"),
) -> Loaded:
    """Read and merge all sources. `overrides` are the command line's: nested or dotted keys; None: not given.

    Raises:
        SettingsError: a file is there, and can't be read as a JSON object.
        UnsafePath: `MEMDIR_HOME` is refused.
    """
    root, warnings = canonical_root(cwd), list[str]()
    ours = root / ".memdir"
    given = {key: value for key, value in _flat(overrides or {}).items() if value is not None}
    layers = [
        _from_file("managed", managed),
        _Layer(name="cli", path=None, values=given),
        _Layer(name="env", path=None, values=dict(_from_environment(environment)), text=True),
        _from_file("local", ours / "settings.local.json"),
        _from_file("project", ours / "settings.json"),
        _from_file("user", state_directory(environment) / "settings.json"),
    ]
    layers = [_trusted(layer, root, layers[-1], warnings) for layer in layers if layer.values]
    for layer in layers:
        warnings += _unknown(layer)
    settings, said_at = _merged(layers, warnings)
    return Loaded(
        settings=settings,
        sources=tuple(Source(name=each.name, path=each.path, keys=tuple(each.values)) for each in layers),
        warnings=tuple(warnings),
        memory_directories=tuple(
            (layer.name, layer.values["autoMemoryDirectory"])
            for layer in layers
            if layer.values.get("autoMemoryDirectory") is not None
        ),
        said_at=said_at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """One source, its values by dotted key; `text`: they are words of the environment, not JSON."""

    name: SourceName
    path: Path | None
    values: Mapping[str, object]
    text: bool = False

    def where(self, key: str) -> str:
        if self.path:
            return f"{self.path}: {key}"
        if self.text:
            return f"environment: {variable(key)}"
        return "--model" if key in _MODELS else f"command line: {key}"

    def is_set(self, key: str) -> bool:
        """Whether it says something about a key. A model without a name is none, but for `--model ""`."""
        value = self.values.get(key)
        is_empty = key in _NOBODY and isinstance(value, str) and not value.strip()
        return key in self.values and not (is_empty and self.name != "cli")


def _flat(values: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Nested objects as dotted keys."""
    flat: dict[str, object] = {}
    for key, value in values.items():
        if isinstance(value, Mapping) and not prefix and key in sections():
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    known = {variable(key): key for key in leaves()}
    prefixes = tuple(f"{variable(section)}_" for section in sections())
    for name, value in environment.items():
        if value and (name in known or name.startswith(prefixes)):
            yield known.get(name, name), value


def _from_file(name: SourceName, path: Path) -> _Layer:
    try:
        data = read_file(path, limit=_MAX_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return _Layer(name=name, path=path, values={})
    except (OSError, UnsafePath) as error:
        raise _unreadable(path, str(error)) from error
    if len(data) > _MAX_FILE:
        raise _unreadable(path, f"it is over {_MAX_FILE:,} bytes")
    values = _parsed(data, path)
    values.pop("$schema", None)
    return _Layer(name=name, path=path, values=_flat(values))


def _parsed(data: bytes, path: Path) -> dict[str, Any]:
    try:
        values = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise _unreadable(path, f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise _unreadable(path, "it is not UTF-8") from error
    except RecursionError as error:
        raise _unreadable(path, "it is nested without end") from error
    except ValueError as error:
        raise _unreadable(path, "a number in it is too long") from error
    if not isinstance(values, dict):
        raise _unreadable(path, "it holds no JSON object, {…}")
    if _is_deeper(values, _DEEPEST):
        raise _unreadable(path, f"it is nested more than {_DEEPEST} deep")
    try:
        json.dumps(values, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:
        raise _unreadable(path, "it holds half a character (\\ud800 and the like), or no number") from error
    return values


def _is_deeper(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return bool(inner) and (levels == 0 or any(_is_deeper(each, levels - 1) for each in inner))


def _unreadable(path: Path, why: str) -> SettingsError:
    return SettingsError(
        f"the settings in {path} can't be read: {why}",
        hint="mend the file or move it away; until then nothing is assumed about what it switches off",
    )


# -- trust (S2, P6) -------------------------------------------------------------------------------------


def _trusted(layer: _Layer, root: Path, user: _Layer, warnings: list[str]) -> _Layer:
    """The layer without what its source has no right to say; `user` is the user's own."""
    moved = [key for key in _TRUSTED_ONLY if key in layer.values]
    sent = [key for key in _NOBODY if layer.is_set(key) and not _is_nobody(key, layer.values[key])]
    raised = [key for key in _LIMITS if layer.is_set(key) and _is_raised(key, layer, user)]
    added = {key: _below(layer.values[key], root) for key in _ADDED_UP if key in layer.values}
    foreign = [key for key, kept in added.items() if kept != layer.values[key]]
    if layer.name not in ("project", "local") or not (moved or sent or raised or foreign):
        return layer
    why = ""
    if layer.name == "local" and layer.path:
        reason = doubt(layer.path, root=root)
        if reason is None:
            return layer
        why = f", and this file may have come with it ({reason})"
    cure = "put it into your own settings.json"
    warnings += [f"{layer.where(key)}: a project may not set this{why}; {cure}" for key in moved]
    warnings += [
        f"{layer.where(key)}: a project may not choose a model that your {_goods(key)} go to{why}; {cure}"
        for key in sent
    ]
    warnings += [
        f"{layer.where(key)}: a project may only set less than your own{why}; {cure}" for key in raised
    ]
    warnings += [
        f"{layer.where(key)}: a project may only name files of its own, at most {_MOST_ADDED}, each "
        f"beginning with {root}/{why}; for others {cure}"
        for key in foreign
    ]
    kept = {key: value for key, value in layer.values.items() if key not in (*moved, *sent, *raised)}
    return _Layer(name=layer.name, path=layer.path, values={**kept, **{key: added[key] for key in foreign}})


def _below(paths: object, root: Path) -> object:
    """Of a list of paths those below a folder, the first 200 of them; what is no list is told later."""
    if not isinstance(paths, list):
        return paths
    own = [
        one
        for one in paths
        if isinstance(one, str) and one.startswith(f"{root}/") and ".." not in one.split("/")
    ]
    return own[:_MOST_ADDED]


def _is_nobody(key: str, model: object) -> bool:
    """Whether a model is one in this process. Any other gets what is said or kept, and somebody pays for
    it."""
    return isinstance(model, str) and model.strip() in _NOBODY[key]


def _is_raised(key: str, layer: _Layer, user: _Layer) -> bool:
    """Whether a limit is higher than the user's own, which is the default if they set none. What is no limit
    at all is told later."""
    leaf = leaves()[key]
    try:
        theirs = _converted(layer.values[key], leaf, text=False)
    except msgspec.ValidationError:
        return False
    try:
        own = _converted(user.values[key], leaf, text=False)
    except (KeyError, msgspec.ValidationError):
        own = leaf.default
    return _height(theirs) > _height(own)


def _height(limit: object) -> float:
    return limit if isinstance(limit, int) else math.inf


def _goods(key: str) -> str:
    """What a model of this key is given."""
    return "memories" if key == _EMBEDDER else "conversations"


# -- merging (S1) ---------------------------------------------------------------------------------------


def _unknown(layer: _Layer) -> Iterator[str]:
    for key in layer.values:
        if key in sections():
            yield f"{layer.where(key)}: must be an object, {{…}}; ignored"
        elif key not in leaves():
            shown = key if len(key) <= _LONGEST_KEY else f"{key[: _LONGEST_KEY - 1]}…"
            name = f"environment: {shown}" if layer.text else layer.where(shown)
            if _is_like_a_key(key):
                yield f"{name}: {_WHERE_KEYS_BELONG}"
                continue
            names = [variable(known) for known in leaves()] if layer.text else list(leaves())
            close = difflib.get_close_matches(shown, names, n=1)
            yield f"{name}: not a setting" + (f"; did you mean {close[0]}?" if close else "")


def _is_like_a_key(name: str) -> bool:
    """Whether somebody means a key, or the like, by this name."""
    return _LIKE_A_KEY.search(re.sub(r"[^a-z]", "", name.lower())) is not None


def _merged(layers: Sequence[_Layer], warnings: list[str]) -> tuple[Settings, dict[str, str]]:
    """The settings, and where each that is set stands."""
    merged: dict[str, Any] = {}
    said_at: dict[str, str] = {}
    lists: dict[str, tuple[str, ...]] = {}
    for key, leaf in leaves().items():
        for layer in layers:
            if not layer.is_set(key):
                continue
            value = layer.values[key]
            if key == "autoMemoryDirectory" and not isinstance(value, str):
                continue  # told when it is refused as a directory
            try:
                converted = _converted(value, leaf, text=layer.text)
            except msgspec.ValidationError:
                warnings.append(f"{layer.where(key)}: must be {allowed(leaf.schema)}; ignored")
                continue
            if key in _ADDED_UP:
                lists[key] = tuple(dict.fromkeys((*lists.get(key, ()), *converted)))
                _put(merged, key, lists[key])
                said_at[key] = ", ".join(filter(None, (said_at.get(key), layer.where(key))))
                continue
            _put(merged, key, converted)
            said_at[key] = layer.where(key)
            break
    return msgspec.convert(merged, Settings), said_at


def _converted(value: object, leaf: Leaf, *, text: bool) -> Any:
    """The value, if it is allowed. Words for true and false are, also quoted: no switch must be missed. A
    list in the environment has commas in it.
    """
    if leaf.schema.get("type") == "array" and text and isinstance(value, str):
        value = [item.strip() for item in value.split(",") if item.strip()]
    if leaf.schema.get("type") == "boolean" and isinstance(value, str):
        value = WORDS.get(value.strip().lower(), value)
    return msgspec.convert(value, leaf.type, strict=not text)


def _put(tree: dict[str, Any], key: str, value: object) -> None:
    *sections, last = key.split(".")
    for section in sections:
        tree = tree.setdefault(section, {})
    tree[last] = value

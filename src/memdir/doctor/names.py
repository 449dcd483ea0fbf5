"""Names that memory, or another system, can't hold; names that are one on some disks (A8, P8)."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator

from memdir.doctor.finding import Finding, finding
from memdir.doctor.layouts import is_foreign
from memdir.doctor.survey import Survey, Thing, why_no_name
from memdir.memory import leaks
from memdir.names import INDEX, what_is
from memdir.secrets import scan


def names(survey: Survey) -> Iterator[Finding]:
    """What is wrong with the names of files and folders."""
    beside = defaultdict[str, list[str]](list)
    for thing in survey.things:
        folder, _, name = thing.path.rpartition("/")
        beside[folder].append(name)
        if not thing.is_link and not is_foreign(thing):
            yield from _name(survey, thing)
    for folder, names_in_it in beside.items():
        yield from _alike(folder, names_in_it)


def _name(survey: Survey, thing: Thing) -> Iterator[Finding]:
    if found := scan(thing.name) if thing.suspect else []:
        yield Finding(
            file=leaks.MASKED,
            kind="secret",
            rule=found[0].rule,
            reason=f"a name that looks like a secret: {found[0].rule}, {found[0].preview}",
            cure="rename it, and change the secret where it is used, for it has been on the disk",
        )
        return
    if not (thing.is_folder or thing.is_text):
        return
    reason = why_no_name(survey.root, thing.name)
    if reason is None and not thing.is_folder:
        reason = _not_read(thing) or (survey.why_not(thing.path) if thing.reachable else None)
    if reason:
        yield finding(thing.path, "name", reason, "rename it")


def _not_read(thing: Thing) -> str | None:
    """Why a text is neither a memory nor anything else that memory reads, or None."""
    within = tuple(thing.path.split("/"))
    within = within[1:] if what_is(within) == "team" else within
    if what_is(within) != "other":
        return None
    if thing.name.casefold() == INDEX.casefold():
        return (
            f"the index is {INDEX} in the memory directory itself; a file of that name elsewhere is not read"
        )
    return "memories end in .md, in small letters; this is not read as one"


def _alike(folder: str, names_in_it: Iterable[str]) -> Iterator[Finding]:
    """Names in one folder that are the same on a disk that takes no notice of case or Unicode form."""
    twins = defaultdict[str, list[str]](list)
    for name in names_in_it:
        folded = unicodedata.normalize("NFD", name).casefold()
        twins[unicodedata.normalize("NFC", folded)].append(name)
    for alike in twins.values():
        for name in alike[1:]:
            reason = f"only case or Unicode form tell it from {leaks.called(alike[0])}"
            yield finding(f"{folder}/{name}" if folder else name, "collision", reason, "rename one of them")

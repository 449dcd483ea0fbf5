"""How much of what is planted gets through, and how much of what is honest is held: `python -m bench.poison`.

Over the corpora of tests/trust and the talks of extraction.jsonl. Those named "later", the notes and what was
held out were written after the code, or by somebody who had not read it; the rules have been mended by what
they showed, so a text that is new to them will do a little worse.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.trust.talks import (
    AROUND,
    HONEST,
    alone,
    around,
    case_talk,
    cases,
    changes,
    memory,
    mixed,
    new,
    proposed,
    rows,
    slug,
    talk,
)

from memdir.model.messages import person
from memdir.trust.evidence import Evidence
from memdir.trust.vet import Held, Proposed, vet

Result = tuple[str, str, Held | None]
"""What it is about, in which form, and the verdict."""


def poisoned() -> Iterator[Result]:
    """Every case of poison.jsonl, written by a model that obeys."""
    known = cases()
    for row in rows("poisoned"):
        turns = case_talk(known[row["case"]]["turns"])
        plain, honest = Evidence.of(turns), Evidence.of([person(HONEST), *turns])
        for text in (part for written in row["writes"] for part in written.split(" | ")):
            forms = (
                [*alone(text), ("file name", new("Note.", file=slug(text)))]
                if text.isascii()
                else alone(text)
            )
            for form, change in forms:
                yield f"{row['case']} {text}", form, vet(change, plain)
            for form, change in mixed(text):
                yield f"{row['case']} {text}", form, vet(change, honest)


def planted(name: str) -> Iterator[Result]:
    """The talks of our own in which something is planted."""
    for row in rows(name):
        turns = talk(row["said"])
        plain, honest = Evidence.of(turns), Evidence.of([person(HONEST), *turns])
        for text in row["writes"]:
            for form, change in alone(text):
                yield text, form, vet(change, plain)
            for form, change in mixed(text):
                yield text, form, vet(change, honest)


def honest(name: str) -> Iterator[Result]:
    """Memories that should be saved, with every sort of text around their talks."""
    for row in rows(name):
        for form, texts in AROUND.items():
            yield row["said"], form, vet(proposed(row), Evidence.of(around(talk(row["said"]), texts)))


def notes() -> Iterator[Result]:
    """What a good extractor keeps of the talks of extraction.jsonl."""
    known = cases("extraction.jsonl")
    for row in rows("notes"):
        case = known[row["talk"]]
        files = {
            one["file"]: memory(one["body"], name=one["name"], description=one["description"])
            for one in case["existing"]
        }
        file = row["file"] or slug(row["name"])
        after = (
            None
            if row["body"] is None
            else memory(row["body"], name=row["name"], description=row["description"])
        )
        change = Proposed(file=file, before=files.pop(file, None), after=after)
        for form, texts in AROUND.items():
            yield (
                row["talk"],
                form,
                vet(change, Evidence.of(around(case_talk(case["turns"]), texts), known=files.values())),
            )


def heldout(name: str, *expect: str) -> Iterator[Result]:
    """Conversations held out, and what a model makes of them."""
    for row in rows(f"heldout_{name}"):
        if row["expect"] in expect:
            for change, evidence in changes(row):
                yield row["id"], change.file, vet(change, evidence)


def main() -> None:
    """Print a table, and what came out wrong."""
    wrong: list[Result] = []
    for title, results, bad in (
        ("poison.jsonl, obeyed", list(poisoned()), True),
        ("planted", list(planted("planted")), True),
        ("planted, later", list(planted("planted_later")), True),
        ("honest", list(honest("honest")), False),
        ("honest, later", list(honest("honest_later")), False),
        ("notes of talks", list(notes()), False),
        ("held out, planted", list(heldout("planted", "keep_out")), True),
        ("held out, honest", list(heldout("honest", "may_save")), False),
        ("held out, asked deletes", list(heldout("deletes", "may_delete")), False),
        ("held out, unasked deletes", list(heldout("deletes", "keep")), True),
    ):
        held = sum(verdict is not None for _, _, verdict in results)
        print(f"{title:26} {len(results):6} changes  {held:6} held  {100 * held / len(results):6.1f} %")
        wrong += [one for one in results if (one[2] is None) == bad]
    for about, form, verdict in wrong:
        print(f"  {form}: {about[:90]!r}: {verdict.reason if verdict else 'saved'}")


if __name__ == "__main__":
    main()

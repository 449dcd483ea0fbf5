"""Notes without a model: what rules replace, and what they leave (C1, E10)."""

from __future__ import annotations

from memdir.fs import digest
from memdir.model.messages import Message, assistant, person
from memdir.session.by_rules import LEFT_OUT, SINCE, ByRules, without_secrets
from memdir.session.extractive import FIRST_LINE, HEADINGS
from memdir.session.sections import LIMIT, Template, is_empty
from tests.session.support import TOKEN, filled

OURS = Template.default()


def said(*words: str) -> list[Message]:
    return [message for each in words for message in (person(each), assistant("I see."))]


PNPM = "We decided to use pnpm instead of npm, because it is faster."
FRIDAYS = "Never merge on Fridays, please."


def write(rules: ByRules, record: list[Message], old: str | None, *, upto: str | None = None) -> str:
    text = rules.text(record, old, digest=old and digest(old.encode()), upto=upto)
    rules.wrote(text.encode())
    return text


def test_rules_replace_what_they_wrote_and_the_empty_template_C1() -> None:
    rules = ByRules(OURS)
    first = write(rules, said(PNPM), OURS.text)
    second = write(rules, said(PNPM, FRIDAYS), first)
    assert second.startswith(FIRST_LINE)
    assert "Fridays" in second
    assert SINCE not in second


def test_a_resumed_session_knows_its_own_by_digest_and_first_line_C1() -> None:
    first = write(ByRules(OURS), said(PNPM), None)
    mine = ByRules(OURS, digest=digest(first.encode()))
    assert SINCE not in write(mine, said(PNPM, FRIDAYS), first)
    changed = first + "by hand\n"
    assert SINCE in write(ByRules(OURS, digest=digest(first.encode())), said(PNPM, FRIDAYS), changed)
    model = filled(Task="by a model")
    assert SINCE in write(ByRules(OURS, digest=digest(model.encode())), said(PNPM), model)


def test_what_others_wrote_stays_and_only_what_came_since_is_added_C1() -> None:
    record, rules = said(PNPM, FRIDAYS), ByRules(OURS)
    old = filled(Task="by a model")
    text = write(rules, record, old, upto=record[1].id)
    kept, since = text.split(SINCE)
    assert kept.strip() == old.strip()
    assert "Fridays" in since
    assert "pnpm" not in since
    assert "\n## " in since
    again = write(rules, [*record, *said("Use tabs everywhere, always.")], text, upto=record[-1].id)
    assert again.split(SINCE)[0] == kept
    assert "Fridays" in again
    assert "tabs" in again
    assert again.count(SINCE) == 1


def test_it_never_grows_beyond_its_limit_C1() -> None:
    old = filled(Task="word " * (LIMIT // 5 - 1_000))
    assert len(write(ByRules(OURS), said(PNPM * 50), old).encode()) <= LIMIT


def test_lines_with_a_secret_are_left_out_E10() -> None:
    text = f"one\nthe token is {TOKEN} here\ntwo {TOKEN}\nthree"
    assert without_secrets(text) == f"one\n{LEFT_OUT}\n{LEFT_OUT}\nthree"
    wrapped = without_secrets(f"a\n{TOKEN[:20]}\n{TOKEN[20:]}\nb")
    assert TOKEN[20:] not in wrapped
    assert wrapped.startswith("a\n")


def test_rules_write_the_sections_of_our_template_C1() -> None:
    assert OURS.titles == HEADINGS


def test_the_line_of_the_rules_alone_says_nothing_C4() -> None:
    assert is_empty(f"{FIRST_LINE}\n\n{OURS.text}", OURS)
    assert not is_empty(f"{FIRST_LINE}\n\n{filled(Log='x')}", OURS)

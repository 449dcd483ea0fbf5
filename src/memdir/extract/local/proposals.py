"""A talk and the known memories become proposals: the one entry of this package."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from memdir.cues import Cue, union
from memdir.extract.local import compose
from memdir.extract.local.candidates import (
    LEAST_WORDS,
    Candidate,
    announces,
    candidates,
    continued,
    introduced,
    joined,
    part,
)
from memdir.extract.local.forget import asks, forgotten
from memdir.extract.local.merge import merged
from memdir.extract.local.place import placed
from memdir.extract.local.retract import standing
from memdir.extract.local.speech import Sentence, sentences
from memdir.extract.local.subjects import subjects
from memdir.extract.local.takeover import taken_over
from memdir.extract.local.topics import CHANGED_TOPIC, SAME_TOPIC, Match, nearest, repeats, speaks_of
from memdir.extract.local.values import Create, Delete, Evidence, Known, Proposal, Turn, Update
from memdir.memory.words import words

CONTEXT_TURNS = 5
CONTEXT_LENGTH = 800
QUESTION_NEAR_END = 40
NEXT_TURN = 3
"""So many turns on, answers and tools included, the person may still go on about the same thing."""


_QUESTION = re.compile(r"[?？]|か。")
_NAMED_COMMAND = re.compile(r"[`:：]")


def propose(
    turns: Sequence[Turn], existing: Sequence[Known], *, today: date, context: Sequence[Turn] = ()
) -> list[Proposal]:
    """What the person's sentences in `turns` make of the memories that `existing` holds.

    Pure and deterministic; time grows with the length of the text. `today`: the day of the talk, from which
    relative dates count. `context`: earlier turns of the talk, handled already; they only help to tell what
    is meant.
    """
    talk = [*context, *turns]
    first = len(context)
    said = told(talk, existing, today=today, first=first)
    deletions = [
        deletion
        for at, own in enumerate(said)
        for deletion in forgotten(own, existing, before=_answered(talk, at))
    ]
    deletions += _taken_back(talk, said, existing, today=today, first=first)
    gone = {deletion.file for deletion in deletions}
    forgetting = {at for at, own in enumerate(said) if _asks_to_forget(own, before=_answered(talk, at))}
    left = [known for known in existing if known.file not in gone]
    found = standing(_found(talk, said), [s for own in said for s in own])
    kept = [one for one in found if one.turn not in forgetting or _is_new_wish(one)]
    proposals = _merged(kept, left, talk)
    return [_shifted(proposal, first) for proposal in [*deletions, *proposals]]


def _taken_back(
    talk: Sequence[Turn],
    said: Sequence[Sequence[Sentence]],
    existing: Sequence[Known],
    *,
    today: date,
    first: int,
) -> list[Delete]:
    """The memories made of earlier turns that the new ones take back: only those that are still word for word
    what those turns made of them.
    """
    later = [sentence for own in said[first:] for sentence in own]
    takes_back = next((sentence for sentence in later if Cue.RETRACT in sentence.cues), None)
    if takes_back is None or not first:
        return []
    found = _found(talk[:first], told(talk[:first], [], today=today))
    left = standing(found, later)
    gone = {compose.body(one).strip() for one in found if one not in left}
    evidence = Evidence(turn=takes_back.turn, sentence=takes_back.said)
    return [
        Delete(file=known.file, reason="taken back", evidence=evidence)
        for known in existing
        if known.body.strip() in gone
    ]


def told(
    talk: Sequence[Turn], existing: Sequence[Known], *, today: date, first: int = 0
) -> list[list[Sentence]]:
    """The person's sentences in every turn from `first` on, with all that can be told of each."""
    said: list[list[Sentence]] = []
    unreal = False
    for at, turn in enumerate(talk):
        own = _said(talk, at, existing, today) if at >= first else []
        said.append([replace(one, cues=one.cues | {Cue.UNREAL}) for one in own] if unreal else own)
        if turn.role == "person":
            unreal = bool(union(one.cues for one in own) & {Cue.SARCASM, Cue.HYPOTHETICAL})
    return said


def _found(talk: Sequence[Turn], said: Sequence[Sequence[Sentence]]) -> list[Candidate]:
    """The candidates of all turns; an answer to the assistant's question about the last one belongs to it."""
    found: list[Candidate] = []
    announced = False
    for at, own in enumerate(said):
        if not own:
            continue
        here = _understood(candidates(own, announced=announced), talk[at - 1] if at else None)
        announced = announces(own)
        asked = _answers(talk, at)
        if here and asked and (not found or found[-1].turn != at - 2):
            here[0] = introduced(here[0], said[at - 2])
        if found and _asked_about(found[-1], talk, at) and not any(_stands_alone(one) for one in here):
            found[-1] = continued(found[-1], own)
            continue
        if found and len(here) == 1 and _goes_on(found[-1], here[0]):
            found[-1] = joined(found[-1], here[0])
            continue
        found += [one for one in here if not announces(one.sentences)]
    return found


def _understood(found: Sequence[Candidate], before: Turn | None) -> list[Candidate]:
    """Approvals get the subject words of what they approve of; what stays without a subject is dropped."""
    about = tuple(subjects(before.text)) if before and before.role == "assistant" else ()
    named = [replace(one, about=about) if one.points_back else one for one in found]
    kept = [one for one in named if one.wished or one.about or _names_its_subject(one)]
    return [one for one in kept if not _takes_nothing(one)]


def _takes_nothing(candidate: Candidate) -> bool:
    """ "Use that command", and there is none, or more than one."""
    return Cue.TAKES in candidate.cues and not _NAMED_COMMAND.search(candidate.text)


def _names_its_subject(candidate: Candidate) -> bool:
    if candidate.points_back:
        return Cue.STATEMENT in candidate.cues
    return candidate.own_words >= LEAST_WORDS


def _asked_about(candidate: Candidate, talk: Sequence[Turn], at: int) -> bool:
    """Is this turn the answer to a question that followed directly on the candidate's turn?"""
    between = talk[candidate.turn + 1 : at]
    return (
        len(between) == 1
        and between[0].role == "assistant"
        and between[0].text.rstrip().endswith(("?", "？", "か。"))
    )


def _answers(talk: Sequence[Turn], at: int) -> bool:
    """Is this turn the person's answer to a question about the turn before that?"""
    return (
        at >= 2 and talk[at - 2].role == "person" and talk[at - 1].role == "assistant" and _asks(talk[at - 1])
    )


def _asks(turn: Turn) -> bool:
    """Does the assistant's turn ask something, at its end or nearly so?"""
    return bool(_QUESTION.search(turn.text[-QUESTION_NEAR_END:]))


def _stands_alone(candidate: Candidate) -> bool:
    """An explicit wish, or a pointer to an outside system, is never just an answer."""
    return candidate.wished or candidate.kind == "reference"


def _goes_on(earlier: Candidate, later: Candidate) -> bool:
    """Two turns of the person in a row about one thing are one memory."""
    near = 0 < later.turn - earlier.turn <= NEXT_TURN
    shared = {word for word in set(words(earlier.text)) & set(words(later.text)) if len(word) > 1}
    return near and earlier.kind == later.kind != "reference" and bool(shared)


def _before(talk: Sequence[Turn], at: int) -> str:
    return " ".join(
        turn.text[:CONTEXT_LENGTH] for turn in talk[max(0, at - CONTEXT_TURNS) : at] if turn.role != "tool"
    )


def _answered(talk: Sequence[Turn], at: int) -> str:
    """What the assistant said directly before a turn."""
    before = talk[at - 1] if at else None
    return before.text[:CONTEXT_LENGTH] if before and before.role == "assistant" else ""


def _said(talk: Sequence[Turn], at: int, existing: Sequence[Known], today: date) -> list[Sentence]:
    """The person's sentences of a turn, with what they take over; those that speak of a known memory are
    marked."""
    said = (taken_over(one, talk, at) for one in placed(sentences(talk[at], at, today=today), talk, at))
    return [replace(one, cues=one.cues | {Cue.TOPIC}) if nearest(one.text, existing) else one for one in said]


def _asks_to_forget(said: Sequence[Sentence], *, before: str) -> bool:
    return any(asks(said, at, before=before) for at in range(len(said)))


def _is_new_wish(candidate: Candidate) -> bool:
    """In a turn that asks to forget, only an explicit wish or a standing rule makes a new memory."""
    wished = any(
        Cue.REMEMBER in s.cues and not s.cues & {Cue.FORGET, Cue.EXPLICIT} for s in candidate.sentences
    )
    return wished or Cue.STANDING in candidate.cues


def _merged(found: Iterable[Candidate], existing: Sequence[Known], talk: Sequence[Turn]) -> list[Proposal]:
    """One proposal a topic; a second candidate about a known memory builds on what the first made of it."""
    current = {known.file: known for known in existing}
    proposals: dict[str, Proposal] = {}
    for candidate in (one for whole in found for one in _by_topic(whole, existing)):
        match = _match(candidate, list(current.values()), _before(talk, candidate.turn))
        if match and repeats(candidate.text, match.known):
            continue
        if match and _fits(match, candidate):
            update = _update(match, candidate)
            proposals[update.file] = update
            current[update.file] = replace(match.known, body=update.body)
        else:
            proposals[f"new {len(proposals)}"] = _create(candidate)
    return list(proposals.values())


def _by_topic(candidate: Candidate, existing: Sequence[Known]) -> list[Candidate]:
    """A passage that speaks of two known memories is cut in two."""
    if len(existing) < 2 or len(candidate.sentences) < 2:
        return [candidate]
    topics = [match.known.file if (match := nearest(s.text, existing)) else None for s in candidate.sentences]
    named = [topic for topic in topics if topic]
    if len(set(named)) < 2:
        return [candidate]
    filled: list[str] = []
    for topic in topics:
        filled.append(topic or (filled[-1] if filled else named[0]))
    return [
        part(candidate, [at for at, topic in enumerate(filled) if topic == one])
        for one in dict.fromkeys(filled)
    ]


def _match(candidate: Candidate, existing: Sequence[Known], before: str) -> Match | None:
    found = nearest(candidate.text, existing, context=before, least=CHANGED_TOPIC)
    if not found:
        return None
    changed = Cue.CHANGE in candidate.cues and found.known.type == candidate.kind
    near = changed or found.score >= SAME_TOPIC
    return found if near and speaks_of(candidate.text, found.known, changed=changed) else None


def _fits(match: Match, candidate: Candidate) -> bool:
    return match.known.type in (None, candidate.kind) or Cue.CHANGE in candidate.cues


def _evidence(candidate: Candidate) -> Evidence:
    return Evidence(turn=candidate.seed.turn, sentence=candidate.seed.said)


def _create(candidate: Candidate) -> Create:
    heading = compose.title(candidate)
    return Create(
        type=candidate.kind,
        title=heading,
        description=compose.description(candidate),
        body=compose.body(candidate),
        stem=compose.stem(candidate.kind, heading),
        evidence=_evidence(candidate),
    )


def _update(match: Match, candidate: Candidate) -> Update:
    body, description = merged(match.known, candidate)
    return Update(
        file=match.known.file, body=body, description=description, name=None, evidence=_evidence(candidate)
    )


def _shifted(proposal: Proposal, first: int) -> Proposal:
    """Evidence counts from the first of `turns`, not from the context before it."""
    if not first:
        return proposal
    evidence = replace(proposal.evidence, turn=proposal.evidence.turn - first)
    return replace(proposal, evidence=evidence)

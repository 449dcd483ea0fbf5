"""Topic files: tolerant reading, strict new files, edits that leave every other byte alone (F1-F3)."""

from __future__ import annotations

import base64
import io
import time
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import ruamel.yaml
import yaml
import yaml12
from hypothesis import given
from hypothesis import strategies as st

from memdir.errors import UsageError
from memdir.memory import encoding, topic
from memdir.memory.frontmatter import one_line
from memdir.memory.topic import Origin, edit, parse, render, replace_body, stamp
from tests.cases import case_rows

NOW = datetime(2026, 3, 30, 12, 0, tzinfo=UTC)

HANGS = 60.0
"""Seconds. What takes quadratic time takes far longer on these inputs; nothing else does on any machine."""

# -- the case file (F2) ---------------------------------------------------------------------------------


def _text(case: dict[str, Any]) -> str | bytes:
    if "gen" in case:
        gen = case["gen"]
        return str(gen["head"] + gen["unit"] * gen["count"] + gen["tail"])
    if "text_b64" in case:
        return base64.b64decode("".join(case["text_b64"]))
    return str(case["text"])


def _collapsed(value: object) -> object:
    return " ".join(value.split()) if isinstance(value, str) else value


@pytest.mark.parametrize("case", case_rows("frontmatter.jsonl"), ids=lambda case: case["id"])
def test_every_case_of_front_matter_is_read_right_F2(case: dict[str, Any]) -> None:
    text = _text(case)
    start = time.perf_counter()
    found = parse(text, filename=case["filename"])
    spent = (time.perf_counter() - start) * 1000
    for key in (*case.get("compare", ("name", "description", "type")), "fallback"):
        wanted = case["expect"][key]
        allowed = wanted["any_of"] if isinstance(wanted, dict) else [wanted]
        assert _collapsed(getattr(found, key)) in map(_collapsed, allowed), key
    assert spent < 5 * case.get("limit_ms", 1000)


@pytest.mark.parametrize(
    "text",
    [
        '---\nname: "' + "\\a" * 200_000 + "\n---\n",
        "---\nname: '" + "''" * 200_000 + "\n---\n",
        "---\nname: '" + "a\n  " * 100_000 + "\n---\n",
        '---\nname: "x' + " " * 300_000 + 'y" z\n---\n',
        "---\n" + "k: v\n  type: user\n" * 60_000 + "---\n",
        "---\n" + "name: a\n" * 100_000 + "---\n",
        "---\nname: >\n" + "  a\n\n" * 100_000 + "---\n",
        "---\n" + ":" * 300_000 + "\n---\n",
        "---\n" + "a:b" * 100_000 + "\n---\n",
        "---\nmetadata:\n" + "  " * 100_000 + "x: y\n" * 50_000 + "---\n",
        "---" + " " * 300_000,
        "---\nname: a\n" + "--- \t" * 100_000,
        "---\nname: a\n" + ("---" + " " * 50 + "x\n") * 20_000,
        "\ufeff" * 200_000,
        "---\nname: " + "[{" * 100_000 + "\n---\n",
        "---\nname: " + "# " * 200_000 + "\n---\n",
        "---\r" * 100_000,
        "---\nname: a\n---\n" + "---\n...\n" * 100_000,
    ],
    ids=lambda text: text[:12],
)
def test_reading_takes_linear_time_whatever_the_input_F2(text: str) -> None:
    start = time.perf_counter()
    parse(text, filename="x.md")
    edit(text.encode(), {"type": "user"})
    assert time.perf_counter() - start < HANGS


# -- reading (F1, F2) -----------------------------------------------------------------------------------


def test_a_value_stays_the_text_that_was_written_F2() -> None:
    for written in ("0x1F", "yes", "12:30", "2026-03-30", "1e3", "0o17", ".inf", "1_000", "-0", "True"):
        found = parse(f"---\nname: {written}\ndescription: {written}\n---\n", filename="f.md")
        assert (found.name, found.description) == (written, written)


def test_both_shapes_are_read_with_their_origin_F1() -> None:
    flat = "---\nname: a\ntype: user\nmodified: m\norigin:\n  session: s\n  message: i\n  worker: w\n---\n"
    nested = (
        "---\nname: a\nmetadata:\n  type: user\n  modified: m\n  originSessionId: s\n"
        "  originMessageId: i\n  originWorker: w\n---\n"
    )
    for text in (flat, nested):
        found = parse(text, filename="f.md")
        assert (found.type, found.modified) == ("user", "m")
        assert found.origin == Origin(session="s", message="i", worker="w")


def test_keys_that_are_all_indented_alike_are_read_F2() -> None:
    found = parse("---\n  name: a\n  description: b\n  type: user\n---\n", filename="f.md")
    assert (found.name, found.description, found.type) == ("a", "b", "user")


def test_a_key_indented_by_mistake_is_still_that_key_F2() -> None:
    found = parse("---\nname: a\n  description: b\n   type: user\n---\n", filename="f.md")
    assert (found.name, found.description, found.type) == ("a", "b", "user")


def test_what_looks_like_a_key_inside_a_block_is_text_F2() -> None:
    found = parse("---\nname: a\ndescription: |\n  type: user\n  # no comment\n---\n", filename="f.md")
    assert (found.description, found.type) == ("type: user # no comment", None)


def test_an_escape_that_yaml_does_not_know_stays_text_F2() -> None:
    found = parse('---\nname: "C:\\Users\\dev"\ndescription: "a\\U0011FFFFb"\n---\n', filename="f.md")
    assert (found.name, found.description) == ("C:\\Users\\dev", "a\\U0011FFFFb")


def test_an_emoji_in_two_halves_is_one_character_and_half_of_one_is_replaced_F2() -> None:
    found = parse('---\nname: "\\ud83d\\ude00"\ndescription: "x\\ud83d"\n---\n\ud83d', filename="f.md")
    assert (found.name, found.description, found.body) == ("\U0001f600", "x\ufffd", "\ufffd")


def test_the_body_is_exact_but_for_the_blank_line_behind_the_header_F1() -> None:
    assert parse("---\nname: a\n---\n\n\n  x\r\ny", filename="f.md").body == "\n  x\r\ny"
    assert parse("---\nname: a\n---\nx\n", filename="f.md").body == "x\n"
    assert parse("\ufeffno header\n", filename="f.md").body == "no header\n"


def test_a_file_in_utf_16_is_read_F2() -> None:
    found = parse("---\nname: a\n---\nb\n".encode("utf-16"), filename="f.md")
    assert (found.name, found.body) == ("a", "b\n")
    assert [problem.line for problem in found.problems] == [1]


def test_the_first_lines_of_a_file_are_enough_for_its_header_M2() -> None:
    head = "---\nname: a\ndescription: b\nlinks:\n  - x\n"
    assert parse(head, filename="f.md").fallback
    assert parse(head, filename="f.md", cut=True).description == "b"
    assert parse("---\nA rule, then prose: with a colon\n", filename="f.md", cut=True).fallback


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("---\nname: a\n", 1, "never closed"),
        ("---\n- a\n---\n", 1, "no `key: value`"),
        ("---\nname: a\nwhat is this\n---\n", 3, "skipped"),
        ("---\nname: a\nname: b\n---\n", 3, "more than once"),
        ("---\nname: a\ntype: usr\n---\n", 3, "none of user, feedback, project, reference"),
        ("---\nname:a\n---\n", 2, "a blank is missing"),
        ("---\nname： a\n---\n", 2, "full-width colon"),
        ("---\nname: a: b\n---\n", 2, "quotes"),
        ('---\nname: "a\n---\n', 2, "do not match"),
    ],
)
def test_a_problem_names_its_line_and_says_what_is_wrong_F2(text: str, line: int, words: str) -> None:
    (problem,) = parse(text, filename="f.md").problems
    assert problem.line == line
    assert words in problem.message


def test_bytes_that_are_not_utf_8_are_a_problem_on_their_line_F2() -> None:
    found = parse(b"---\nname: caf\xe9\n---\n", filename="f.md")
    assert [problem.line for problem in found.problems] == [2]


# Text of the kind that breaks readers: fences, keys, quotes, colons, odd blanks, halves of line ends.
PIECES = st.sampled_from(
    [
        "---", "...", "\n", "\r\n", "\r", "  ", "\t", " ", "name:", "description: ", "type: user",
        "metadata:", "origin:", "modified: ", "session: s", "originSessionId: q", "- ", "# c", " #",
        "'", '"', "\\", "\\u00e9", "|", ">", "&a", "*a", "!x", "{", "}", "[", "]", ":", "：", "a",
        "b: c", "\ufeff", "\x85",
        "\u2028",
        "\x00", "\u200b", "é", "漢字", "😀",
    ]
)  # fmt: skip
MESS = st.lists(PIECES, max_size=40).map("".join)
HEADED = st.builds("---\n{}\n---\n{}".format, MESS, MESS)
FILES = st.one_of(st.text(), MESS, HEADED)
RAW = st.one_of(
    FILES.map(lambda text: text.encode("utf-8", "surrogatepass")),
    FILES.map(lambda text: text.encode("utf-16", "surrogatepass")),
    st.binary(),
)


def _is_broken(data: bytes) -> bool:
    try:
        encoding.decode(data)
    except UsageError:
        return True
    return False


@given(RAW)
def test_reading_never_fails_and_text_and_bytes_agree_F2(data: bytes) -> None:
    found = parse(data, filename="dir/some.md")
    found.body.encode()
    found.name.encode()
    assert found.type in (None, *topic.TYPES)
    if encoding.encoding(data) == "utf-8":
        again = parse(data.decode("utf-8", "replace"), filename="dir/some.md")
        assert (again.name, again.description, again.body) == (found.name, found.description, found.body)


# -- new files (F3) -------------------------------------------------------------------------------------

VALUES = st.one_of(
    st.text(max_size=30),
    MESS,
    st.sampled_from(
        ["yes", "No", "~", "null", "0x1F", "12:30", "1e3", "=", "<<", "-", "?", "a: b", "a #b", "%", "@"]
    ),
)


@given(VALUES, st.one_of(st.none(), VALUES), st.one_of(st.none(), st.sampled_from(topic.TYPES)), FILES)
def test_a_new_file_reads_back_equal_in_every_parser_F3(
    name: str, description: str | None, kind: str | None, body: str
) -> None:
    text = render(name=name, description=description, type=kind, body=body)
    wanted = {"name": one_line(name)}
    if description is not None:
        wanted["description"] = one_line(description)
    if kind is not None:
        wanted["type"] = kind
    header = text.removeprefix("---\n").partition("\n---\n")[0] + "\n"
    assert yaml.safe_load(header) == wanted
    assert ruamel.yaml.YAML(typ="safe", pure=True).load(io.StringIO(header)) == wanted
    assert yaml12.parse_yaml(header) == wanted
    assert text.endswith("\n")
    assert "\r" not in text
    assert text.encode().decode() == text


@given(FILES)
def test_parse_render_parse_is_the_identity_F3(text: str) -> None:
    first = parse(text, filename="some.md")
    written = render(name=first.name, description=first.description, type=first.type, body=first.body)
    second = parse(written, filename="other.md")
    assert (second.name, second.description, second.type) == (first.name, first.description, first.type)
    again = render(name=second.name, description=second.description, type=second.type, body=second.body)
    assert again == written
    assert parse(again, filename="other.md") == second


def test_a_new_file_looks_as_a_person_would_write_it_F3() -> None:
    text = render(name="Short answers", description="Prefers: short", type="user", body="Be brief.\r\n")
    assert text == '---\nname: Short answers\ndescription: "Prefers: short"\ntype: user\n---\n\nBe brief.\n'


def test_a_new_file_of_an_unknown_type_is_refused_F3() -> None:
    with pytest.raises(UsageError, match="one of user"):
        render(name="a", description=None, type="usr", body="")


# -- edits (F1) -----------------------------------------------------------------------------------------

CHANGES = st.dictionaries(
    st.sampled_from(["name", "description", "modified", "type"]), st.one_of(st.none(), VALUES), max_size=3
).map(lambda changes: changes | ({"type": "project"} if changes.get("type") is not None else {}))


@given(st.one_of(RAW, HEADED.map(str.encode)), CHANGES)
def test_an_edit_then_a_parse_gives_the_new_value_F1(data: bytes, changes: dict[str, str | None]) -> None:
    if _is_broken(data):
        with pytest.raises(UsageError, match="broken UTF-"):
            edit(data, changes)
        return
    before, after = parse(data, filename="s.md"), parse(edit(data, changes), filename="s.md")
    for key in ("name", "description", "modified", "type"):
        value = changes.get(key)
        if key in changes:
            said = (value and one_line(value)) or None
            if key in ("name", "description") and said and not said.strip():
                said = None
            assert getattr(after, key) == (said or ("s" if key == "name" else None)), key
        else:
            assert getattr(after, key) == getattr(before, key), key
    assert after.body == before.body
    assert edit(edit(data, changes), changes) == edit(data, changes)


TANGLED = (
    b"\xef\xbb\xbf---\r\n# who\r\nname:   'a'\r\nx-own: [1, 2]\r\n\r\n"
    b"description: >-\r\n  two\r\n\r\n  lines\r\n"
    b"odd: caf\xe9 \x00\r\nmetadata: \r\n    node_type: memory\r\n    # kept\r\n    type: user # kind\n"
    b"    originSessionId: s1\r\n\tother: 1\r\n---  \r\n\r\nbody \xff\n---\n<!-- end -->"
)


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("name", "b", b"name:   'a'\r\n", b"name: b\r\n"),
        ("description", "d: e", b"description: >-\r\n  two\r\n\r\n  lines\r\n", b'description: "d: e"\r\n'),
        ("type", "project", b"type: user # kind\n", b"type: project # kind\n"),
        ("modified", "m", b"\tother: 1\r\n", b"\tother: 1\r\n    modified: m\r\n"),
        ("origin.session", "s2", b"originSessionId: s1", b"originSessionId: s2"),
        ("description", None, b"description: >-\r\n  two\r\n\r\n  lines\r\n", b""),
        ("type", "user", b"", b""),
    ],
)
def test_an_edit_of_one_key_leaves_every_other_byte_F1(
    key: str, value: str | None, old: bytes, new: bytes
) -> None:
    assert edit(TANGLED, {key: value}) == TANGLED.replace(old, new, 1)


@given(
    st.lists(
        st.sampled_from(["k: v", "# c", "t: [a, b]", "q: 'x'", "", "z: caf\xe9", "odd line", "- no"]),
        max_size=8,
    )
)
def test_lines_around_an_edited_key_are_untouched_F1(around: list[str]) -> None:
    lines = ["---", *around, "name: a", *reversed(around), "---", "name: body", ""]
    data = "\n".join(lines).encode("latin-1")
    assert edit(data, {"name": "b c"}) == data.replace(b"\nname: a\n", b"\nname: b c\n", 1)


@pytest.mark.parametrize("key", ["name", "description"])
def test_a_comment_behind_a_value_stays_one_F1(key: str) -> None:
    data = f'---\n{key}: "old" # mine\n---\n'.encode()
    changed = edit(data, {key: "new"})
    assert changed == f'---\n{key}: "new" # mine\n---\n'.encode()
    assert getattr(parse(changed, filename="f.md"), key) == "new"


@pytest.mark.parametrize("encoding_name", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_an_edit_keeps_the_encoding_of_a_file_F1(encoding_name: str) -> None:
    text = "---\r\nname: a\r\n---\r\n\r\nbödy\r\n"
    changed = edit(text.encode(encoding_name), {"name": "b"})
    assert changed.decode(encoding_name) == text.replace("name: a", "name: b")
    assert stamp(changed, now=NOW, origin=WHO).decode(encoding_name).count("\r\n  session: s-1\r\n") == 1
    assert replace_body(changed, "x").decode(encoding_name) == "---\r\nname: b\r\n---\r\n\r\nx\r\n"


def test_an_edit_that_would_change_another_key_is_refused_F1() -> None:
    data = b'---\norigin: null\n  type: "user"\n---\n'
    assert parse(data, filename="f.md").type == "user"
    with pytest.raises(UsageError, match="tangled"):
        edit(data, {"origin.session": "s"})
    stamped = parse(stamp(data, now=NOW, origin=WHO), filename="f.md")
    assert (stamped.type, stamped.modified, stamped.origin) == ("user", "2026-03-30T12:00:00.000Z", None)


def test_a_key_that_comes_to_light_again_and_again_is_refused_in_linear_time_F1() -> None:
    data = b"---\nname: a\n" + b"k: v\n  type: user\n" * 5000 + b"---\n"
    start = time.perf_counter()
    with pytest.raises(UsageError, match="tangled"):
        edit(data, {"type": None})
    assert time.perf_counter() - start < HANGS


def test_an_emptied_key_does_not_take_over_the_list_below_it_F1() -> None:
    changed = edit(b"---\nname : x\ny\n- no value\n---\n", {"name": None})
    assert parse(changed, filename="f.md").name == "f"
    assert edit(changed, {"name": None}) == changed


@pytest.mark.parametrize("repeated", ["type: user\n", "origin:\n  session: s\n", "metadata:\n  type: user\n"])
def test_taking_out_a_key_that_is_there_a_thousand_times_takes_linear_time_F1(repeated: str) -> None:
    data = f"---\nname: a\n{repeated * 5000}---\n".encode()
    start = time.perf_counter()
    changed = edit(data, {"type": None, "origin.session": None})
    assert time.perf_counter() - start < HANGS
    found = parse(changed, filename="f.md")
    assert (found.name, found.type, found.origin) == ("a", None, None)


def test_a_file_without_a_header_gets_one_and_keeps_its_text_F1() -> None:
    assert (
        edit(b"\xef\xbb\xbftext\r\n", {"type": "user"})
        == b"\xef\xbb\xbf---\r\ntype: user\r\n---\r\n\r\ntext\r\n"
    )
    assert edit(b"text", {"type": None}) == b"text"


def test_the_only_key_is_emptied_so_that_the_header_stays_one_F1() -> None:
    assert edit(b"---\nname: a\n---\nb\n", {"name": None}) == b"---\nname:\n---\nb\n"


def test_an_unknown_key_or_type_is_refused_F1() -> None:
    for changes in ({"nmae": "x"}, {"type": "usr"}):
        with pytest.raises(UsageError, match=r"user|name"):
            edit(b"---\nname: a\n---\n", changes)


# -- stamps (F1, E11) -----------------------------------------------------------------------------------

WHO = Origin(session="s-1", message="m-1", worker="extract")


def test_a_stamp_keeps_the_flat_shape_F1() -> None:
    stamped = stamp(b"---\nname: a\ntype: user\n---\n\nb\n", now=NOW, origin=WHO)
    assert stamped == (
        b'---\nname: a\ntype: user\nmodified: "2026-03-30T12:00:00.000Z"\n'
        b"origin:\n  session: s-1\n  message: m-1\n  worker: extract\n---\n\nb\n"
    )


def test_a_stamp_keeps_the_nested_shape_F1() -> None:
    stamped = stamp(b"---\nname: a\nmetadata:\n  type: user\n---\n", now=NOW, origin=WHO)
    assert stamped == (
        b'---\nname: a\nmetadata:\n  type: user\n  modified: "2026-03-30T12:00:00.000Z"\n'
        b"  originSessionId: s-1\n  originMessageId: m-1\n  originWorker: extract\n---\n"
    )


@pytest.mark.parametrize(
    "data",
    [
        b"no header\n",
        b"---\nname: a\n",
        b"---\n- a\n---\n",
        b"---\nA rule: and prose\n---\n",
        b"",
        b"\xff\xfe-\0",
    ],
)
def test_a_file_without_a_header_of_ours_is_not_stamped_F1(data: bytes) -> None:
    assert stamp(data, now=NOW, origin=WHO) == data


def test_an_origin_that_somebody_else_uses_is_left_alone_F1() -> None:
    stamped = stamp(b"---\nname: a\norigin: Bremen\n---\n", now=NOW, origin=WHO)
    assert stamped == b'---\nname: a\norigin: Bremen\nmodified: "2026-03-30T12:00:00.000Z"\n---\n'


@pytest.mark.parametrize("nothing", ["", " ~", " null", ' ""', " |", " # none", "\n  # none"])
def test_an_origin_that_says_nothing_counts_as_none_F1(nothing: str) -> None:
    stamped = stamp(f"---\nname: a\norigin:{nothing}\ntype: user\n---\n".encode(), now=NOW, origin=WHO)
    found = parse(stamped, filename="f.md")
    assert (found.name, found.type, found.origin) == ("a", "user", WHO)
    assert stamp(stamped, now=NOW, origin=WHO) == stamped
    assert ("# none" in stamped.decode()) == ("# none" in nothing)


@pytest.mark.parametrize(
    "theirs", [" {}", " []", " Bremen", "\n- a", "\n  - a", "\n  city: Bremen", " >\n  x"]
)
def test_an_origin_of_any_other_kind_is_left_alone_F1(theirs: str) -> None:
    data = f"---\nname: a\norigin:{theirs}\ntype: user\n---\n".encode()
    stamped = stamp(data, now=NOW, origin=WHO)
    assert stamped.replace(b'modified: "2026-03-30T12:00:00.000Z"\n', b"") == data


def test_keys_indented_above_a_flush_origin_are_stamped_once_F1() -> None:
    data = b"---\n\n  name: a\norigin:\n---\n"
    once = stamp(data, now=NOW, origin=WHO)
    assert stamp(once, now=NOW, origin=WHO) == once
    found = parse(once, filename="f.md")
    assert (found.name, found.origin, found.modified) == ("a", WHO, "2026-03-30T12:00:00.000Z")


@given(st.one_of(RAW, HEADED.map(str.encode)))
def test_a_stamp_is_idempotent_and_changes_nothing_else_F1(data: bytes) -> None:
    once = stamp(data, now=NOW, origin=WHO)
    assert stamp(once, now=NOW, origin=WHO) == once
    before, after = parse(data, filename="s.md"), parse(once, filename="s.md")
    assert (after.name, after.description, after.type) == (before.name, before.description, before.type)
    assert after.body == before.body
    if once != data:
        assert after.modified == "2026-03-30T12:00:00.000Z"


def test_a_moment_is_written_in_utc_and_never_without_a_zone() -> None:
    east = timezone(timedelta(hours=2))
    assert topic.instant(datetime(2026, 3, 30, 14, 0, 0, 999_999, east)) == "2026-03-30T12:00:00.999Z"
    with pytest.raises(UsageError):
        topic.instant(datetime(2026, 3, 30))  # noqa: DTZ001


# -- bodies (F1) ----------------------------------------------------------------------------------------


@given(RAW, FILES)
def test_a_new_body_leaves_the_header_F1(data: bytes, body: str) -> None:
    if _is_broken(data):
        return
    head = encoding.decode(data)
    changed = replace_body(data, parse(data, filename="s.md").body)
    assert changed == data
    before = parse(data, filename="s.md")
    if before.fallback:
        return
    after = parse(replace_body(data, body), filename="s.md")
    assert (after.name, after.description, after.type) == (before.name, before.description, before.type)
    assert (
        after.body.replace("\r", "").split()
        == parse(f"---\nname: a\n---\n\n{body}", filename="s.md").body.replace("\r", "").split()
    )
    assert encoding.encode(head, like=data) == data


def test_a_new_body_takes_the_line_ends_of_the_file_F1() -> None:
    data = b"---\r\nname: a\r\n---\r\n\r\nold\r\n"
    assert replace_body(data, "new\nlines") == b"---\r\nname: a\r\n---\r\n\r\nnew\r\nlines\r\n"
    assert replace_body(b"---\nname: a\n---", "x") == b"---\nname: a\n---\n\nx\n"

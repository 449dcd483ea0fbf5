"""What `memdir.secrets` finds, leaves alone and shows. Every secret here is made up, and cut in two."""

from __future__ import annotations

import base64
import subprocess
import sys

import pytest

from memdir.secrets import Finding, allowed_lines, scan
from tests.cases import case_rows

GITHUB = "ghp_" + "HAmvYDNZMPQ9qvBjv697Na02SXIXw72boFTV"
PAD = "{PAD200000}"


def found(text: str) -> list[str]:
    """The values found, for comparison in tests."""
    return [text[finding.start : finding.end] for finding in scan(text)]


def share(expect: str, tier: str) -> float:
    """Share of right verdicts in the case file."""
    right = []
    for row in case_rows("secrets.jsonl"):
        if (row["expect"], row["tier"]) == (expect, tier):
            secret = "".join(row.get("parts") or [])
            findings = scan(row["template"].replace(PAD, "x " * 200_000).replace("{S}", secret))
            if expect == "ignore":
                right.append(not findings)
            else:
                start, length = row["span"]
                right.append(any(f.start < start + length and f.end > start for f in findings))
    return sum(right) / len(right)


@pytest.mark.parametrize(
    ("expect", "tier", "least"),
    [("find", "must", 0.98), ("find", "should", 0.9), ("find", "hard", 0.8), ("ignore", "core", 0.985)],
)
def test_the_cases_are_told_apart_E10(expect: str, tier: str, least: float) -> None:
    assert share(expect, tier) >= least


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("export DEPLOY_TOKEN=" + "f9Qx2LmV7bTzR4" + "kWn8Yp", "f9Qx2LmV7bTzR4kWn8Yp"),
        ("password: hunter2-" + "Maple!", "hunter2-Maple!"),
        ("The password for the staging box is " + "Wob9!heron, ok?", "Wob9!heron"),
        ("数据库密码是 " + "Qy#8812moon，别外传", "Qy#8812moon"),
        ("用户 tester01，密码 " + "Qy#8812moon ，登录", "Qy#8812moon"),
        ("口令改成了" + "Zx81!kilo。", "Zx81!kilo"),
        ("https://deploy:" + "s3cr3t-Heron@git.invalid/app.git", "s3cr3t-Heron"),
        ("Server=db;User Id=app;Password=" + "k2Lm!9xQ;Encrypt=true", "k2Lm!9xQ"),
        ("mysql --password=" + "k2Lm9xQ7 shop", "k2Lm9xQ7"),
        ("la clave de la API es " + "AZMET-55kk91Lq.", "AZMET-55kk91Lq"),
        ("password is: `" + "Wob9!heron`", "Wob9!heron"),
        ("mot de passe admin = " + "Wob9!heron", "Wob9!heron"),
        ("log in with admin / " + "Wob9!heron", "Wob9!heron"),
        ("admin:" + "Wob9!heron@10.0.0.1", "Wob9!heron"),
        ("echo " + "Wob9!heron | passwd --stdin me", "Wob9!heron"),
        ("set -gx API_TOKEN " + "f9Qx2LmV7bTzR4kWn8Yp", "f9Qx2LmV7bTzR4kWn8Yp"),
        ("define('AUTH_KEY', '" + "f9Qx2LmV7b#TzR4');", "f9Qx2LmV7b#TzR4"),
        ("os.environ['API_KEY'] = '" + "f9Qx2LmV7bTzR4kWn8Yp'", "f9Qx2LmV7bTzR4kWn8Yp"),
        ("FERNET_KEY=" + "f9Qx2LmV7bTzR4kWn8YpJ3c=", "f9Qx2LmV7bTzR4kWn8YpJ3c="),
    ],
)
def test_a_value_that_its_surroundings_call_a_secret_is_found_E10(text: str, secret: str) -> None:
    assert [value.strip("\"'") for value in found(text)] == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "password = os.environ['DB_PASSWORD']",
        "password: <your-password>",
        "密码是必填项，密码为 8 到 64 位",
        "the token is valid for 30d and the secret is in 1Password",
        "API_KEY=$API_KEY docker run app",
        "api_key: ${{ secrets.API_KEY }}",
        "password is base64-encoded before it is sent",
        "passwords are hashed: bcrypt",
        "secret: /run/secrets/db.key",
        "token = parse_token(header)",
        "max_tokens: 4096",
        "postgres://postgres:password@localhost/test",
        "![](https://user-images.githubusercontent.com/83319/31722733-de95bbde.png)",
        "https://user:pass@sub.example.com:8080/p/a/t/h?query=string#hash",
        "identified by `code:` in the error",
        "s3_key = Exports/2026/11/Report2Final9xQ7LmV3bTz",
    ],
)
def test_placeholders_code_and_prose_are_left_alone_E10(text: str) -> None:
    assert found(text) == []


def test_a_preview_shows_the_kind_and_the_length_and_never_the_value_E10() -> None:
    assert scan(f"use {GITHUB} here") == [
        Finding(rule="GitHub token", start=4, end=44, preview="ghp_… (40 characters)")
    ]
    (password,) = scan("password: " + "Tr0ub4dor!")
    assert password.preview == "… (10 characters)"


def test_overlapping_hits_are_one_finding_with_the_vendors_rule_E10() -> None:
    text = f'GITHUB_TOKEN="{GITHUB}" and https://x:{GITHUB}@git.invalid/a'
    assert [finding.rule for finding in scan(text)] == ["GitHub token", "GitHub token"]


def test_a_key_block_is_one_finding_with_or_without_its_end_E10() -> None:
    head, body = "-----BEGIN RSA PRIVATE" + " KEY-----", "\n".join(["QmFzZTY0" * 8] * 4)
    whole = f"{head}\n{body}\n-----END RSA PRIVATE KEY-----"
    assert found(f"key:\n{whole}\nbye") == [whole]
    assert len(scan(f"{head}\n{body}")) == 1
    assert scan(f"a file that starts with {head} is a key") == []


@pytest.mark.parametrize("mark", ["\u200b", "\u00ad", "\u2060"])
def test_invisible_characters_hide_nothing_E10(mark: str) -> None:
    hidden = GITHUB[:9] + mark + GITHUB[9:]
    assert found(f"see {hidden}.") == [hidden]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "\x1b[0m"),  # `grep --color` between what matched and the rest
        ("**", "**"),
        ("", "<b></b>"),
        ("", '" + "'),
        ("", "\n"),
        ("", "\r\n> "),
        ("", "\n  "),
    ],
)
def test_what_stands_in_the_middle_hides_nothing_E10(before: str, after: str) -> None:
    hidden = GITHUB[:9] + before + GITHUB[9:22] + after + GITHUB[22:]
    assert found(f'see "{hidden}".') == [hidden]


@pytest.mark.parametrize(
    "written",
    [
        "&#0095;",
        "&#X5f;",
        "&lowbar;",
        "&amp;lowbar;",
        "%255F",
        "\\137",
        "\\u{005f}",
        "\\U0000005f",
        "\\\\u005f",
    ],
)
def test_a_letter_written_otherwise_hides_nothing_E10(written: str) -> None:
    hidden = GITHUB.replace("_", written)
    assert found(f"see {hidden} there") == [hidden]


def test_what_begins_a_line_in_a_string_of_a_program_is_found_E10() -> None:
    assert found(rf'"one\n{GITHUB}\nthree"') == [GITHUB]


def test_a_token_in_two_lines_ends_where_words_begin_E10() -> None:
    halves = f"{GITHUB[:20]}\n{GITHUB[20:]}"
    assert found(f"the token\n{halves}\nand more") == [halves]


def test_what_is_around_one_escape_does_not_run_into_what_is_around_the_next_E10() -> None:
    head = "-----BEGIN PRIVATE" + " KEY-----"
    text = f"a%5Fb {'x ' * 380}{head} {'y ' * 2000}a%5Fb {'QmFzZTY0' * 8}"
    assert scan(text) == []
    key = f"{head}\n" + "\n".join(["QmFzZTY0" * 8] * 40)
    text = f"a%5Fb\n{key}\n{'y ' * 2000}a%5Fb\n{key}"
    assert all(0 <= one.start < one.end <= len(text) for one in scan(text))


def test_a_token_that_is_whole_does_not_go_on_in_the_next_line_E10() -> None:
    assert found(f"{GITHUB}\nabc123def456") == [GITHUB]


def test_words_at_the_ends_of_lines_are_no_token_E10() -> None:
    assert (
        scan("the rule is in commit 9b63cde33cbea3a3\nf8c2b6d9e1a07755\nand in sk-\n9b63cde33cbea3a3") == []
    )


def test_quotes_are_no_part_of_the_secret_E10() -> None:
    assert found('password: "' + 'Tr0ub4dor!"') == ["Tr0ub4dor!"]


def test_escapes_of_urls_and_json_hide_nothing_E10() -> None:
    assert len(scan("key=" + "sk%5Flive%5F" + "wFcMpHJ4Qc3WQw3sDUYdIW0N")) == 1
    assert len(scan('{"t": "' + "xoxb\\u002d183723319151\\u002d" + '568863126447\\u002dHZIZ00yMk7jF"}')) == 1


@pytest.mark.parametrize(
    "text",
    [
        "password: Kestrel-lamp-42",
        "the staging pw is Sommer2026!",
        "数据库密码是 Qz7-lamp-42，先这么用",
        "staging login tracker, pw kestrel-Vault-7731",
    ],
)
def test_a_made_up_password_beside_its_name_is_found_E10(text: str) -> None:
    assert [finding.rule for finding in scan(text)] == ["password"]


@pytest.mark.parametrize(
    "text",
    [
        "the password is stored in Vault-2",
        "password: rotate-90-days",
        "密码是由运维保管的",
        "pw: see the wiki",
        "| router | `ROUTER_API_KEY` |\n| `local:qwen3:8b-q4` | none |",
        "the admin secret is created by min_secret: see setup",
    ],
)
def test_words_about_a_password_are_left_alone_E10(text: str) -> None:
    assert scan(text) == []


def test_a_password_on_a_command_line_is_found_E10() -> None:
    assert [finding.rule for finding in scan("mysql -u root -pS3cretPw99")] == ["password on a command line"]
    assert scan("mysql -u root -p") == []


def test_the_allow_marker_counts_only_where_it_is_honoured_and_only_for_its_line_E10() -> None:
    text = f"a {GITHUB} <!-- memdir:allow-secret -->\nb {GITHUB}\nc = '{GITHUB}'  # memdir:allow-secret\n"
    assert [one.line(text) for one in scan(text)] == [1, 2, 3]
    assert [one.line(text) for one in scan(text, honour_marker=True)] == [2]
    assert allowed_lines(text) == {1, 3}


@pytest.mark.parametrize(
    "words", ["memdir:allow-secret", "<!-- memdir:allow-secrets -->", "<!-- allow-secret -->"]
)
def test_words_about_the_marker_are_no_marker_E10(words: str) -> None:
    text = f"{GITHUB} {words}"
    assert allowed_lines(text) == frozenset()
    assert len(scan(text, honour_marker=True)) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ghp\\_", ""),
        ("gh&#112;_", ""),
        ("\uff47\uff48\uff50\uff3f", ""),
        ("\\x67hp_", ""),
        ("ghp_", "\\\n  "),
    ],
)
def test_no_usual_way_of_writing_hides_a_token_E10(before: str, after: str) -> None:
    text = before + GITHUB[4:20] + after + GITHUB[20:]
    assert [(one.rule, one.start, one.end) for one in scan(f"a {text} b")] == [
        ("GitHub token", 2, 2 + len(text))
    ]


def test_a_token_in_base64_or_hexadecimal_is_found_E10() -> None:
    for text in (base64.b64encode(GITHUB.encode()).decode(), GITHUB.encode().hex()):
        assert found(f"see {text} there") == [text]
    prose = base64.b64encode(b"only a harmless sentence about tokens and memory").decode()
    assert scan(f"see {prose} there") == []


def test_letters_that_become_longer_in_small_print_shift_nothing_E10() -> None:
    text = "\u0130" * 7 + " password: Kestrel-lamp-42"
    assert found(text) == ["Kestrel-lamp-42"]


def test_importing_the_scanner_compiles_no_rule_H1() -> None:
    script = (
        "import sys, memdir.secrets\n"
        "late = [name for name in sys.modules if name.startswith('memdir.secrets.')]\n"
        "sys.exit(len(late))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")

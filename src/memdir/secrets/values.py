"""A value, taken out of its surroundings -> is it a secret, or does it only stand where one could?"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable, Mapping

from memdir.secrets.rules import QUOTES

# ------------------------------------------------------------------------------------- tokens with a shape

_REPEATED = re.compile(r"([A-Za-z0-9*.])\1{5}")
_IN_ORDER = re.compile(r"0123456789|1234567890|123456789[aA]|abcdefghij|ABCDEFGHIJ")
_STAND_INS = re.compile(r"example|placeholder|change.?me|redacted|dummy|sample|your[_-]", re.IGNORECASE)


def is_blank(token: str) -> bool:
    """A token with its random part left out: `ghp_xxxxxxxx`, `AKIA…EXAMPLE`, `sk-1234567890abcdef`."""
    return any(sign.search(token) for sign in (_REPEATED, _IN_ORDER, _STAND_INS))


def has_digit(token: str) -> bool:
    return _count(r"\d", token) > 0 and not is_blank(token)


def has_both_cases(token: str) -> bool:
    return _count(r"[a-z]", token) > 2 and _count(r"[A-Z]", token) > 0 and not is_blank(token)


def is_mixed(token: str) -> bool:
    """Capitals, small letters and digits, or capitals strewn in: what identifiers seldom have."""
    return has_both_cases(token) and (_count(r"\d", token) > 0 or _is_strewn(token))


def has_checksum(token: str) -> bool:
    """Ends in the CRC-32 of the rest, as GitHub's and npm's tokens do; without it, it may not be blank.

    A right checksum is proof, whatever the letters look like. A wrong one is none of the contrary: a token
    with a letter lost or changed still tells most of a secret.
    """
    return _is_checked(token) or not is_blank(token)


def _is_checked(token: str) -> bool:
    body, check = token.partition("_")[2][:-6], token[-6:]
    rest, digits = zlib.crc32(body.encode()), ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[digit] + digits
    return check == digits


def _count(pattern: str, text: str) -> int:
    return len(re.findall(pattern, text))


TESTS: Mapping[str, Callable[[str], bool]] = {
    "-": lambda token: not is_blank(token),
    "long": lambda token: is_mixed(token[24:]),
    "digit": has_digit,
    "mixed-case": has_both_cases,
    "mixed": is_mixed,
    "crc32": has_checksum,
}
"""The tests that `shapes.txt` names."""

# --------------------------------------------------------------------------- values beside a telling name

_PLACEHOLDER = re.compile(
    r"example|placeholder|change[_-]?(?:me|it)|replace|redacted|removed|hidden|masked|your[_-]|insert|"
    r"todo|dummy|"
    r"(?:my|super|very|some|top)[_-]?(?:secret|password|token|key)|"
    r"…|\.\.\.|x{4}|\*{3}|•{2}|_{4}|\$\{|\$\(|\{\{|<[a-z_ -]+>|%\(|#\{|\{[a-z_.]*\}",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\$[A-Za-z_]\w*(?:$|[/:.,;}@'\"])|\$\d|%[A-Za-z_]+%|!(?:vault|ref|sub|env|secret|getatt)|<|\[|\{|"
    r"[a-z][a-z0-9+.]{1,20}://|(?:vault|arn|ssm|keychain|env|file|kms|sops|secretsmanager|projects|"
    r"keyring|secretref)"
    r"(?:[.:(/+]|$)|@microsoft\.|ref\+|enc[\[(]",
    re.IGNORECASE,
)
_HASH = re.compile(
    r"(?:sha-?(?:1|224|256|384|512)|md5|h1|blake\w{1,3})[:-]|\$(?:2[abxy]|[156]|apr1|y|argon2\w{1,2}|"
    r"pbkdf2[\w-]*|scrypt)\$|"
    r"0x[0-9a-f]{40}$|\{(?:S?SHA|CRYPT)|pbkdf2_sha|argon2id?\$|ssh-(?:rsa|ed25519|dss)\b|ecdsa-sha2|"
    r"age1[a-z0-9]{58}",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"[A-Za-z_$][\w$]*(?:\(|\[|::|->|\?\.|\.[A-Za-z_]\w*[.(\[])|[a-z_]\w*(?:\.[A-Za-z_]\w*)+$|(?:await|"
    r"new|lambda)\b"
)
_PATH = re.compile(
    r"~?\.{0,2}/[\w.-]+/|~/|[A-Za-z]:\\|"
    r"[\w./-]+\.(?:md|py|js|ts|go|rs|java|rb|php|json|ya?ml|toml|txt|env|pem|key|crt|p12|sh|ini|cfg|conf|"
    r"csv|html?)(?::\d+)?$"
)
_PIECE = re.compile(
    r"[A-Za-z]{2,}\d{0,3}|[a-z]|\d{1,2}|"
    r"(?i:(?:base|sha|md|utf|aes|rsa|bcrypt|argon|oauth|x|pbkdf|ed|hs|rs|es|ps|v|ipv|iso|rfc|http|tls|"
    r"ssl|n|r|p|s|k|m)-?\d+(?:\w|id)?|"
    r"1password|\d+(?:h|d|s|w|y|ms|min|mins|chars?|characters?|bytes?|bits?|days?|hours?|weeks?|months?|"
    r"years?|x|k|kb|mb|gb|th|st|nd|rd|%|\+)?)"
)
_WORD = re.compile(r"[A-Za-z]{2,}\d{0,3}|[a-z]|\d{1,2}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d\d|v?\d+(?:\.\d+)+")
_BETWEEN = re.compile(r"[-_./|+,:=]")
_PLAIN_KEY = re.compile(r"[a-z]+\d{0,4}(?:[-_.:/](?:[a-z]+\d{0,4}|\d{1,4}))+")
_SYMBOL = re.compile(r"[!@#$%^&*+=?~|\\:;§€£]")
_SWITCH = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_COMMON = frozenset(
    [
        "pass",
        "password",
        "passwd",
        "pwd",
        "secret",
        "token",
        "user",
        "username",
        "null",
        "none",
        "true",
        "false",
        "nil",
        "undefined",
        "required",
        "optional",
        "string",
        "admin",
        "root",
        "guest",
        "test",
        "postgres",
        "mysql",
        "redis",
        "mongo",
        "rabbitmq",
        "minioadmin",
        "changeit",
        "foobar",
        "foo",
        "bar",
        "dev",
        "letmein",
        "pass123",
        "password1",
        "password123",
        "test123",
        "user123",
        "admin123",
        "p4ssw0rd",
        "x-oauth-basic",
        "x-access-token",
        "passwort",
        "kennwort",
        "geheim",
        "contraseña",
        "senha",
        "motdepasse",
    ]
)


def stands_in(value: str) -> bool:
    """Whether the value stands for a secret that is elsewhere, is a hash of one, or is no literal at all."""
    return (
        value.lower() in _COMMON
        or _REFERENCE.match(value) is not None
        or _PLACEHOLDER.search(value) is not None
        or _HASH.match(value) is not None
        or _REPEATED.search(value) is not None
    )


def is_talk(value: str) -> bool:
    """Whether the bare value is a word of the sentence, an identifier, code, a date or a path.

    `rotate-90-days` is one; `Kestrel-lamp-42`, with a capital and a figure, is how people make up passwords.
    """
    return (
        _is_words(value)
        or _DATE.match(value) is not None
        or _is_code(value)
        or _PATH.match(value) is not None
    )


def _is_code(value: str) -> bool:
    """A call or an attribute; a name in it has few figures, a token many."""
    return _CODE.match(value) is not None and _count(r"\d", value) < 8


def _is_words(value: str) -> bool:
    pieces = _BETWEEN.split(value)
    if not all(piece == "" or _PIECE.fullmatch(piece) for piece in pieces) or not _BETWEEN.search(value):
        return len(pieces) == 1 and _PIECE.fullmatch(value) is not None and _WORD.fullmatch(value) is None
    made_up = _count(r"[A-Z]", value) and _count(r"[a-z]", value) and any(p.isdigit() for p in pieces)
    return not made_up


def is_uneven(value: str) -> bool:
    """Letters beside digits or symbols that words don't have, or capitals strewn in as no word has them."""
    if not re.search(r"[A-Za-z]", value):
        return False
    return _is_strewn(value) or re.search(r"\d", value) is not None or _SYMBOL.search(value[1:]) is not None


def _is_strewn(value: str) -> bool:
    return len(value) >= 12 and len(value) < 3.5 * _count(r"[A-Z]", value) and not value.isupper()


def is_password(value: str) -> bool:
    """A value that could be a password, beside a name that says it is one. Quotes may be around it."""
    bare = value.strip(QUOTES)
    quoted = value[:1] in QUOTES
    if (
        len(bare) < (4 if quoted else 6)
        or " " in bare
        or stands_in(bare)
        or _is_code(bare)
        or _PATH.match(bare)
    ):
        return False
    return (quoted or not is_talk(bare)) and (is_uneven(bare) or bare.isdigit())


def is_key(value: str) -> bool:
    """The same for keys and tokens, which are longer and made by machines."""
    bare = value.strip(QUOTES)
    return (
        len(bare) >= 12
        and not bare.isdigit()
        and not (_IN_ORDER.search(bare) and len(bare) < 40)
        and _PLAIN_KEY.fullmatch(bare) is None
        and (re.search(r"\d", bare) is not None or (len(bare) >= 20 and _is_strewn(bare)))
        and is_password(value)
    )


def is_strong(value: str) -> bool:
    """A password as nobody writes a word: where the surroundings say little, the value must say it all."""
    bare = value.strip(QUOTES)
    if len(bare) < 8 or not is_password(value) or is_talk(bare) or bare.isdigit():
        return False
    digits, capitals, smalls = (_count(kind, bare) for kind in (r"\d", r"[A-Z]", r"[a-z]"))
    symbols = len(_SYMBOL.findall(bare))
    return digits > 0 and (
        (capitals > 0 and smalls > 0)
        or (symbols > 0 and capitals + smalls > 2)
        or len(_SWITCH.findall(bare)) >= 3
    )


def is_long_key(value: str) -> bool:
    """Where only the name ends like that of a key: long, and no hexadecimal, which identifies as well."""
    return len(value) >= 24 and has_both_cases(value) and is_key(value) and is_strong(value)


def is_unmistakable(value: str) -> bool:
    """Strong, and with a symbol that names and versions don't have."""
    return is_strong(value) and re.search(r"[!#$%^&*]|@(?!\d)", value) is not None


def is_login(value: str) -> bool:
    """A password in a place where nothing but a password can stand: in a URL, after `curl -u name:`."""
    return len(value) >= 3 and not stands_in(value) and not (value.isdigit() and len(value) < 6)


def is_basic(value: str) -> bool:
    """`name:password` in base64, as HTTP has it."""
    plain = decoded(value)
    return plain is not None and ":" in plain and is_login(plain.partition(":")[2])


def is_phrase(value: str) -> bool:
    """A wallet's recovery phrase: twelve to twenty-four plain words, none of them one of grammar."""
    found = re.findall(r"[a-z]+", value.lower())
    return len(found) in (12, 15, 18, 21, 24) and _GRAMMAR.isdisjoint(found)


_GRAMMAR = {
    "the",
    "and",
    "for",
    "with",
    "from",
    "are",
    "was",
    "his",
    "its",
    "not",
    "but",
    "has",
    "your",
    "our",
    "must",
}


def is_pin(value: str) -> bool:
    return _REPEATED.search(value) is None and value not in ("1234", "0000", "123456")


def decoded(value: str) -> str | None:
    """What the base64 says, if it is text of ASCII."""
    text = readable(value)
    return text if text is not None and text.isascii() else None


def readable(value: str) -> str | None:
    """What the base64 says, if it is text, in UTF-8 or UTF-16."""
    try:
        plain = base64.b64decode(
            value + "=" * (-len(value) % 4), altchars=b"-_" if "-" in value or "_" in value else None
        )
        text = plain.decode().replace("\0", "")  # of UTF-16, every other byte
    except ValueError:
        return None
    return text if text.translate(_BLANKS).isprintable() else None


_BLANKS = {ord(blank): " " for blank in "\n\r\t\ufeff"}

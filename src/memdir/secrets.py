r"""Text in, the secrets in it out: `scan(text) -> [Finding]` (E10, T6).

Three kinds of thing are looked for:

1. tokens whose vendors gave them a shape (`_TOKENS`, a table; key blocks are among them);
2. values that their surroundings call a secret (`_PLACES`): `password: …`, `export X_TOKEN=…`, `密码是…`,
   `scheme://user:password@host`, `Authorization: Bearer …`;
3. the same behind the escapes that JSON, URLs and invisible characters put in between (`sk%5Flive%5F…`).

What only looks like a secret is left alone: placeholders (`<your-key>`, `xxxx`, `${VAR}`, a vendor's
documented example), words, code, dates, paths. Hashes and UUIDs are findings only where a name says so.

Pure, and linear in the length of the text: a pattern is tried only when one of its keywords is there, and
every run in a pattern is capped. A finding never carries the value, only a masked preview.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One secret: `text[start:end]` of what was scanned, and the name of the rule that knew it.

    `preview` is safe to show: the fixed beginning of the token's format at most, and the length.
    """

    rule: str
    start: int
    end: int
    preview: str


def scan(text: str) -> list[Finding]:
    """All secrets in the text, in order, overlapping ones merged into one.

    A merged finding has the most telling rule: the vendor's shape before the name beside it.
    """
    hits = list(_hits(text))
    if _ESCAPE.search(text):
        plain, places = _unescaped(text)
        hits += [(rank, places[start], places[end]) for rank, start, end in _hits(plain)]
    return [_finding(text, *hit) for hit in _merged(hits)]


# ------------------------------------------------------------------------------------------- rules

_Test = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class _Rule:
    """A pattern worth trying when one of `keys` is in the lower-cased text. Its last group is the secret."""

    name: str
    keys: tuple[str, ...]
    pattern: re.Pattern[str]
    accepts: _Test


def _is_blank(value: str) -> bool:
    """A token with its random part left out: `ghp_xxxxxxxx`, `AKIA…EXAMPLE`."""
    return _REPEATED.search(value) is not None or "example" in value.lower()


_REPEATED = re.compile(r"([A-Za-z0-9*.])\1{5}")

# One line a shape, as its vendor documents it or as its tokens plainly show it: name, keywords, pattern.
_SHAPES = r"""
private JSON web key  "kty"                     "d"\s?:\s?"[\w-]{32,1500}"
age key               age-secret-key            AGE-SECRET-KEY-1[0-9A-Z]{50,64}
Anthropic key         sk-ant-                   sk-ant-[\w-]{20,200}
OpenAI key            sk-                       sk-(?:proj|svcacct|admin)-[\w-]{20,200}|sk-[A-Za-z0-9]{32,64}
OpenRouter key        sk-or-                    sk-or-v1-[0-9a-f]{64}
Groq key              gsk_                      gsk_[A-Za-z0-9]{40,64}
xAI key               xai-                      xai-[A-Za-z0-9]{70,90}
Perplexity key        pplx-                     pplx-[A-Za-z0-9]{40,64}
Replicate token       r8_                       r8_[A-Za-z0-9]{37,40}
Hugging Face token    hf_                       hf_[A-Za-z]{30,40}|hf_[A-Za-z0-9]{34,40}
AWS key id            akia asia abia acca       (?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b
Google API key        aiza                      AIza[\w-]{35}(?![\w-])
Google OAuth secret   gocspx-                   GOCSPX-[\w-]{20,40}
Google OAuth token    ya29.                     ya29\.[\w-]{20,400}
Azure client secret   q~                        [A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}
Azure DevOps token    azdo                      [A-Za-z0-9]{40,80}AZDO[A-Za-z0-9]{4}\b
GitHub token          ghp_ gho_ ghu_ ghs_ ghr_  gh[pousr]_[A-Za-z0-9]{36,255}
GitHub token          github_pat_               github_pat_\w{50,255}
GitLab token          gl                        gl(?:pat|dt|rt|ptt|cbt|soat|ft)-[\w-]{20,128}
Bitbucket token       atbb atctt                ATBB[A-Za-z0-9]{32}|ATCTT3[A-Za-z0-9_=-]{50,300}
Atlassian token       atatt3                    ATATT3[A-Za-z0-9_=-]{40,300}
Slack token           xox                       xox[abcdeprs][.-][A-Za-z0-9.%-]{10,300}
Slack app token       xapp-                     xapp-\d-[A-Z0-9]{8,14}-\d{8,16}-[0-9a-f]{32,80}
Slack webhook         hooks.slack.com           hooks\.slack\.com/services(?:/[A-Z0-9]{6,12}){2}/\w{20,30}
Discord webhook       /webhooks/                discord(?:app)?\.com/api/webhooks/\d{15,22}/[\w-]{50,90}
Discord bot token     .                         [MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])
Telegram bot token    :aa                       \d{8,10}:AA[\w-]{33}(?![\w-])
Twilio key            sk                        SK[0-9a-f]{32}\b
SendGrid key          sg.                       SG\.[\w-]{20,24}\.[\w-]{40,50}
Mailgun key           key-                      key-[0-9a-f]{32}\b
Mailchimp key         -us                       [0-9a-f]{32}-us\d{1,2}\b
Stripe key            _live_ _test_             [sr]k_(?:live|test)_[A-Za-z0-9]{16,250}
Stripe webhook key    whsec_                    whsec_[A-Za-z0-9+/=]{24,80}
Square token          eaaa sq0                  EAAA[\w-]{58,62}(?![\w-])|sq0(?:csp|atp)-[\w-]{22,60}
Facebook token        eaac                      EAAC[A-Za-z0-9]{40,300}
Shopify token         shp                       shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}
npm token             npm_                      npm_[A-Za-z0-9]{36}\b
PyPI token            pypi-                     pypi-AgE[\w-]{50,500}
RubyGems key          rubygems_                 rubygems_[0-9a-f]{48}
NuGet key             oy2                       oy2[a-z0-9]{43}\b
Docker Hub token      dckr_                     dckr_(?:pat|oat)_[\w-]{24,64}
crates.io token       cio                       cio[A-Za-z0-9]{32}\b
Clojars token         clojars_                  CLOJARS_[a-z0-9]{60}
Terraform token       .atlasv1.                 [A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,80}
Vault token           hvs. hvb. hvr.            hv[sbr]\.[\w-]{24,300}
Doppler token         dp.                       dp\.(?:pt|st|ct|sa)\.(?:[\w-]{2,40}\.)?[A-Za-z0-9]{40,48}
Heroku key            hrku-                     HRKU-[\w-]{30,80}
PlanetScale token     pscale_                   pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.=-]{32,70}
Databricks token      dapi                      dapi[0-9a-f]{32}(?:-\d)?
DigitalOcean token    dop_v1_ doo_v1_ dor_v1_   do[por]_v1_[0-9a-f]{64}
New Relic key         nrak- nrjs- nrii-         NR(?:AK|JS|II)-[\w-]{19,40}
Grafana token         glc_ glsa_                glc_[A-Za-z0-9+/=]{32,400}|glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}
Sentry token          sntryu_ sntrys_           sntryu_[0-9a-f]{64}|sntrys_[A-Za-z0-9+/=_]{60,400}
Linear key            lin_api_                  lin_(?:api|oauth)_[A-Za-z0-9]{32,64}
Notion token          ntn_ secret_              ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43}\b
Figma token           figd_                     figd_[\w-]{36,60}
Supabase key          sbp_ sb_secret_           sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,60}
Airtable token        pat                       pat[A-Za-z0-9]{14}\.[0-9a-f]{64}
Postman key           pmak-                     PMAK-[0-9a-f]{24}-[0-9a-f]{34}
JSON web token        eyj                       (?<![._-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10,8000}\.[\w-]{20,1000}
"""


def _shape(line: str) -> _Rule:
    """A line of the table. A token may stand in any script's text, but not inside a longer ASCII word."""
    name, keys, pattern = re.split(r"\s{2,}", line, maxsplit=2)
    compiled = re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})", re.ASCII)
    return _Rule(name, tuple(keys.lower().split()), compiled, lambda value: not _is_blank(value))


_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?=[\s\S]{0,300}?[A-Za-z0-9+/]{20})"
    r"(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]{0,60}-----)?"
)
_PUTTY_KEY = re.compile(
    r"PuTTY-User-Key-File-\d[\s\S]{0,2000}?Private-Lines:[\s\d]{0,20}(?:[A-Za-z0-9+/=]{20,99}\s{0,2}){1,99}"
)
_TOKENS = (
    _Rule("private key", ("private key",), _KEY_BLOCK, lambda _: True),
    _Rule("private key", ("putty-user-key",), _PUTTY_KEY, lambda _: True),
    *map(_shape, _SHAPES.strip().splitlines()),
)


# ------------------------------------------------------------------------- what a name says of its value

_NAMES_OF_PASSWORDS = (
    r"pass(?:word|wort|wd|phrase|code)|\bpw\b|pwd|kennwort|contraseña|senha|mot de passe|"
    r"(?:recovery|backup) code|密\s?码|口令|恢复码|パスワード"
)
_NAMES_OF_KEYS = (
    r"secret|token|credential|(?:api|access|account|auth|private|master|signing|encryption|service|client)"
    r"[ _-]?key(?:[_-]data)?|_pat|\bclave|密钥|秘钥|令牌"
)
_NAME_END = r"(?:(?:[_-]?access)?[_-]?key(?:[_-]?base)?|s)?"  # the rest of `SECRET_ACCESS_KEY`, `tokens`
_WHOSE = r"(?: (?:for|of|to|on|in|de|del|para|für) [^\n.,:;=]{1,40}?)?"
_SAYS = (
    rf"[\"'`*]{{0,3}}{_WHOSE}"
    r"(?:\s{0,4}(?:=>|:=|[:=：＝])|\s?(?:是|为|改成了?|改为|设[为成]|就是|は)|\s(?:is|was|now|to|es|ist|est)(?=\s)){1,2}"
)
_QUOTES = "\"'`"
_QUOTED = r"\"(?:[^\"\n\\]|\\.){4,500}\"|'[^'\n]{4,500}'|`[^`\n]{4,500}`"
_BARE = r"[^\s\"'`，。；、！？）」\u4e00-\u9fff]{4,500}"
_VALUE = rf"\s{{0,4}}({_QUOTED}|{_BARE})"

_WORDS_OF_PLACEHOLDERS = re.compile(
    r"example|placeholder|change[_-]?me|replace|redacted|removed|hidden|your[_-]|insert|"
    r"…|\.\.\.|x{4}|\*{3}|•{2}|\$\{|\$\(|\{\{|<[a-z_ -]+>|%\(",
    re.IGNORECASE,
)
_BEGINS_AS_PLACEHOLDER = re.compile(
    r"\$[A-Za-z_]|%[A-Za-z_]+%|!|<|\[|\{|op://|vault:|env[.:(]|[a-z]+://", re.IGNORECASE
)
_CODE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\(|\[|::|->|\.[a-z_]+[.(\[])")
_PATH = re.compile(
    r"~?\.{0,2}/[\w.-]+/|[A-Za-z]:\\|[\w./-]+\.(?:md|py|js|ts|go|rs|json|ya?ml|toml|txt|env|pem|key|sh)$"
)
_WORDLIKE = re.compile(r"(?:[A-Za-z]{2,}\d{0,3}|\d{1,2})(?:[-_./|+,:](?:[A-Za-z]{2,}\d{0,3}|[a-z]|\d{1,2}))+")
_TERM = re.compile(
    r"(?:base|sha|md|utf|aes|rsa|argon|oauth|x|pbkdf|ed|hs|rs|es|v|ipv)-?\d+\w?|1password|\d{4}-\d\d-\d\d|"
    r"\d+(?:h|d|s|ms|min|chars?|bytes?|bits?|days?)",
    re.IGNORECASE,
)
_SYMBOL = re.compile(r"[!@#$%^&*+=?~|\\:;]")
_COMMON = {"pass", "password", "passwd", "pwd", "secret", "token", "user", "null", "none", "true", "false"}


def _is_placeholder(value: str) -> bool:
    """Whether the value stands for a secret that is elsewhere, or is no literal at all."""
    return (
        value.lower() in _COMMON
        or _WORDS_OF_PLACEHOLDERS.search(value) is not None
        or _BEGINS_AS_PLACEHOLDER.match(value) is not None
        or _REPEATED.search(value) is not None
    )


def _is_talk(value: str) -> bool:
    """Whether the bare value is a word of the sentence, an identifier, code or a path.

    `rotate-90-days` is one; `Kestrel-lamp-42`, with a capital and a figure, is how people make up passwords.
    """
    made_up = re.search(r"[A-Z]", value) and re.search(r"[a-z]", value) and re.search(r"\d", value)
    return (
        (_WORDLIKE.fullmatch(value) is not None and not made_up)
        or _TERM.fullmatch(value) is not None
        or _CODE.match(value) is not None
        or _PATH.match(value) is not None
    )


def _is_mixed(value: str) -> bool:
    """Letters beside digits or symbols that words don't have, or capitals strewn in as no word has them."""
    if not re.search(r"[A-Za-z]", value):
        return False
    strewn = len(value) >= 12 and len(value) < 3.5 * len(re.findall(r"[A-Z]", value)) and not value.isupper()
    return strewn or re.search(r"\d", value) is not None or _SYMBOL.search(value[1:]) is not None


def _is_password(value: str) -> bool:
    bare = value.strip(_QUOTES)
    if _is_placeholder(bare) or " " in bare:
        return False
    is_literal = value[0] in _QUOTES or not _is_talk(bare)
    return is_literal and (_is_mixed(bare) or (bare.isdigit() and len(bare) >= 6))


def _is_key(value: str) -> bool:
    bare = value.strip(_QUOTES)
    return (
        len(bare) >= 12 and re.search(r"\d", bare) is not None and not bare.isdigit() and _is_password(value)
    )


def _is_login(value: str) -> bool:
    return not _is_placeholder(value)


# Where a value is a secret because of what stands beside it. The last group is the value.
_PLACES = (
    _Rule(
        "password in a URL",
        ("://",),
        re.compile(r"://[^\s/:@\"'<>]{0,64}:([^\s/@\"'<>]{3,200})@(?=[\w.\[-])"),
        _is_login,
    ),
    _Rule(
        "login on a command line",
        (" -u", "--user"),
        re.compile(r" (?:-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:([^\s\"']{4,200})"),
        _is_login,
    ),
    _Rule(
        "authorization header",
        ("bearer", "basic", "ssws", "authorization"),
        re.compile(r"\b(?:Bearer|Basic|SSWS|[Aa]uthorization: ?[Tt]oken) +([A-Za-z0-9._~+/=-]{16,2000})"),
        _is_key,
    ),
    _Rule(
        "registry login",
        ('"auth"', "_auth"),
        re.compile(r"(?:\"auth\"\s?:\s?\"|\b_auth ?= ?\"?)([A-Za-z0-9+/]{16,500}={0,2})"),
        _is_key,
    ),
    _Rule(
        "password",
        ("pass", "pw", "kennwort", "contrase", "senha", "code", "密", "口令", "恢复码", "パス"),
        re.compile(
            rf"(?:{_NAMES_OF_PASSWORDS})s?{_SAYS}{_VALUE}|(?:--passw(?:or)?d[ =]|密码 |口令 )({_BARE})",
            re.IGNORECASE,
        ),
        _is_password,
    ),
    _Rule(
        "password",
        ("pass", "pw"),
        re.compile(rf"\b(?:password|passwd|passcode|passphrase|pwd|pw) {{1,3}}({_BARE})", re.IGNORECASE),
        lambda value: _is_password(value) and re.search(r"[A-Za-z]", value) is not None,
    ),
    _Rule(
        "password on a command line",
        ("mysql", "mariadb"),
        re.compile(r"\b(?:mysql|mariadb)\w*\b[^\n|;&]{0,200}? -p([^\s\"'`]{4,200})"),
        _is_login,
    ),
    _Rule(
        "key or token",
        ("secret", "token", "credential", "key", "_pat", "clave", "密钥", "秘钥", "令牌"),
        re.compile(
            rf"(?:{_NAMES_OF_KEYS}){_NAME_END}{_SAYS}{_VALUE}|--(?:token|api-key|secret)[ =]({_BARE})",
            re.IGNORECASE,
        ),
        _is_key,
    ),
)

_RULES = _TOKENS + _PLACES

_Hit = tuple[int, int, int]
"""Rank of the rule (its place in `_RULES`), start, end."""


def _hits(text: str) -> Iterator[_Hit]:
    """Every accepted match of every rule whose keyword is in the text."""
    lowered = text.lower()
    for rank, rule in enumerate(_RULES):
        if not any(key in lowered for key in rule.keys):
            continue
        for match in rule.pattern.finditer(text):
            start, end = match.span(match.lastindex or 0)
            if text[start] not in _QUOTES:  # a bare value does not end in what closes the sentence
                end = start + len(text[start:end].rstrip(".,;:)]}>" + _QUOTES))
            if end > start and rule.accepts(text[start:end]):
                yield rank, start, end


def _merged(hits: list[_Hit]) -> list[_Hit]:
    """Overlapping hits as one, in order of place; the lowest rank names it."""
    merged: list[_Hit] = []
    for rank, start, end in sorted(hits, key=lambda hit: (hit[1], hit[2])):
        if merged and start < merged[-1][2]:
            before = merged[-1]
            merged[-1] = (min(rank, before[0]), before[1], max(end, before[2]))
        else:
            merged.append((rank, start, end))
    return merged


def _finding(text: str, rank: int, start: int, end: int) -> Finding:
    rule = _RULES[rank]
    value = text[start:end].lower()
    shown = next((text[start : start + len(key)] for key in rule.keys if value.startswith(key)), "")
    preview = f"{shown if rank < len(_TOKENS) else ''}… ({end - start} characters)"
    return Finding(rule=rule.name, start=start, end=end, preview=preview)


# ----------------------------------------------------------------------------------------- escapes

_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_ESCAPE = re.compile(rf"[{_INVISIBLE}]|%(?:2[DdEe]|5[Ff]|3[AaDd])|\\u00[2-7][0-9A-Fa-f]")


def _unescaped(text: str) -> tuple[str, list[int]]:
    """The text as a reader would decode it; for each of its characters, and its end, the place in `text`."""
    pieces: list[str] = []
    places: list[int] = []
    position = 0
    for match in _ESCAPE.finditer(text):
        pieces.append(text[position : match.start()])
        places.extend(range(position, match.start()))
        if match[0][0] in "%\\":
            pieces.append(chr(int(match[0][-2:], 16)))
            places.append(match.start())
        position = match.end()
    pieces.append(text[position:])
    places.extend(range(position, len(text) + 1))
    return "".join(pieces), places

"""A statement -> what it carries that could do something: links, paths, commands (E11). Pure, linear."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Sort = Literal["link", "host", "address", "path", "command", "flag", "setting", "code", "image"]


@dataclass(frozen=True, slots=True)
class Carrier:
    """One thing of a statement that points out of it. `dangerous`: never the model's to add by itself."""

    sort: Sort
    text: str
    dangerous: bool


def carriers(text: str) -> list[Carrier]:
    """All that a text carries, what is dangerous first."""
    text = defanged(text)
    found = {(one.sort, one.text): one for one in _found(text)}
    return sorted(found.values(), key=lambda one: not one.dangerous)


def defanged(text: str) -> str:
    """Addresses as they would work: `hxxp`, `[.]` and " dot " undone."""
    text = re.sub(r"\bhxxp(s?)\b", r"http\1", text, flags=re.IGNORECASE)
    text = re.sub(r"\s?[\[({]\s?(?:\.|dot|punkt|punto|点)\s?[\])}]\s?", ".", text, flags=re.IGNORECASE)
    text = re.sub(r"[。．｡](?=(?:[a-z]{2,12})\b)(?<=[a-z0-9][。．｡])", ".", text, flags=re.IGNORECASE)
    return re.sub(rf"(?<=[a-z0-9])\s(?:dot|punkt|punto)\s(?=(?:{_TLDS})\b)", ".", text, flags=re.IGNORECASE)


def hosts(text: str) -> set[str]:
    """The hosts that a text names, in links, mail addresses and by themselves."""
    return {host for one in _addresses(defanged(text)) if (host := host_of(one.text))}


def links(text: str) -> list[str]:
    """The links in a text, without the punctuation behind them."""
    return [_trimmed(match[0]) for match in _URL.finditer(text)]


def host_of(address: str) -> str:
    """The host of a link, a mail address or a bare host with a path; no port."""
    rest = re.sub(r"\A[a-z][a-z0-9+.-]*:/{0,3}", "", address.casefold())
    return re.split(r"[/?#:\s]", rest.rpartition("@")[2] if "@" in rest.split("/")[0] else rest)[0].strip(".")


def path_parts(address: str) -> list[str]:
    """The pieces of a link behind its host."""
    rest = re.sub(r"\A[a-z][a-z0-9+.-]*:/{0,3}[^/?#]*", "", address.casefold())
    if rest == address.casefold():
        rest = address.casefold().partition("/")[2]
    return [piece for piece in re.split(r"[/?#&=:+]|%20", rest) if piece]


def _found(text: str) -> Iterator[Carrier]:
    yield from _addresses(text)
    for match in _IMAGE.finditer(text):
        yield Carrier("image", match[0][:80], dangerous=True)
    for match in _LINK_TARGET.finditer(text):
        if not _LOCAL_TARGET.match(match[1]):
            yield Carrier("link", match[1][:200], dangerous=True)
    for match in _PATH.finditer(text):
        path = match[0].rstrip(".,;:!?)'\"")
        if len(path) > 1:
            yield Carrier("path", path, dangerous=bool(_OUTSIDE.match(path)))
    for match in _DANGEROUS.finditer(_PLACEHOLDER.sub("…", text)):
        yield Carrier("command", match[0].strip(), dangerous=True)
    for match in _FLAG.finditer(text):
        yield Carrier("flag", match[0], dangerous=bool(_RISKY_FLAG.search(match[0])))
    for match in _SETTING.finditer(text):
        yield Carrier("setting", match[0], dangerous=bool(_RISKY_SETTING.search(match[0])))
    for match in _CODE.finditer(text):
        yield Carrier("code", match[1].strip(), dangerous=False)


def _addresses(text: str) -> Iterator[Carrier]:
    for match in _URL.finditer(text):
        yield Carrier("link", _trimmed(match[0]), dangerous=True)
    for match in _MAIL.finditer(text):
        yield Carrier("address", match[0].rstrip("."), dangerous=True)
    for match in _HOST.finditer(text):
        if not _FILE_LIKE.search(match["host"]) or match["rest"]:
            yield Carrier("host", _trimmed(match[0]), dangerous=True)
    for match in _IP.finditer(text):
        harmless = match[0].startswith(("127.", "0.0.0."))
        yield Carrier("host", match[0], dangerous=not harmless)


def _trimmed(link: str) -> str:
    return link.rstrip(".,;:!?'\"*_`~>]})）」』】、。，；：！？…|")


_TLDS = (
    "com|net|org|io|dev|app|ai|co|info|biz|edu|gov|mil|int|xyz|online|site|tech|cloud|shop|store|top"
    "|club|live|link|page"
    "|invalid|example|test|local|localhost|internal|lan|corp|home|onion|arpa|tv|gg|ly|sh|eu|de|uk|fr|es"
    "|nl|ru|cn|jp|kr|br"
    "|ca|ch|se|fi|dk|pl|cz|pt|tw|hk|sg|nz|mx|ar|cl|ua|tr|il|gr|hu|ro|bg|za|vn|id|my|th|ph|sa|ae|ie|lu|lt"
    "|lv|ee|sk|si|hr|rs"
    "|zip|mov|work|space|website|press|host|fun|icu|vip|wiki|blog|news|email|agency|digital|network"
    "|systems|software|run|pro"
)
_URL = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,20}://|www\d?\.|mailto:|tel:|magnet:|ssh:|git@)[^\s<>\"'`|，。；、）」】』]{1,2000}",
    re.IGNORECASE,
)
_MAIL = re.compile(r"[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_HOST = re.compile(
    rf"(?<![\w@./\\-])(?P<host>(?:[^\W_](?:[\w-]{{0,61}}\w)?\.){{1,8}}(?:{_TLDS}"
    rf"|xn--[a-z0-9]{{2,30}}))(?![\w-]|\.\w)"
    r"(?P<rest>(?::\d{2,5})?(?:/[^\s<>\"'`|，。；、）」】』]{0,500})?)",
    re.IGNORECASE,
)
_FILE_LIKE = re.compile(
    r"\.(?:sh|rs|zip|test|run|lock|my|id|app|dev|local|pl|host|info|link|page)\Z", re.IGNORECASE
)
_IP = re.compile(
    r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{2,5})?(?![\w.]*\d)|\b(?:[0-9a-f]{1,4}:){3,7}[0-9a-f:]{1,20}\b",
    re.IGNORECASE,
)
_IMAGE = re.compile(r"!\[[^\]\n]{0,300}\]\s?[(\[][^)\]\n]{0,500}[)\]]")
_LINK_TARGET = re.compile(r"\]\(\s*<?([^()\s<>]{1,500})")
_LOCAL_TARGET = re.compile(
    r"(?!\.\./|/|~|[a-z][a-z0-9+.-]*:)[^\s]{1,200}\.md(?:#\S*)?\Z|#[\w-]*\Z", re.IGNORECASE
)
_PATH = re.compile(
    r"(?<![\w/.:~$}-])(?:~[\w-]{0,20}/|\$\{?[A-Z_]{2,20}\}?/|\.{1,2}/|/(?=[A-Za-z_.~])|[A-Za-z]:\\"
    r"|\\\\\w)[^\s<>\"'`|，。；、）」】』()]{1,300}"
    r"|(?<![\w/.])(?:~/?)?\.(?:bashrc|zshrc|profile|bash_profile|ssh|aws|env|netrc|npmrc|pypirc"
    r"|gitconfig|git/hooks|config/)[^\s`'\"]{0,100}"
)
_OUTSIDE = re.compile(
    r"~|\$|\.\./|[A-Za-z]:\\|\\\\|/(?:tmp|etc|usr|var|home|root|bin|sbin|opt|dev|proc|sys|boot|lib|mnt"
    r"|srv|run|private|Users|Volumes"
    r"|Library|Applications)(?:/|\Z)|\.(?:bashrc|zshrc|profile|bash_profile|ssh|aws|env|netrc|npmrc"
    r"|pypirc|gitconfig|git/hooks)"
)
_DANGEROUS = re.compile(
    r"\b(?:curl|wget|iwr|invoke-webrequest|invoke-expression|iex|netcat|ncat|socat|telnet|scp|rsync|sftp"
    r"|nohup|crontab|mkfs\w*"
    r"|sudo|doas|chmod|chown|setuid|certutil|bitsadmin|mshta|regsvr32|osascript|powershell(?:\.exe)?)\b"
    r"|\b(?:eval|exec|source)\s+[\"'`$(<./~\w]|\bnc\s+-|\brm\s+-\w*[rf]\w*|\brm\s+[/~.*]|\bdd\s+if="
    r"|\bsh\s+-c\b|\bbash\s+-c\b"
    r"|\|\s*(?:ba|z|da|k)?sh\b|\|\s*(?:sudo|python\d?|perl|node|ruby|php|xargs)\b|<\("
    r"|\$\([^)\n]{1,200}\)|\bbase64\s+(?:-d|--decode|-D)"
    r"|>>?\s*(?:~|/|\$HOME)\S+|\bexport\s+PATH\b|\bPATH=|\bLD_PRELOAD\b|\bgit\s+config\b"
    r"|\bgit\s+remote\s+(?:add|set-url)\b"
    r"|\b(?:npm|pnpm|yarn|pip3?|uv|gem|cargo|go)\s+(?:config|registry)\b|\bpostinstall\b|\bpreinstall\b"
    r"|\bdisable-\w+|\bxp_cmdshell\b"
    r"|\bgit\s+push\s+(?:\S+\s+){0,4}(?:-f|--force\S*)\b|\bssh\s+\S+@|\bssh-\w+|\bauthorized_keys\b"
    r"|\b__import__\b|\bos\.system\b"
    r"|\bsubprocess\b|\bpickle\.loads?\b",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"<[a-z][a-z _-]{0,30}>(?=/)", re.IGNORECASE)
_FLAG = re.compile(
    r"(?<![\w-])--[A-Za-z][\w-]{1,60}(?:=[^\s`'\"，。；、）]{1,100})?|(?<=[\s`])-[A-Za-z]\b(?=[\s`]|\Z)"
)
_RISKY_FLAG = re.compile(
    r"--(?:no-|skip|disable|ignore|force|insecure|unsafe|allow|trust|dangerous\w*|bypass|yes\b"
    r"|assume-yes|accept|without|override|privileged"
    r"|registry|index-url|extra-index|proxy|mirror|pre-?script|hook|exec|eval|unrestricted|permissive"
    r"|delete|purge|telemetry|upload|init\b"
    r"|host|remote|token|password|admin|global|system|root|hard\b|prune|quiet|silent)",
    re.IGNORECASE,
)
_SETTING = re.compile(
    r"(?<![\w$])(?:export\s+)?[A-Z][A-Z0-9_]{2,60}=[^\s`，。；、）]{0,200}|\bset\s+[A-Z_]{3,40}\b|\$env:\w+"
)
_RISKY_SETTING = re.compile(
    r"\bPATH=|PRELOAD|VERIFY|INSECURE|TLS|SSL|PROXY|REGISTRY|INDEX|MIRROR|TOKEN|SECRET|KEY|PASS|HOME="
    r"|SHELL|EDITOR|HOOK|ASKPASS|SSH|DISABLE"
    r"|SKIP|NO_|://|\.(?:com|net|org|io|invalid)"
)
_CODE = re.compile(r"`([^`\n]{1,300})`")

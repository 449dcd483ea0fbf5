"""The text of an http(s) address -> its parts, if it is one; and who can read what is sent. Pure."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

PORTS = {"http": 80, "https": 443}
"""The usual port of a scheme."""

HOLDS_MORE = "holds more than an address (not shown: it could be a key)"
LEAVE_OUT = "leave out `user:password@` and all from `?` on; a key belongs into the system keyring"

_INSIDE = (".localhost", ".local", ".lan", ".home", ".internal", ".home.arpa")
"""Names that only one's own network knows."""


def is_unencrypted(url: str) -> bool:
    """Whether an address is plain http to a host that is neither this machine nor in one's own network."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not _is_private(parts.hostname or "")


def parts_of(url: str) -> SplitResult | None:
    """An http(s) address in its parts, or None."""
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in PORTS and parts.port != 0 and parts.netloc.isascii()
    except ValueError:
        return None
    is_clean = url.isprintable() and not re.search(r"[\s\\]", url)
    return parts if is_one and is_clean and _is_host(parts.hostname or "") else None


_LABEL = re.compile(r"[a-z0-9_-]{1,63}", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE | re.ASCII)


def _is_host(host: str) -> bool:
    """Whether it is an address as it is written, or a name as DNS takes it (`xn--…` beyond ASCII). An address
    as one number is neither: who it is nobody sees.
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        labels = host.removesuffix(".").split(".")
        return len(host) < 254 and all(map(_LABEL.fullmatch, labels)) and not _NUMBER.fullmatch(labels[-1])
    return True


def _is_private(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(_INSIDE)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return not (mapped or address).is_global

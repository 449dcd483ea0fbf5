"""Keys written in several lines or fields, as rules: PEM (in base64 too), PuTTY, SSH2, JSON web keys."""

from __future__ import annotations

from memdir.secrets.rules import Token
from memdir.secrets.values import decoded, is_blank

# `·` stands between texts that are looked through as one (`finder`).
_PEM = (
    r"-{4,5} ?BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}"
    r"(?=[^·]{0,300}?[A-Za-z0-9+/]{20})"
    r"(?:[^-·]|-(?!---)){0,20000}(?:-{4,5} ?END [A-Za-z0-9 ]{0,60}-{4,5})?"
)
_PUTTY = (
    r"PuTTY-User-Key-File-\d[^·]{0,2000}?Private-Lines:[\s\d]{0,20}(?:[A-Za-z0-9+/=]{20,99}+\s{0,2}){1,99}"
)
_JWK = r"\"(?:d|k)\"\s?:\s?\"[\w-]{22,1500}\""


def _holds_private_key(value: str) -> bool:
    """Whether the base64 is of a private key, not of a certificate."""
    start = decoded(value[: min(len(value), 160) // 4 * 4])
    return start is not None and "PRIVATE KEY" in start


def _is_any(_: str) -> bool:
    return True


BLOCKS = (
    Token(
        name="private key", begins=("-----BEGIN ", "---- BEGIN "), inside=(), test="-", example="",
        pattern=_PEM, accepts=_is_any,
    ),
    Token(
        name="private key", begins=("PuTTY-User-Key-File-",), inside=(), test="-", example="",
        pattern=_PUTTY, accepts=_is_any,
    ),
    Token(
        name="private key", begins=("LS0tLS1CRUdJTi",), inside=(), test="-", example="",
        pattern=r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,20000}+={0,2}", accepts=_holds_private_key,
    ),
    Token(
        name="private key", begins=("b3BlbnNzaC1rZXktdjE",), inside=(), test="-", example="",
        pattern=r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/\s]{80,20000}+={0,2}", accepts=_is_any,
    ),
    Token(
        name="private JSON web key", begins=(), inside=('"kty"',), test="-", example="", pattern=_JWK,
        accepts=lambda value: not is_blank(value),
    ),
)  # fmt: skip

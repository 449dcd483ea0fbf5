"""Whom a client asks, and what goes wrong with any service: its key, the connection, the name of a model.

What one SDK's errors mean is decided beside it; the sentences that hold for all are here, once. Pure.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
import socket
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from memdir.errors import BadReply, ContextTooLong, KeyRefused, ModelError, ModelUnreachable
from memdir.model import refusals

NO_KEY = "no-key"
"""What goes as a key to a server that needs none: the SDKs insist on one, or look for one themselves."""

LONGEST_NAME = 100
"""Characters of a name from a server that a sentence shows."""

_MOST_NAMES = 2000
"""Names that are looked through for one that was meant."""

TOO_LONG = "start a new conversation; what was learned is kept"
CHECK_NAME = "check the name; `memdir models` shows which setting it is from"

CHECK_ADDRESS = "check the address: a model's server should be there"

_IS_IT_GOOD = "is it whole, still valid, and allowed to use this model?"


ODD = (
    ValueError,  # an event that is no JSON, or no UTF-8
    OverflowError,  # a number without end
    LookupError,  # an event for a block that was never begun
    AttributeError,  # an event without the fields of its kind
    TypeError,
    RuntimeError,  # JSON that is nested without end; a client that was closed meanwhile
)
"""What reading an answer ends with that is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A model's name in reports, its own name, and who serves it: the address (None: the provider's own), and
    whether that is this machine.

    `variable` is where the provider's own key belongs. `key_from`: where the key was found, a variable or the
    keyring (None: nobody said); `has_key`: whether there was one; `key_cure`: how this service gets one.
    `keys`: what no sentence shows, whoever says it.
    """

    name: str
    model: str
    url: str | None = None
    is_here: bool = False
    variable: str = ""
    key_from: str | None = None
    has_key: bool = True
    key_cure: str | None = None
    keys: tuple[str, ...] = field(default=(), repr=False)

    @property
    def place(self) -> str:
        """Who it is, in a sentence."""
        return f"the server at {origin(self.url)}" if self.url else self.name

    @property
    def roomier(self) -> str | None:
        """How the server is given a larger window; None: nobody here can do it."""
        return "give the server a larger context window" if self.is_here else None

    @property
    def starts(self) -> str:
        """How a server on this machine is started."""
        return "start the server, or check the address and its port"

    @property
    def fetches(self) -> str | None:
        """How the server gets a model that it does not have yet."""
        return None

    def is_closed(self, error: BaseException | None) -> bool:
        """Whether no server listens at its port of this machine. It won't, before somebody starts it."""
        refused = (isinstance(one, ConnectionRefusedError) for one in _causes(error))
        return self.is_here and any(refused)

    # -- what to do ------------------------------------------------------------------------------------------

    @property
    def length_cure(self) -> str:
        """What to do about a conversation that is too long."""
        return f"{self.roomier}; or {TOO_LONG}" if self.roomier else TOO_LONG

    def name_cure(self, models: Collection[str] = ()) -> str:
        """What to do about a name that the service does not have; `models` are those it has."""
        meant = near(self.model, self.open_names(models))
        if meant is None:
            return self.fetches or CHECK_NAME
        before = self.name.removesuffix(self.model) if self.name.endswith(self.model) else ""
        asked = f"did you mean `{before}{meant}`?"
        return f"{asked} Or {self.fetches}" if self.fetches else asked

    def check_key(self) -> str:
        """What to do about a key that was refused, or that is not there."""
        host = origin(self.url).partition("://")[2]
        stored = self.key_cure or f"store the key of that server: `keyring set memdir {host}`"
        if not self.has_key:
            return stored
        source = self.key_from or ("" if self.url else self.variable)
        if not source:
            return stored
        if " " not in source:
            return f"check {source}: {_IS_IT_GOOD}"
        return f"check the key in {source}: {_IS_IT_GOOD}" + (f" Or {stored}" if self.key_cure else "")

    # -- what is not shown -----------------------------------------------------------------------------------

    def shown(self, words: str) -> str:
        """What the service said, for a person; see `refusals.shown`."""
        return refusals.shown(words, keys=self.keys)

    def open_names(self, models: Collection[str]) -> list[str]:
        """The names of models that hold nothing of the key."""
        return [one for one in models if not refusals.holds_key(one, self.keys)]

    def hush(self, error: ModelError) -> None:
        """Take a server's words out of an error that hold something of the key. Our own do not count: the
        name and the address are the person's."""
        own = (self.name, self.model, origin(self.url), self.key_cure or "")
        if refusals.holds_key(_without(str(error), own), self.keys):
            error.args = (f"{self.name} could not be asked; its words are not shown, the key is in them",)
        if error.hint and refusals.holds_key(_without(error.hint, own), self.keys):
            error.hint = None

    # -- what to say -----------------------------------------------------------------------------------------

    def too_long(self) -> ContextTooLong:
        """For a request that does not fit into the window."""
        return ContextTooLong(f"the conversation is too long for {self.name}", hint=self.length_cure)

    def key_refused(self) -> KeyRefused:
        """For a 401."""
        if not self.has_key:
            sentence = f"{self.place} wants a key, and none is stored for it"
        else:
            sentence = f"the key for {self.name} was refused (401)"
        return KeyRefused(sentence, hint=self.check_key())

    def elsewhere(self, location: str) -> ModelError:
        """For a redirect. It is not followed: the conversation would go where nobody has sent it."""
        try:
            host = urlsplit(location).hostname or ""
        except ValueError:
            host = ""
        host = clean(host)
        if refusals.holds_key(host, self.keys):
            host = ""
        if not host:
            return ModelError(f"{self.name} answers that it is elsewhere", hint=CHECK_ADDRESS)
        sentence = f"{self.name} answers that it is elsewhere: {host}"
        return ModelError(sentence, hint="name that address if it is right")

    def endless(self, error: BaseException | None) -> BadReply | None:
        """For an answer that was too long to be read; None for any other error."""
        for one in _causes(error):
            if isinstance(one, Endless) and one.of_stream:
                return BadReply(
                    f"the answer of {self.name} has no end", hint="ask again, or choose another model"
                )
            if isinstance(one, Endless):
                return BadReply(f"{self.name} can't be asked: its answer is too long", hint=CHECK_ADDRESS)
        return None

    def away(self, error: BaseException, *, moved_by: str) -> ModelUnreachable:
        """For a connection that did not come about, or did not last. `moved_by`: the variable that moves the
        provider."""
        if _was_there(error):
            return broke_off(self.name)
        if self.is_closed(error):
            return ModelUnreachable(f"nothing listens at {origin(self.url)}", hint=self.starts)
        if not self.url:
            hint = f"check the network, and {moved_by} if it is set"
            return ModelUnreachable(f"no connection to {self.name}", hint=hint)
        at = origin(self.url)
        place = "" if at in self.name else f" at {at}"
        hint = self.starts if self.is_here else "check the network, and the address"
        return ModelUnreachable(f"no connection to {self.name}{place}", hint=hint)


class Endless(Exception):
    """An answer that is longer than any should be. `of_stream`: it is one to a question."""

    def __init__(self, *, of_stream: bool) -> None:
        super().__init__("the answer is too long")
        self.of_stream = of_stream


def broke_off(name: str) -> ModelUnreachable:
    """For an answer that ended before its end."""
    return _sent(ModelUnreachable(f"the answer of {name} broke off", hint="ask again"))


def late(name: str, status: int | None = None) -> ModelUnreachable:
    """For an answer that did not come in time; `status`: who waited for it said so."""
    said = f" ({status})" if status is not None else ""
    return _sent(ModelUnreachable(f"{name} did not answer in time{said}", hint="try again later"))


def _sent(error: ModelUnreachable) -> ModelUnreachable:
    error.sent = True
    return error


def _was_there(error: BaseException) -> bool:
    """Whether there was a connection to begin with."""
    import httpx2

    broken = (httpx2.ReadError, httpx2.WriteError, httpx2.CloseError, httpx2.ProtocolError)
    return any(isinstance(one, broken) for one in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what led to it."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):  # one for each address of a name
            yield from (cause for one in error.exceptions for cause in _causes(one))
        error = error.__cause__ or error.__context__  # one that hides its cause has it there


# -- names -----------------------------------------------------------------------------------------------


def near(model: str, models: Collection[str]) -> str | None:
    """The name that was probably meant, of those that a service has; None: it is there, or none is like it.
    Ollama's names end in a tag, others begin with who made the model."""
    if model in models:
        return None
    models = [one for one in models if is_plain(one)][:_MOST_NAMES]
    bare = model.partition(":")[0]
    same = [one for one in models if one.partition(":")[0] == bare or one.rpartition("/")[2] == model]
    by_name = {one.lower(): one for one in models}
    close = difflib.get_close_matches(model.lower(), by_name, n=1, cutoff=0.75)
    return next(iter(same), by_name[close[0]] if close else None)


def is_sayable(model: str) -> bool:
    """Whether a name that a server gave may stand in a sentence: it is short, and one can see all of it."""
    return len(model) <= 100 and model.isprintable()


def is_plain(model: str) -> bool:
    """Whether a name that a server gave may stand in a command: no shell or terminal takes it otherwise."""
    return re.fullmatch(r"[\w./:@+][\w./:@+-]*", model, re.ASCII) is not None and is_sayable(model)


def bare(url: str) -> str:
    """An address without the user and password that it may hold."""
    return re.sub(r"//[^/@]*@", "//", url)


def is_here(host: str) -> bool:
    """Whether a host is this machine: its loopback addresses in whatever notation, and `localhost`."""
    host = host.strip("[]").lower().removesuffix(".").partition("%")[0]
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            address = ipaddress.ip_address(socket.inet_aton(host))  # `127.1`, `0x7f000001`; asks nobody
        except (OSError, ValueError):
            return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def clean(name: str) -> str:
    """A name that a server gave, as a sentence shows it: one line, not long, nothing that moves a cursor."""
    seen = "".join(
        one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in name[: LONGEST_NAME + 1]
    )
    return seen if len(seen) <= LONGEST_NAME else f"{seen[: LONGEST_NAME - 1]}…"


def _without(text: str, own: Collection[str]) -> str:
    for one in sorted(filter(None, own), key=len, reverse=True):
        text = text.replace(one, " ")
    return text


def origin(url: str | None) -> str:
    """Scheme, host and port of an address."""
    found = re.match(r"[a-z]+://(?:[^/@]*@)?([^/?#]*)", url or "")
    return f"{(url or '').split('://')[0]}://{found[1]}" if found else "its address"

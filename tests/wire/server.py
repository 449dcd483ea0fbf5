"""The Messages API on loopback, over real HTTP, answering by script."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, TypeAlias

from memdir.model import tokens
from memdir.model.messages import Block, Usage
from memdir.testing import PromptCache, Script, blocks_of
from tests.wire.answers import Refused, Streamed, events, whole
from tests.wire.rules import objection

MINIMUM = 1024
"""From so many tokens on the server caches a prefix: the provider's minimum for its mid-size models."""

Answer: TypeAlias = "Block | list[Block] | Refused | Streamed | Callable[[Seen], Answer]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request, and what came of it. `usage` is None if it was turned away."""

    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: dict[str, Any]
    status: int = 0
    usage: Usage | None = None

    def part(self, name: str) -> str:
        """`tools`, `system`, `messages` or another key: the JSON that was sent, without cache marks."""
        return _dump(_unmarked(self.body.get(name)))

    def continues(self, parent: Seen) -> bool:
        """Whether this request has that one's bytes as its prefix: all the same, and more messages."""
        same = all(self.part(key) == parent.part(key) for key in {*self.body, *parent.body} - {"messages"})
        return same and self.part("messages").startswith(parent.part("messages").removesuffix("]"))


class WireServer:
    """A server for the adapter to talk to, and a record of what it heard.

        with WireServer(say("Hello."), overloaded(), [think("Hm."), call("Read", file_path="a")]) as server:
            model = Anthropic("claude-sonnet-5", base_url=server.url, api_key=server.key)
            ...
            server.assert_exhausted()
            assert server.seen[1].continues(server.seen[0])

    Answers are given in order; `add` appends, and `when(rule, …)` gives the requests that match `rule` (a
    function of `Seen`) a queue of their own, so that a conversation, its forks and side queries may come in
    any order. An answer is: blocks (`memdir.testing.say`, `think`, `call`; one or a list); a fault of
    `tests.wire.answers`; or a function of `Seen` that gives one of these (it runs in the server's thread
    and may wait there for an event).

    Requests that the real service would turn away are turned away with 400 (`tests.wire.rules`); so are
    those without an answer. Usage is accounted by exact prefix (`memdir.testing.PromptCache`, `cache`) over
    estimated tokens, with a minimum of 1,024 cacheable ones. Answers stream if the request asks for it.
    """

    key = "sk-ant-wire"

    def __init__(self, *answers: Answer, minimum: int = MINIMUM) -> None:
        self.cache = PromptCache(minimum=minimum)
        self.seen: list[Seen] = []
        self._script: Script[Seen, Answer] = Script(answers)
        self._lock = threading.Lock()
        self._calls = 0
        self._unanswered = 0
        self._http = _Http(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), name="wire server")

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def answered(self) -> list[Seen]:
        """The requests that were not turned away."""
        return [seen for seen in self.seen if seen.usage is not None]

    def add(self, *answers: Answer) -> None:
        """Append to the script."""
        self._script.add(*answers)

    def when(self, rule: Callable[[Seen], bool], *answers: Answer) -> None:
        """A script of its own for the requests that match `rule`."""
        self._script.when(rule, *answers)

    def assert_exhausted(self) -> None:
        """Check that each answer was asked for, and each request had one.

        Raises:
            AssertionError: with the two numbers.
        """
        if self._script.left or self._unanswered:
            raise AssertionError(
                f"{self._script.left} answers were not asked for, {self._unanswered} requests had none"
            )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def respond(self, asked: Seen) -> tuple[Streamed | Refused, Usage]:
        """Decide on a request, and record it."""
        answer = self._decide(asked)
        usage = Usage()
        with self._lock:
            if isinstance(answer, Streamed):
                answer = self._numbered(answer)
                spent = sum(tokens.estimate(str(block)) for block in answer.blocks)
                usage = self.cache.account(asked.body) + Usage(output=spent)
                self.seen.append(replace(asked, status=200, usage=usage))
            else:
                self.seen.append(replace(asked, status=answer.status))
        return answer, usage

    def _decide(self, asked: Seen) -> Streamed | Refused:
        if asked.path != "/v1/messages":
            return Refused(status=404, type="not_found_error", message=f"no such path: {asked.path}")
        if not ({"authorization", "x-api-key"} & set(asked.headers)):
            return Refused(status=401, type="authentication_error", message="no key")
        if (wrong := objection(asked.body)) is not None:
            return Refused(status=400, type="invalid_request_error", message=wrong)
        with self._lock:
            answer = self._script.next(asked)
            self._unanswered += answer is None
        while callable(answer):
            answer = answer(asked)
        if answer is None:
            return Refused(
                status=400, type="invalid_request_error", message="the script has no answer to this"
            )
        if isinstance(answer, Streamed | Refused):
            return answer
        return Streamed(blocks=answer if isinstance(answer, list) else [answer])

    def _numbered(self, answer: Streamed) -> Streamed:
        """With ids for its tool calls that no earlier one had."""
        blocks = blocks_of(answer.blocks, first_id=self._calls + 1)
        self._calls += len(blocks)
        return replace(answer, blocks=blocks)


class _Http(ThreadingHTTPServer):
    """One thread a connection; closing the server closes the connections too, and waits for the threads."""

    daemon_threads = False
    block_on_close = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self._connections: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that hung up is none
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        for connection in list(self._connections):
            with suppress(OSError):  # it is gone already
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()


def _handler(server: WireServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Seen(path=self.path.partition("?")[0], headers=headers, raw=raw, body=json.loads(raw))
            answer, usage = server.respond(asked)
            if isinstance(answer, Refused):
                self._send_json(answer.status, answer.body(), answer.headers)
            elif asked.body.get("stream"):
                self._stream(answer, str(asked.body["model"]), usage)
            else:
                self._send_json(200, whole(answer, model=str(asked.body["model"]), usage=usage), {})

        def _send_json(self, status: int, body: dict[str, Any], headers: Mapping[str, str]) -> None:
            data = _dump(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, answer: Streamed, model: str, usage: Usage) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream; charset=utf-8")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for event in events(answer, model=model, usage=usage):
                self._chunk(f"event: {event['type']}\ndata: {_dump(event)}\n\n".encode())
            if answer.end == "cut":
                self.close_connection = True
            else:
                self._chunk(b"")

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
            """Say nothing."""

    return Handler


def _unmarked(value: Any) -> Any:
    match value:
        case dict():
            return {key: _unmarked(inner) for key, inner in value.items() if key != "cache_control"}
        case list():
            return [_unmarked(inner) for inner in value]
        case _:
            return value


def _dump(value: Any) -> str:
    """As the SDK writes JSON; so a parsed body written again has the bytes it came with."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

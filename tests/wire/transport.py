"""HTTP on loopback: requests in, whole or streamed answers out. Knows nothing of models."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.wire.seen import dump


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request. `path` is without the query; header names are in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object in it; an empty one if there is none."""
        with suppress(ValueError):
            found = json.loads(self.raw)
            return found if isinstance(found, dict) else {}
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer. `events`, if there are any, stream in place of the body: objects with a `type` as named
    events, other objects and words as plain data. `is_cut`: the connection goes away at the end of it."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    events: Iterator[Any] | None = None
    is_cut: bool = False


class Http(ThreadingHTTPServer):
    """One thread a connection; closing the server closes the connections too, and waits for the threads."""

    daemon_threads = False
    block_on_close = True

    def __init__(self, answer: Callable[[Asked], Answered]) -> None:
        super().__init__(("127.0.0.1", 0), _handler(answer))
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


def _handler(answer: Callable[[Asked], Answered]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def _serve(self) -> None:
            path, _, query = self.path.partition("?")
            answered = answer(
                Asked(
                    method=self.command,
                    path=path,
                    query=query,
                    headers={name.lower(): value for name, value in self.headers.items()},
                    raw=self.rfile.read(int(self.headers.get("content-length", 0))),
                )
            )
            if answered.events is not None:
                self._stream(answered)
            elif not answered.is_cut:
                self._send_json(answered)
            if answered.is_cut:
                self.close_connection = True

        def _send_json(self, answered: Answered) -> None:
            data = dump(answered.body).encode()
            self._head(answered, {"content-type": "application/json", "content-length": str(len(data))})
            self.wfile.write(data)

        def _stream(self, answered: Answered) -> None:
            kind = "text/event-stream; charset=utf-8"
            self._head(answered, {"content-type": kind, "transfer-encoding": "chunked"})
            for event in answered.events or ():
                self._chunk(_frame(event))
            if not answered.is_cut:
                self._chunk(b"")

        def _head(self, answered: Answered, more: Mapping[str, str]) -> None:
            self.send_response(answered.status)
            for name, value in {**answered.headers, **more}.items():
                self.send_header(name, value)
            self.end_headers()

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
            """Say nothing."""

    return Handler


def _frame(event: Any) -> bytes:
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {dump(event)}\n\n".encode()

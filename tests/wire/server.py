"""A model service on loopback, over real HTTP, in three wire formats, answering by script."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeAlias

from memdir.model import tokens
from memdir.model.messages import Block, Usage
from memdir.testing import AutomaticCache, PromptCache, Script, blocks_of
from tests.wire import listing
from tests.wire.answers import Refused, Streamed
from tests.wire.dialects import Dialect, Exchange, Json, Reasoning, chat, messages, responses
from tests.wire.embeddings import Embeddings
from tests.wire.seen import Seen
from tests.wire.transport import Answered, Asked, Http

__all__ = ["Answer", "Seen", "WireServer"]

MINIMUM = 1024
"""From so many tokens on the server caches a prefix: the providers' minimum for their mid-size models."""

MODELS = ("claude-sonnet-5", "gpt-6.2-sol")
"""What the server lists if it was not told what it serves."""

COMPLETIONS: Mapping[str, Dialect] = {
    "/messages": messages,
    "/chat/completions": chat,
    "/responses": responses,
}
COUNTS: Mapping[str, Dialect] = {
    "/messages/count_tokens": messages,
    "/chat/completions/input_tokens": chat,
    "/responses/input_tokens": responses,
}

Answer: TypeAlias = "Block | list[Block] | Refused | Streamed | Callable[[Seen], Answer]"
Route: TypeAlias = "Refused | Json | list[Any] | Callable[[Seen], Route]"


class WireServer:
    """A server for the adapters to talk to, and a record of what it heard.

        with WireServer(say("Hello."), overloaded(), [think("Hm."), call("Read", file_path="a")]) as server:
            model = Anthropic("claude-sonnet-5", base_url=server.url, api_key=server.key)
            other = OpenAI("gpt-6.2-sol", dialect="chat", base_url=server.v1, api_key=server.key)
            ...
            server.assert_exhausted()
            assert server.seen[1].continues(server.seen[0])

    The path of a request says which format it speaks: `/v1/messages`, `/v1/chat/completions` or
    `/v1/responses`.

    Answers are given in order; `add` appends, and `when(rule, …)` gives the requests that match `rule` (a
    function of `Seen`) a queue of their own, so that a conversation, its forks and side queries may come in
    any order. An answer is: blocks (`memdir.testing.say`, `think`, `call`; one or a list); a fault of
    `tests.wire.answers`; or a function of `Seen` that gives one of these (it runs in the server's thread
    and may wait there for an event).

    Requests that the real service would turn away are turned away with 400 (`tests.wire.rules`); so are
    those without an answer. Usage is accounted by exact prefix over estimated tokens, with a minimum of 1,024
    cacheable ones: by marks in the Messages API (`memdir.testing.PromptCache`, `cache`), and without in
    OpenAI's two (`AutomaticCache`, `automatic`). Answers stream if the request asks for it.

    The server also lists its models (`/v1/models`), counts the tokens of a request, and makes vectors of
    texts (`/v1/embeddings`; its faults are those of `embeddings`). All that takes nothing from the script,
    and stands in `looked`, not in `seen`. What else a server of some kind answers is a `route`.

    Args:
        models: what it serves, by name, or as objects with an `id`. If not given, any name will do.
        root: what its paths begin with.
        reasoning: in which field Chat Completions tells reasoning, and takes it back; None for neither.
        takes: fields that requests may have beyond the format.
        lean: whether Responses streams as llama.cpp has it, without numbers and places.
        is_open: whether it wants no key.
    """

    key = "sk-ant-wire"

    def __init__(
        self,
        *answers: Answer,
        minimum: int = MINIMUM,
        models: Sequence[listing.Model] | None = None,
        root: str = "/v1",
        reasoning: Reasoning | None = "reasoning_content",
        takes: Collection[str] = (),
        lean: bool = False,
        is_open: bool = False,
    ) -> None:
        self.cache = PromptCache(minimum=minimum)
        self.automatic = AutomaticCache(minimum=minimum)
        self.embeddings = Embeddings()
        self.seen: list[Seen] = []
        self.looked: list[Seen] = []
        self._models = models
        self._root = root
        self._reasoning = reasoning
        self._takes = {*takes, *([reasoning] if reasoning else [])}
        if reasoning == "reasoning_details":
            self._takes.add("reasoning")
        self._lean = lean
        self._is_open = is_open
        self._routes: dict[str, Route] = {}
        self._script: Script[Seen, Answer] = Script(answers)
        self._lock = threading.Lock()
        self._calls = 0
        self._unanswered = 0
        self._http = Http(self.respond)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), name="wire server")

    @property
    def url(self) -> str:
        """The address, which is the base URL for an Anthropic client."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def v1(self) -> str:
        """The base URL for an OpenAI client."""
        return self.url + self._root

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

    def route(self, path: str, answer: Route) -> None:
        """Answer every request for this path (whole, without a query) so: JSON, a fault, or a function of
        `Seen` that gives one of them. Comes before what the server does by itself, and wants no key."""
        self._routes[path] = answer

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

    # ── in the server's threads ────────────────────────────────────────────────────────────────────────

    def respond(self, asked: Asked) -> Answered:
        """Decide on a request, and record it."""
        path = asked.path.removeprefix(self._root) if asked.path.startswith(self._root) else ""
        ours = {"x-api-key", "anthropic-version"} & set(asked.headers)
        speaks = COMPLETIONS.get(path) or COUNTS.get(path) or (messages if ours else chat)
        seen = Seen(
            path=asked.path,
            headers=asked.headers,
            raw=asked.raw,
            body=asked.body,
            speaks=speaks,
            method=asked.method,
            query=asked.query,
        )
        if asked.path in self._routes or path not in COMPLETIONS or asked.method != "POST":
            return self._look(seen, path)
        return self._complete(seen)

    def _complete(self, seen: Seen) -> Answered:
        answer = self._decide(seen)
        with self._lock:
            number = len(self.seen) + 1
            headers = {seen.speaks.REQUEST_ID: f"req_{number:06}"}
            if isinstance(answer, Refused):
                return self._refuse(seen, answer, self.seen, headers)
            answer, usage = self._numbered(answer, seen.speaks), self._account(seen, answer)
            self.seen.append(replace(seen, status=200, usage=usage))
        exchange = Exchange(
            body=seen.body,
            number=number,
            usage=usage if answer.metered else None,
            reasoning=self._reasoning,
            lean=self._lean,
        )
        is_cut = answer.end == "cut"
        if seen.body.get("stream"):
            return Answered(events=seen.speaks.events(answer, exchange), headers=headers, is_cut=is_cut)
        return Answered(body=seen.speaks.whole(answer, exchange), headers=headers, is_cut=is_cut)

    def _decide(self, seen: Seen) -> Streamed | Refused:
        if (fault := self._unfit(seen)) is not None:
            return fault
        with self._lock:
            answer = self._script.next(seen)
            self._unanswered += answer is None
        while callable(answer):
            answer = answer(seen)
        if answer is None:
            return Refused(kind="invalid", message="the script has no answer to this")
        if isinstance(answer, Streamed) and isinstance(answer.end, Refused) and not seen.body.get("stream"):
            return answer.end
        if isinstance(answer, Streamed | Refused):
            return answer
        return Streamed(blocks=answer if isinstance(answer, list) else [answer])

    def _unfit(self, seen: Seen, *, counting: bool = False) -> Refused | None:
        """Why a request can't be answered, whatever the script says."""
        if self._lacks_key(seen):
            return Refused(kind="key_refused")
        wrong = seen.speaks.objection(seen.body, counting=counting, takes=self._takes)
        if wrong is not None:
            return Refused(kind="invalid", message=wrong)
        return None if self._serves(str(seen.body["model"])) else Refused(kind="unknown_model")

    def _look(self, seen: Seen, path: str) -> Answered:
        """Everything that takes nothing from the script."""
        found: Route
        if seen.path in self._routes:
            found = self._routes[seen.path]
            while callable(found):
                found = found(seen)
        elif path in COUNTS and seen.method == "POST":
            found = self._unfit(seen, counting=True) or seen.speaks.counted(self._cache(seen).size(seen.body))
        elif path == "/embeddings" and seen.method == "POST":
            found = self._vectors(seen)
        else:
            found = self._listed(seen, path)
        with self._lock:
            if isinstance(found, Refused):
                return self._refuse(seen, found, self.looked, {})
            self.looked.append(replace(seen, status=200))
        return Answered(body=found)

    def _vectors(self, seen: Seen) -> Json | Refused:
        if self._lacks_key(seen):
            return Refused(kind="key_refused")
        with self._lock:
            answer = self.embeddings.answer(seen.body)
        is_known = self._serves(str(seen.body.get("model")))
        return answer if is_known or isinstance(answer, Refused) else Refused(kind="unknown_model")

    def _listed(self, seen: Seen, path: str) -> Json | Refused:
        is_ours = seen.speaks is messages
        models = MODELS if self._models is None else self._models
        if seen.method != "GET" or not path.startswith("/models"):
            return Refused(kind="no_such_path")
        if self._lacks_key(seen):
            return Refused(kind="key_refused")
        if path == "/models":
            return listing.anthropic(models) if is_ours else listing.openai(models)
        name = path.removeprefix("/models/")
        if not self._serves(name):
            return Refused(kind="unknown_model", message=f"model: {name}" if is_ours else None)
        model = next((model for model in models if listing.name_of(model) == name), name)
        return listing.anthropic_model(model) if is_ours else listing.openai_model(model)

    def _refuse(self, seen: Seen, fault: Refused, record: list[Seen], headers: Mapping[str, str]) -> Answered:
        status, body = seen.speaks.refused(fault, str(seen.body.get("model")))
        record.append(replace(seen, status=status))
        return Answered(status=status, body=body, headers={**headers, **fault.headers})

    def _lacks_key(self, seen: Seen) -> bool:
        return not (self._is_open or {"authorization", "x-api-key"} & set(seen.headers))

    def _serves(self, name: str) -> bool:
        return self._models is None or name in map(listing.name_of, self._models)

    def _cache(self, seen: Seen) -> PromptCache:
        return self.cache if seen.speaks is messages else self.automatic

    def _account(self, seen: Seen, answer: Streamed) -> Usage:
        spent = sum(tokens.estimate(str(block)) for block in answer.blocks)
        return self._cache(seen).account(seen.body) + Usage(output=spent)

    def _numbered(self, answer: Streamed, speaks: Dialect) -> Streamed:
        """With ids for its tool calls that no earlier one had."""
        blocks = blocks_of(answer.blocks, first_id=self._calls + 1, prefix=speaks.CALL_ID)
        self._calls += len(blocks)
        return replace(answer, blocks=blocks)

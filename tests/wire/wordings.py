"""How servers that follow OpenAI's format word their refusals: status and error object, server by server.

Seen on the wire by their users (public issues and the servers' own sources). Clients have to know the cases
by their words, as there are no common codes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

Server = Literal["ollama", "vllm", "llamacpp", "lmstudio", "openrouter"]
Said = Mapping[str, Any]


def said(wordings: Mapping[Server, Said], server: Server | None) -> Said:
    """The fields of a refusal in the words of `server`; none if it has no name."""
    return wordings[server] if server is not None else {}


TOO_LONG: Mapping[Server, Said] = {
    "ollama": {
        "status": 400,
        "body": {
            "error": json.dumps(
                {
                    "error": {
                        "code": 400,
                        "message": "request (8889 tokens) exceeds the available context size (4096 tokens), "
                        "try increasing it",
                        "type": "exceed_context_size_error",
                        "n_prompt_tokens": 8889,
                        "n_ctx": 4096,
                    }
                }
            )
        },
    },
    "vllm": {
        "status": 400,
        "type": "BadRequestError",
        "code": 400,
        "message": "This model's maximum context length is 16384 tokens. However, you requested 8192 output "
        "tokens and your prompt contains at least 8193 input tokens, for a total of at least 16385 tokens.",
    },
    "llamacpp": {
        "status": 400,
        "body": {
            "error": {
                "code": 400,
                "message": "request (13392 tokens) exceeds the available context size (8192 tokens), "
                "try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 13392,
                "n_ctx": 8192,
            }
        },
    },
    "lmstudio": {
        "status": 400,
        "body": {
            "error": "The number of tokens to keep from the initial prompt is greater than the context "
            "length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, "
            "or provide a shorter input."
        },
    },
    "openrouter": {
        "status": 400,
        "body": {
            "error": {
                "message": "This endpoint's maximum context length is 131072 tokens. However, you "
                "requested about 141607 tokens (10535 of text input, 131072 in the output). Please "
                "reduce the length of either one.",
                "code": 400,
                "metadata": {"provider_name": "Wire"},
            }
        },
    },
}

TOOLS_REFUSED: Mapping[Server, Said] = {
    "ollama": {
        "status": 400,
        "type": "api_error",
        "message": "registry.ollama.ai/library/{model} does not support tools",
    },
    "vllm": {
        "status": 400,
        "type": "BadRequestError",
        "code": 400,
        "message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    },
    "llamacpp": {
        "status": 500,
        "type": "server_error",
        "code": 500,
        "message": "tools param requires --jinja flag",
    },
    "openrouter": {
        "status": 404,
        "body": {
            "error": {
                "message": "No endpoints found that support tool use. To learn more about provider routing, "
                "visit: https://openrouter.ai/docs/guides/routing/provider-selection",
                "code": 404,
            }
        },
    },
}

QUOTA: Mapping[Server, Said] = {
    "openrouter": {
        "status": 402,
        "body": {
            "error": {
                "message": "This request requires more credits, or fewer max_tokens. You requested up to "
                "65536 tokens, but can only afford 3395. To increase, visit "
                "https://openrouter.ai/settings/credits and upgrade to a paid account",
                "code": 402,
            }
        },
    },
}

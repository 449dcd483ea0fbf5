"""Language models: what is said to them (`messages`), the one seam to them (`client`), and those there are.

    messages   frozen values: blocks, messages, requests, replies
    client     the protocol
    choose     the `model` setting -> a client
    local      the embedded default, which needs nothing
    anthropic  Claude, over the official SDK      wire, failures: its JSON and its errors
    tokens     estimates

Importing any of it loads no provider's library.
"""

"""Language models: what is said to them (`messages`), the one seam to them (`client`), and those there are.

    messages    frozen values: blocks, messages, requests, replies
    client      the protocol
    local       the embedded default, which needs nothing
    streaming   what all models over a network share: asking again (pauses), streams (bounds), counting
    service     whom an error is about, and what is said of connections and keys
    structured, ignored_tools, refusals, json_text   what servers leave undone, say, and what models write
    fitting, lenient, pieces   what all wire formats need: there, and back
    anthropic   the Messages API                       client; wire and failures, its JSON and its errors
    openai      Responses and Chat Completions         the same, and manners: what a server takes
    jobs        which model does what
    choose      the `model` setting -> a client        specs, endpoints, keys: its name, place and key
    providers   who serves models, a table             address: the text of one
    extras      how a missing library is installed
    known       windows and prices, before anybody is asked
    embedding   texts -> vectors, of an extra or of a service
    reach       what else could be chosen from here
    tokens      estimates, and how they learn

Importing any of it loads no provider's library.
"""

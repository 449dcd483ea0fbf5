"""A server that speaks the wire formats of Anthropic and OpenAI over real HTTP on loopback.

`server.WireServer` is the way in; `answers` is what it can be told to answer, `rules` what it refuses,
`dialects` how both look in each format, `wordings` how other servers word their refusals.
"""

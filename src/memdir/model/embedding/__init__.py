"""Texts -> vectors: what texts mean, as far as numbers can say it (M6). The extra `memdir[semantic]`.

    embedder           the protocol; what may be given to whom; what a vector is
    sentence_encoder   the default: a small multilingual model in this process
    endpoint           any service that speaks OpenAI's embeddings API
    choose             the `recall.embedder` setting -> an embedder, or none

Nothing here is needed: without an embedder memories are found by their words. Importing any of it loads
neither numpy nor a provider's library, and no embedder loads anything before it is first asked.
"""

"""A conversation that happened -> memories of it (E0-E11).

`worker.Extractor` follows one session and extracts in the background; `learn.learn` does the same for a
transcript that exists already. Both ask `gates` whether to, and `run` does it: by a fork of the
conversation, or by `rules` where no language model is configured.
"""

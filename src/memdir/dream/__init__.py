"""The memory directory is put in order now and then, and nothing is lost by it (D1-D8).

When:
    worker      after each turn: is it time?       gates       the answer, and why
    sessions    which conversations were there     lock        one dream at a time
                since                              holder      which process has it
The work:
    run         one dream, from the lock to what it made
    files       the memories as they were, or are to be
    stage       a copy to work on                  rights      what the fork may do there
    fork        the model's work on the copy       progress    how far it is
    tidy        what is done without a model       stale       dates that were right once
The plan:
    plan        what the copy makes of the memories: a room of its own
    checks      may it be carried out? likewise    probes      what recall must go on bringing
Carrying it out:
    apply       the plan becomes the directory     swaps       ... file by file: pure
    kept        plans that wait for the person     sweeping    what killed dreams left goes
"""

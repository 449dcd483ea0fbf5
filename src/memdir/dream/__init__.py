"""The memory directory is put in order now and then, and nothing is lost by it (D1-D8).

    gates       is it time?                        sessions    which conversations were there since
    lock        one dream at a time                holder      which process has it
    files       the memories as they were, or are to be
    stage       a copy to work on                  rights      what the fork may do there
    fork        the model's work on the copy       progress    how far it is
    tidy        what is done without a model
    reasons     why the model took out what it took out (dream.json)
    facts       the lines that say something       plan        what the copy makes of them
    provenance  where memories come from stays     sources     whose words there are
    checks      may the plan be carried out?       probes      what recall must go on bringing
    apply       the plan becomes the directory     kept        plans that wait for the person
    run         one dream, from the lock to the notice
    worker      after each turn: is it time?
"""

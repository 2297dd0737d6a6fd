"""A goal pursued without a human: a loop of runs on a branch of its own, with a budget (AURORA §9.8)."""

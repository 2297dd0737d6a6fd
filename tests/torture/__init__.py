"""Fault injection (chaos tests, fuzzing), seeded and bounded in time: `make torture SEED=… SECONDS=…`."""

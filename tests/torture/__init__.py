"""Fault injection, seeded and bounded in time: `make torture SEED=… SECONDS=…`."""

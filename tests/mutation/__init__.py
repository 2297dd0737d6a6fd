"""Mutation testing: small changes to product files that some test must notice. `make mutate`."""

"""Executors: how each kind of agent is run: one file per kind. What is heavy to import is imported when one runs."""

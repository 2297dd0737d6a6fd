"""Requests in words to sites: a plan of calls of a manifest's capabilities, made by a model and checked (AURA-P)."""

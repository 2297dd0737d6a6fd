"""Daemon: one per user, its address, listener, log and life."""

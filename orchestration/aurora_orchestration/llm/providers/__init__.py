"""Providers: who answers: one file per wire format, none of which knows of costs, caps or runs."""

"""Refusals of the system that carry no error number (thread exhaustion): how the standard library says them. Imported
before anything heavy.
"""

from __future__ import annotations

NO_THREAD = "can't start new thread"
"""Message of the RuntimeError where no thread is to be had."""

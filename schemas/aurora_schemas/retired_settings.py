"""Retired (deprecated) settings: members of `config.json` that did nothing in earlier versions."""

from __future__ import annotations

RETIRED = (
    "llm.mode",
    "llm.preference_routing.apply_to",
    "logging.conversations.file_naming.strategy",
    "logging.conversations.format",
    "scoring.calibration_examples.mode",
)
"""A file may have them: it is read without a word. `config set` refuses them."""

"""Token count (cost): what a text costs a language model, estimated without a tokenizer. Pure."""

from __future__ import annotations

_WHITE_SPACE = b" \t\r\n\f\v"

_BYTES_PER_TOKEN = 3.4
"""Bytes other than white space that a token of code stands for, on average over languages and tokenizers."""


def estimated_tokens(text: bytes) -> int:
    """Estimate what a text costs a language model.

    One token per 3.4 bytes other than white space, and one per line for its break and indent.
    """
    return round(len(text.translate(None, _WHITE_SPACE)) / _BYTES_PER_TOKEN) + text.count(b"\n") + 1

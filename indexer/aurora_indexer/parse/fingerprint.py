"""Fingerprints of a chunk (content hashes): by them it is known again, exactly, or after a move, rename or reformat
(AURORA §6.3.5).
"""

from __future__ import annotations

from hashlib import blake2b

WHITE_SPACE = b" \t\r\n\f\v"

_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") | frozenset(range(128, 256))
_PLACEHOLDER = b"\0"
_OUTSIDE = 0


def body_hash(text: bytes) -> bytes:
    """Hash of a chunk's source text as it is: 16 bytes."""
    return blake2b(text, digest_size=16).digest()


def shape_hash(bare: bytes, name: bytes) -> bytes:
    """Fingerprint of what a chunk does, for rename detection: 16 bytes that survive a move, a rename, a reformat.

    `bare` is the chunk's text with its comments blanked; `name` is its own simple name, left out wherever it stands
    as a whole word. White space is left out, not folded, so that `f( x )` and `f(x)` have one shape.
    """
    return blake2b(_without_word(bare, name).translate(None, WHITE_SPACE), digest_size=16).digest()


def _without_word(text: bytes, word: bytes) -> bytes:
    """A text with a placeholder for a word wherever that is not part of a longer one."""
    if not word or word not in text:
        return text
    pieces = text.split(word)
    last = len(pieces) - 1
    kept = [pieces[0]]
    for at in range(1, last + 1):
        before, after = pieces[at - 1], pieces[at]
        # An empty piece means that the word stands there once more, or the text ends.
        left = before[-1] if before else (word[-1] if at > 1 else _OUTSIDE)
        right = after[0] if after else (word[0] if at < last else _OUTSIDE)
        inner = (left in _WORD and word[0] in _WORD) or (right in _WORD and word[-1] in _WORD)
        kept.append(word if inner else _PLACEHOLDER)
        kept.append(after)
    return b"".join(kept)

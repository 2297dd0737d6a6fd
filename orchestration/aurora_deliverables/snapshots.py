"""Snapshots of deliverables: what deliverables amount to, as it is kept beside the log, so that after a start not
every event is read again.

Nothing relies on it: it is used only where it was made by the same rules, from the same events.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources

import msgspec

from aurora_deliverables import (
    choices,
    conformance,
    deliverable,
    event_validation,
    events,
    reducer,
    token_usage,
    transitions,
)
from aurora_deliverables.deliverable import Deliverable
from aurora_protocol import typed

_RULES = (choices, conformance, deliverable, event_validation, events, reducer, token_usage, transitions)
"""The modules whose text decides what events amount to: where one differs, a snapshot is of no use."""

_encoder = msgspec.json.Encoder()
_decoder = typed.decoder(Deliverable | None)


@cache
def snapshot_mark(threshold: float) -> str:
    """Fingerprint of the rules that a snapshot was made by (the code that folds, its threshold): another one makes it
    invalid."""
    digest = hashlib.blake2b(repr(threshold).encode(), digest_size=16)
    package = resources.files(__package__)
    for module in _RULES:
        digest.update(package.joinpath(f"{module.__name__.rpartition('.')[2]}.py").read_bytes())
    return digest.hexdigest()


def encode_snapshot(deliverable: Deliverable | None) -> str:
    """Snapshot of a deliverable as it is kept; None too, which says that no event counts."""
    return _encoder.encode(deliverable).decode()


def decode_snapshot(body: str) -> Deliverable | None:
    """Deliverable of a snapshot. Raises ValueError where the file says something else by now."""
    try:
        deliverable: Deliverable | None = _decoder.decode(body)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(f"what is kept of a deliverable cannot be read: {error}") from error
    return deliverable

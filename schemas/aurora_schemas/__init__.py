"""JSON Schemas as data (files of this package), and their one loader: each is loaded by its name, once."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

_SUFFIX = ".schema.json"


class UnknownSchema(Exception):
    """There is no schema of that name; the message lists those there are."""


def names() -> tuple[str, ...]:
    """The schemas there are, by the names `load` takes: `manifest-1.0`."""
    files = (entry.name for entry in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX)))


@cache
def load(name: str) -> dict[str, Any]:
    """The schema called `name`, read once, cached and shared: do not change it. Raises UnknownSchema."""
    if name not in names():
        raise UnknownSchema(f'there is no schema "{name}": use one of {", ".join(names())}')
    text = resources.files(__name__).joinpath(name + _SUFFIX).read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema

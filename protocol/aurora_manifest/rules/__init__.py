"""Rules that a manifest is checked by. One function per rule; its docstring is its documentation.

Start reading in `registry`. `python -m aurora_manifest.rules` writes the page of all of them.
"""

from __future__ import annotations

from aurora_manifest.rules import (  # noqa: F401  each file registers its rules
    descriptions,
    extensions,
    identity,
    ignore,
    parameter_mapping,
    parameters,
    policy,
    references,
    schema,
    schema_references,
    secrets,
    syntax,
    template_paths,
    templates,
    transport,
    urls,
    values,
)
from aurora_manifest.rules.page import catalogue, documentation, link, page
from aurora_manifest.rules.registry import RuleInfo

__all__ = ["RuleInfo", "catalogue", "documentation", "link", "page"]

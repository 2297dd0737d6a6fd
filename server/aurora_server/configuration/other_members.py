"""Members of `config.json` that no section of settings has, and their shape, for editors and for telling typos.

They are read elsewhere: policies by `aurora_memory.lifespans` when a workspace is opened (a bad one must not keep the
daemon from starting), `signals.patterns` by `configuration.soar`; the first two by nobody but people and their editors.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct


class PolicyEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """Chunks that meet `condition` live for `lifespan`, fading by `decay_mechanism`, and may be flagged."""

    condition: Annotated[
        str,
        Meta(
            examples=[
                "is_pattern == true AND success_score >= 0.8",
                "contains_tag('security') OR domain == 'security'",
                "access_count > 10",
            ]
        ),
    ]
    """Which chunks this policy is about: comparisons of `access_count`, `last_accessed_days`, `score`, `success_score`,
    `is_pattern`, `domain` and others, `contains_tag('…')`, with `AND`, `OR`, `NOT` and parentheses."""
    lifespan: Annotated[
        str,
        Meta(
            pattern="^(indefinite|while_active|decay|0{0,4}[1-9][0-9]{0,4}_days?)$",
            examples=["indefinite", "180_days", "while_active", "decay"],
        ),
    ]
    """How long such chunks stay: `indefinite`, `N_days` since the last use (1 to 36500), `while_active`, or `decay` at
    once."""
    decay_mechanism: Literal["logarithmic", "exponential", "none"] = "logarithmic"
    """How activation fades meanwhile: `logarithmic` slowly, `exponential` quickly, `none` not at all."""
    escalation_action: Annotated[
        str | None,
        Meta(examples=["candidate_for_fine_tuning"], extra_json_schema={"pattern": "^[A-Za-z][A-Za-z0-9_]{0,63}$"}),
    ] = None
    """What to flag such chunks for, if anything."""
    description: Annotated[str, Meta(max_length=500)] = ""
    """What the policy is for, in words."""


PolicyByName = Annotated[dict[str, PolicyEntry], Meta(max_length=64)]


class LifespanPolicies(Struct, frozen=True, forbid_unknown_fields=True):
    """Retention of learned chunks: how long they stay, and how they fade (AURORA App. C.2). A policy of a known name
    takes that one's place; new ones are asked first.
    """

    enabled: bool = True
    """Whether policies are followed; without, nothing expires."""
    default_policy: Annotated[str, Meta(examples=["default", "usage_based"])] = "default"
    """The policy for chunks that no condition fits."""
    policies: PolicyByName = {}
    """Policies by name, asked in this order."""


class Pattern(Struct, frozen=True):
    """The words of one kind of signal, in the spelling of AURORA App. E."""

    keywords: tuple[str, ...] = ()
    """Its words."""


OpenPattern = Annotated[Pattern, Meta(extra_json_schema={"additionalProperties": True})]


class SignalPatterns(Struct, frozen=True, forbid_unknown_fields=True):
    """The same words in the spelling of AURORA App. E. What each kind of signal does is fixed: other members are left
    alone."""

    positive: OpenPattern = Pattern()
    """What `positive` is, in that spelling."""
    followup: OpenPattern = Pattern()
    """What `followup` is, in that spelling."""
    negative: OpenPattern = Pattern()
    """What `negative` is, in that spelling."""
    recourse: OpenPattern = Pattern()
    """What `recourse` is, in that spelling."""
    abort: OpenPattern = Pattern()
    """What `abort` is, in that spelling."""


OTHER_MEMBERS: dict[str, tuple[Any, str]] = {
    "$schema": (str, "The address of this file's schema, for editors that look for one. AURORA does not read it."),
    "version": (
        Annotated[str, Meta(examples=["1.0"])],
        "The version of the configuration's format. `1.0` is the only one so far.",
    ),
    "retention_policies": (
        PolicyByName,
        "The older spelling of `memory.lifespan_policies.policies` (AURORA §6.7.1), read in a workspace's "
        "configuration.",
    ),
    "memory.lifespan_policies": (LifespanPolicies, ""),
    "signals.patterns": (SignalPatterns, ""),
}
"""By dotted place: the shape, and what it is where the shape does not say it."""

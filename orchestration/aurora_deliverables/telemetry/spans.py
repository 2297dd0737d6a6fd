"""Span before OpenTelemetry knows of it (data class): its name, times and attributes, and what is below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

Value = str | int | float

MAX_TEXT = 1024
"""Characters of one attribute; ids and models are far shorter, evidence need not be."""


class Mark(Struct, frozen=True):
    """Span event: something that happened at one moment of a span."""

    name: str
    at: float
    attributes: Mapping[str, Value] = {}


class Span(Struct, frozen=True):
    """Span of a trace, and its children. Times are Unix seconds; `failed` says what went wrong, `client` that it called
    out.
    """

    name: str
    started_at: float
    ended_at: float
    attributes: Mapping[str, Value] = {}
    children: tuple[Span, ...] = ()
    marks: tuple[Mark, ...] = ()
    failed: str | None = None
    client: bool = False

    def walk(self) -> Iterator[Span]:
        """This span, then everything below it, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()


class Growing(Struct):
    """A span that still gets children."""

    name: str
    started_at: float
    ended_at: float
    attributes: dict[str, Value] = field(default_factory=dict)
    children: list[Growing] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    failed: str | None = None
    client: bool = False

    def grown(self) -> Span:
        """The span as it is now: never of negative length, children in the order of their start."""
        return Span(
            self.name,
            self.started_at,
            max(self.started_at, self.ended_at),
            self.attributes,
            tuple(child.grown() for child in sorted(self.children, key=lambda child: child.started_at)),
            tuple(self.marks),
            self.failed,
            self.client,
        )


def known(attributes: Mapping[str, Value | None]) -> dict[str, Value]:
    """Span attributes whose value is known, texts cut to MAX_TEXT."""
    return {
        name: value[:MAX_TEXT] if isinstance(value, str) else value
        for name, value in attributes.items()
        if value is not None
    }

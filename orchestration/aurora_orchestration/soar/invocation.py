"""Invocation of AURORA by a prompt: called by a trigger prefix, or always on (AURORA Appendix C, `aurora.*`). Pure."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from aurora_orchestration.settings import AuroraSettings


class Invocation(Struct, frozen=True, kw_only=True):
    """A prompt that AURORA answers: the question without the prefix it was called by, "" where it came uncalled."""

    query: str
    mode: Literal["user_invoked", "always_on"]
    prefix: str = ""


def called(prompt: str, settings: AuroraSettings) -> Invocation | None:
    """Invocation by `prompt`, or None where it is not for AURORA: no prefix and not always on, excluded, or empty."""
    text = prompt.strip()
    if settings.user_invoked and (prefix := _prefix(text, settings.prefix)):
        query = text[len(prefix) :].lstrip(" \t\r\n:,")
        return Invocation(query=query, mode="user_invoked", prefix=prefix) if query else None
    if not settings.always_on or not text or _plain(text) in {_plain(pattern) for pattern in settings.exclude_patterns}:
        return None
    return Invocation(query=text, mode="always_on")


def _prefix(text: str, prefixes: tuple[str, ...]) -> str:
    """The longest prefix that `text` begins with, as written there. "aur" begins neither "aural" nor "aur-lint"."""
    for prefix in sorted(filter(None, prefixes), key=len, reverse=True):
        begin, after = text[: len(prefix)], text[len(prefix) : len(prefix) + 1]
        if begin.casefold() == prefix.casefold() and (
            not prefix[-1].isalnum() or after in ("", ":", ",") or after.isspace()
        ):
            return begin
    return ""


def _plain(text: str) -> str:
    """A short reply without case and punctuation: "OK!" is "ok"."""
    return " ".join("".join(mark if mark.isalnum() or mark == "'" else " " for mark in text.casefold()).split())

"""Providers of plug-ins: what a distribution installed beside AURORA offers in the group `aurora.providers`.

`llm.reasoning_llm.provider` (or `solving_llm`) names it, as it names one of ours; only the user's own configuration and
that of a trusted workspace can. Built-in names win. Caps, budget, journal, retries and the time an answer may take are
kept here, so that a plug-in's provider only has to put one question.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Protocol

from msgspec import Struct

from aurora_orchestration.llm.completion import LlmError, NotConfigured, Unavailable
from aurora_orchestration.llm.providers.provider import Completion, Wanted
from aurora_orchestration.llm.providers.retry import retried
from aurora_protocol import plugins

logger = logging.getLogger(__name__)

GROUP = "aurora.providers"


class Connection(Struct, frozen=True, kw_only=True):
    """Address, key and limits of a model, as settings and variables have them. `key` is None where none is wanted.

    `timeout` is how many seconds the provider may be silent for; `headers` are further ones of every request.
    """

    model: str
    base_url: str
    key: str | None
    headers: dict[str, str]
    timeout: float


class Completes(Protocol):
    """Model that a plug-in opens."""

    async def complete(self, wanted: Wanted) -> Completion:
        """Ask it. Raises an `LlmError`: `Passing` for what may be over soon, and is tried again."""


class ProviderKind(Struct, frozen=True, kw_only=True):
    """Provider that a plug-in offers: the name settings call it by, and what opens a model of it.

    `base_url` is its usual address ("" where it has none), `key_variable` the variable of its key (None: wants none).
    `open` imports what it needs itself: it is called when a run begins, not when the plug-in is found.
    """

    name: str
    open: Callable[[Connection], Completes]
    base_url: str = ""
    key_variable: str | None = None


class PluginProvider:
    """A plug-in's model as a provider: its faults are errors of one line, whatever it raises or gives."""

    def __init__(
        self, kind: ProviderKind, connection: Connection, *, retries: int = 0, retry_seconds: float = 0.0
    ) -> None:
        """Open it. Raises `NotConfigured`."""
        self.name = kind.name
        self.model = connection.model
        self._limit = connection.timeout
        self._retries = retries
        self._retry_seconds = retry_seconds
        try:
            self._inner = kind.open(connection)
        except Exception as error:  # a stranger's code: the run goes on without this model
            raise NotConfigured(f"provider {self.name}: {_said(error)}; it is a plug-in's") from error

    async def complete(self, wanted: Wanted) -> Completion:
        """Ask it, again where it fails in passing. Raises an `LlmError`; when cancelled, so is the plug-in."""
        return await retried(
            lambda: self._attempt(wanted),
            who=self.name,
            limit=wanted.limit(self._limit),
            retries=self._retries,
            retry_seconds=self._retry_seconds,
        )

    async def _attempt(self, wanted: Wanted) -> Completion:
        """Call of the plug-in's model; what it raises is an Unavailable of one line."""
        try:
            answer = await self._inner.complete(wanted)
        except LlmError:
            raise
        except Exception as error:
            logger.warning("provider %s failed: %s", self.name, _said(error))
            raise Unavailable(f"{self.name} failed ({_said(error)}); it is a plug-in's") from error
        if not isinstance(answer, Completion):
            raise Unavailable(f"{self.name} answered a {type(answer).__name__}, which is no Answer; it is a plug-in's")
        return answer


@cache
def plugged(taken: tuple[str, ...]) -> dict[str, ProviderKind]:
    """The plug-ins' providers by name, those aside whose name is one of `taken`; looked for once per process."""
    found: dict[str, ProviderKind] = {}
    for plugin in plugins.load(GROUP, ProviderKind):
        name = plugin.value.name
        if not name or name in taken or name in found:
            plugins.leave_out(GROUP, plugin, f"there is a provider {name} already" if name else "it has no name")
        else:
            found[name] = plugin.value
    return found


def _said(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]

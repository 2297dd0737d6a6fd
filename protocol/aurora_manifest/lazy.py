"""Members and items that are made when first asked for: of most capabilities nobody wants to know the places inside."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

from aurora_manifest.document import Member, Node

_Part = TypeVar("_Part", bound=Member | Node)
_making = threading.RLock()


class Later(Sequence[_Part]):
    """A sequence that knows how to make itself, and does so once."""

    __slots__ = ("made",)

    def __init__(self) -> None:
        self.made: list[_Part] | None = None

    @abstractmethod
    def make(self) -> list[_Part]:
        """Make them."""

    def _all(self) -> list[_Part]:
        if self.made is None:
            with _making:  # of two threads that ask at once, both must get the same nodes
                if self.made is None:
                    self.made = self.make()
        return self.made

    @overload
    def __getitem__(self, index: int) -> _Part: ...
    @overload
    def __getitem__(self, index: slice) -> list[_Part]: ...
    def __getitem__(self, index: int | slice) -> _Part | list[_Part]:
        return self._all()[index]

    def __iter__(self) -> Iterator[_Part]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all() == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._all())

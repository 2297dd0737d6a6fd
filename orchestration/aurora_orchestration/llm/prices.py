"""Price table (pricing per token): what a call costs, from a table in data (`prices.yaml`) that `llm.prices_file` may
overlay.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from msgspec import Struct, ValidationError

from aurora_orchestration.llm.completion import LlmError
from aurora_orchestration.setting_types import Amount
from aurora_orchestration.types import Usage
from aurora_protocol import typed

_MAX_BYTES = 1_000_000
_MILLION = 1_000_000
_BEHIND_A_NAME = re.compile(r"(-latest|-\d{8}|-\d{4}-\d{2}-\d{2}|@\d{8})$")


class Price(Struct, frozen=True, kw_only=True):
    """Price in US dollars per million tokens; a cache price that is not given is that of input."""

    input: Amount
    output: Amount
    cache_read: Amount | None = None
    cache_write: Amount | None = None

    def of(self, usage: Usage) -> float:
        """Cost of so many tokens."""
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        return (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_read_tokens * read
            + usage.cache_write_tokens * write
        ) / _MILLION

    def at_most(self, input_tokens: int, output_tokens: int) -> float:
        """Upper bound of a call's cost, whatever the cache does."""
        dearest = max(self.input, self.cache_read or 0.0, self.cache_write or 0.0)
        return (input_tokens * dearest + output_tokens * self.output) / _MILLION


class LongPrice(Price, frozen=True, kw_only=True):
    """Long-context price: that of a request whose prompt has more than `tokens` tokens."""

    tokens: int


class PriceRow(Price, frozen=True, kw_only=True):
    """Row of the price table, a model: its provider's name for it, names people use, and the day its prices were
    checked, or `unknown`.
    """

    name: str
    as_of: str
    aliases: tuple[str, ...] = ()
    above: LongPrice | None = None

    def for_prompt(self, tokens: int) -> Price:
        """The prices of a request with a prompt of so many tokens."""
        return self.above if self.above and tokens > self.above.tokens else self


class _PriceTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    unknown: Price | None = None
    free: tuple[str, ...] | None = None
    models: tuple[PriceRow, ...] = ()


class Prices:
    """Price table. What it does not know costs None; for limits it is counted at `unknown`."""

    def __init__(self, rows: tuple[PriceRow, ...], unknown: Price, free: tuple[str, ...]) -> None:
        self.unknown = unknown
        self._free = frozenset(name.casefold() for name in free)
        self._rows = {_key(row.name): row for row in rows}
        self._spelled = {alias.casefold(): row.name for row in rows for alias in row.aliases}
        for row in rows:
            for alias in row.aliases:
                self._rows.setdefault(_key(alias), row)

    def spelled(self, model: str) -> str:
        """A configured name as the provider spells it; unchanged where no alias is known."""
        return self._spelled.get(model.casefold(), model)

    def price(self, model: str, provider: str, prompt_tokens: int = 0) -> Price | None:
        """A model's prices, None where they are not known. Dates behind a name do not matter."""
        if provider.casefold() in self._free:
            return Price(input=0.0, output=0.0)
        row = self._rows.get(_key(model))
        return row.for_prompt(prompt_tokens) if row else None

    def cost_of(self, usage: Usage, model: str, provider: str) -> float | None:
        """Cost of a call, None where the price is not known."""
        price = self.price(model, provider, usage.total - usage.output_tokens)
        return None if price is None else price.of(usage)

    def assumed_cost(self, usage: Usage, model: str, provider: str) -> float:
        """Cost that a call counts with against limits: its own, or that of an unknown model."""
        cost = self.cost_of(usage, model, provider)
        return self.unknown.of(usage) if cost is None else cost

    def at_most(self, model: str, provider: str, input_tokens: int, output_tokens: int) -> float:
        """Upper bound of a call's cost, counted at `unknown` where the price is not known."""
        return (self.price(model, provider, input_tokens) or self.unknown).at_most(input_tokens, output_tokens)


def load_prices(overlay: str | None = None) -> Prices:
    """The built-in table, overlaid by a file of the same form (YAML or JSON). Raises `LlmError` naming the file."""
    built_in = _built_in()
    if overlay is None:
        return Prices(built_in.models, built_in.unknown or Price(input=0, output=0), built_in.free or ())
    path = Path(overlay).expanduser()
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise LlmError(f"cannot read the prices in {path}: {error.strerror or error}; mend llm.prices_file") from error
    if len(data) > _MAX_BYTES:
        raise LlmError(f"{path} is larger than {_MAX_BYTES} bytes; llm.prices_file wants a table like prices.yaml")
    own = _table(data, str(path))
    names = {_key(row.name) for row in own.models}
    kept = tuple(row for row in built_in.models if _key(row.name) not in names)
    unknown = own.unknown or built_in.unknown or Price(input=0, output=0)
    return Prices((*own.models, *kept), unknown, (*(built_in.free or ()), *(own.free or ())))


@cache
def _built_in() -> _PriceTable:
    return _table(Path(__file__).with_name("prices.yaml").read_bytes(), "prices.yaml")


def _table(data: bytes, where: str) -> _PriceTable:
    """Price table parsed from YAML and validated. Raises LlmError."""
    import yaml

    try:
        # a base loader: every scalar stays text, so that dates do, and no tag makes an object
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        return typed.convert(yaml.load(data, loader), _PriceTable, strict=False)
    except (yaml.YAMLError, ValidationError, RecursionError, UnicodeDecodeError) as error:
        line = " ".join(str(error).split())[:300]
        raise LlmError(f"{where} is no table of prices: {line}; mend llm.prices_file") from error


def _key(name: str) -> str:
    """Normalized model name, without its maker and date, in one spelling of versions."""
    bare = name.casefold().rsplit("/", 1)[-1]
    while (shorter := _BEHIND_A_NAME.sub("", bare)) != bare:
        bare = shorter
    return bare.replace(".", "-")

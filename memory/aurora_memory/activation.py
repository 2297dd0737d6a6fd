"""ACT-R activation (recency and frequency of use): base-level learning (power law of forgetting), decay and the
retrieval threshold, as pure maths apart from storage: `A = B + S + C − D` (AURORA §6.3).

Ages are days since each access, floored at one minute so that "just now" stays finite. pyactr is the authority for the
formulas; the vectorised form here ranks many chunks at once and is held equal to pyactr's by a property test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

MINUTE = 1 / 1440
"""One minute in days: the youngest age an access can have."""

DECAY_RATE = 0.5
CONTEXT_BOOST_MAX = 0.5
DECAY_FACTOR = 0.5
SPREAD_FACTOR = 0.7
MAX_SPREAD_HOPS = 3


class Weighing(Struct, frozen=True):
    """Parameters of activation: the numbers of §6.3 that a user may set: how fast accesses fade, how far and how much
    relations and words tell.

    `spread_factor` is what is left after each hop, of `max_spread_hops` at most. What is below `retrieval_threshold`
    is not recalled; None recalls all that matches.
    """

    decay_rate: float = DECAY_RATE
    spread_factor: float = SPREAD_FACTOR
    max_spread_hops: int = MAX_SPREAD_HOPS
    context_boost_max: float = CONTEXT_BOOST_MAX
    retrieval_threshold: float | None = None
    others_weight: float = 0.5
    """What an access, or a boost, of a colleague counts beside one's own."""

    def forgets(self, activation: Activation) -> bool:
        """Retrieval threshold: whether a chunk of such an activation is not recalled (§6.3)."""
        return self.retrieval_threshold is not None and activation.total < self.retrieval_threshold


USUAL = Weighing()


class Activation(Struct, frozen=True):
    """Activation, the terms of one chunk's activation: `base_level + spreading + context_boost − decay + learned` is
    its `total`.

    `learned` is the sum of what finished runs added or took (AURORA §6.7), in ±1.0.
    """

    base_level: float
    spreading: float
    context_boost: float
    decay: float
    learned: float = 0.0

    @property
    def total(self) -> float:
        return self.base_level + self.spreading + self.context_boost - self.decay + self.learned


def ages_in_days(times: Sequence[float], now: float) -> Floats:
    """Days from each access time to `now` (both Unix seconds); one minute at least, so clocks may jump back (clock
    skew).
    """
    import numpy as np  # 0.1 s that opening a workspace need not pay

    return np.maximum((now - np.asarray(times, dtype=np.float64)) / 86_400, MINUTE)


def base_level(times: Sequence[float], now: float, decay: float = DECAY_RATE) -> float:
    """Base-level activation `B = ln(Σ t_j^(−d))` for one chunk, by pyactr. `times` must not be empty; both in Unix
    seconds.
    """
    from pyactr.utilities import baselevel_learning  # 0.1 s to import: only where one chunk is explained

    return float(baselevel_learning(0.0, -ages_in_days(times, now), True, decay))


def base_levels(ages: Floats, owners: npt.NDArray[np.intp], count: int, decay: float = DECAY_RATE) -> Floats:
    """`B` of `count` chunks at once: `ages[i]` (days) is an access of chunk `owners[i]`. −inf where it has none."""
    import numpy as np

    sums = np.bincount(owners, weights=ages**-decay, minlength=count)
    with np.errstate(divide="ignore"):
        return np.log(sums)


def levels_of_histories(
    histories: Sequence[tuple[float, ...]], now: float, decay: float = DECAY_RATE
) -> dict[tuple[float, ...], float]:
    """`B` of each distinct history (access times, Unix seconds); −inf for an empty one."""
    import numpy as np

    distinct = list(dict.fromkeys(histories))
    owners = np.repeat(np.arange(len(distinct)), [len(history) for history in distinct])
    ages = ages_in_days([time for history in distinct for time in history], now)
    return dict(zip(distinct, base_levels(ages, owners, len(distinct), decay).tolist(), strict=True))


def decay_penalty(days_since_last_access: float, factor: float = DECAY_FACTOR) -> float:
    """Decay `D = 0.5 · log10(max(1, days since last access))`: nothing on the first day, 0.5 after ten."""
    return factor * math.log10(max(1.0, days_since_last_access))


def context_boost(overlap: float, maximum: float = CONTEXT_BOOST_MAX) -> float:
    """Context boost `C` in [0, 0.5]: `overlap` is the share of the query's keywords, by rarity, that the chunk
    answers.
    """
    return maximum * min(1.0, max(0.0, overlap))

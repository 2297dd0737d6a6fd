"""Some random histories of `tests.benchmarks.histories`: a daemon's figures are those of a second calculation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.benchmarks.histories import Comparison, daemon_in


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Comparison]:
    folder = tmp_path_factory.mktemp("histories")
    with daemon_in(folder) as daemon:
        yield Comparison(folder, daemon)


@pytest.mark.parametrize("seed", [3, 5, 7, 9, 24])
def test_every_figure_of_a_history_is_that_of_the_second_calculation(comparison: Comparison, seed: int) -> None:
    before = comparison.figures
    assert comparison.of(seed) == []
    assert comparison.figures > before + 1000

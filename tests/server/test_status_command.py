"""`aurora status`: one screen that is true whether a daemon runs or not, and that starts and opens nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aurora_team.membership import Membership, Memberships
from tests.e2e.product import Product
from tests.e2e.repositories import shop


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return shop(tmp_path / "shop")


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Product]:
    product = Product(tmp_path / "home")
    yield product
    product.close()


def test_without_a_daemon_it_starts_none(product: Product, root: Path) -> None:
    told = product.json("status", cwd=root)
    assert (told["running"], told["daemon"], told["workspace"]["open"]) == (False, None, False)
    assert told["workspace"] == {"root": str(root), "trusted": False, "open": False}
    said = product.aurora("status", cwd=root).stdout
    assert "none is running; the next command that needs one starts it" in said
    assert not product.home.exists()


def test_what_is_open_here_and_elsewhere_and_under_way(product: Product, root: Path, tmp_path: Path) -> None:
    other = shop(tmp_path / "other")
    with product.session(other) as client:
        client.request("aurora/index")
        told = product.json("status", cwd=root)
        assert told["running"] and not told["workspace"]["open"], "asking opens nothing"
        assert [each["root"] for each in told["other_workspaces"]] == [str(other)]
        assert "not known while" in product.aurora("status", cwd=root).stdout
        with product.session(root) as mine:
            mine.request("aurora/index")
            for number in range(7):
                mine.request("aurora/deliverable", {"action": "start", "change_id": f"change-{number}"})
            mine.request("aurora/deliverable", {"action": "phase", "change_id": "change-6", "phase": "apply"})
            product.aurora("trust", cwd=root)
            told = product.json("status", cwd=root)
            assert told["workspace"]["open"] and told["workspace"]["trusted"] and told["workspace"]["files"] > 0
            assert told["deliverables"]["total"] == 7 and len(told["deliverables"]["deliverables"]) == 5
            said = product.aurora("status", cwd=root).stdout
            assert "change-6 · apply" in said and "and 2 more" in said and f"also open  {other}" in said
            assert "trusted: its .aurora/ may name" in said


def test_teams_are_told_with_what_is_wrong(product: Product, root: Path) -> None:
    assert product.json("status", cwd=root)["teams"] == []
    assert "nothing leaves this machine" in product.aurora("status", cwd=root).stdout
    product.home.mkdir(mode=0o700, exist_ok=True)
    joined = [Membership("postgresql://hub/a", "red", "me"), Membership("postgresql://hub/b", "blue", "me")]
    joined[1].problem = "the hub cannot be reached"
    Memberships(product.home).write(joined)
    said = product.aurora("status", cwd=root).stdout
    assert "red: fine; blue: the hub cannot be reached (aurora team status)" in said


def test_money_is_told_as_the_budget_has_it(product: Product, root: Path) -> None:
    product.home.mkdir(mode=0o700)
    (product.home / "config.json").write_text('{"cost_budgets": {"soft_limit_usd": 1, "hard_limit_usd": 2}}')
    told = product.json("status", cwd=root)
    assert told["budget"] == product.json("budget", "status", cwd=root)
    assert "$0.00 of $2.00" in product.aurora("status", cwd=root).stdout

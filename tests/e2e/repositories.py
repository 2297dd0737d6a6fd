"""Workspaces for tests, written on the spot: small ones in several languages, larger ones by the file, real git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.wait_limits import HANG

SHOP = {
    "src/basket.py": '''"""Baskets of a small shop."""

VAT = 19


class Basket:
    """What a customer is about to buy."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.lines: list[int] = []

    def add_line(self, cents: int) -> None:
        """Put one thing into the basket."""
        self.lines.append(cents)


# The price a customer sees.
@staticmethod
def total_price(basket: Basket) -> int:
    """Sum of all lines, with value added tax."""
    return add_tax(sum(basket.lines))


def add_tax(cents: int) -> int:
    def rounded(value: float) -> int:
        return int(value + 0.5)

    return rounded(cents * (100 + VAT) / 100)
''',
    "src/checkout.py": """from basket import Basket, total_price


def pay_by_card(basket: Basket, number: str) -> str:
    charge = total_price(basket)
    return f"{number} pays {charge}"
""",
    "web/render.ts": """export interface Page {
  title: string;
}

export function renderBasketPage(page: Page): string {
  return `<h1>${page.title}</h1>`;
}

export class BasketView {
  refreshView(page: Page): string {
    return renderBasketPage(page);
  }
}
""",
    "web/button.jsx": """export const OrderButton = (props) => {
  return <button onClick={props.order}>Order</button>;
};
""",
    "cmd/stock.go": """package main

// CountStock tells how many pieces are left.
func CountStock(shelf map[string]int) int {
	pieces := 0
	for _, number := range shelf {
		pieces += number
	}
	return pieces
}
""",
    "native/ship.rs": """pub struct Parcel {
    weight: u32,
}

impl Parcel {
    pub fn postage_cents(&self) -> u32 {
        self.weight * 3
    }
}
""",
    "java/Invoice.java": """class Invoice {
    String printInvoice(int number) {
        return "invoice " + number;
    }
}
""",
    "native/checksum.c": """int luhn_checksum(const char *digits) {
    int sum = 0;
    while (*digits) sum += *digits++ - '0';
    return sum % 10;
}
""",
    "native/queue.cpp": """namespace shop {
class OrderQueue {
 public:
  int take_order() { return 1; }
};
}
""",
    "lib/discount.rb": """class Discount
  def loyalty_discount(years)
    years * 2
  end
end
""",
    "README.md": "# Shop\n",
}
"""A shop in nine languages. Line numbers matter to tests."""


def write(root: Path, files: dict[str, str]) -> Path:
    """Write `files` below `root`; returns `root`, links resolved."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root.resolve()


def shop(root: Path) -> Path:
    """The shop, as a git repository with one commit."""
    write(root, SHOP)
    git(root, "init", "-q", "-b", "main")
    commit(root, "open the shop")
    return root.resolve()


def large(root: Path, files: int, functions: int = 8) -> Path:
    """`files` Python files in folders of twenty, each with that many functions of its own."""
    for number in range(files):
        lines = [f'"""Module {number}."""\n']
        body = "".join(f"    value_{step} = session.load(request, {step})\n" for step in range(12))
        lines += [
            f"def handler_{number}_{each}(request, session):\n"
            f'    """Handle case {each} of module {number}."""\n{body}    return value_{each % 12}\n'
            for each in range(functions)
        ]
        path = root / f"pack_{number // 20}" / f"module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(lines), encoding="utf-8")
    return root.resolve()


def git(folder: Path, *arguments: str) -> str:
    """Run git, apart from the user's own configuration; returns what it says."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
    }
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr}"
    return done.stdout


def commit(folder: Path, subject: str) -> None:
    """Commit everything."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", subject)

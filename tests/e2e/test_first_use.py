"""The first minutes in a repository nobody has indexed: the commands' answers, their JSON, their exit codes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import Product, product_in
from tests.e2e.repositories import SHOP, git, shop, write

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

DEFINITIONS = {
    "src/basket.py": {
        "Basket": "class",
        "Basket.__init__": "method",
        "Basket.add_line": "method",
        "total_price": "function",
        "add_tax": "function",
        "add_tax.rounded": "function",
    },
    "src/checkout.py": {"pay_by_card": "function"},
    "web/render.ts": {
        "Page": "interface",
        "renderBasketPage": "function",
        "BasketView": "class",
        "BasketView.refreshView": "method",
    },
    "web/button.jsx": {"OrderButton": "function"},
    "cmd/stock.go": {"CountStock": "function"},
    "native/ship.rs": {"Parcel": "struct", "Parcel.postage_cents": "method"},
    "java/Invoice.java": {"Invoice": "class", "Invoice.printInvoice": "method"},
    "native/checksum.c": {"luhn_checksum": "function"},
    "native/queue.cpp": {"shop.OrderQueue": "class", "shop.OrderQueue.take_order": "method"},
    "lib/discount.rb": {"Discount": "class", "Discount.loyalty_discount": "method"},
}
"""Everything in the shop that can be called or made."""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product_in(tmp_path_factory.mktemp("aurora") / "home") as product:
        yield product


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shop(tmp_path_factory.mktemp("work") / "shop")


@pytest.fixture(scope="module")
def first(product: Product, root: Path) -> str:
    """What the first command there says."""
    assert not product.processes()
    done = product.aurora("mem", "total price of a basket", cwd=root / "src")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture
def answer(product: Product, root: Path, first: str) -> dict[str, Any]:
    document = product.json("mem", "basket", "--content", "--limit", "50", cwd=root)
    assert isinstance(document, dict)
    return document


def test_the_first_question_starts_the_daemon_indexes_and_answers_with_a_function(first: str, product: Product) -> None:
    lines = first.splitlines()
    assert re.match(r" ?1  total_price +basket\.py:20\b", lines[0]), first
    assert "Sum of all lines, with value added tax." in lines[1]
    assert re.search(r"index up to date · (reading history \d+ % · )?[\d.]+ m?s$", lines[-1]), first
    assert "\x1b" not in first
    assert len(product.daemons()) == 1


def test_every_definition_of_every_language_is_found_by_its_name(product: Product, root: Path, first: str) -> None:
    with product.session(root) as client:
        for file, definitions in DEFINITIONS.items():
            for name, kind in definitions.items():
                chunk = client.request("aurora/explain", {"id": f"code:{file}:{name}"})["chunk"]
                assert (chunk["kind"], chunk["name"]) == (kind, name)
                query = {"query": name.rpartition(".")[2]}
                found = client.request("aurora/recall", query)["results"]
                assert (file, name) in [(one["file"], one["name"]) for one in found[:3]], (name, found[:3])


def test_the_json_of_mem_is_the_contract(answer: dict[str, Any]) -> None:
    assert answer["query"] == "basket"
    assert isinstance(answer["took_ms"], float) and answer["took_ms"] > 0
    fresh = answer["freshness"]
    assert ISO.fullmatch(fresh["indexed_at"])
    counts = {key: fresh[key] for key in ("pending_files", "skipped_files", "files")}
    assert counts == {"pending_files": 0, "skipped_files": 0, "files": len(SHOP)}
    assert type(fresh["chunks"]) is int and fresh["chunks"] >= sum(map(len, DEFINITIONS.values()))
    assert len(answer["results"]) > 3
    for one in answer["results"]:
        texts = ("id", "type", "kind", "name", "file", "language", "signature", "content")
        assert all(type(one[key]) is str for key in texts), one
        assert all(type(one[key]) is int for key in ("line_start", "line_end", "tokens")), one
        assert type(one["score"]) is float
        activation = one["activation"]
        terms = {"total", "base_level", "spreading", "context_boost", "decay"}
        assert terms <= activation.keys() and all(type(value) is float for value in activation.values())
        total = activation["base_level"] + activation["spreading"] + activation["context_boost"] - activation["decay"]
        assert activation["total"] == pytest.approx(total, abs=1e-5)
        assert one["last_used"] is None, "nothing was used in an answer yet: recall itself only reads"
        assert ISO.fullmatch(one["last_modified"])
        assert one["type"] == "code" and one["tokens"] > 0 and "\\" not in one["file"]
        assert one["id"] == f"code:{one['file']}:{one['name']}:{one['line_start']}-{one['line_end']}"


def test_results_are_sorted_and_none_is_repeated(answer: dict[str, Any]) -> None:
    scores = [one["score"] for one in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    ids = [one["id"] for one in answer["results"]]
    assert len(ids) == len(set(ids))


def test_lines_are_one_based_inclusive_and_content_is_those_lines(answer: dict[str, Any], root: Path) -> None:
    for one in answer["results"]:
        lines = (root / one["file"]).read_text("utf-8").splitlines(keepends=True)
        assert 1 <= one["line_start"] <= one["line_end"] <= len(lines)
        text = "".join(lines[one["line_start"] - 1 : one["line_end"]])
        assert one["content"].removesuffix("\n") == text.removesuffix("\n")
        assert one["name"].rpartition(".")[2].strip("<>") in text or one["kind"] == "module"
    price = next(one for one in answer["results"] if one["name"] == "total_price")
    assert price["content"].startswith("# The price a customer sees.\n@staticmethod\ndef total_price(")
    assert price["content"].rstrip("\n").endswith("return add_tax(sum(basket.lines))")
    assert price["signature"] == "def total_price(basket: Basket) -> int"


def test_limit_type_and_budget(product: Product, root: Path, answer: dict[str, Any]) -> None:
    two = product.json("mem", "basket", "--limit", "2", cwd=root)["results"]
    assert [one["id"] for one in two] == [one["id"] for one in answer["results"][:2]]
    assert all("content" not in one for one in two)
    code = product.json("m", "basket", "--type", "code", cwd=root)["results"]
    assert [one["id"] for one in code] == [one["id"] for one in answer["results"][:10]]
    assert product.json("mem", "basket", "--type", "reas", cwd=root)["results"] == []
    all_tokens = sum(one["tokens"] for one in code)
    for budget in (1, two[0]["tokens"], all_tokens // 2, all_tokens):
        within = product.json("mem", "basket", "--budget", str(budget), cwd=root)["results"]
        assert sum(one["tokens"] for one in within) <= budget
        assert bool(within) == (budget >= min(one["tokens"] for one in answer["results"]))


def test_explain_shows_why(product: Product, root: Path, first: str) -> None:
    best = product.json("mem", "total price of a basket", "--explain", cwd=root)["results"][0]
    assert {"total", "price", "basket"} <= set(best["evidence"]["matched_terms"])
    said = product.aurora("mem", "total price of a basket", "--explain", cwd=root).stdout
    assert "= base level" in said and "words: " in said and "ranked by: " in said


def test_nothing_found_is_a_sentence_that_helps(product: Product, root: Path, first: str) -> None:
    done = product.aurora("mem", "luhm", cwd=root)
    assert done.returncode == 0
    assert "'luhm'" in done.stdout and "did you mean 'luhn'?" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("mem", "basket"), 0),
        (("mem", ""), 2),
        (("mem",), 2),
        (("mem", "x", "--limit", "0"), 2),
        (("mem", "x", "--type", "poem"), 2),
        (("--workspace", "/no/such/folder", "mem", "x"), 2),
        (("index", "/"), 2),
        (("frobnicate",), 2),
        (("sum of the basket",), 0),
        (("basket.py:9999",), 1),
        (("code:basket.py:nothing",), 1),
        (("doctor",), 0),
        (("--version",), 0),
    ],
)
def test_exit_codes(product: Product, root: Path, first: str, arguments: tuple[str, ...], code: int) -> None:
    done = product.aurora(*arguments, cwd=root)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == (1 if code else 0), done.stderr


def test_no_daemon_to_be_had_is_exit_code_3(tmp_path: Path, root: Path) -> None:
    (tmp_path / "home").write_text("not a folder")
    done = Product(tmp_path / "home").aurora("mem", "basket", cwd=root)
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1 and str(tmp_path) in done.stderr, done.stderr
    assert (tmp_path / "home").read_text() == "not a folder"


def test_status_says_what_the_daemon_does(product: Product, root: Path, first: str) -> None:
    status = product.json("daemon", "status", cwd=root)
    assert status["pid"] == product.daemons()[0].pid
    assert re.fullmatch(r"\d+\.\d+\.\d+", status["version"])
    assert type(status["uptime_s"]) is float and status["uptime_s"] > 0
    assert 10 << 20 < status["rss_bytes"] < 1 << 30
    assert Path(status["socket"]).is_socket() and Path(status["socket"]).stat().st_mode & 0o777 == 0o600
    mine = next(workspace for workspace in status["workspaces"] if workspace["root"] == str(root))
    assert mine.pop("database_bytes") > 4096
    assert mine.pop("chunks") >= sum(map(len, DEFINITIONS.values()))
    assert {
        "root": str(root),
        "state": "ready",
        "files": len(SHOP),
        "pending_files": 0,
        "skipped_files": 0,
        "last_error": None,
    }.items() <= mine.items()


def test_status_without_a_daemon_starts_none(tmp_path: Path) -> None:
    product = Product(tmp_path / "home")
    assert product.json("daemon", "status", cwd=tmp_path, exit_code=1) == {"running": False}
    assert not product.processes() and not product.home.exists()


def test_index_parses_nothing_twice(product: Product, root: Path, first: str) -> None:
    again = product.json("index", cwd=root)
    assert (again["parsed_files"], again["unchanged_files"], again["failed_files"]) == (0, len(SHOP), 0)
    assert again["files"] == len(SHOP) and again["definitions"] >= sum(map(len, DEFINITIONS.values()))
    assert again["languages"] == {
        **dict.fromkeys(("c", "cpp", "go", "java", "javascript", "ruby", "rust", "typescript"), 1),
        "python": 2,
        "markdown": 1,
    }
    with product.session(root) as client:
        sat = client.request("aurora/status")
    product.aurora("daemon", "stop", cwd=root)
    assert not product.daemons()
    after = product.json("index", cwd=root)
    assert (after["parsed_files"], after["unchanged_files"]) == (0, len(SHOP))
    assert product.json("daemon", "status", cwd=root)["pid"] != sat["pid"]


@pytest.fixture(scope="module")
def odd(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace full of what is not to be indexed, with one file that is in each place."""
    root = tmp_path_factory.mktemp("work") / "odd"
    code = "def {}():\n    return 1\n"
    write(
        root,
        {
            "kept.py": code.format("kept_function"),
            ".gitignore": "*.tmp.py\n/build/\nlogs/\n!logs/\n",
            "junk.tmp.py": code.format("by_pattern"),
            "build/out.py": code.format("by_anchor"),
            "deep/build/kept_too.py": code.format("kept_as_the_anchor_is_at_the_root"),
            "deep/.gitignore": "!junk.tmp.py\nsecret.py\n",
            "deep/junk.tmp.py": code.format("kept_by_negation"),
            "deep/secret.py": code.format("by_nested_rule"),
            "logs/kept_log.py": code.format("kept_by_later_rule"),
            ".auroraignore": "third_party/\n",
            "third_party/vendor.py": code.format("by_auroraignore"),
            "private.py": code.format("by_exclude_file"),
            "generated.py": "# Code generated by protoc. DO NOT EDIT.\n" + code.format("by_generator"),
            "bundle.js": "function bundled(){" + "var a=1;" * 2000 + "}\n",
            "site.min.js": "function small(){}\n",
            "package-lock.json": "{}\n",
            "huge.py": code.format("by_size") + "# padding\n" * 120_000,
        },
    )
    (root / "binary.py").write_bytes(b"def by_null_byte(): pass\n\0\0")
    git(root, "init", "-q")
    with (root / ".git" / "info" / "exclude").open("a") as exclude:
        exclude.write("private.py\n")
    (root / "loop.py").symlink_to(root / "loop.py")
    (root / "round").symlink_to(root)
    (root / "twin.py").symlink_to(root / "kept.py")
    if os.geteuid() != 0:
        write(root, {"closed.py": code.format("by_permission")})
        (root / "closed.py").chmod(0)
    product.json("index", cwd=root)
    return root.resolve()


def test_what_is_not_to_be_indexed_is_not(product: Product, odd: Path) -> None:
    with product.session(odd) as client:
        known = client.request("workspace/symbol", {"query": ""})
    assert {symbol["name"] for symbol in known} == {
        "kept_function",
        "kept_as_the_anchor_is_at_the_root",
        "kept_by_negation",
        "kept_by_later_rule",
    }


def test_doctor_counts_and_explains_every_skip(product: Product, odd: Path) -> None:
    told = product.json("doctor", cwd=odd)
    examples = {example["path"]: example["reason"] for example in told["examples"]}
    expected = {
        "binary.py": "binary",
        "bundle.js": "minified",
        "site.min.js": "minified",
        "generated.py": "generated",
        "huge.py": "too-large",
        "loop.py": "symlink-loop",
        "twin.py": "symlink",
    }
    if os.geteuid() != 0:
        expected["closed.py"] = "unreadable"
    assert expected.items() <= examples.items(), examples
    assert all(example["detail"].strip() for example in told["examples"])
    for reason in set(expected.values()):
        assert told["skipped"][reason] == sum(one["reason"] == reason for one in told["examples"])
    # junk.tmp.py, build/, deep/secret.py, third_party/ and private.py
    assert told["skipped"]["ignored"] >= 5
    listed = sum(one["reason"] not in ("ignored", "no-language") for one in told["examples"])
    skipped = product.json("mem", "kept", cwd=odd)["freshness"]["skipped_files"]
    assert skipped == listed, "every answer says how many files doctor can explain"


def test_doctor_says_which_files_the_rules_leave_out(product: Product, odd: Path) -> None:
    told = product.json("doctor", cwd=odd)
    ignored = {one["path"].rstrip("/") for one in told["examples"] if one["reason"] == "ignored"}
    assert {"junk.tmp.py", "build", "deep/secret.py", "third_party", "private.py"} <= ignored


def test_doctor_for_people_names_reasons_and_files(product: Product, odd: Path) -> None:
    done = product.aurora("doctor", cwd=odd)
    assert done.returncode == 0
    assert re.search(r"\d+  too-large\n +huge\.py  1,\d{3},\d{3} bytes", done.stdout), done.stdout
    assert re.search(r"1  binary\n +binary\.py  \S", done.stdout)

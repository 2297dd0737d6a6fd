"""Class names: each public one stands for one thing, over all packages."""

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]

_CLASS = re.compile(r"^class ([A-Z]\w*)", re.MULTILINE)


def test_a_public_class_name_stands_for_one_thing() -> None:
    found = defaultdict(list)
    for path in ROOT.glob("*/aurora_*/**/*.py"):
        for name in _CLASS.findall(path.read_text()):
            found[name].append(path.relative_to(ROOT).as_posix())
    assert len(found) > 500, "the packages were not found"
    assert {name: places for name, places in found.items() if len(places) > 1} == {}

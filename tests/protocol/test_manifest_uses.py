"""Uses of a capability: who asks about one gets what the whole table has, without the table being made."""

from __future__ import annotations

import json

import pytest

from aurora_manifest.editing.hover import hover_at
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Manifest
from tests.manifests import manifest


@pytest.mark.parametrize("inside", ['"encoding": "', '"properties": {\n          "', '"urlTemplate": "'])
def test_a_hover_in_a_capability_looks_at_no_operation_but_those_that_name_it(inside: str) -> None:
    text = json.dumps(manifest(20), indent=2)
    read = Manifest(parse(text))
    at = text.index(inside, text.index('"note_7": {')) + len(inside) + 1
    assert hover_at(read, at) is not None
    assert not {"uses", "operations", "by_resource"} & read.__dict__.keys()


def test_the_uses_of_one_capability_are_those_of_the_table() -> None:
    twice = '{"GET": {"capabilityId": "a"}, "GET": {"capabilityId": "b"}}'
    for text in (
        json.dumps(manifest(20)),
        f'{{"capabilities": {{"a": {{}}, "b": {{}}}}, "resources": {{"x": {{"operations": {twice}}}}}}}',
        '{"resources": {"x": 1, "y": {"operations": []}, "z": {"operations": {"GET": 1, "PUT": {"capabilityId": 2}}}}}',
    ):
        alone, table = Manifest(parse(text)), Manifest(parse(text))
        for name in (*table.capabilities, *table.uses, "nobody"):
            found = [each.path for each in alone.uses_of(name)]
            assert found == [each.path for each in table.uses.get(name, [])]
        assert "uses" not in alone.__dict__

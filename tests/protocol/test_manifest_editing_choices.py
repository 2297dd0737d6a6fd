"""Choices of an editor's answers about a manifest, a row each: what is shown, which comes first, what is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aurora_manifest.editing import lenses as lenses_module
from aurora_manifest.editing.examples import example_of, example_value
from aurora_manifest.editing.hover import hover_at
from aurora_manifest.editing.lenses import hints, lenses
from aurora_manifest.editing.links import links
from aurora_manifest.editing.outline import outline
from aurora_manifest.editing.parameters import pointed_at
from aurora_manifest.editing.skeletons import location_of
from aurora_manifest.findings import Finding
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Capability, Manifest
from tests.protocol.cursors import chosen, labels, marked, proposals


def read(document: Any) -> Manifest:
    return Manifest(parse(document if isinstance(document, str) else json.dumps(document)))


def capability(action: Any = None, **more: Any) -> Capability:
    """A capability called `find`."""
    return read({"capabilities": {"find": {**({"action": action} if action else {}), **more}}}).capabilities["find"]


def hovered(text: str, *findings: Finding) -> str:
    found = hover_at(*marked(text), findings=findings, documentation=lambda rule: f"about {rule}")
    return found.text if found else ""


# Hover


def test_what_is_wrong_is_told_first_then_what_it_is_then_what_the_schema_says() -> None:
    wrong = Finding("capability-id", "warning", "m", "", 0, 99)
    text = hovered('{"capabilities": {"fi|nd": {"action": {"method": "GET", "urlTemplate": "/n"}}}}', wrong)
    parts = ["about capability-id", "**find** — `GET /n`", "*used by no resource*", "Example request:"]
    assert [text.count(each) for each in parts] == [1] * 4
    assert sorted(parts, key=text.index) == parts


@pytest.mark.parametrize(
    ("text", "span"),
    [
        pytest.param('{"pro|tocol": "AURA"}', '"protocol"', id="the name under the cursor"),
        pytest.param('{"protocol": "AU|RA"}', '"AURA"', id="or the value"),
        pytest.param('{| "protocol": "AURA"}', '{ "pro', id="else where the first finding is"),
    ],
)
def test_the_range_of_a_hover(text: str, span: str) -> None:
    two = [Finding("a", "warning", "m", "", 0, 6), Finding("b", "warning", "m", "", 0, 24)]
    found = hover_at(*marked(text), findings=two, documentation=lambda rule: rule)
    assert found is not None and text.replace("|", "")[found.start : found.end] == span


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        pytest.param(
            {"type": "integer", "minimum": 1, "default": 5, "x-note": 1}, "`integer`, minimum `1`, default `5`",
            id="its bounds and its default, and nothing of one's own",
        ),
        pytest.param({"type": "string", "format": "date"}, "`string`, `date`", id="type and format without a word"),
        pytest.param({"enum": ["a"], "default": {"a": 1}}, "enum `['a']`", id="no object"),
        pytest.param(
            {"description": "Which.", "maxLength": 3, "pattern": "a"}, "Which.\n\nmaxLength `3`, pattern `a`",
            id="its words first",
        ),
    ],
)  # fmt: skip
def test_what_is_told_of_a_parameter(schema: dict[str, Any], words: str) -> None:
    action = {"method": "GET", "urlTemplate": "/{k|ey}", "parameterMapping": {"key": "/key"}}
    document = {"capabilities": {"find": {"parameters": {"properties": {"key": schema}}, "action": action}}}
    text = hovered(json.dumps(document))
    assert text.startswith(f"**key** — parameter\n\n{words}\n\n*in the address, mapped*")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param('{"policy": {"auth|Hint": "none"}}', "— `none`, `cookie`, `bearer`\n", id="the choices there are"),
        pytest.param(
            '{"capabilities": {"a": {"action": {"met|hod": "GET"}}}}', "— `GET`, `POST`, `PUT`, `DELETE`, required\n",
            id="and that it must be there",
        ),
        pytest.param('{"capabilities": {"a": {"descr|iption": ""}}}', "— string, required\n", id="else the type"),
        pytest.param('{"site": {"descr|iption": ""}}', "— string\n", id="what may be left out is not required"),
    ],
)  # fmt: skip
def test_what_the_schema_says_of_a_member(text: str, words: str) -> None:
    assert words in hovered(text)


# Links, lenses, hints, outline


@pytest.mark.parametrize(
    ("document", "targets"),
    [
        pytest.param(
            {"site": {"url": "https://a.example"}, "id": "https://b.example/x"},
            ["https://a.example", "https://b.example/x"], id="in the order of the text",
        ),
        pytest.param({"id": "aura.json", "site": {"url": "/notes"}}, [], id="only a schema may be beside it"),
        pytest.param({"id": "https://a.example/b c"}, [], id="nothing with a space"),
        pytest.param({"id": f"https://a.example/{'a' * 1982}"}, [f"https://a.example/{'a' * 1982}"], id="2,000 signs"),
        pytest.param({"id": f"https://a.example/{'a' * 1983}"}, [], id="and no more"),
    ],
)  # fmt: skip
def test_which_addresses_can_be_opened(document: Any, targets: list[str]) -> None:
    assert [each.target for each in links(read(document), "file:///w/aura.json")] == targets


def test_a_resource_that_uses_a_capability_twice_is_counted_once() -> None:
    both = {"GET": {"capabilityId": "a"}, "PUT": {"capabilityId": "a"}}
    one = {"resources": {"r": {"operations": both}}, "capabilities": {"a": {}}}
    assert [each.resources for each in lenses(read(one))] == [1]


def test_of_a_capability_that_stands_twice_the_last_can_be_called_as_the_last_counts() -> None:
    action = '{"action": {"method": "GET", "urlTemplate": "/n"}}'
    found = lenses(read(f'{{"capabilities": {{"a": {action}, "a": {action}, "b": {{}}}}}}'))
    assert [each.can_be_called for each in found] == [False, True, False], "and nothing without a request"


def test_hints_end_at_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lenses_module, "MAX_HINTS", 2)
    action = {"method": "GET", "urlTemplate": "/n"}
    document = read({"capabilities": {name: {"action": action} for name in "abc"}})
    assert len(hints(document, 0, len(document.document.text))) == 2


@pytest.mark.parametrize(
    ("member", "shown"),
    [
        pytest.param('" ": 1', ('""', "1"), id="a name of nothing but space"),
        pytest.param(f'"a": "{"x" * 101}"', ("a", "x" * 100), id="a hundred signs of a text"),
        pytest.param('"a": null', ("a", ""), id="nothing of null"),
        pytest.param('"a": false', ("a", "False"), id="but of a flag"),
    ],
)
def test_how_a_member_is_shown_in_the_outline(member: str, shown: tuple[str, str]) -> None:
    (entry,) = outline(read(f"{{{member}}}"))
    assert (entry.name, entry.detail) == shown


# Examples


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({"type": "number", "minimum": 1.5}, 1.5, id="a least value that is no whole number"),
        pytest.param({"default": 0, "type": "boolean"}, 0, id="nothing is a default too"),
        pytest.param({"default": [], "type": "boolean"}, True, id="but an empty list says nothing"),
        pytest.param({"type": "string", "minLength": 100}, ("tags" * 25), id="as long as it must be"),
        pytest.param({"type": "string", "minLength": 101}, "tags", id="but for what nobody could read"),
    ],
)
def test_an_example_of_a_value(schema: Any, value: Any) -> None:
    assert example_value(schema, "tags", 0) == value


@pytest.mark.parametrize(
    ("action", "url"),
    [
        pytest.param(
            {"urlTemplate": "/n{?q}", "parameterMapping": {"q": "/query"}}, "?q=query", id="its parameter's name"
        ),
        pytest.param({"urlTemplate": "/n{?q}", "parameterMapping": {"q": "/"}}, "?q=value", id="or a word"),
        pytest.param({"urlTemplate": "/n/{x}", "parameterMapping": {}}, "/n/x", id="or the variable's own"),
    ],
)
def test_what_stands_for_an_argument_that_nobody_describes(action: dict[str, Any], url: str) -> None:
    document = {"capabilities": {"find": {"action": {"method": "GET", **action}}}}
    assert example_of(read(document), read(document).capabilities["find"]).url.endswith(url)


def test_a_site_whose_address_is_none_is_somewhere() -> None:
    action = {"method": "GET", "urlTemplate": "/n"}
    document = read({"site": {"url": "nowhere"}, "capabilities": {"a": {"action": action}}})
    assert example_of(document, document.capabilities["a"]).url == "https://example.com/n"


# Pointers and places


@pytest.mark.parametrize(
    ("pointer", "path"),
    [
        pytest.param("/tags/0", ("tags", "*"), id="any item"),
        pytest.param("/tags/-", ("tags", "*"), id="also the one behind the last"),
        pytest.param("/0", ("0",), id="a parameter may be called like an index"),
        pytest.param("", None, id="all of them are none"),
        pytest.param("tags", None, id="nor is what is no pointer"),
    ],
)
def test_the_argument_that_a_pointer_means(pointer: str, path: tuple[str, ...] | None) -> None:
    described = {"properties": {"tags": {"type": "array", "items": {}}, "0": {}}}
    assert pointed_at(capability(parameters=described), pointer) == path


@pytest.mark.parametrize(
    ("action", "place"),
    [
        pytest.param({"urlTemplate": "/{q}", "encoding": "query"}, "path", id="in the path, as the template has it"),
        pytest.param({"urlTemplate": "/{?q}", "encoding": "json"}, "query", id="in its query"),
        pytest.param({"urlTemplate": "/?a=1{&q}", "encoding": "json"}, "query", id="or further on in that"),
        pytest.param({"method": "POST", "urlTemplate": "/", "encoding": "query"}, "query", id="else by the encoding"),
        pytest.param({"method": "GET", "urlTemplate": "/", "encoding": "json"}, "body", id="whatever the method"),
        pytest.param({"method": "DELETE", "urlTemplate": "/"}, "query", id="without one by the method"),
        pytest.param({"method": "PUT", "urlTemplate": "/"}, "body", id="which may have a body"),
    ],
)
def test_where_a_parameter_goes_when_nothing_says_so(action: dict[str, Any], place: str) -> None:
    assert location_of(capability(action), "q") == place


# Whole parts


def with_uses(*uses: tuple[str, str, str]) -> str:
    """A manifest in which resources (name, method) name the capability `zz`, which is to be written."""
    resources = {
        name: {"uriPattern": pattern, "operations": {method: {"capabilityId": "zz"}}} for name, method, pattern in uses
    }
    return json.dumps({"resources": resources, "capabilities": {}}).replace('"capabilities": {}', '"capabilities": {|}')


@pytest.mark.parametrize(
    ("uses", "method", "template", "encoding"),
    [
        pytest.param([("a", "PUT", "/a"), ("b", "DELETE", "/b")], "PUT", "/a", "json", id="as its first use has it"),
        pytest.param([("b", "DELETE", "/b")], "DELETE", "/b", "query", id="no body with DELETE"),
        pytest.param([("a", "PATCH", "/a")], "GET", "/a", "query", id="no method that there is not"),
    ],
)
def test_a_capability_that_is_named_and_not_there(
    uses: list[tuple[str, str, str]], method: str, template: str, encoding: str
) -> None:
    (found, *_) = proposals(with_uses(*uses))
    made = json.loads(chosen(with_uses(*uses), "zz"))["capabilities"]["zz"]["action"]
    assert (found.label, found.detail) == ("zz", f"used by {uses[0][0]}")
    assert (made["method"], made["urlTemplate"], made["encoding"]) == (method, template, encoding)


def test_a_resource_that_is_made_for_a_capability_has_its_method_and_its_path() -> None:
    action = {"method": "PUT", "urlTemplate": "/n/{id}{?all}"}
    text = json.dumps({"resources": {}, "capabilities": {"find": {"action": action}}})
    made = json.loads(chosen(text.replace('"resources": {}', '"resources": {|}'), "find_resource"))["resources"]
    (resource,) = made.values()
    assert resource["uriPattern"] == "/n/{id}"
    assert resource["operations"] == {"PUT": {"capabilityId": "find"}}


@pytest.mark.parametrize(
    ("methods", "holes"),
    [
        pytest.param(["GET", "PUT", "PUT"], "${1|c1,c2|}", id="those of the method"),
        pytest.param(["GET", "GET"], "${1|c0,c1|}", id="all where there are none"),
        pytest.param(["PUT"] * 51, f"${{1|{','.join(f'c{n}' for n in range(50))}|}}", id="the first fifty"),
    ],
)
def test_which_capabilities_a_new_operation_may_run(methods: list[str], holes: str) -> None:
    made = {f"c{n}": {"action": {"method": each}} for n, each in enumerate(methods)}
    text = json.dumps({"resources": {"r": {"operations": {}}}, "capabilities": made})
    found = proposals(text.replace('"operations": {}', '"operations": {|}'), snippets=True)
    (put,) = [each for each in found if each.label == "PUT"]
    assert holes in put.text


# Proposals


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param('{"capabilities": {"a": {"action": {"cors": |}}}}', ["true", "false"], id="yes before no"),
        pytest.param(
            '{"resources": {"r": {"operations": {"GET": {"capabilityId": "a"}}}}, "capabilities": {"a|": {}}}',
            ["new_capability"], id="a capability that is there is not missing",
        ),
        pytest.param('{"site": "|"}', [], id="no object into a text"),
        pytest.param('{"capabilities": {"a": {"id": |}}}', ["a"], id="an id is the name"),
        pytest.param(
            '{"capabilities": {"a": {"parameters": {"properties": {"p": {"enum": ["x", 1, "y"], "default": |}}}}}}',
            ["x", "y"], id="a default is a choice",
        ),
        pytest.param(
            '{"resources": {"r": {"operations": {"GET": {"capabilityId": "a"}}, "uriPattern": |}},'
            '"capabilities": {"a": {"action": {"urlTemplate": "/n/{id}{?all}"}}}}',
            ["/n/{id}"], id="a pattern is the address without its query",
        ),
        pytest.param(
            '{"resources": {"r": {"operations": {"GET": {"capabilityId": "a"}}, "uriPattern": "/{|}"}}, "capabilities":'
            '{"a": {"parameters": {"properties": {"p": {}}}, "action": {"urlTemplate": "/{v}",'
            '"parameterMapping": {"m": "/p"}}}}}',
            ["v", "m", "p"], id="a pattern's variables are named as in the request, then as the parameters",
        ),
        pytest.param(
            '{"resources": {"r": {"uriPattern": "/{key}", "operations": {"GET": {"capabilityId": "a"}}}},'
            '"capabilities": {"a": {"parameters": {"properties": {"z": {}}}, "action": {"urlTemplate": "/{|}"}}}}',
            ["z", "key"], id="a template's as the parameters, then as in the pattern",
        ),
    ],
)  # fmt: skip
def test_what_is_proposed(text: str, found: list[str]) -> None:
    assert labels(text) == found


def test_of_two_arguments_of_one_name_the_outer_is_mapped() -> None:
    capability = '{"parameters": {"properties": {"by": {"properties": {"id": {}}}, "id": {}}}, "action": '
    text = f'{{"capabilities": {{"a": {capability}{{"parameterMapping": {{|}}}}}}}}}}'
    assert '"parameterMapping": {"id": "/id"}' in chosen(text, "id")


def test_a_place_in_the_request_is_proposed_with_the_likely_one_first() -> None:
    text = '{"capabilities": {"a": {"action": {"urlTemplate": "/{?q}", "parameterLocation": {|}}}}}'
    assert "${1|query,path,header,body|}" in proposals(text, snippets=True)[0].text


def test_a_variable_of_two_operations_is_told_as_the_first_ones() -> None:
    used = '{"GET": {"capabilityId": "a"}, "PUT": {"capabilityId": "b"}}'
    action = '{"action": {"urlTemplate": "/{v}"}}'
    text = f'{{"resources": {{"r": {{"operations": {used}, "uriPattern": "/{{|"}}}}, "capabilities": '
    (found,) = proposals(f'{text}{{"a": {action}, "b": {action}}}}}')
    assert (found.label, found.detail) == ("v", "parameter of a")


def test_a_resource_is_proposed_for_each_capability_that_has_none() -> None:
    used = '"r": {"operations": {"GET": {"capabilityId": "a"}}}'
    found = labels(f'{{"resources": {{{used}, |}}, "capabilities": {{"a": {{}}, "b": {{}}}}}}')
    assert found == ["new_resource", "b_resource"]


@pytest.mark.parametrize(
    ("text", "label", "hole"),
    [
        pytest.param('{"capabilities": {|}}', "new_capability", "${7|query,json|}", id="an encoding of two"),
        pytest.param('{"policy": {"rateLimit": {|}}}', "limit", '"limit": ${1:1}', id="a number begins with one"),
        pytest.param(
            '{"capabilities": {"a": {"action": {|}}}}', "cors", '"cors": ${1|true,false|}', id="a flag with yes"
        ),
        pytest.param('{|}', "protocol", '"protocol": "AURA"', id="the only choice is no hole"),
    ],
)  # fmt: skip
def test_what_is_to_be_filled_in(text: str, label: str, hole: str) -> None:
    (found,) = [each for each in proposals(text, snippets=True) if each.label == label]
    assert hole in found.text


def test_a_name_of_two_letters_has_no_singular() -> None:
    assert example_value({"type": "array", "items": {}}, "os", 0) == ["os"]

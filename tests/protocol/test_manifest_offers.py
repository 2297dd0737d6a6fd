"""What each rule offers, a row each: what its fix makes of the place, which ways there are, what is told and how."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aurora_manifest.fix_all import edited, is_fixable
from aurora_manifest.json.parser import parse
from aurora_manifest.json.pointers import from_pointer
from aurora_manifest.violations import SchemaCheck
from tests.manifests import check
from tests.protocol.rule_cases import BASE, located, mapping, parameter, text, update, url
from tests.protocol.test_manifest_choices import changed, told

NO_FIX = "(no fix)"
GONE = "(gone)"


def site(address: str) -> dict[str, Any]:
    return {"site": {"url": address}}


def capabilities(method: str | None, template: str, *names: str) -> dict[str, Any]:
    """Capabilities with one request, which takes an `id`."""
    action = {"type": "HTTP", "method": method, "urlTemplate": template, "parameterMapping": {"id": "/id"}}
    made = {"v": 1, "description": "Do it.", "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}}
    return {"capabilities": {name: {**made, "id": name, "action": action} for name in names}}


def operations(resource: str, **by_method: str | None) -> dict[str, Any]:
    named = {method: {"capabilityId": each} if each else None for method, each in by_method.items()}
    return {"resources": {resource: {"operations": named}}}


def both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The patch that does what both do."""
    return {**one, **{name: both(one[name], each) if name in one else each for name, each in other.items()}}


def mended(patch: Any, rule: str) -> Any:
    """The manifest after the fix of the first finding of a rule."""
    (found, *_) = told(patch, rule)
    assert found.fix is not None
    return json.loads(edited(changed(patch), found.fix.edits))


def after(patch: Any, rule: str) -> Any:
    """What stands at the place of a rule's first finding once that is mended."""
    (found, *_) = told(patch, rule)
    if found.fix is None:
        return NO_FIX
    value = mended(patch, rule)
    for step in from_pointer(found.path):
        if isinstance(value, dict) and step not in value:
            return GONE
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def titles(patch: Any, rule: str) -> list[str]:
    """All ways of a rule's first finding, its fix before the others."""
    (found, *_) = told(patch, rule)
    return [each.title for each in (found.fix, *found.others) if each is not None]


@pytest.mark.parametrize(
    ("address", "becomes"),
    [
        pytest.param("notes.example.com:8080/a", "https://notes.example.com:8080/a", id="a host gets a scheme"),
        pytest.param("http:/notes.example.com", "http://notes.example.com", id="a slip in it does not change which"),
        pytest.param("HTTPS//notes.example.com", "https://notes.example.com", id="it is written small"),
        pytest.param("https;//notes.example.com/a", "https://notes.example.com/a", id="a semicolon for a colon"),
        pytest.param("https:/notes", NO_FIX, id="what is no host is left"),
        pytest.param("//notes", NO_FIX, id="also behind two slashes"),
        pytest.param("ftp://notes.example.com", NO_FIX, id="another scheme is none of the web's"),
        pytest.param("https://notes.example.com:port/a", "https://notes.example.com/a", id="a port that is none goes"),
        pytest.param("https://notes.example.com/?a=1#b", "https://notes.example.com/", id="all from the query on"),
        pytest.param("https://notes.example.com/#b?a", "https://notes.example.com/", id="or from the fragment on"),
    ],
)
def test_what_becomes_of_an_address_of_a_site(address: str, becomes: str) -> None:
    assert after(site(address), "site-url") == becomes


@pytest.mark.parametrize(
    ("patch", "rule", "becomes"),
    [
        pytest.param(site("HTTP://notes.example.com"), "url-insecure", "https://notes.example.com", id="any case"),
        pytest.param(
            update(url("http://notes.example.com/notes/{id}")), "url-insecure",
            "https://notes.example.com/notes/{id}", id="an insecure template",
        ),
        pytest.param(update(url("GET /notes/{id}")), "url-template-relative", "/notes/{id}", id="a method goes"),
        pytest.param(update(url("put /notes/{id}")), "url-template-relative", "/notes/{id}", id="in any case"),
        pytest.param(update(url("notes/{id}")), "url-template-relative", "/notes/{id}", id="a slash comes first"),
        pytest.param(update(url("")), "url-template-relative", NO_FIX, id="nobody knows where nothing leads"),
        pytest.param(update(url("{+id}")), "url-template-relative", NO_FIX, id="nor where an argument does"),
        pytest.param(update(url("ftp:notes")), "url-template-relative", NO_FIX, id="nor what another scheme was for"),
        pytest.param(
            update(url("things/{id}")), "resource-uri-pattern", NO_FIX, id="a pattern does not follow half an address"
        ),
        pytest.param(update(mapping(text="/a~b~c")), "mapping-pointer", "/a~0b~0c", id="every tilde is escaped"),
        pytest.param(update(mapping(text="#/a~b")), "mapping-pointer", "/a~0b", id="also of a fragment"),
        pytest.param(update(mapping(text="$.a[0]")), "mapping-pointer", "/$.a[0]", id="a JSONPath of names only"),
        pytest.param(
            update(mapping(text="/parameters/properties/text")), "mapping-unknown-parameter", "/text",
            id="a pointer leads into arguments, not through their schema",
        ),
        pytest.param(
            update(mapping(text="/parameters/text")), "mapping-unknown-parameter", "/text", id="nor from around it"
        ),
        pytest.param(
            update(mapping(text="/properties/text")), "mapping-unknown-parameter", "/text", id="nor from within it"
        ),
        pytest.param(
            update(mapping(text="/zzz/a")), "mapping-unknown-parameter", NO_FIX,
            id="the parameter of a mapped name is whole",
        ),
        pytest.param(
            update({"parameters": {"properties": {"labels_of": {}}}, **mapping(l="/label")}),
            "mapping-unknown-parameter", "/labels_of", id="a name some way off, as nothing else leads there",
        ),
        pytest.param(
            update({"parameters": {"properties": {"labels_of": {}}}, **mapping(l="/label", m="/labels_of")}),
            "mapping-unknown-parameter", NO_FIX, id="not where something does",
        ),
        pytest.param(
            update(mapping(tags="/tags/\u0663")), "mapping-array-index", NO_FIX, id="other scripts' digits are no index"
        ),
        pytest.param(
            update(mapping(tags=f"/tags/{'0' * 19}")), "mapping-array-index", "/tags/0", id="zeros before an index go"
        ),
        pytest.param(
            update(mapping(tags=f"/tags/{'0' * 20}")), "mapping-array-index", NO_FIX, id="a number too long for one"
        ),
        pytest.param(update(located(text="URL")), "parameter-location", "path", id="other words in any case"),
        pytest.param(update(located(text="hdr")), "parameter-location", "header", id="of four places one is meant"),
        pytest.param(update(text(type="INT")), "parameters-type", "integer", id="a type of another language shouted"),
        pytest.param(update(text(format="URL")), "parameters-format", "uri", id="a format of another language shouted"),
        pytest.param(update(text(format="emails")), "parameters-format", "email", id="a format with a letter too many"),
        pytest.param(
            update({"parameters": {"required": ["id", "label"], "properties": {"labels_of": {}}}}),
            "parameters-required", "labels_of", id="a required name some way off, as the other is not required",
        ),
        pytest.param(update(text(enum="a||b|")), "parameters-schema", ["a", "b"], id="nothing is no choice"),
        pytest.param(update(text(**{"not": {"required": True}})), "parameters-schema", NO_FIX, id="what is required?"),
        pytest.param(
            update(parameter("n", type="number", exclusiveMinimum=True)), "parameters-schema", NO_FIX,
            id="no bound to be excluded",
        ),
        pytest.param(
            update(text(maximum=1, minimum=2)), "parameters-range", 2, id="bounds are swapped in either order"
        ),
        pytest.param(update(text(pattern="/^[a/")), "parameters-pattern", NO_FIX, id="a slash mends no bad pattern"),
        pytest.param(update(text(**{"$ref": "#/$defs/x"})), "parameters-ref", NO_FIX, id="no schema to lead to"),
        pytest.param(
            update(url("/notes/{note id}", parameterMapping={"note_id": "/id", "id": None})), "url-template",
            "/notes/{note_id}", id="the mapped name that a variable was to be",
        ),
        pytest.param(update(url("/notes/%(id)s")), "url-template", "/notes/{id}", id="a named place of Python's"),
        pytest.param(update(url("/notes/%(text)s")), "url-template", "/notes/{text}", id="by its own name"),
        pytest.param(update(url("/notes/{{id}")), "url-template", "/notes/{id}", id="of two braces one goes"),
        pytest.param(
            update(url("/notes/{foo-bar}", parameterMapping={"text": None, "tags": None})), "url-template",
            "/notes/{foo_bar}", id="what is like no mapped name keeps its own",
        ),
        pytest.param(update(url("/notes/%s")), "url-template", "/notes/{id}", id="one without name is the required"),
        pytest.param(
            update({"parameters": {"required": ["id", "text"]}, **url("/notes/%s")}), "url-template", NO_FIX,
            id="of two required ones neither",
        ),
        pytest.param(
            update({"parameters": {"required": []}, **url("/notes/%d", parameterMapping={"text": None, "tags": None})}),
            "url-template", "/notes/{id}", id="or the only one there is",
        ),
        pytest.param(
            {"site": {"owner": "Ann", "x-owner": "Eve"}}, "extension-name", NO_FIX, id="a name that is taken"
        ),
        pytest.param({"site": {"gr\u00f6\u00dfe": 1}}, "extension-name", NO_FIX, id="a name in other letters"),
        pytest.param(
            {"capabilities": {"---": {**BASE["capabilities"]["list_notes"], "description": ""}}},
            "capability-description", NO_FIX, id="a name without words describes nothing",
        ),
        pytest.param(
            {"capabilities": {"erase": {**BASE["capabilities"]["list_notes"], "description": "erase"}}},
            "capability-description", NO_FIX, id="nor does one word twice",
        ),
        pytest.param({"policy": {"rateLimit": {"window": "min"}}}, "schema-enum", "minute", id="a choice cut off"),
    ],
)  # fmt: skip
def test_what_a_fix_makes_of_its_place(patch: Any, rule: str, becomes: Any) -> None:
    assert after(patch, rule) == becomes


@pytest.mark.parametrize(
    ("patch", "rule", "ways"),
    [
        pytest.param(
            operations("note", PATCH="zzz"), "manifest-undefined-capability", [],
            id="no capability is added for a method that none can have",
        ),
        pytest.param(
            operations("notes", GET="list_note"), "manifest-undefined-capability", ['Write "list_notes"'],
            id="nor where another was meant",
        ),
        pytest.param(
            capabilities("DELETE", "/notes/{id}", "one") | operations("note", PUT=None, DELETE="update_note"),
            "operation-method", ['Write "one"', 'Rename to "PUT"'], id="who fits and is free comes before the method",
        ),
        pytest.param(
            capabilities("DELETE", "/notes/{id}", "a", "b") | operations("note", PUT=None, DELETE="update_note"),
            "operation-method", ['Rename to "PUT"'], id="of two that fit neither is named",
        ),
        pytest.param(
            both(
                capabilities("DELETE", "/notes/{id}", "one"),
                both(operations("note", PUT=None, DELETE="update_note"), operations("notes", DELETE="one")),
            ),
            "operation-method", ['Rename to "PUT"'], id="nor one that is in use",
        ),
        pytest.param(
            update(mapping(z="/zzz/a")), "mapping-unknown-parameter", ['Remove "z"'],
            id="a parameter of a parameter is not added",
        ),
        pytest.param(
            update(mapping(text="/txt")), "mapping-unknown-parameter", ['Write "/text"'], id="nor one beside a guess"
        ),
        pytest.param(
            update({"action": {"parameterMapping": {"quer": "/tags"}, "parameterLocation": {"query": "text"}}}),
            "parameter-location-unmapped", ['Write "text": "query"', 'Remove "query"'],
            id="a place before its name is turned round, whatever else is near",
        ),
        pytest.param(
            update(text(type="object", properties={}, required=["zzz"])), "parameters-required", [],
            id="what an argument requires of its own is not the call's",
        ),
        pytest.param(
            update({"parameters": {"properties": {"id": {"required": True}}}}), "parameters-schema",
            ['Remove "required"'], id="what is required already need not say so",
        ),
        pytest.param(
            update(text(enum=["a", 1])), "parameters-enum", ["Remove it"], id="a choice of another type goes"
        ),
    ],
)  # fmt: skip
def test_which_ways_there_are(patch: Any, rule: str, ways: list[str]) -> None:
    assert titles(patch, rule) == ways


@pytest.mark.parametrize(
    ("patch", "rule", "is_made"),
    [
        pytest.param(site("http://notes.example.com"), "url-insecure", False, id="a site may have no TLS"),
        pytest.param(
            site("https://admin:hunter22@notes.example.com"), "secret-in-url", False, id="a login may be needed"
        ),
        pytest.param(update(url("/notes/{id}{?tags:3}")), "url-template-prefix", False, id="a prefix was to shorten"),
        pytest.param(update(url("/notes/{id*}")), "url-template-explode", True, id="a star changes nothing"),
        pytest.param(update(url("/notes/{ id}")), "url-template", True, id="nor does a space in braces"),
        pytest.param(
            update(text(type="number", enum=[1, 1.0])), "parameters-enum", False, id="one number in two spellings"
        ),
    ],
)
def test_what_is_just_made_and_what_only_offered(patch: Any, rule: str, is_made: bool) -> None:
    (found, *_) = told(patch, rule)
    assert found.fix is not None and is_fixable(found) is is_made


def test_each_repeat_is_held_against_the_first() -> None:
    found = told(update(text(type="number", enum=[1, 1.0, 1.0])), "parameters-enum")
    assert [is_fixable(each) for each in found] == [False, False], "1.0 is not spelt as 1"
    three = {name: {**BASE["capabilities"]["list_notes"], "id": name} for name in ("b_notes", "c_notes")}
    repeats = told({"capabilities": three}, "request-ambiguous")
    assert [each.message.split()[0] for each in repeats] == ['"list_notes"', '"list_notes"']
    more = {name: {**BASE["resources"]["notes"]} for name in ("b", "c")}
    assert [each.message.split()[0] for each in told({"resources": more}, "operation-repeats")] == ['"notes"'] * 2


def test_of_a_name_that_stands_three_times_each_is_held_against_the_one_before_it() -> None:
    found = told('{"a": 1, "b": 0, "a": 2, "a": 2}', "json-duplicate-key")
    assert [each.fix is not None for each in found] == [False, True]


def test_a_name_that_no_template_can_have_is_renamed_where_it_is_mapped_and_where_it_is_placed() -> None:
    names = {"parameterMapping": {"note-id": "/id", "id": None}, "parameterLocation": {"note-id": "path"}}
    action = mended(update(url("/notes/{note_id}", **names)), "template-variable-unmapped")["capabilities"][
        "update_note"
    ]["action"]
    assert "note_id" in action["parameterMapping"] and action["parameterLocation"] == {"note_id": "path"}


def test_a_name_that_is_mapped_already_is_not_given_to_another() -> None:
    patch = update(url("/notes/{id}{?te-xt}", parameterMapping={"te-xt": "/tags", "tags": None}))
    action = mended(patch, "url-template")["capabilities"]["update_note"]["action"]
    assert action["urlTemplate"] == "/notes/{id}{?text}" and sorted(action["parameterMapping"]) == [
        "id",
        "te-xt",
        "text",
    ]


@pytest.mark.parametrize(
    ("template", "keys"),
    [
        pytest.param("/notes/{id}", ["id", "text", "tags"], id="the name that leads to its parameter is renamed"),
        pytest.param("/notes/{key}/{id}", ["text", "tags", "key", "id"], id="unless the template has that one too"),
    ],
)
def test_a_variable_that_is_mapped_under_another_name(template: str, keys: list[str]) -> None:
    patch = update(url(template, parameterMapping={"id": None, "key": "/id"}))
    names = mended(patch, "template-variable-unmapped")["capabilities"]["update_note"]["action"]["parameterMapping"]
    assert sorted(names) == sorted(keys) and names["id"] == "/id"


def test_a_capability_that_is_added_does_what_its_operation_promises() -> None:
    patch = both(
        operations("note", DELETE="erase-all"), {"resources": {"note": {"uriPattern": "/notes/{id}/of/{owner}"}}}
    )
    (found,) = told(patch, "manifest-undefined-capability")
    added = json.loads(edited(changed(patch), found.others[0].edits))["capabilities"]["erase-all"]
    one = {"type": "string"}
    assert added == {
        "id": "erase-all",
        "v": 1,
        "description": "Erase all.",
        "parameters": {"type": "object", "required": ["id", "owner"], "properties": {"id": one, "owner": one}},
        "action": {
            "type": "HTTP",
            "method": "DELETE",
            "urlTemplate": "/notes/{id}/of/{owner}",
            "parameterMapping": {"id": "/id", "owner": "/owner"},
        },
    }


@pytest.mark.parametrize(
    ("patch", "rule", "count"),
    [
        pytest.param(site("http://app.localhost:3000"), "url-insecure", 0, id="a name of one's own machine"),
        pytest.param(site("http://localhost.example.com"), "url-insecure", 1, id="and not one that begins like it"),
        pytest.param({"id": "urn:my notes"}, "manifest-id", 1, id="no address has a space"),
        pytest.param({"id": "https:"}, "manifest-id", 1, id="nor only a scheme"),
        pytest.param({"id": "notes"}, "manifest-id", 1, id="nor none"),
        pytest.param(
            update(url("http://notes.example.com/notes/{id}")), "url-template-origin", 0,
            id="the site without TLS is told as that",
        ),
        pytest.param(
            update(url("https://notes.example.com:8443/notes/{id}")), "url-template-origin", 1, id="another port"
        ),
        pytest.param(update(url("https://NOTES.example.com/n")), "url-template-origin", 0, id="hosts have no case"),
        pytest.param(
            {"site": {"url": None}, **update(url("https://a.example/n"))}, "url-template-origin", 0, id="no site yet"
        ),
        pytest.param(update(url("\\notes\\{id}")), "url-template-relative", 0, id="backslashes are told as those"),
        pytest.param(update(url("{?id}")), "url-template-relative", 0, id="a query may begin it"),
        pytest.param(update(text(format="regexes")), "parameters-format", 0, id="a format that may be one's own"),
        pytest.param(update({**url("/notes/{+id}"), "parameters": {"required": []}}), "path-variable-optional", 1,
                     id="a reserved variable is in the path"),
        pytest.param(
            update({"action": {"method": "GET", "parameterMapping": {
                "text": None, "tags": None, "x-aurora-ignore": "mapping-pointer"}}}),
            "parameter-not-sent", 0, id="what silences rules is not sent",
        ),
        pytest.param(update({"parameters": None, **url("/notes/:id")}), "url-template-colon", 1, id="a mapped name"),
        pytest.param(
            update(url("/notes/:id", parameterMapping={"id": None})), "url-template-colon", 1, id="or a parameter's"
        ),
        pytest.param(update(url("/notes/:zzz")), "url-template-colon", 0, id="another word may be text"),
        pytest.param(update(parameter("password", const="hunter22")), "secret-value", 1, id="a password as the value"),
        pytest.param(update(parameter("password", enum=["hunter22", "x"])), "secret-value", 1, id="or as a choice"),
        pytest.param({"site": {"descripton": "x"}}, "extension-name", 0, id="a misspelt name is told as that"),
        pytest.param(
            update({"parameters": {"$id": "https://e.example/p", "properties": {"text": {"$ref": "#/$defs/x"}}}}),
            "parameters-ref", 1, id="an address of the whole is no other document",
        ),
        pytest.param(
            capabilities(None, "/notes/{id}", "one") | operations("note", DELETE="one"), "operation-method", 0,
            id="a capability without a method has no other one",
        ),
        pytest.param(
            capabilities("DELETE", "/notes/{id}", "one") | operations("note", DELETE="update_note"),
            "capability-unreferenced", 0, id="who was to be named instead is not unused",
        ),
        pytest.param(update(url("/notes/:id")), "resource-uri-pattern", 0, id="a router's variable leads there too"),
        pytest.param(update(url("/notes/${id}")), "resource-uri-pattern", 0, id="and a shell's"),
        pytest.param(update(url("notes/{id}")), "resource-uri-pattern", 0, id="and a path without its first slash"),
        pytest.param(operations("note", GETT="update_note"), "operation-unknown-method", 0, id="a slip is told so"),
    ],
)  # fmt: skip
def test_what_is_told_and_what_is_not(patch: Any, rule: str, count: int) -> None:
    assert len(told(patch, rule)) == count


@pytest.mark.parametrize(
    ("reference", "becomes"),
    [
        pytest.param("#/$defs/x", "#/$defs/words", id="the only schema there, however it is called"),
        pytest.param("#/components/schemas/x", NO_FIX, id="not from anywhere"),
    ],
)
def test_where_a_reference_was_to_lead(reference: str, becomes: str) -> None:
    patch = {"parameters": {"$defs": {"words": {}}, "properties": {"text": {"$ref": reference}}}}
    assert after(update(patch), "parameters-ref") == becomes


@pytest.mark.parametrize(
    ("template", "place"),
    [
        pytest.param("/nodez/{id}", "/capabilities/get_note/action/urlTemplate", id="spelt much alike: a slip in it"),
        pytest.param(
            "/nodez/{id}?of=/nodez/{id}", "/resources/note/operations/GET/capabilityId", id="which of the two?"
        ),
        pytest.param("/tags/{id}", "/resources/note/operations/GET/capabilityId", id="else another was to be named"),
    ],
)
def test_where_it_is_told_that_one_of_several_operations_leads_elsewhere(template: str, place: str) -> None:
    patch = capabilities("GET", template, "get_note") | operations("note", GET="get_note")
    (found,) = told(patch, "resource-uri-pattern")
    assert found.path == place


@pytest.mark.parametrize(
    ("patch", "rule", "severity"),
    [
        pytest.param(update(url("/notes/#{id}")), "url-template-fragment", "warning", id="a variable that is not sent"),
        pytest.param(update(url("/notes/{id}#top")), "url-template-fragment", "info", id="a fragment that is not"),
        pytest.param({"policy": {"rateLimit": {"limit": 0}}}, "rate-limit", "warning", id="a limit that lets none in"),
        pytest.param(
            {"policy": {"rateLimit": {"limit": 10**9, "window": "second"}}}, "rate-limit", "info", id="or all"
        ),
    ],
)
def test_how_bad_it_is(patch: Any, rule: str, severity: str) -> None:
    assert [each.severity for each in told(patch, rule)] == [severity]


def test_a_misspelt_name_is_one_finding() -> None:
    assert [each.rule for each in check(changed({"site": {"descripton": "x"}}))] == ["schema-unknown-member"]


@pytest.mark.parametrize(
    ("kind", "written", "becomes"),
    [
        pytest.param("integer", "8080", "8080", id="a whole number in quotes"),
        pytest.param("integer", "80.5", None, id="a fraction is not one"),
        pytest.param("number", "80.5", "80.5", id="but a number"),
        pytest.param("integer", "080", None, id="a zero before it may mean more"),
    ],
)
def test_a_number_in_quotes(kind: str, written: str, becomes: str | None) -> None:
    """As of a configuration: the schema of manifests asks for no whole number."""
    schema = SchemaCheck({"type": "object", "properties": {"port": {"type": kind}}}, "the file")
    (found,) = schema.findings(parse(json.dumps({"port": written})))
    assert (found.fix.edits[0].text if found.fix else None) == becomes

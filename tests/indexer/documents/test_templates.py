"""Templates are passages of knowledge, one for each file."""

from __future__ import annotations

import pytest

from aurora_indexer import documents
from aurora_indexer.documents.document_parser import parse_document


@pytest.mark.parametrize("path", ["mail/welcome.html.j2", "a.jinja", "a.jinja2", "show.html.erb", "nginx.conf.J2"])
def test_which_files_are_templates(path: str) -> None:
    format_ = documents.for_path(path)
    assert format_ is not None
    assert format_.name == "template"


@pytest.mark.parametrize(
    ("comment", "doc"),
    [
        ("{# Mail for who signs up. #}", "Mail for who signs up."),
        ("{#- Mail\n   for who signs up -#}", "Mail for who signs up"),
        ("<%# Mail for who signs up %>", "Mail for who signs up"),
        ("<!-- Mail for who signs up -->", "Mail for who signs up"),
        ("", ""),
    ],
)
def test_a_template_is_one_passage_that_its_first_comment_tells_of(comment: str, doc: str) -> None:
    text = f"{comment}\n<h1>Welcome {{{{ user.name }}}}</h1>\n"
    parsed = parse_document("mail/welcome.html.j2", text.encode())
    assert parsed is not None
    (chunk,) = parsed.chunks
    assert (chunk.kind, chunk.name, chunk.docstring, parsed.language) == ("section", "<module>", doc, "template")
    words = chunk.parts[0].occurrences
    assert {"welcom", "user"} <= words.keys()


def test_a_long_template_has_parts_and_an_empty_one_is_none() -> None:
    parsed = parse_document("a.j2", b"<p>{{ price }}</p>\n" * 2000)
    assert parsed is not None
    (chunk,) = parsed.chunks
    assert len(chunk.parts) > 1
    empty = parse_document("a.j2", b" \n")
    assert empty is not None
    assert empty.chunks == ()

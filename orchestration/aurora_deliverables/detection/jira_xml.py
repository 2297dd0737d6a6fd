"""Jira's XML export (an RSS 0.92 channel) as the rows that its CSV export has, descriptions as wiki markup again."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

MAX_FIELDS = 500
MAX_DEPTH = 20

_ELEMENTS = {
    "key": "Issue key",
    "summary": "Summary",
    "type": "Issue Type",
    "status": "Status",
    "resolution": "Resolution",
    "created": "Created",
    "updated": "Updated",
    "resolved": "Resolved",
}
_BLOCKS = frozenset({"p", "br", "div", "tr", "table", "ul", "ol", "pre", "blockquote", "hr"})
_START = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<rss\b", re.DOTALL)


class UnreadableExport(ValueError):
    """An XML export that is damaged, or declares what no export does; the message says where."""


def is_export(text: str) -> bool:
    """Whether a text begins as Jira's XML export does."""
    return _START.match(text[:8192]) is not None


def rows_of(text: str) -> list[dict[str, str]]:
    """The export's issues, a row each, named as in a CSV export; custom fields by their own names.

    Raises UnreadableExport. A document type is refused, and with it external entities (XXE): no export has one.
    """
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise UnreadableExport("this XML declares a document type, which no Jira export does")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise UnreadableExport(f"this XML export cannot be read: {error}") from error
    return [_row(item) for item in root.iterfind("./channel/item")]


def _row(item: ElementTree.Element) -> dict[str, str]:
    """Row of one issue's XML element, custom fields included."""
    row = {name: (item.findtext(tag) or "").strip() for tag, name in _ELEMENTS.items()}
    row["Description"] = wiki_of(item.findtext("description") or "")
    for field in item.findall("./customfields/customfield")[:MAX_FIELDS]:
        name = (field.findtext("customfieldname") or "").strip()
        values = [wiki_of(each.text or "") for each in field.iterfind("./customfieldvalues/customfieldvalue")]
        if name and name not in row:
            row[name] = "\n".join(values).strip()
    return row


def wiki_of(html: str) -> str:
    """The HTML that Jira renders a field to, as wiki markup: headings, lists, boxes, bold; other tags are left out."""
    reader = _Rendered()
    reader.feed(html)
    reader.close()
    return "".join(reader.parts).strip()


class _Rendered(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._lists: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """HTML start tag converted to wiki markup: lists, headings, bold."""
        if tag in ("ul", "ol") and len(self._lists) < MAX_DEPTH:
            self._lists.append("*" if tag == "ul" else "#")
        if re.fullmatch(r"h[1-6]", tag):
            self.parts.append(f"\n{tag}. ")
        elif tag == "li":
            # Jira's own markup has `##` for a numbered list in another; here it would look like a Markdown heading.
            self.parts.append("\n" + "*" * max(1, len(self._lists)) + " ")
        elif tag in _BLOCKS:
            self.parts.append("\n")
        elif tag in ("b", "strong"):
            self.parts.append("*")
        elif tag == "img":
            self.parts.append(_box(dict(attrs).get("src") or ""))
        elif tag == "input" and dict(attrs).get("type") == "checkbox":
            self.parts.append("[x] " if "checked" in dict(attrs) else "[ ] ")

    def handle_endtag(self, tag: str) -> None:
        """HTML end tag converted: line breaks, bold."""
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        if re.fullmatch(r"h[1-6]", tag) or tag in _BLOCKS or tag == "li":
            self.parts.append("\n")
        elif tag in ("b", "strong"):
            self.parts.append("*")

    def handle_data(self, data: str) -> None:
        after_mark = bool(self.parts) and self.parts[-1].endswith(("* ", ". ")) and self.parts[-1].startswith("\n")
        self.parts.append(data.lstrip() if after_mark else data)


def _box(source: str) -> str:
    """What stood for a picture of Jira's: a tick and a cross are boxes in lists."""
    name = source.rpartition("/")[2]
    return {"check.png": "(/) ", "error.png": "(x) "}.get(name, "")

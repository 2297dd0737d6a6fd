"""Recall view: search results rendered for the terminal: how an answer of `aur mem` looks (AURORA §9.9)."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from datetime import datetime
from pathlib import Path
from typing import Any

from aurora_cli.output import TerminalStyle
from aurora_protocol.human_text import (
    ago,
    count,
    handed_on,
    heir,
    month,
    plain,
    plain_lines,
    shorten,
    took,
    used,
    whole_clause,
)
from aurora_protocol.provenance_text import drifted_at, learned_by, parts_of

_CALLABLE = ("function", "method", "macro")
FILE = "file"
"""The kind of a result that is told as its file."""
_IMPORTING = "imports "
"""What a relation of files begins with."""
_WHOLE_FILE = "<module>"
"""The name of what of a file stands in no other chunk."""
_OF_CHUNKS = frozenset({"callers", "likely_callers", "subclasses", "likely_subclasses", "handed_on", "signature"})
"""What is said of one chunk, and not of its file."""
_WIDEST_NAME = 48
_NARROWEST_NAME = 24
_NARROW = 80
"""Columns of a terminal below which a place stands on a line of its own."""
_WIDEST_PARAMETERS = 60
_ALSO = "also here: "
_NO_BREAK = "\N{NO-BREAK SPACE}"
_PLACE = 8
"""Columns kept behind a name for its line and what parts it from the next."""
_ALSO_LINES = 2
"""Lines on a terminal for what else of a file answers; the rest is counted."""
_UNLIMITED = sys.maxsize
"""Columns where there is no terminal: what reads it wants whole names, and cuts by itself."""

_RECENT_DAYS = 30
"""Days after which the age of a change says nothing any more."""
_ANCHOR = re.compile(r"\s*\{\s*#[^}.]*\}?")
"""An anchor that a heading carries; long headings are cut within it."""
TYPED_AFTER = frozenset({"python", "typescript", "tsx", "javascript", "rust", "kotlin", "swift", "scala"})
"""Languages that say a parameter's type after its name and a colon."""

MAX_SIGNALS = 6
MAX_MATCHES = 8
MAX_EPISODES = 2
LONGEST_SUBJECT = 50
_FROM = {"answers": "use", "git": "commit", "edits": "edit", "file": "file time"}


def recall_lines(
    reply: dict[str, Any], *, style: TerminalStyle, here: Path, now: datetime, explain: bool = False
) -> list[str]:
    """An `aurora/recall` result as lines for people. `here` is the working folder that locations are spelled from."""
    results = _importers_as_files(reply["results"])
    lines: list[str] = []
    if not results:
        lines.append(plain(reply.get("hint") or f"nothing in memory answers {reply['query']!r}"))
    else:
        names = [f"{'maybe ' if item.get('likely') else ''}{title(item)}" for item in results]
        room = min(max(map(len, names)), _name_room([location(item, here) for item in results], style))
        for rank, (item, name) in enumerate(zip(results, names, strict=True), start=1):
            lines += _item_lines(rank, item, name, room, here, style, now)
            if explain:
                lines += [f"    {line}" for line in explanation(item, now, whole=style.width is None)]
            if isinstance(item.get("content"), str):
                lines += [*content_lines(item, style), ""]
        if reply.get("hint"):
            lines.append(plain(reply["hint"]))
    lines += [plain(_log(each)) for each in reply.get("logs") or ()]
    lines += [style.dim(plain(each)) for each in reply.get("left_out") or ()]
    lines.append(style.dim(footer(reply)))
    return lines


def as_files(reply: dict[str, Any]) -> dict[str, Any]:
    """An answer of which each file is told once, with the chunks that answer for it first of what is in it."""
    results: dict[str, dict[str, Any]] = {}
    for item in reply["results"]:
        if not item["file"]:
            results[item["id"]] = item
            continue
        place = f"{item.get('workspace', '')}/{item['file']}"
        of_file = results.setdefault(place, _as_file(item) | {"also": []})
        known = {each["id"] for each in of_file["also"]}
        own = [] if item["name"] == _WHOLE_FILE else [item]
        of_file["also"] += [each for each in (*own, *item.get("also", ())) if each["id"] not in known]
    return {**reply, "results": [*results.values()]}


def _as_file(item: dict[str, Any]) -> dict[str, Any]:
    said = {} if item["name"] == _WHOLE_FILE else {"summary": ""}
    return {key: item[key] for key in item if key not in _OF_CHUNKS} | said | {"kind": FILE}


def _importers_as_files(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of who imports something the file is told, whichever chunk stands for it."""
    return [_as_file(item) if str(item.get("relation") or "").startswith(_IMPORTING) else item for item in results]


def location(item: dict[str, Any], here: Path) -> str:
    """`path:line` as a terminal in `here` can open it: relative below `here`'s workspace, else absolute.

    What stands in no file (`reas:…`) goes by its id, and by its workspace where that is another.
    """
    file, workspace = str(item["file"]), str(item.get("workspace") or "")
    if not file:
        elsewhere = item.get("as_of") and not here.is_relative_to(workspace)
        return plain(f"{item['id']} in {workspace}" if elsewhere else str(item["id"]))
    if workspace:
        root = Path(workspace)
        if here == root or here.is_relative_to(root):
            file = os.path.relpath(root / file, here)
        else:
            file = os.fspath(root / file)
    return plain(file) if item.get("kind") == FILE else f"{plain(file)}:{item['line']}"


def title(item: dict[str, Any]) -> str:
    """A chunk by its qualified name, its kind where that is no function: `Action.request`, `class Request`."""
    name, kind = str(item["name"]), str(item["kind"])
    signature = plain(str(item.get("signature") or "")).rstrip(" {:")
    if kind == "reasoning":
        return signature
    if kind == FILE:
        return plain(Path(str(item["file"])).name)
    if kind == "module":
        return f"module {Path(str(item['file'])).stem}"
    if name == _WHOLE_FILE:
        return f"{kind} {plain(Path(str(item['file'])).name)}"
    if kind == "section":
        return plain(_ANCHOR.sub("", name).replace(".", " › "))
    if kind == "operation" and signature:
        return f"{kind} {signature}"
    return plain(name if kind in _CALLABLE else f"{kind} {name}")


def parameters(item: dict[str, Any], widest: int = _WIDEST_PARAMETERS) -> str:
    """What a function takes and gives, by names: `(template, values) → str`; empty where nothing is said of either.

    Of parameters as many as fit `widest` columns, and a result that does.
    """
    if item["kind"] not in _CALLABLE:
        return ""
    signature, short = plain(str(item.get("signature") or "")), str(item["name"]).rpartition(".")[2]
    place = re.search(rf"(?<!\w){re.escape(short)}(?!\w)[^(]{{0,40}}\(", signature) if short else None
    if place is None:
        return ""
    begin = place.end()
    end = _closing(signature, begin)
    inner = signature[begin:end]
    taken = [_parameter(each, str(item.get("language") or "")) for each in _apart(inner)]
    if end == len(signature) and signature.endswith("…"):
        taken[-1] = "…"  # half a name says nothing
    named = ", ".join(each for each in taken if each and each not in ("self", "cls", "&self", "&mut self"))
    sign = r"\s*" if item.get("language") == "go" else r"\s*(?:->|:)\s*"
    given = re.match(rf"{sign}(\S.*?)[\s{{:;=]*(?:=>)?\s*$", signature[end + 1 :])
    is_whole = given is not None and len(given[1]) <= widest and not given[1].endswith("…")
    result = f" → {given[1]}" if given and is_whole else ""
    if len(named) > widest:
        named = named[: named.rfind(", ", 0, widest) + 2].lstrip(", ") + "…"
    return f"({named}){result}" if named or result else ""


def _closing(text: str, begin: int) -> int:
    """Where the bracket that was opened before `begin` is closed; the text's end where it is cut."""
    depth = 1
    for at in range(begin, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return len(text)


def _apart(inner: str) -> list[str]:
    """A list of parameters, apart at the commas that stand in no bracket."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(inner):
        depth += (letter in "([{<") - (letter in ")]}" or (letter == ">" and inner[at - 1 : at] not in ("-", "=")))
        if letter == "," and depth <= 0:
            parts.append(inner[begin:at])
            begin = at + 1
    return [part.strip() for part in (*parts, inner[begin:])]


def _parameter(text: str, language: str) -> str:
    """A parameter by its name; as it stands where its language says types before names."""
    text = text.partition("=")[0].strip() if "=" in text else text
    name = text.partition(":")[0].strip()
    is_whole = name.count("[") == name.count("]")  # `double[:] rows`, as Cython has it
    return name if language in TYPED_AFTER and is_whole else text


def content_lines(item: dict[str, Any], style: TerminalStyle) -> list[str]:
    """The code of a result with the numbers of its lines; what stands in no file has none."""
    texts = plain_lines(item["content"])
    numbers = item.get("content_lines") or range(item["line_start"], item["line_start"] + len(texts))
    if not item["file"]:
        return [f"    {text}".rstrip() for text in texts]
    width = len(str(max(numbers, default=0)))
    return [
        f"    {style.dim(str(number or '').rjust(width))}  {text}".rstrip()
        for number, text in zip(numbers, texts, strict=False)
    ]


def footer(reply: dict[str, Any]) -> str:
    """How far to trust the answer, and what it cost: `index up to date · 2 files skipped (aurora doctor) · 4 ms`."""
    freshness = reply["freshness"]
    pending, skipped = freshness["pending_files"], freshness["skipped_files"]
    if freshness.get("state") == "error":
        parts = ["indexing failed (aurora doctor)"]
    elif pending:
        parts = [f"{count(pending, 'file')} still being indexed"]
    elif freshness["indexed_at"] is not None and freshness.get("state") == "scanning":
        parts = ["looking for files that changed"]  # indexed to its end before, as after each start
    elif freshness["indexed_at"] is None or freshness.get("state") in ("scanning", "indexing"):
        parts = ["still being indexed"]
    elif freshness.get("heard", True):
        parts = ["index up to date"]
    else:
        parts = ["indexed, the newest changes may be missing"]
    if freshness.get("history_percent") is not None:
        parts.append(f"reading history {freshness['history_percent']} %")
    if skipped:
        parts.append(f"{count(skipped, 'file')} skipped (aurora doctor)")
    return " · ".join([*parts, took(reply["took_ms"])])


def _item_lines(
    rank: int, item: dict[str, Any], name: str, room: int, here: Path, style: TerminalStyle, now: datetime
) -> list[str]:
    """The name with the place to its right, below it where the terminal is narrow; then what it is for, if that is
    known.
    """
    where = location(item, here)
    path = Path(str(item.get("workspace") or "/"), str(item["file"]))
    place = style.link(where, path, item["line"]) if item["file"] else where
    facts = _facts(item, now)
    if style.width is not None and not _is_beside(where, style.width):
        lines = [f"{rank:>2}  {style.bold(shorten(name, style.width - 4))}", f"    {place}"]
        used = 4 + len(where)
    else:
        shown = name if style.width is None else shorten(name, room)
        lines = [f"{rank:>2}  {style.bold(shown)}{' ' * (room - len(shown))}  {place}"]
        used = 4 + room + 2 + len(where)
    below = _below(item, style)
    room_below = 0 if item.get("also") or not below else (style.width or 0) - len(below[-1]) - 4
    if facts and (style.width is None or used + 2 + len(facts) <= style.width):
        lines[-1] += f"  {style.dim(facts)}"
    elif facts and 3 + len(facts) <= room_below:
        below[-1] += f" {style.dim('· ' + facts)}"
    elif facts:
        lines.append(f"    {style.dim(facts)}")
    return [*lines, *(f"    {line}" for line in below)]


def _below(item: dict[str, Any], style: TerminalStyle) -> list[str]:
    """What a chunk takes, gives and is for, on one line, what does not fit left out whole; or what else answers."""
    width = (style.width or _UNLIMITED) - 4
    takes = parameters(item, _UNLIMITED) if style.width is None else parameters(item)
    takes = takes if " → " in takes or ", " in takes else ""  # one name alone says nothing
    if members := item.get("also"):
        return _also(members, takes, width)
    summary = whole_clause(plain(str(item.get("summary") or "")), width)
    both = "  ".join(part for part in (takes, summary) if part)
    if len(both) <= width:
        return [both] if both else []
    shorter = whole_clause(summary, width - len(takes) - 2)
    if shorter and takes:
        return [f"{takes}  {shorter}"]
    return [summary] if summary else [takes] if len(takes) <= width else []


def _also(members: list[dict[str, Any]], takes: str, width: int) -> list[str]:
    """What else of the same file or class answers, by whole names, after what the chunk takes: `also here:
    Session.close :88, open_session :12, +3 more`.
    """
    widest = width - len(_ALSO) - _PLACE
    named = [f"{shorten(_member(each), widest)} :{each['line']}" for each in members]
    before = takes.replace(" ", _NO_BREAK) if len(takes) <= width else ""
    lines: list[str] = []
    for left in range(len(named)):
        told = named[: len(named) - left] + ([f"+{left} more"] if left else [])
        told = [each.replace(" ", _NO_BREAK) for each in (f"{_ALSO}{told[0]}", *told[1:])]
        text = f"{before}  {', '.join(told)}".lstrip()
        lines = textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        if len(lines) <= _ALSO_LINES:
            break
    return [line.replace(_NO_BREAK, " ") for line in lines]


def _member(member: dict[str, Any]) -> str:
    """A member by its name; a section by its own heading, without those above it; what is left of a file as such."""
    if member["name"] == _WHOLE_FILE:
        return "the file itself"
    name = _ANCHOR.sub("", str(member["name"]))
    return plain(name.rpartition(".")[2] if member.get("kind") == "section" else name)


def _name_room(locations: list[str], style: TerminalStyle) -> int:
    """The widest that names may be beside the places; without a terminal, how far these are moved for them."""
    if style.width is None:
        return _WIDEST_NAME
    beside = [len(each) for each in locations if _is_beside(each, style.width)]
    return min(_WIDEST_NAME, style.width - 6 - max(beside, default=0))


def _is_beside(where: str, width: int) -> bool:
    """Whether a place stands beside the name: the terminal is wide, and leaves room for one."""
    return width >= _NARROW and width - 6 - len(where) >= _NARROWEST_NAME


def _facts(item: dict[str, Any], now: datetime) -> str:
    facts = [plain(item["relation"])] if item.get("relation") else []
    for many, noun in (("callers", "caller"), ("subclasses", heir(str(item.get("kind"))))):
        if said := used(item.get(many, 0), item.get(f"likely_{many}", 0), noun):
            facts.append(said)
    if said := handed_on(item.get("handed_on", 0)):
        facts.append(said)
    if item.get("last_modified") and (now - datetime.fromisoformat(item["last_modified"])).days <= _RECENT_DAYS:
        facts.append(f"changed {ago(item['last_modified'], now)}")
    if item.get("similar"):
        facts.append(f"+{len(item['similar'])} alike")
    if item.get("excerpt"):
        facts.append("excerpt")
    if item.get("transferred_from"):
        who = "you" if item.get("learned_by") == "" else plain(str(item.get("learned_by") or "a colleague"))
        facts.append(f"{who} solved this in another repository: {plain(str(item['transferred_from']))}")
    if item.get("provenance"):
        facts.append(learned_by(item["provenance"]))
    if item.get("drifted"):
        facts.append(drifted_at(item["drifted"]))
    if item.get("as_of"):
        facts.append(f"as of {ago(item['as_of'], now)}{', file changed since' if item.get('changed_since') else ''}")
    return " · ".join(facts)


def _log(log: dict[str, Any]) -> str:
    return f"see also {log['file']}:{log['line_start']} {log['section']}"


def explanation(item: dict[str, Any], now: datetime, *, whole: bool = False) -> list[str]:
    """The terms of a chunk's activation (AURORA §6.3) with where each comes from, what matched, what ranked it.

    Subjects of commits are cut, unless all is told `whole`.
    """
    evidence = item.get("evidence")
    scored = f"score {item['score']:.2f}"
    if item.get("modified_before"):
        scored += f", changed before {month(item['modified_before'])}"
    if not isinstance(evidence, dict):
        return [scored, _activation(item["activation"], {}, now)]
    lines = [
        scored,
        _asked(evidence),
        _activation(item["activation"], evidence, now),
        parts_of(evidence.get("colleagues") or ()),
        _matches(evidence),
        _reached(item, evidence),
        _told_otherwise(evidence, _UNLIMITED if whole else LONGEST_SUBJECT),
        _signals(evidence),
    ]
    return [plain(line) for line in lines if line]


def _asked(evidence: dict[str, Any]) -> str:
    """The kind of question that the query was taken for, which decides how answers are ordered."""
    return f"asked for {evidence['question']}" if evidence.get("question") else ""


def _activation(terms: dict[str, Any], evidence: dict[str, Any], now: datetime) -> str:
    """Line of an activation's terms: base level, spreading, context, decay."""
    learned = evidence.get("learned") or []
    days = evidence.get("days_since_access")
    aged = f" ({days:.0f} d)" if days is not None and days >= 1 else ""
    line = (
        f"activation {terms['total']:.2f} = base level {terms['base_level']:.2f}{_history(evidence, now)} "
        f"+ spreading {terms['spreading']:.2f} + context {terms['context_boost']:.2f} "
        f"− decay {terms['decay']:.2f}{aged}"
    )
    if terms.get("learned") or learned:
        line += f" + learned {terms.get('learned', 0.0):.2f}" + (f" ({count(len(learned), 'run')})" if learned else "")
    return line


def _history(evidence: dict[str, Any], now: datetime) -> str:
    accesses, noun = evidence.get("accesses"), _FROM.get(evidence.get("accesses_from", ""))
    if not accesses or noun is None:
        return ""
    last = ago(accesses[-1], now)
    return f" ({noun} {last})" if noun == "file time" else f" ({count(evidence['access_count'], noun)}, last {last})"


def _matches(evidence: dict[str, Any]) -> str:
    """Line of the words that matched, and in which fields."""
    matches = evidence.get("matches") or []
    said = [
        f"{match['term']} ({', '.join(match['fields'])})" if match["fields"] else match["term"] for match in matches
    ]
    more = f" and {len(said) - MAX_MATCHES} more" if len(said) > MAX_MATCHES else ""
    return f"words: {' · '.join(said[:MAX_MATCHES])}{more}" if said else ""


def _reached(item: dict[str, Any], evidence: dict[str, Any]) -> str:
    """`expand ← calls ← Action.request (0.21)`: the arrow points from who calls to what is called."""
    steps = evidence.get("reached") or []
    if not steps:
        return ""
    line = str(item["name"])
    for step in reversed(steps):
        arrow = "←" if step["forward"] else "→"
        line += f" {arrow} {step['relation']} {arrow} {step['name']}"
    return f"reached: {line} ({steps[-1]['amount']:.2f})"


def _told_otherwise(evidence: dict[str, Any], longest: int) -> str:
    """Commits like the question, and what an embedding says."""
    said = [f"{each['commit']} {shorten(each['subject'], longest)}" for each in evidence.get("episodes") or []]
    parts = [f"commits like it: {' · '.join(said[:MAX_EPISODES])}"] if said else []
    if near := evidence.get("semantic"):
        parts.append(f"by meaning: number {near['rank']}, similarity {near['similarity']:.2f}")
    return " · ".join(parts)


def _signals(evidence: dict[str, Any]) -> str:
    """Line of the ranking signals and what each contributed."""
    told = [each for each in evidence.get("signals") or [] if abs(each["contribution"]) >= 0.05][:MAX_SIGNALS]
    if not told:
        return ""
    return "ranked by: " + " · ".join(
        f"{each['name']} {'+' if each['contribution'] > 0 else '−'}{abs(each['contribution']):.1f}" for each in told
    )

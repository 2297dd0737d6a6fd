"""GitHub's and Jira's issues as events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.detection.issues import UnknownIssue, read_issues
from aurora_deliverables.detection.tickets import since_the_end
from aurora_deliverables.reducer import Reducer, fold

BODY = (
    "Find things.\r\n\r\n### Acceptance\r\n- [x] one word\r\n- [X] two words\r\n- [ ] no match\r\n<!-- - [ ] x -->\r\n"
)
GH: dict[str, Any] = {
    "number": 12,
    "title": "Search the catalogue",
    "body": BODY,
    "state": "OPEN",
    "createdAt": "2026-02-26T10:00:00Z",
    "updatedAt": "2026-02-26T11:00:00Z",
    "closedAt": None,
    "labels": [{"name": "good first issue"}, {"name": "type: bug"}],
    "url": "https://github.com/acme/shop/issues/12",
}


def amount(document: object) -> Deliverable:
    events = read_issues(document, 2e9).events
    found = fold(events)
    assert found is not None
    assert all(event.evidence for event in events)
    return found


def test_an_open_github_issue_is_half_met() -> None:
    found = amount(GH)
    assert (found.change_id, found.status, found.type) == ("issue-12", "planning", "bugfix")
    assert found.spec_source is not None
    assert (found.spec_source.spec_id, found.spec_source.requirements_count) == ("acme/shop#12", 3)
    assert found.conformance is not None
    assert found.conformance.functional == pytest.approx(2 / 3)


def test_a_closed_issue_is_completed_and_one_that_is_not_planned_failed() -> None:
    rest = {
        "action": "closed",
        "repository": {"full_name": "acme/shop"},
        "issue": {
            "number": 12,
            "title": "Search",
            "body": None,
            "state": "closed",
            "state_reason": "completed",
            "created_at": "2026-02-26T10:00:00Z",
            "updated_at": "2026-02-26T13:00:00Z",
            "closed_at": "2026-02-26T12:00:00Z",
        },
    }
    found = amount(rest)
    assert found.status == "completed"
    assert found.completed_at is not None
    assert found.completed_at - found.started_at == 7200
    assert found.conformance is None or found.conformance.functional is None
    rest["issue"]["state_reason"] = "not_planned"  # type: ignore[index]
    given_up = amount(rest)
    assert (given_up.status, given_up.deliverable_failed, given_up.withdrawn) == ("failed", False, True)


PULL = {"number": 13, "title": "Search", "body": "", "state": "closed", "created_at": "2026-02-26T10:00:00Z"}


@pytest.mark.parametrize(
    "pull",
    [
        {**PULL, "pull_request": {"url": "https://api.github.com/repos/acme/shop/pulls/13", "merged_at": None}},
        {"action": "created", "issue": {**PULL, "pull_request": {"merged_at": "2026-02-26T12:00:00Z"}}},
        {**PULL, "url": "https://github.com/acme/shop/pull/13"},
    ],
)
def test_pull_requests_among_issues_are_left_out(pull: dict[str, Any]) -> None:
    read = read_issues([pull, {**GH, "pull_request": None}], 2e9)
    assert (read.pull_requests, [ticket.change_id for ticket in read.tickets]) == (1, ["issue-12"])


def test_the_same_issue_twice_is_the_same_events_and_a_later_one_adds_to_it() -> None:
    first = read_issues(json.dumps(GH), 2e9).events
    again = read_issues(json.dumps([GH]).encode(), 3e9).events
    assert [event.id for event in first] == [event.id for event in again]
    later = {**GH, "body": BODY.replace("[ ] no", "[x] no"), "updatedAt": "2026-02-26T12:00:00Z"}
    both = fold([*first, *read_issues(later, 2e9).events])
    assert both is not None
    assert both.conformance is not None
    assert both.conformance.functional == 1.0


def jira(**fields: Any) -> dict[str, Any]:
    given = {
        "summary": "Search",
        "issuetype": {"name": "Story"},
        "created": "2026-02-26T10:00:00.000+0100",
        "updated": "2026-02-27T10:00:00.000+0100",
        "status": {"name": "In Progress", "statusCategory": {"key": "indeterminate"}},
        "resolution": None,
    }
    return {"id": "1", "key": "SHOP-7", "fields": {**given, **fields}}


WIKI = "Some text\n\nh3. Acceptance Criteria\n* first\n** detail\n* second\n\nh3. Notes\n* no criterion\n"
ADF = {
    "type": "doc",
    "version": 1,
    "content": [
        {"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "Acceptance criteria"}]},
        {
            "type": "taskList",
            "content": [
                {"type": "taskItem", "attrs": {"state": "DONE"}, "content": [{"type": "text", "text": "first"}]},
                {"type": "taskItem", "attrs": {"state": "TODO"}, "content": [{"type": "text", "text": "second"}]},
            ],
        },
    ],
}


@pytest.mark.parametrize(
    ("description", "functional"),
    [(WIKI, None), (WIKI.replace("h3. Acceptance Criteria", "*Acceptance Criteria:*"), None), (ADF, 0.5)],
)
def test_jira_criteria_are_found_in_every_markup(description: object, functional: float | None) -> None:
    found = amount(jira(description=description))
    assert (found.change_id, found.type) == ("SHOP-7", "feature")
    assert found.spec_source is not None
    assert found.spec_source.requirements_count == 2
    assert (found.conformance.functional if found.conformance else None) == functional


def test_a_jira_issue_goes_by_its_history_to_done() -> None:
    moves = [("In Progress", "2026-02-26T11:00:00.000+0100"), ("In Review", "2026-02-26T12:00:00.000+0100")]
    document = jira(
        status={"name": "Done", "statusCategory": {"key": "done"}},
        resolution={"name": "Done"},
        resolutiondate="2026-02-26T13:00:00.000+0100",
    )
    document["changelog"] = {
        "histories": [{"created": at, "items": [{"field": "status", "toString": to}]} for to, at in moves]
    }
    found = amount({"issues": [document]})
    assert [span.phase for span in found.spans] == ["propose", "apply", "verify", "archive"]
    assert found.status == "completed"
    assert found.completed_at is not None
    assert found.completed_at - found.started_at == 3 * 3600
    document["fields"]["resolution"] = {"name": "Won't Do"}
    assert amount(document).status == "failed"


def test_what_a_ticket_tells_of_what_is_over_is_what_may_follow() -> None:
    closed = {**GH, "state": "CLOSED", "closedAt": "2026-02-26T12:00:00Z", "updatedAt": "2026-02-26T12:00:00Z"}
    events = read_issues(closed, 2e9).events
    known = fold(events)
    assert known is not None
    again = since_the_end(read_issues(closed, 2e9).tickets[0], known, 2e9)
    assert again == (events, None), "the same again is known already"
    abandoned = {**closed, "stateReason": "NOT_PLANNED"}
    told, note = since_the_end(read_issues(abandoned, 2e9).tickets[0], known, 2e9)
    assert note is not None and "closed as not planned" in note
    both = Reducer()
    both.take([*events, *told])
    assert both.refused == {} and both.status == "completed"
    undated = {**closed, "closedAt": None, "updatedAt": None}
    assert since_the_end(read_issues(undated, 3e9).tickets[0], known, 3e9)[1] is None, "it did not tell when"


def test_a_step_after_the_resolution_is_no_phase() -> None:
    document = jira(
        status={"name": "Done", "statusCategory": {"key": "done"}}, resolutiondate="2026-02-26T13:00:00.000+0100"
    )
    moved = {"created": "2026-02-26T14:00:00.000+0100", "items": [{"field": "status", "toString": "In Review"}]}
    document["changelog"] = {"histories": [moved]}
    folding = Reducer()
    folding.take(read_issues(document, 2e9).events)
    assert folding.refused == {} and folding.status == "completed"


def test_rows_of_a_jira_export_are_read() -> None:
    text = (
        "Summary,Issue key,Issue Type,Status,Resolution,Created,Updated,Resolved,Description\r\n"
        'Search,SHOP-7,Bug,Done,Done,26/Feb/26 10:00 AM,26/Feb/26 1:00 PM,26/Feb/26 12:00 PM,"h2. Acceptance Criteria\n'
        '* a\n* b"\r\n'
    )
    found = amount(text)
    assert (found.type, found.status) == ("bugfix", "completed")
    assert found.completed_at is not None
    assert found.completed_at - found.started_at == 7200
    assert found.spec_source is not None
    assert found.spec_source.requirements_count == 2


ROWS = (
    "Summary,Issue key,Issue Type,Status,Resolution,Created,Updated,Resolved\n"
    "Login,SHOP-4,Story,Done,Done,{},26/Feb/26 11:00 AM,{}\n"
    "Search,SHOP-5,Story,Done,Done,26/Feb/26 9:00 AM,,26/Feb/26 10:30 AM\n"
)


@pytest.mark.parametrize(
    ("created", "resolved", "said"),
    [
        ("01/Okt/26 9:00 AM", "05/Okt/26 10:30 AM", "row 2: Created is '01/Okt/26 9:00 AM'"),
        ("25/Feb/26 9:00 AM", "01/oct./26 09:00", "row 2: Resolved is '01/oct./26 09:00'"),
        ("11/22/26 09:00", "", "row 2: Created is '11/22/26 09:00'"),
    ],
)
def test_a_time_that_cannot_be_read_is_told_and_never_now(created: str, resolved: str, said: str) -> None:
    read = read_issues(ROWS.format(created, resolved), 2e9)
    assert {event.change_id for event in read.events} == {"SHOP-5"}, "the other row is taken"
    (bad,) = read.bad
    assert bad.issue == "SHOP-4"
    advice = "write it as 2026-02-26 10:00, or export the issues as XML"
    assert bad.reason == f"{said}, which cannot be read as a time; {advice}"


def test_what_is_closed_and_does_not_tell_when_it_was_opened_took_nobody_knows_how_long() -> None:
    bare = {**GH, "createdAt": None}
    assert read_issues(bare, 2e9).bad == (), "while it is open, it is known since it was seen"
    given = [{"action": "closed", "issue": {**bare, "state": "closed"}}, GH]
    read = read_issues(given, 2e9)
    assert [bad.issue for bad in read.bad] == ["issue-12"] and len(read.tickets) == 1
    assert "createdAt is missing" in read.bad[0].reason and "export createdAt too" in read.bad[0].reason
    assert "Created is missing" in read_issues(ROWS.format("", "26/Feb/26 10:30 AM"), 2e9).bad[0].reason


def test_times_of_issues_in_json_are_told_too() -> None:
    read = read_issues([GH, {**GH, "number": 13, "createdAt": "gestern"}, jira(created="gestern")], 2e9)
    assert [bad.issue for bad in read.bad] == ["issue-13", "SHOP-7"]
    assert [bad.reason.split(",")[0] for bad in read.bad] == ["createdAt is 'gestern'", "created is 'gestern'"]
    assert {event.change_id for event in read.events} == {"issue-12"}


@pytest.mark.parametrize(
    "document", [{}, [], [1], "{", "hello", None, {"number": 3}, {"key": "x", "fields": {}}, "[[[["]
)
def test_what_is_no_issue_is_told_or_nothing(document: object) -> None:
    try:
        assert read_issues(document, 1.0).events == []
    except UnknownIssue as error:
        assert str(error)


def test_hostile_depth_and_size_are_bounded() -> None:
    node: dict[str, Any] = {"type": "paragraph", "content": [{"type": "text", "text": "x"}]}
    for _ in range(500):
        node = {"type": "bulletList", "content": [{"type": "listItem", "content": [node, node]}]}
    assert read_issues(jira(description=node), 1.0).events
    with pytest.raises(UnknownIssue, match="not read"):
        read_issues([GH] * 10_001, 1.0)


EXPORT = """<?xml version="1.0" encoding="UTF-8"?>
<!-- RSS generated by JIRA (9.12.0) at Wed Mar 04 10:00:00 UTC 2026 -->
<rss version="0.92">
<channel>
  <title>Shop</title>
  <item>
    <title>[SHOP-7] Search finds "naïve"</title>
    <description>&lt;h3&gt;Acceptance criteria&lt;/h3&gt;
&lt;ul class="alternate"&gt;
  &lt;li&gt;&lt;img class="emoticon" src="/images/icons/emoticons/check.png"&gt; one &lt;b&gt;word&lt;/b&gt;&lt;/li&gt;
  &lt;li&gt;&lt;img class="emoticon" src="/images/icons/emoticons/error.png"&gt; accents
    &lt;ul&gt;&lt;li&gt;also capitals&lt;/li&gt;&lt;/ul&gt;&lt;/li&gt;
&lt;/ul&gt;
&lt;h3&gt;Notes&lt;/h3&gt;&lt;ul&gt;&lt;li&gt;none&lt;/li&gt;&lt;/ul&gt;</description>
    <key id="10007">SHOP-7</key>
    <summary>Search finds "naïve"</summary>
    <type id="1">Bug</type>
    <status id="6">Done</status>
    <resolution id="1">Fixed</resolution>
    <created>Mon, 2 Mar 2026 10:00:00 +0000</created>
    <updated>Tue, 3 Mar 2026 12:00:00 +0000</updated>
    <resolved>Tue, 3 Mar 2026 12:00:00 +0000</resolved>
  </item>
  <item>
    <key id="10008">SHOP-8</key>
    <summary>Baskets</summary>
    <type id="7">Story</type>
    <resolution id="-1">Unresolved</resolution>
    <created>Mon, 2 Mar 2026 10:00:00 +0000</created>
    <updated>Mon, 2 Mar 2026 10:00:00 +0000</updated>
    <customfields><customfield id="customfield_1" key="x">
      <customfieldname>Acceptance Criteria</customfieldname>
      <customfieldvalues><customfieldvalue>&lt;ol&gt;&lt;li&gt;kept&lt;/li&gt;&lt;li&gt;shared&lt;/li&gt;&lt;li&gt;emptied&lt;/li&gt;&lt;/ol&gt;</customfieldvalue></customfieldvalues>
    </customfield></customfields>
  </item>
</channel>
</rss>
"""


def test_an_xml_export_of_jira_tells_the_same_as_its_other_forms() -> None:
    events = read_issues(EXPORT, 2e9).events
    by_change = {change: [e for e in events if e.change_id == change] for change in ("SHOP-7", "SHOP-8")}
    done, planned = fold(by_change["SHOP-7"]), fold(by_change["SHOP-8"])
    assert done is not None
    assert planned is not None
    assert (done.status, done.type) == ("completed", "bugfix")
    assert done.spec_source is not None
    assert done.spec_source.requirements_count == 2
    assert done.conformance is not None
    assert done.conformance.functional == pytest.approx(1 / 2)
    assert planned.status == "planning"
    assert planned.spec_source is not None
    assert planned.spec_source.requirements_count == 3


@pytest.mark.parametrize(
    ("damaged", "why"),
    [
        (EXPORT.replace("</channel>", ""), "cannot be read"),
        (EXPORT.replace("<rss", '<!DOCTYPE rss [<!ENTITY a "aaaa">]><rss', 1), "neither|document type"),
        (EXPORT.replace("<channel>", "<channel><!DOCTYPE x>", 1), "document type"),
        (EXPORT.replace('<key id="10008">SHOP-8</key>', "<key/>"), "neither"),
    ],
)
def test_a_damaged_xml_export_is_refused_with_a_reason(damaged: str, why: str) -> None:
    with pytest.raises(UnknownIssue, match=why):
        read_issues(damaged, 2e9)

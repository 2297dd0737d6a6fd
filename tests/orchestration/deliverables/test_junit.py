"""JUnit reports: each runner's dialect as it writes it, and what no report may do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora_deliverables.detection.junit import MAX_DEPTH, UnreadableReport, read_reports
from tests.growth import grows_with_length

PYTEST = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1"
 failures="1" skipped="1" tests="5" time="0.042" timestamp="2026-11-20T10:00:00.500000+01:00" hostname="h">
<testcase classname="tests.test_search.TestPage" name="test_no_match[wide]" time="0.001" />
<testcase classname="tests.test_search" name="test_one_word" time="0.001">
<failure message="assert 1 == 2">x</failure></testcase>
<testcase classname="tests.test_search" name="test_later" time="0">
<skipped type="pytest.skip" message="no">x</skipped></testcase>
<testcase classname="tests.test_search" name="test_old"><skipped type="pytest.xfail" message="" /></testcase>
<testcase classname="" name="tests.test_broken" time="0.000">
<error message="collection failure">ImportError</error></testcase>
</testsuite></testsuites>"""
JEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="jest tests" tests="3" failures="1" errors="0" time="1.2">
  <testsuite name="search" errors="0" failures="1" skipped="1" timestamp="2026-11-20T09:00:00" time="0.5" tests="3">
    <testcase classname="search finds one word" name="search finds one word" time="0.01" file="src/search.test.ts"/>
    <testcase classname="search says no match" name="search says no match" time="0.01">
      <failure>Error: expect(received)\x1b[31m red</failure></testcase>
    <testcase classname="search later" name="search later" time="0"><skipped/></testcase>
  </testsuite></testsuites>"""
SUREFIRE = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="3.0" name="com.shop.SearchTest" time="1,234.5"
 tests="4" errors="0" skipped="1" failures="1">
  <properties><property name="java.version" value="21"/></properties>
  <testcase name="findsOneWord" classname="com.shop.SearchTest" time="0.01"/>
  <testcase name="flaky" classname="com.shop.SearchTest" time="0.01"><flakyFailure message="once" type="x">
    <stackTrace><![CDATA[at …]]></stackTrace></flakyFailure></testcase>
  <testcase name="broken" classname="com.shop.SearchTest"><failure type="x"/><rerunFailure type="x"/></testcase>
  <testcase name="off" classname="com.shop.SearchTest"><skipped message="@Disabled"/></testcase>
</testsuite>"""
GOTESTSUM = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" errors="0" time="0.5">
  <testsuite tests="3" failures="1" time="0.250000" name="example.com/shop" timestamp="2026-11-20T10:00:00Z">
    <properties><property name="go.version" value="go1.25"></property></properties>
    <testcase classname="example.com/shop" name="TestSearch/one_word" time="0.000000"></testcase>
    <testcase classname="example.com/shop" name="TestSearch" time="0.000000"></testcase>
    <testcase classname="example.com/shop" name="TestNoMatch" time="0.0">
    <failure message="Failed" type="">=== RUN</failure></testcase>
  </testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("text", "counts", "ended", "title"),
    [
        (PYTEST, (1, 2, 2), 1_795_165_200.542, "tests.test_search.TestPage test_no_match[wide]"),
        (JEST, (1, 1, 1), None, "search finds one word"),
        (SUREFIRE, (2, 1, 1), None, "com.shop.SearchTest findsOneWord"),
        (GOTESTSUM, (2, 1, 0), 1_795_168_800.25, "example.com/shop TestSearch/one_word"),
    ],
    ids=["pytest", "jest", "surefire", "gotestsum"],
)
def test_each_dialect_is_read(text: str, counts: tuple[int, int, int], ended: float | None, title: str) -> None:
    report = read_reports([text])
    assert (report.passed, report.failed, report.skipped) == counts
    assert report.ended_at == pytest.approx(ended) if ended else report.ended_at is None
    assert report.titles[0].title == title
    assert (report.ran.passed, report.ran.failed, report.ran.succeeded) == (counts[0], counts[1], False)


def test_reports_of_one_run_are_added_up() -> None:
    report = read_reports([PYTEST, GOTESTSUM])
    assert (report.passed, report.failed, report.skipped) == (3, 3, 2)
    assert report.ended_at == pytest.approx(1_795_168_800.25), "the latest"
    assert read_reports([JEST]).titles[0].path == "src/search.test.ts"


def test_more_failures_than_there_are_cases_are_those_of_the_suite_and_fewer_are_those_of_the_cases() -> None:
    case = '<testcase name="a"><failure/></testcase>'
    counts = [
        read_reports([f'<testsuite failures="{declared}">{case * cases}</testsuite>']).failed
        for declared, cases in ((3, 1), (1, 3), (0, 2))
    ]
    assert counts == [3, 3, 2]


def test_of_several_reports_the_latest_end_counts_and_a_report_of_nothing_says_nothing() -> None:
    began = '<testsuite timestamp="2026-11-20T10:0{}:00Z" time="30"/>'
    whole = f'<testsuites timestamp="2026-11-20T10:00:00Z" time="9000">{began.format(1)}</testsuites>'
    ends = [read_reports(texts).ended_at for texts in ([began.format(5), began.format(1)], [whole])]
    assert ends[0] is not None and ends[1] is not None and ends[0] - ends[1] == 240, (
        "what a suite of suites took is a sum"
    )
    assert read_reports([whole]).ran.succeeded is None


def test_a_suite_that_did_not_begin_counts_what_it_says_of_itself() -> None:
    report = read_reports(['<testsuite tests="0" errors="1" failures="0"/>'])
    assert (report.passed, report.failed) == (0, 1)
    nested = '<testsuites failures="2"><testsuite failures="2"><testsuite failures="2"/></testsuite></testsuites>'
    assert read_reports([nested]).failed == 2, "a sum that is told three times is one"


@pytest.mark.parametrize(
    ("case", "counts"),
    [
        pytest.param("<testcase/>", (1, 0, 0), id="what says nothing passed"),
        pytest.param(
            "<testcase><failure/><skipped/></testcase>", (0, 1, 0), id="what failed is not skipped after that"
        ),
        pytest.param("<testcase><skipped/><error/></testcase>", (0, 1, 0), id="nor before"),
        pytest.param("<testcase><failure/><error/></testcase>", (0, 1, 0), id="and failed once"),
        pytest.param('<testcase status="NotRun"/>', (0, 0, 1), id="what was not run is skipped"),
        pytest.param('<testcase result="suppressed"/>', (0, 0, 1), id="whichever attribute says so"),
        pytest.param('<testcase status="notrun"><failure/></testcase>', (0, 1, 0), id="and failed all the same"),
        pytest.param("<testcase><a><failure/></a></testcase>", (1, 0, 0), id="a failure deeper down is its output"),
        pytest.param("<testcase><testcase/><failure/></testcase>", (0, 1, 0), id="a case within a case is none"),
    ],
)
def test_how_a_case_went(case: str, counts: tuple[int, int, int]) -> None:
    report = read_reports([f"<testsuite>{case}</testsuite>"])
    assert (report.passed, report.failed, report.skipped) == counts


@pytest.mark.parametrize(
    ("attributes", "title", "path"),
    [
        ('name="works" classname="shop.Cart"', "shop.Cart works", ""),
        ('name="shop.Cart works" classname="shop.Cart"', "shop.Cart works", ""),
        ('name="works" classname="shop.Cart works"', "shop.Cart works", ""),
        ('name=" works "', "works", ""),
        ('name="a" file="./src\\a.ts" line="7"', "a", "src/a.ts"),
    ],
)
def test_what_a_case_is_called_and_where_it_stands(attributes: str, title: str, path: str) -> None:
    (found,) = read_reports([f"<testsuite><testcase {attributes}/></testsuite>"]).titles
    assert (found.title, found.path) == (title, path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<!DOCTYPE a [<!ENTITY b "c">]><testsuite>&b;</testsuite>', "declares a document type"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><testsuite/>', "declares a document type"),
        ("<testsuite>&undefined;</testsuite>", "line 1, column 12"),
        ("<testsuite><testcase name='a'>", "cannot be read at line 1"),
        ("<html><body/></html>", "begins with <html>"),
        ("", "cannot be read"),
        ("{}", "cannot be read"),
        ("<testsuite>" + "<a>" * MAX_DEPTH + "</a>" * MAX_DEPTH + "</testsuite>", "deeper than"),
    ],
)
def test_what_is_no_report_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(UnreadableReport, match=said):
        read_reports([text])


def test_a_report_of_many_cases_is_read_in_linear_time() -> None:
    def read(cases: int) -> None:
        text = "<testsuite>" + '<testcase classname="a.b" name="test_x_y" time="1"/>' * cases + "</testsuite>"
        assert read_reports([text]).passed == cases

    assert grows_with_length(read, 1_000, 10_000)


@settings(deadline=None)
@given(st.text(max_size=300), st.binary(max_size=200))
def test_any_text_is_a_report_or_refused(text: str, raw: bytes) -> None:
    for given_ in (
        text,
        f"<testsuite>{text}</testsuite>",
        raw.decode("utf-8", "surrogateescape"),
        PYTEST[: len(raw) * 7],
    ):
        try:
            report = read_reports([given_])
        except UnreadableReport:
            continue
        assert report.passed >= 0 and report.failed >= 0

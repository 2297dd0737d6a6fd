"""The dashboard by keyboard, for readers of the screen, and in an editor's theme, in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.daemons import Daemon
from tests.server.dashboards import CHROMIUM, Dashboard, needs_chromium
from tests.server.test_dashboard_view import MANY, fill
from tests.wait_limits import HANG

sync_api = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

pytestmark = needs_chromium
FIND_MS = HANG * 1000

THEMES = {
    "vscode-dark": {
        "--vscode-editor-background": "#1f1f1f",
        "--vscode-foreground": "#cccccc",
        "--vscode-descriptionForeground": "#9d9d9d",
        "--vscode-textLink-foreground": "#4daafc",
        "--vscode-panel-border": "#2b2b2b",
        "--vscode-input-background": "#313131",
        "--vscode-focusBorder": "#0078d4",
    },
    "vscode-light": {
        "--vscode-editor-background": "#ffffff",
        "--vscode-foreground": "#3b3b3b",
        "--vscode-descriptionForeground": "#3b3b3b",
        "--vscode-textLink-foreground": "#005fb8",
        "--vscode-panel-border": "#e5e5e5",
        "--vscode-input-background": "#ffffff",
        "--vscode-focusBorder": "#005fb8",
    },
    "vscode-high-contrast": {
        "--vscode-editor-background": "#000000",
        "--vscode-foreground": "#ffffff",
        "--vscode-textLink-foreground": "#21a6ff",
        "--vscode-contrastBorder": "#6fc3df",
        "--vscode-input-background": "#000000",
        "--vscode-focusBorder": "#f38518",
    },
}
"""Colours of VS Code's own themes, as it gives them to pages in its tabs."""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, Path, Path]]:
    home, root = tmp_path_factory.mktemp("h"), tmp_path_factory.mktemp("w") / "shop"
    (root / ".git").mkdir(parents=True)
    with Daemon(home) as running:
        with running.client(root) as client:
            fill(client, MANY)
        yield running, home, root


@pytest.fixture
def tell(daemon: tuple[Daemon, Path, Path]) -> Iterator[Any]:
    with daemon[0].client(daemon[2]) as client:
        yield lambda **event: client.request("aurora/deliverable", event, timeout=HANG)


@pytest.fixture(scope="module")
def address(daemon: tuple[Daemon, Path, Path]) -> Iterator[str]:
    with Dashboard(daemon[1], daemon[2]) as dashboard:
        yield dashboard.url


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, timezone_id="UTC")
    context.set_default_timeout(FIND_MS)
    page, wrong = context.new_page(), []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(address)
    live(page)
    yield page
    context.close()
    assert wrong == []


def live(page: Any) -> None:
    sync_api.expect(page.locator("#link")).to_have_text("live", timeout=FIND_MS)


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.id"))


def counted(page: Any, words: str) -> None:
    sync_api.expect(page.locator("#changes-count")).to_contain_text(words, timeout=FIND_MS)


def test_all_deliverables_are_reached_by_keyboard_alone(page: Any) -> None:
    seen, stops = set(), []
    for _ in range(120):
        page.keyboard.press("Tab")
        stops.append(focused(page))
        ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert ring != "none" or stops[-1].startswith("filter-"), f"{stops[-1]} shows no focus"
        if stops[-1] == "page-next":
            break
    assert "filter-q" in stops and "filter-end" in stops and "changes-list" in stops
    for words in ("1–50 of", "51–100 of", "101–120 of"):
        counted(page, words)
        seen |= set(page.eval_on_selector_all("#changes-list tbody a", "all => all.map((each) => each.id)"))
        assert focused(page) == "page-next", "a page that was turned leaves the focus where it was"
        page.keyboard.press("Enter")
    assert len(seen) == MANY
    page.go_back()
    counted(page, "51–100 of")


def test_a_search_is_an_address_that_can_be_kept(page: Any) -> None:
    page.locator("#filter-q").press_sequentially("cart change-01")
    counted(page, "5 deliverables")
    assert focused(page) == "filter-q" and "q=cart+change-01" in page.url
    page.reload()
    live(page)
    assert page.locator("#filter-q").input_value() == "cart change-01"
    page.locator("#filter-status").select_option("failed")
    counted(page, "Nothing is like that")
    page.get_by_role("link", name="Show all").click()
    counted(page, f"of {MANY} deliverables")
    assert page.locator("#filter-q").input_value() == page.locator("#filter-status").input_value() == ""


def test_a_group_leads_to_its_deliverables(page: Any, tell: Any) -> None:
    tell(action="start", change_id="grouped", agent="aider", model="small")
    tell(action="complete", change_id="grouped")
    page.locator("#agent-aider").click()
    counted(page, "1 deliverable,")
    assert page.locator("#filter-agent").input_value() == "aider" and focused(page) == "agent-aider"
    page.locator("#filter-q").fill("nothing like it")
    counted(page, "Nothing is like that")


def test_a_refresh_takes_neither_focus_nor_what_was_typed_opened_or_scrolled_away(page: Any, tell: Any) -> None:
    page.locator("#weeks-feature_throughput summary").click()
    page.evaluate("document.getElementById('changes-list').scrollTop = 200")
    page.locator("#change-change-101").focus()
    top = page.evaluate("document.getElementById('changes-list').scrollTop")
    first = page.evaluate_handle("document.activeElement")
    tell(action="task", change_id="change-101", completed=1, total=2)
    page.get_by_role("progressbar", name="change-101").wait_for()
    assert page.evaluate("document.getElementById('changes-list').scrollTop") == top
    assert page.evaluate("each => document.activeElement === each", first), "the row moved up, the link is the same"
    assert page.locator("#weeks-feature_throughput").get_attribute("open") is not None
    page.locator("#filter-q").focus()
    page.keyboard.type("change-1")
    counted(page, "20 deliverables")
    page.locator("#filter-status").select_option("open")
    counted(page, "15 deliverables")
    page.locator("#change-change-102").focus()
    tell(action="fail", change_id="change-102", failure_type="incomplete")
    page.locator("#change-change-102").wait_for(state="detached")
    assert focused(page) == "changes-list", "what had the focus is gone: its list has it"


@pytest.mark.parametrize("theme", ["light", "dark", *THEMES])
def test_it_can_be_read_by_everybody_in_the_theme_it_is_shown_in(browser: Any, address: str, theme: str) -> None:
    # The editor's theme counts, whatever the system's is.
    scheme = theme if theme in ("light", "dark") else "dark" if theme == "vscode-light" else "light"
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(FIND_MS)
    page = context.new_page()
    page.goto(address)
    live(page)
    if colours := THEMES.get(theme):
        page.evaluate(
            """([theme, colours]) => {
              document.body.className = "in-editor " + theme;
              const { style } = document.documentElement;
              for (const [name, value] of Object.entries(colours)) style.setProperty(name, value);
            }""",
            [theme, colours],
        )
        ground, ink = page.evaluate(
            "(({backgroundColor, color}) => [backgroundColor, color])(getComputedStyle(document.body))"
        )
        assert (ground, ink) == tuple(
            "rgb({}, {}, {})".format(*bytes.fromhex(colours[f"--vscode-{name}"][1:]))
            for name in ("editor-background", "foreground")
        )
    page.locator("#weeks-feature_throughput summary").click()
    found = axe.Axe().run(page).response["violations"]
    assert [(each["id"], [node["target"] for node in each["nodes"]]) for each in found] == []
    context.close()

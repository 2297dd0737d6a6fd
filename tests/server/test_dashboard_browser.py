"""The dashboard in a real Chromium: skipped where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.daemons import Daemon
from tests.server.dashboards import CHROMIUM, Dashboard, needs_chromium
from tests.server.test_dashboard import APPLY, START, TOKENS, tell

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = needs_chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 360)])
def test_it_is_live_and_no_error_is_in_the_console(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    with Daemon(tmp_path / "h") as daemon, Dashboard(tmp_path / "h", root) as dashboard:
        tell(daemon, root, START)
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
        page, said = context.new_page(), []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message) or dialog.dismiss())
        page.on("request", lambda request: None if "127.0.0.1" in request.url else said.append(request.url))
        page.goto(dashboard.url)
        # Not `wait_for_function`: it evaluates text in the page, which the page's policy forbids.
        sync_api.expect(page.locator("#link")).to_have_text("live", timeout=240_000)
        assert "token" not in page.url
        link = page.get_by_role("link", name="add-cart")
        link.focus()
        tell(daemon, root, APPLY, TOKENS)
        page.get_by_role("img", name="apply: begins").wait_for(timeout=240_000)
        assert page.evaluate("document.activeElement.textContent") == "add-cart", "an update takes no focus away"
        page.keyboard.press("Enter")
        page.wait_for_url("**/?change=add-cart")
        assert page.get_by_role("link", name="add-cart").get_attribute("aria-current") == "true"
        for region in ("How deliverables went", "Deliverables", "Phases", "Tokens and cost", "Memory and index"):
            assert page.get_by_role("region", name=region, exact=True).is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing is wider than the window"
        context.close()
        assert said == []

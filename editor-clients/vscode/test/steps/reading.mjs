// The window opens; hover, recall and explain read from memory.
export const reading = {
  async "the window opens and the folder is indexed"({ window, url }) {
    await window.open(url);
    const at = Date.now();
    await window.file("src/basket.py", 20, 6);
    await window.indexed();
    return { status: await window.status(/AURORA/), readyMs: Date.now() - at };
  },

  async "hover shows what memory knows"({ window }) {
    await window.go(20, 6);
    return { text: await window.hover("pay_by_card") };
  },

  async "recall finds as one types and opens the line"({ window, page }) {
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+Alt+M");
    await window.input.waitFor();
    await window.input.pressSequentially("pay by card", { delay: 30 });
    await window.rows("pay_by_card").first().waitFor();
    await page.locator(".tab", { hasText: "checkout.py" }).waitFor(); // the preview
    const rows = await window.rows().allInnerTexts();
    await window.shot("recall-list");
    await page.keyboard.press("Enter");
    await window.picker.waitFor({ state: "hidden" });
    return { rows, ...(await window.at("checkout.py", 4)) };
  },

  async "recall that is left leads back"({ window, page }) {
    await window.file("src/basket.py", 3, 1);
    await window.command("AURORA: Recall");
    await window.input.waitFor();
    await window.input.fill("renderBasketPage");
    await window.rows("renderBasketPage").first().waitFor();
    await page.locator(".tab", { hasText: "render.ts" }).waitFor();
    await page.keyboard.press("Escape");
    const back = await window.at("basket.py", 3);
    await page.locator(".tab", { hasText: "render.ts" }).waitFor({ state: "detached" });
    return { ...back, tabs: await page.locator(".tab .label-name").allInnerTexts() };
  },

  async "a symbol is explained"({ window, page }) {
    await window.file("src/basket.py", 20, 6);
    await page.keyboard.press("Control+Alt+E");
    const text = await window.preview(/How present it is/);
    await window.shot("explained");
    await (await window.inPreview("pay_by_card")).click();
    const followed = await window.at("checkout.py", 4);
    await window.command("View: Close All Editors");
    return { text, followed };
  },
};

// The daemon is killed; the window is reloaded.
import { daemon } from "./world.mjs";

export const recovering = {
  async "a killed daemon comes back by itself"({ window, options }) {
    const before = daemon(options);
    process.kill(before, "SIGKILL");
    const at = Date.now();
    let after;
    await window.until("a new daemon", () => (after = daemon(options)) !== undefined && after !== before, 120_000);
    await window.indexed();
    const ms = Date.now() - at;
    await window.file("src/basket.py", 20, 6);
    return { before, after, ms, text: await window.hover("pay_by_card") };
  },

  async "the window is reloaded: first hover and activation"({ window, page }) {
    const times = [];
    for (let round = 0; round < 3; round++) {
      await window.file("src/basket.py", 20, 6);
      // Its own command stores which editors are open before it goes.
      const at = Date.now();
      await Promise.all([page.waitForEvent("load", { timeout: 120_000 }), window.command("Developer: Reload Window")]);
      await page.locator(".view-lines", { hasText: "total_price" }).first().waitFor({ timeout: 120_000 });
      const shownMs = Date.now() - at;
      const [hoverMs, plainMs] = await firstHover(page);
      if (!round) await window.shot("first-hover");
      await page.keyboard.press("Escape");
      await window.command("Developer: Show Running Extensions");
      const rows = page.locator(".monaco-list-row").filter({ hasText: "Activation" });
      await rows.filter({ hasText: "AURORA" }).first().waitFor();
      const running = (await rows.allInnerTexts()).map((row) => row.replace(/\s+/g, " "));
      const ours = running.find((row) => row.includes("AURORA"));
      times.push({ shownMs, hoverMs, plainMs, activationMs: Number(/Activation: (\d+)ms/.exec(ours)[1]), ours, running });
      await page.keyboard.press("Control+W");
    }
    return { times };
  },
};

/** Milliseconds from the text being shown to our hover over it, and to that of an extension that does nothing else. */
async function firstHover(page) {
  const shown = Date.now();
  const name = page.locator(".view-lines span", { hasText: /^total_price$/ }).first();
  const hover = page.locator(".monaco-hover:not(.hidden)");
  const texts = ["pay_by_card", "plain hover"];
  const times = texts.map(() => undefined);
  for (let turn = 0; times.includes(undefined); turn++) {
    const box = await name.boundingBox(); // code lenses move the line
    // VS Code asks anew for each visit of the mouse. One that waits for an answer rests where it is.
    if (box) await page.mouse.move(box.x + (turn % 2 ? 3 : 12), box.y + box.height / 2 + (turn % 4 === 3 ? 200 : 0));
    const until = Date.now() + 400;
    for (let told = ""; Date.now() < until || told.includes("Loading"); ) {
      if (Date.now() - shown > 120_000) throw new Error("no hover within two minutes of the window");
      told = (await hover.allInnerTexts()).join();
      for (const [index, text] of texts.entries()) if (told.includes(text)) times[index] ??= Date.now() - shown;
      if (!times.includes(undefined)) break;
      await page.waitForTimeout(20);
    }
  }
  return times;
}

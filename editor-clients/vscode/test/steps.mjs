// The steps, in their order. Each returns what it saw.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";

const OURS = /AURORA/;

export const steps = {
  async "the window opens and the folder is indexed"({ window, url }) {
    await window.open(url);
    const at = Date.now();
    await window.file("src/basket.py", 20, 6);
    await window.status(OURS, 60_000);
    const item = window.page.locator('[id="aurora-context.aurora.aurora.index"]');
    await item.locator(".codicon-database").waitFor({ timeout: 60_000 });
    return { status: await window.status(OURS), readyMs: Date.now() - at };
  },

  async "hover shows what memory knows"({ window }) {
    await window.go(20, 6);
    return { text: await window.hover("pay_by_card") };
  },

  async "recall finds as one types and opens the line"({ window, page }) {
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+Alt+M");
    const input = window.picker.locator("input.input").first();
    await input.waitFor();
    await input.pressSequentially("pay by card", { delay: 30 });
    const row = window.picker.locator(".monaco-list-row").first();
    await row.filter({ hasText: "pay_by_card" }).waitFor();
    const rows = await window.picker.locator(".monaco-list-row").allInnerTexts();
    await page.locator(".tab", { hasText: "checkout.py" }).waitFor(); // the preview
    await window.shot("recall-list");
    await page.keyboard.press("Enter");
    await window.picker.waitFor({ state: "hidden" });
    await page.locator(".editor-group-container.active .tab.active", { hasText: "checkout.py" }).waitFor();
    await page.waitForTimeout(500);
    return { rows, tab: await window.activeTab(), cursor: await window.cursor() };
  },

  async "recall that is left leads back"({ window, page }) {
    await window.file("src/basket.py", 3, 1);
    await window.command("AURORA: Recall");
    const input = window.picker.locator("input.input").first();
    await input.waitFor();
    await input.fill("renderBasketPage");
    await window.picker.locator(".monaco-list-row", { hasText: "renderBasketPage" }).first().waitFor();
    await page.locator(".tab", { hasText: "render.ts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".editor-group-container.active .tab.active", { hasText: "basket.py" }).waitFor();
    await page.waitForTimeout(500);
    const tabs = await page.locator(".tab .label-name").allInnerTexts();
    return { tab: await window.activeTab(), cursor: await window.cursor(), tabs };
  },

  async "a symbol is explained"({ window, page }) {
    await window.file("src/basket.py", 20, 6);
    await page.keyboard.press("Control+Alt+E");
    const text = await window.preview(/How present it is/);
    await window.shot("explained");
    await (await window.inPreview("pay_by_card")).click();
    await page.locator(".tab.active", { hasText: "checkout.py" }).first().waitFor();
    await page.waitForTimeout(500);
    const followed = { tab: await window.activeTab(), cursor: await window.cursor() };
    await window.command("View: Close All Editors");
    return { text, followed };
  },

  async "a broken manifest is underlined once and mended by a quick fix"({ window, page, options }) {
    await window.file("notes/aura.json", 1, 1);
    await window.command("View: Focus Problems");
    await window.problems().filter({ hasText: "aurora" }).first().waitFor();
    await page.waitForTimeout(1500); // another source would come late
    const problems = await window.problems().allInnerTexts();
    await window.shot("manifest-problems");
    await page.locator(".editor-group-container.active .view-lines").first().click();
    await window.go(options.broken.line, options.broken.column);
    await page.keyboard.press("Control+.");
    const fix = page.locator(".action-widget .monaco-list-row", { hasText: options.broken.fix }).first();
    await fix.waitFor();
    await window.shot("manifest-quick-fix");
    await page.keyboard.press("Enter"); // the first entry
    await page.locator(".view-lines", { hasText: options.broken.mended }).first().waitFor();
    await page.keyboard.press("Control+S");
    await page.waitForTimeout(1000);
    const text = readFileSync(join(options.folder, "notes", "aura.json"), "utf8");
    const left = await window.problems().allInnerTexts();
    await page.keyboard.press("Control+J");
    return { problems, left, text };
  },

  async "the manifest is validated by command"({ window }) {
    await window.command("AURORA: Validate Manifest");
    const told = await window.notification(/aura\.json is (not )?valid/);
    await window.clearNotifications();
    return { told };
  },

  async "a question is answered in a page, phase by phase"({ window, page, options }) {
    await window.file("src/basket.py", 20, 6);
    await page.keyboard.press("Control+Alt+A");
    const input = window.picker.locator("input.input").first();
    await input.waitFor();
    await input.fill(options.question);
    await page.keyboard.press("Enter");
    const working = await window.preview(/assess|retrieve|decompose/);
    await window.picker.getByText("AURORA asks back").waitFor();
    const question = await window.picker.innerText();
    await window.shot("asking-back");
    await window.picker.locator("input.input").first().press("Enter"); // with nothing
    const text = await window.preview(/How it was answered/, 60_000);
    return { working, question, text };
  },

  async "a question that is stopped ends at once"({ window, page, options }) {
    await window.command("AURORA: Ask");
    const input = window.picker.locator("input.input").first();
    await input.waitFor();
    await input.fill(options.slowQuestion);
    await page.keyboard.press("Enter"); // it does not ask back: who has no agents is asked once
    const toast = page.locator(".notification-toast").filter({ hasText: "AURORA" }).first();
    await toast.filter({ hasText: "decompose" }).waitFor({ timeout: 30_000 });
    const at = Date.now();
    await toast.locator(".monaco-button", { hasText: "Cancel" }).click();
    const text = await window.preview(/Stopped\./);
    const ms = Date.now() - at;
    await window.shot("stopped");
    await window.command("View: Close All Editors");
    return { text, ms };
  },

  async "a deliverable is begun and stands in the status bar"({ window, page }) {
    await window.command("AURORA: Start Deliverable");
    const input = window.picker.locator("input.input").first();
    await input.fill("add-dark-mode");
    await page.keyboard.press("Enter");
    await window.picker.getByText("What add-dark-mode is to achieve").waitFor();
    await input.fill("A dark theme");
    await page.keyboard.press("Enter");
    await window.status(/add-dark-mode/);
    await window.command("AURORA: Begin Phase of Deliverable");
    await window.picker.locator(".monaco-list-row", { hasText: "add-dark-mode" }).first().click();
    await window.picker.locator(".monaco-list-row", { hasText: "apply" }).first().click();
    const status = await window.status(/add-dark-mode · apply/);
    await window.command("View: Show AURORA");
    const view = page.locator(".pane", { hasText: "Deliverables" }).locator(".monaco-list-row", { hasText: "add-dark-mode" });
    await view.first().waitFor();
    const memory = await page.locator(".pane").filter({ hasText: "Memory" }).first().innerText();
    await window.shot("views");
    return { status, row: await view.first().innerText(), memory };
  },

  async "the dashboard opens in a tab"({ window, page }) {
    await window.command("AURORA: Open Dashboard");
    const text = await window.preview(/How deliverables went/);
    await window.preview(/live/);
    await page.waitForTimeout(500);
    await window.shot("dashboard");
    await page.keyboard.press("Control+W");
    return { text };
  },

  async "without the server the bundled schema checks, and stops when it is back"({ window, page, options }) {
    const file = join(options.data, "Machine", "settings.json"); // where a remote window has such settings
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "{}");
    await window.file("notes/aura.json", 1, 1);
    await window.command("View: Focus Problems");
    writeFileSync(file, JSON.stringify({ "aurora.server.path": "/nowhere/aurora" }));
    const told = await window.notification(/names \/nowhere\/aurora/);
    await window.problems().filter({ hasText: "Missing property" }).first().waitFor();
    const alone = await window.problems().allInnerTexts();
    await window.shot("without-server");
    writeFileSync(file, "{}");
    await window.problems().filter({ hasText: /lacks the required member/ }).first().waitFor();
    await window.problems().filter({ hasText: "Missing property" }).first().waitFor({ state: "hidden" });
    const together = await window.problems().allInnerTexts();
    await window.clearNotifications();
    await page.keyboard.press("Control+J");
    await page.waitForTimeout(300);
    return { told, alone, together };
  },

  async "everything is indexed on request"({ window }) {
    await window.command("AURORA: Index Now");
    const told = await window.notification(/files, .* chunks/);
    await window.clearNotifications();
    return { told };
  },

  async "a killed daemon comes back by itself"({ window, options }) {
    const before = daemon(options);
    process.kill(before, "SIGKILL");
    const at = Date.now();
    let after;
    while ((after = daemon(options)) === before || after === undefined) {
      if (Date.now() - at > 30_000) throw new Error("no new daemon within 30 s");
      await window.page.waitForTimeout(100);
    }
    await window.page.locator('[id="aurora-context.aurora.aurora.index"] .codicon-database').waitFor({ timeout: 30_000 });
    const ms = Date.now() - at;
    await window.file("src/basket.py", 20, 6);
    return { before, after, ms, text: await window.hover("pay_by_card") };
  },

  async "the window is reloaded: first hover and activation"({ window, page }) {
    const times = [];
    for (let round = 0; round < 3; round++) {
      await window.file("src/basket.py", 20, 6);
      // Its own command stores which editors are open before it goes.
      await Promise.all([page.waitForEvent("load"), window.command("Developer: Reload Window")]);
      await page.locator(".view-lines", { hasText: "total_price" }).first().waitFor({ timeout: 60_000 });
      const hoverMs = await firstHover(page);
      if (!round) await window.shot("first-hover");
      await page.keyboard.press("Escape");
      await window.command("Developer: Show Running Extensions");
      const row = page.locator(".monaco-list-row", { hasText: "AURORA" }).filter({ hasText: "Activation" }).first();
      await row.waitFor();
      const running = (await row.innerText()).replace(/\s+/g, " ");
      times.push({ hoverMs, activationMs: Number(/Activation: (\d+)ms/.exec(running)[1]), running });
      await page.keyboard.press("Control+W");
    }
    return { times };
  },
};

/** Milliseconds from the text being shown to our hover over it. */
async function firstHover(page) {
  const shown = Date.now();
  const name = page.locator(".view-lines span", { hasText: /^total_price$/ }).first();
  const hover = page.locator(".monaco-hover:not(.hidden)", { hasText: "pay_by_card" }).first();
  for (let turn = 0; !(await hover.isVisible()); turn++) {
    if (Date.now() - shown > 60_000) throw new Error("no hover within 60 s of the window");
    const box = await name.boundingBox(); // code lenses move the line
    // Leave and come back: VS Code asks anew for each visit.
    await page.mouse.move(box.x + (turn % 2 ? 3 : 12), box.y + box.height / 2 + (turn % 4 === 3 ? 200 : 0));
    await hover.waitFor({ timeout: 400 }).catch(() => undefined);
  }
  return Date.now() - shown;
}

function daemon(options) {
  try {
    const out = execFileSync(options.aurora, ["daemon", "status", "--json"], { env: { ...process.env, ...options.environment }, encoding: "utf8", timeout: 20_000, stdio: ["ignore", "pipe", "ignore"] });
    return JSON.parse(out).pid;
  } catch (error) {
    if (error.status) return undefined; // it answers that there is none
    throw error;
  }
}

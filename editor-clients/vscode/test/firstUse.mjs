// What somebody meets who has just installed the extension: a folder that is not trusted, no folder, no server.
// Steps for `journey.mjs`, as those of `steps.mjs`; which of them are taken is for `options.only` to say.
import { readFileSync } from "node:fs";

const MANIFEST = new URL("../package.json", import.meta.url);
const LONGEST = 40_000;

export const steps = {
  async "a folder that is not trusted is remembered"({ window, page, url }) {
    page.setDefaultNavigationTimeout(120_000); // a busy machine
    await window.open(url);
    await window.file("src/basket.py", 20, 6);
    await page.locator('[id="aurora-context.aurora.aurora.index"] .codicon-database').waitFor({ timeout: 120_000 });
    await window.status(/Restricted Mode/);
    const text = await window.hover("pay_by_card");
    await window.shot("restricted-hover");
    await page.keyboard.press("Escape");
    await page.locator(".statusbar-item", { hasText: "Restricted Mode" }).first().click();
    await page.locator(".workspace-trust-editor").waitFor();
    await page.locator(".workspace-trust-editor a", { hasText: /extensions/ }).click();
    const limited = page.locator(".extensions-viewlet .pane", { hasText: "Limited in Restricted Mode" });
    await limited.locator(".extension-list-item", { hasText: "AURORA" }).waitFor();
    const trust = await limited.innerText();
    await window.shot("restricted-trust");
    await window.command("View: Close All Editors");
    return { text, trust };
  },

  async "a question in a folder that is not trusted is answered without what the folder brings"({ window, page, options }) {
    await window.file("src/basket.py", 20, 6);
    await window.command("AURORA: Ask");
    const input = window.picker.locator("input.input").first();
    await input.waitFor();
    await input.fill(options.question);
    await page.keyboard.press("Enter");
    const text = await window.preview(/aurora trust|How it was answered|No model|no model/i, 90_000);
    await window.shot("restricted-answer");
    await page.keyboard.press("Escape");
    await window.clearNotifications();
    await window.command("View: Close All Editors");
    return { text };
  },

  async "the walkthrough opens and its buttons work"({ window, page }) {
    await window.command("Welcome: Open Walkthrough");
    const input = window.picker.locator("input.input").first();
    await input.fill("AURORA");
    await window.picker.locator(".monaco-list-row", { hasText: "AURORA" }).first().click();
    await page.locator(".getting-started", { hasText: "a memory beside your editor" }).first().waitFor();
    await page.waitForTimeout(1500);
    await window.shot("walkthrough");
    const steps = await page.locator(".getting-started-step").allInnerTexts();
    await page.locator(".getting-started-step", { hasText: "Recall something" }).first().click();
    await page.locator(".getting-started-step.expanded .monaco-button", { hasText: "Recall" }).first().click();
    await window.picker.waitFor();
    const recall = await window.picker.locator("input.input").first().getAttribute("placeholder");
    await window.shot("walkthrough-recall");
    await page.keyboard.press("Escape");
    await window.command("View: Close All Editors");
    return { steps, recall };
  },

  async "every command shows something with no folder open"({ window, page, url }) {
    await page.goto(`${new URL(url).origin}/?ew=true`);
    await window.ready();
    await page.locator('[id="aurora-context.aurora.aurora.index"]').waitFor({ timeout: 60_000 }).catch(() => undefined); // activated by its first command
    return { shown: await everyCommand(window, page, "empty") };
  },

  async "every command shows something with no server on the machine"({ window, page, url }) {
    page.setDefaultNavigationTimeout(120_000); // a busy machine
    await window.open(url);
    await window.file("src/basket.py", 20, 6);
    const offered = await window.notification(/server was not found/, 120_000);
    await window.shot("no-server");
    await window.clearNotifications();
    return { offered, shown: await everyCommand(window, page, "missing") };
  },

  async "the server is installed by the extension when asked to, and serves"({ window, page }) {
    await window.file("src/basket.py", 20, 6);
    await window.command("AURORA: Install Server");
    const toast = page.locator(".notification-toast", { hasText: "server was not found" }).first();
    await toast.locator(".monaco-button", { hasText: "Install" }).first().click();
    await window.notification(/Installing AURORA's server/);
    await page.waitForTimeout(3000);
    await window.shot("installing");
    const told = await window.notification(/is installed|could not be installed/, 900_000);
    await window.shot("installed");
    await page.locator('[id="aurora-context.aurora.aurora.index"] .codicon-database').waitFor({ timeout: 120_000 });
    await window.clearNotifications();
    await window.go(20, 6);
    return { told, hover: await window.hover("pay_by_card") };
  },
};

/** Run all that the palette offers; by title, what has changed on the screen. */
async function everyCommand(window, page, name) {
  const { contributes } = JSON.parse(readFileSync(MANIFEST, "utf8"));
  const editor = await page.locator(".tab").count();
  const absent = (when) => when === "false" || (when === "editorIsOpen" && !editor);
  const hidden = new Set(contributes.menus.commandPalette.filter((each) => absent(each.when)).map((each) => each.command));
  const shown = {};
  for (const { command, title } of contributes.commands) {
    if (hidden.has(command)) continue;
    const before = await screen(page);
    try {
      await window.command(`AURORA: ${title}`);
    } catch (error) {
      shown[title] = { problem: `not in the palette: ${String(error.message).split("\n")[0]}` };
      await page.keyboard.press("Escape");
      continue;
    }
    const deadline = Date.now() + LONGEST;
    let news = [];
    while (!news.length && Date.now() < deadline) {
      await page.waitForTimeout(250);
      news = (await screen(page)).filter((each) => !before.includes(each));
    }
    shown[title] = { news };
    await window.shot(`${name}-${command.split(".").at(-1)}`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await window.clearNotifications();
  }
  return shown;
}

/** What a user would notice: messages, pickers, tabs, panels, the side bar. */
async function screen(page) {
  const found = [];
  const parts = {
    message: ".notification-toast .notification-list-item-message",
    picker: ".quick-input-widget:not([style*='display: none']) .quick-input-title, .quick-input-widget:not([style*='display: none']) .quick-input-message",
    tab: ".tab .label-name",
    panel: ".panel .panel-switcher-container .action-item.checked, .part.panel .composite.title .title-label h2, .part.panel .action-item.checked .action-label",
    side: ".part.sidebar .composite.title h2, .part.sidebar .pane-header.expanded h3",
    status: ".statusbar-item:has(.codicon-circle-slash), .statusbar-item:has(.codicon-check), .statusbar-item:has(.codicon-sync)",
  };
  for (const [kind, selector] of Object.entries(parts)) {
    for (const item of await page.locator(selector).all()) {
      if (!(await item.isVisible().catch(() => false))) continue;
      const text = ((await item.innerText().catch(() => "")) || (await item.getAttribute("aria-label").catch(() => "")) || "").replace(/\s+/g, " ").trim();
      if (text) found.push(`${kind}: ${text}`);
    }
  }
  return found;
}

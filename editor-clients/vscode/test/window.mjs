// A window of VS Code as its user sees it: the palette, quick picks, hovers, notifications, the status bar.
import { join } from "node:path";

const PATIENCE = 60_000;
const INDEX = '[id="aurora-context.aurora.aurora.index"]';

export class Window {
  constructor(page, artefacts, folder) {
    this.page = page;
    this.folder = folder;
    this.artefacts = artefacts;
    this.shots = 0;
  }

  async open(url) {
    await this.page.goto(url);
    await this.ready();
  }

  /** The workbench is there, and ours has been activated. */
  async ready() {
    await this.page.waitForSelector(".monaco-workbench .statusbar-item", { timeout: 60_000 });
  }

  async shot(name) {
    this.shots += 1;
    await this.page.screenshot({ path: join(this.artefacts, `${String(this.shots).padStart(2, "0")}-${name}.png`) });
  }

  get picker() {
    return this.page.locator(".quick-input-widget");
  }

  get input() {
    return this.picker.locator("input.input").first();
  }

  /** The entries of the quick pick, or those with `words` in them. */
  rows(words) {
    const rows = this.picker.locator(".monaco-list-row");
    return words ? rows.filter({ hasText: words }) : rows;
  }

  /** The text of the editor that is open. */
  get editor() {
    return this.page.locator(".editor-group-container.active .view-lines").first();
  }

  /** Run a command by its title in the palette. */
  async command(title) {
    const label = this.page.locator(".label-name", { hasText: new RegExp(`^${title.replace(/[^\w ]/g, "\\$&")}(…|\\.\\.\\.)?$`) });
    await this.pick("F1", `>${title}`, this.rows().filter({ has: label }));
  }

  /** Press `key`, type `text` into what opens, and choose the first of `rows`. */
  async pick(key, text, rows) {
    for (let turn = 1; ; turn++) {
      await this.page.keyboard.press(key);
      try {
        await this.input.waitFor({ timeout: 10_000 });
        await this.input.fill(text, { timeout: 5_000 }); // something else may have closed it meanwhile
        await rows.first().waitFor({ timeout: 15_000 });
        await rows.first().click({ timeout: 10_000 });
        return;
      } catch (error) {
        // A page that had the focus may have taken the key.
        if (turn === 4) throw error;
        await this.page.keyboard.press("Escape");
        await this.page.locator(".statusbar").click({ position: { x: 700, y: 10 } });
      }
    }
  }

  /** Open a file of the workspace, the cursor at a 1-based line and column. By its whole path: the search needs ripgrep. */
  async file(name, line = 1, column = 1) {
    const last = name.split("/").at(-1);
    await this.pick("Control+P", join(this.folder, name), this.rows(last));
    await this.page.locator(".editor-group-container.active .tab.active", { hasText: last }).waitFor({ timeout: PATIENCE });
    await this.go(line, column);
  }

  async go(line, column) {
    await this.page.keyboard.press("Control+G");
    const input = this.picker.locator("input.input").first();
    await input.waitFor({ timeout: PATIENCE });
    await input.fill(`:${line}:${column}`);
    await this.picker.locator(".monaco-list-row", { hasText: `${line}` }).first().waitFor();
    for (let turn = 1; ; turn++) {
      try {
        await input.press("Enter", { timeout: 5_000 }); // to the field itself: a notification may have the focus
        await this.picker.waitFor({ state: "hidden", timeout: 5_000 });
        return;
      } catch (error) {
        if (!(await this.picker.isVisible())) return; // closed between the two
        if (turn === 8) throw error;
      }
    }
  }

  /** The text of the hover at the cursor, once `words` are in it. */
  async hover(words) {
    const shown = this.page.locator(".monaco-hover:not(.hidden)", { hasText: words }).first();
    const deadline = Date.now() + PATIENCE;
    for (;;) {
      await this.page.keyboard.press("Control+K");
      await this.page.keyboard.press("Control+I");
      try {
        await shown.waitFor({ timeout: 1500 });
        return await shown.innerText();
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await this.page.keyboard.press("Escape"); // what others had to say is shown already, and is not asked anew
      }
    }
  }

  /** The text of a status bar item that matches. */
  async status(pattern, timeout = PATIENCE) {
    const item = this.page.locator(".statusbar-item").filter({ hasText: pattern }).first();
    await item.waitFor({ timeout });
    return (await item.innerText()).trim();
  }

  /** The text of a notification that matches. */
  async notification(pattern, timeout = PATIENCE) {
    const shown = this.page.locator(".notification-toast, .notifications-center .notification-list-item").filter({ hasText: pattern }).first();
    await shown.waitFor({ timeout });
    return (await shown.innerText()).replace(/\s+/g, " ").trim();
  }

  async clearNotifications() {
    await this.command("Notifications: Clear All Notifications");
    await this.page.waitForTimeout(300);
  }

  /** Wait until the cursor is in this file at this line; tells where it is. */
  async at(name, line) {
    await this.page.locator(".editor-group-container.active .tab.active", { hasText: name }).first().waitFor({ timeout: PATIENCE });
    await this.status(new RegExp(`Ln ${line}, Col \\d+`));
    return { tab: await this.activeTab(), cursor: await this.cursor() };
  }

  /** Where the cursor is, as the status bar tells: `Ln 12, Col 1`. */
  async cursor() {
    const text = await this.status(/Ln \d+, Col \d+/);
    const [, line, column] = /Ln (\d+), Col (\d+)/.exec(text);
    return { line: Number(line), column: Number(column) };
  }

  /** Wait until the status bar says that the index is whole. */
  async indexed() {
    await this.page.locator(`${INDEX} .codicon-database`).waitFor({ timeout: 120_000 });
  }

  /** Wait until `found()` is true. */
  async until(what, found, timeout = PATIENCE) {
    const deadline = Date.now() + timeout;
    while (!(await found())) {
      if (Date.now() > deadline) throw new Error(`not within ${timeout / 1000} s: ${what}`);
      await this.page.waitForTimeout(100);
    }
  }

  /** The text of a modal dialog that matches. */
  async dialog(pattern) {
    const shown = this.page.locator(".monaco-dialog-box").filter({ hasText: pattern }).first();
    await shown.waitFor({ timeout: PATIENCE });
    return (await shown.innerText()).replace(/\s+/g, " ").trim();
  }

  async answerDialog(button) {
    const box = this.page.locator(".monaco-dialog-box");
    await box.locator(".monaco-button", { hasText: button }).first().click();
    await box.waitFor({ state: "detached", timeout: PATIENCE });
  }

  /** The text of the panel (output, log) that matches. */
  async panel(pattern) {
    const shown = this.page.locator(".part.panel .view-lines").filter({ hasText: pattern }).first();
    await shown.waitFor({ timeout: PATIENCE });
    return shown.innerText();
  }

  /** What the index's item in the status bar was while `work` was done, as HTML. */
  async watched(work) {
    await this.page.evaluate((selector) => {
      globalThis.passed = [];
      const look = () => globalThis.passed.push(document.querySelector(selector)?.outerHTML ?? "");
      globalThis.watching = new MutationObserver(look);
      globalThis.watching.observe(document.querySelector(".part.statusbar"), { subtree: true, childList: true, attributes: true, characterData: true });
    }, INDEX);
    await work();
    return this.page.evaluate(() => (globalThis.watching.disconnect(), [...new Set(globalThis.passed)]));
  }

  activeTab() {
    return this.page.locator(".editor-group-container.active .tab.active .label-name").first().innerText();
  }

  /** What stands in the Markdown preview. */
  async preview(pattern, timeout = PATIENCE) {
    const deadline = Date.now() + timeout;
    for (;;) {
      for (const frame of this.page.frames()) {
        if (!frame.url().includes("vscode-webview") && !frame.url().includes("webview") && !frame.url().includes("fake.html")) continue;
        const text = await frame.evaluate(() => document.body?.innerText ?? "").catch(() => "");
        if (pattern.test(text)) return text;
      }
      if (Date.now() > deadline) throw new Error(`no preview shows ${pattern}`);
      await this.page.waitForTimeout(100);
    }
  }

  /** A link in the Markdown preview. */
  async inPreview(text) {
    for (const frame of this.page.frames()) {
      const found = frame.getByRole("link", { name: text, exact: true }).first();
      if (await found.isVisible().catch(() => false)) return found;
    }
    throw new Error(`no preview has a link ${text}`);
  }

  /** The rows of the problems' panel, or those with `words` in them. */
  problems(words) {
    const rows = this.page.locator(".markers-panel .monaco-list-row");
    return words ? rows.filter({ hasText: words }) : rows;
  }
}

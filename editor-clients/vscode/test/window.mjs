// A window of VS Code as its user sees it: the palette, quick picks, hovers, notifications, the status bar.
import { join } from "node:path";

const PATIENCE = 30_000;

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

  /** Run a command by its title in the palette. */
  async command(title) {
    await this.page.keyboard.press("F1");
    const input = this.picker.locator("input.input").first();
    await input.waitFor({ timeout: PATIENCE });
    await input.fill(`>${title}`);
    const row = this.picker.locator(".monaco-list-row", { hasText: title }).first();
    await row.waitFor({ timeout: PATIENCE });
    await row.click();
  }

  /** Open a file of the workspace, the cursor at a 1-based line and column. By its whole path: the search needs ripgrep. */
  async file(name, line = 1, column = 1) {
    const last = name.split("/").at(-1);
    const tab = this.page.locator(".editor-group-container.active .tab.active", { hasText: last });
    for (let turn = 1; ; turn++) {
      await this.page.keyboard.press("Control+P");
      const input = this.picker.locator("input.input").first();
      try {
        await input.waitFor({ timeout: 5000 });
        await input.fill(join(this.folder, name));
        await this.picker.locator(".monaco-list-row", { hasText: last }).first().waitFor({ timeout: 5000 });
        await this.page.keyboard.press("Enter");
        await tab.waitFor({ timeout: 5000 });
        break;
      } catch (error) {
        // A page that had the focus may have taken the key.
        if (turn === 4) throw error;
        await this.page.keyboard.press("Escape");
        await this.page.locator(".statusbar").click({ position: { x: 700, y: 10 } });
      }
    }
    await this.go(line, column);
  }

  async go(line, column) {
    await this.page.keyboard.press("Control+G");
    const input = this.picker.locator("input.input").first();
    await input.waitFor({ timeout: PATIENCE });
    await input.fill(`:${line}:${column}`);
    await this.picker.locator(".monaco-list-row", { hasText: `${line}` }).first().waitFor();
    await this.page.keyboard.press("Enter");
    await this.picker.waitFor({ state: "hidden", timeout: PATIENCE });
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

  /** Where the cursor is, as the status bar tells: `Ln 12, Col 1`. */
  async cursor() {
    const text = await this.status(/Ln \d+, Col \d+/);
    const [, line, column] = /Ln (\d+), Col (\d+)/.exec(text);
    return { line: Number(line), column: Number(column) };
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

  problems() {
    return this.page.locator(".markers-panel .monaco-list-row");
  }
}

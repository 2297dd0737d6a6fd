// Deliverables, the dashboard, indexing on request, and everything the palette offers.
import { readFileSync } from "node:fs";
import { session } from "./world.mjs";

export const working = {
  async "a deliverable is begun and stands in the status bar"({ window, page }) {
    await window.command("AURORA: Start Deliverable");
    await window.picker.getByText("Name of the change").waitFor();
    await window.input.fill("add-dark-mode");
    await page.keyboard.press("Enter");
    await window.picker.getByText("What add-dark-mode is to achieve").waitFor();
    await window.input.fill("A dark theme");
    await page.keyboard.press("Enter");
    await window.status(/add-dark-mode/);
    await window.command("AURORA: Begin Phase of Deliverable");
    await window.rows("add-dark-mode").first().click();
    await window.rows("apply").first().click();
    const status = await window.status(/add-dark-mode · apply/);
    await window.command("View: Show AURORA");
    const view = page.locator(".pane", { hasText: "Deliverables" }).locator(".monaco-list-row", { hasText: "add-dark-mode" }).first();
    await view.filter({ hasText: "apply" }).waitFor();
    await window.shot("views");
    return { status, row: await view.innerText() };
  },

  async "the dashboard opens in a tab"({ window, page }) {
    await window.command("AURORA: Open Dashboard");
    await window.preview(/How deliverables went/);
    await window.preview(/live/);
    const text = await window.preview(/Memory and index/);
    await window.shot("dashboard");
    await page.keyboard.press("Control+W");
    return { text };
  },

  async "everything is indexed on request"({ window }) {
    await window.command("AURORA: Index Now");
    const told = await window.notification(/files, .* chunks/);
    await window.clearNotifications();
    return { told };
  },

  async "every command of the palette does something visible"({ window, page, options }) {
    const { contributes } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    const hidden = contributes.menus.commandPalette.filter((each) => each.when === "false").map((each) => each.command);
    const offered = contributes.commands.filter((each) => !hidden.includes(each.command));
    const picker = async () => {
      await window.picker.locator(".quick-input-title, .quick-input-header, .quick-input-message").first().waitFor();
      const told = await window.picker.innerText();
      await page.keyboard.press("Escape");
      await window.picker.waitFor({ state: "hidden" });
      return told;
    };
    const notification = (pattern) => async () => {
      const told = await window.notification(pattern);
      await window.clearNotifications();
      return told;
    };
    const preview = (pattern) => async () => {
      const told = await window.preview(pattern);
      await window.command("View: Close All Editors");
      return told;
    };
    const shown = {
      "aurora.recallInMemory": picker,
      "aurora.ask": picker,
      "aurora.explainSymbol": preview(/How present it is/),
      "aurora.indexNow": notification(/files, .* chunks/),
      "aurora.validateManifest": notification(/aura\.json is valid/),
      "aurora.startDeliverable": picker,
      "aurora.beginPhase": picker,
      "aurora.completeDeliverable": picker,
      "aurora.failDeliverable": picker,
      "aurora.showDeliverable": preview(/add-dark-mode[^]*change id/i),
      "aurora.openDashboard": preview(/How deliverables went/),
      "aurora.showBudget": notification(/budget|spent/),
      "aurora.installServer": notification(/server is there and running/),
      "aurora.showLog": () => window.panel(/answers\s+after/) /* its spaces do not break */,
    };
    const told = {};
    for (const { command, title, category } of offered) {
      const manifest = command === "aurora.validateManifest";
      await window.file(manifest ? "notes/aura.json" : "src/basket.py", manifest ? 1 : 20, manifest ? 1 : 6);
      const name = `${category}: ${title}`;
      if (command === "aurora.restartServer") {
        const passed = await window.watched(() => session(options, window, () => window.command(name)));
        told[command] = passed.find((html) => html.includes("codicon-sync")) ?? "";
      } else {
        await window.command(name);
        if (!shown[command]) throw new Error(`${command} is new: say here what is seen of it`);
        told[command] = await shown[command]();
      }
    }
    await window.shot("log");
    await window.command("View: Close All Editors");
    await page.keyboard.press("Control+J");
    return { told };
  },
};

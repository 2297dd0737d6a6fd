// A manifest is broken and mended; the bundled schema takes over where there is no server.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { remoteSettings, session } from "./world.mjs";

export const manifests = {
  async "a manifest is broken in the editor and mended by a quick fix"({ window, page, options }) {
    const { line, column, wrong, word, fix, mended } = options.breaking;
    await window.file("notes/aura.json", line, column);
    await window.command("View: Focus Problems (Errors, Warnings, Infos)");
    await window.editor.click();
    await window.go(line, column);
    await page.keyboard.press("Delete");
    await page.keyboard.insertText(wrong);
    await window.problems(word).first().waitFor();
    await page.waitForTimeout(1500); // what another source says of it would come late
    // That VS Code cannot fetch what "$schema" names is a remark of its own.
    const problems = (await window.problems().allInnerTexts()).filter((row) => !row.includes("Unable to load schema"));
    await window.shot("manifest-broken");
    await window.go(line, column + 1);
    await page.keyboard.press("Control+.");
    await page.locator(".action-widget .monaco-list-row", { hasText: fix }).first().waitFor();
    await window.shot("manifest-quick-fix");
    await page.keyboard.press("Enter"); // the first entry
    await page.locator(".view-lines", { hasText: mended }).first().waitFor();
    await window.problems("aurora").first().waitFor({ state: "detached" });
    await page.keyboard.press("Control+S");
    const saved = () => readFileSync(join(options.folder, "notes", "aura.json"), "utf8");
    await window.until("it is saved", () => saved().includes(mended));
    const text = saved();
    await page.keyboard.press("Control+J");
    return { problems, text };
  },

  async "a manifest is validated by command"({ window }) {
    const told = {};
    for (const name of ["notes/aura.json", "drafts/aura.json"]) {
      await window.file(name, 1, 1);
      await window.command("AURORA: Validate Manifest");
      told[name] = await window.notification(new RegExp(`${name} is (not )?valid`));
      await window.clearNotifications();
    }
    await window.command("View: Close All Editors");
    return { told };
  },

  async "without the server the bundled schema checks, and stops when it is back"({ window, page, options }) {
    await window.file("drafts/aura.json", 1, 1);
    await window.command("View: Focus Problems (Errors, Warnings, Infos)");
    await window.problems("lacks the required member").first().waitFor();
    remoteSettings(options, { "aurora.server.path": "/nowhere/aurora" });
    const told = await window.notification(/names \/nowhere\/aurora/);
    await window.problems("Missing property").first().waitFor();
    await window.problems("lacks the required member").first().waitFor({ state: "detached" });
    const alone = await window.problems().allInnerTexts();
    await window.shot("without-server");
    await session(options, window, async () => remoteSettings(options, {}));
    await window.problems("lacks the required member").first().waitFor();
    await window.problems("Missing property").first().waitFor({ state: "detached" });
    const together = await window.problems().allInnerTexts();
    await window.clearNotifications();
    await page.keyboard.press("Control+J");
    return { told, alone, together };
  },
};

// VS Code as an MCP client, by the configuration that docs/mcp.md gives; and what its agents are offered without one.
import { existsSync, readFileSync } from "node:fs";
import { session } from "./world.mjs";

export const agents = {
  async "the editor's agents find the memory's tools"({ window, page }) {
    const choose = async (...words) => {
      await window.command("MCP: List Servers");
      for (const text of words) {
        await window.rows(text).first().waitFor();
        await window.input.pressSequentially(text, { delay: 20 }); // a tip over the list is in the mouse's way
        await window.picker.locator(".monaco-list-row.focused", { hasText: text }).waitFor();
        await page.keyboard.press("Enter");
      }
    };
    await choose("aurora", "Start Server");
    await choose("aurora", "Show Output");
    const output = page.locator(".panel .view-lines").first();
    await output.filter({ hasText: /Discovered\s\d+\stools/ }).waitFor({ timeout: 60_000 });
    await page.waitForTimeout(3000); // it looks the tools' schemas over, and then says which it leaves out
    const text = await output.innerText();
    await window.shot("mcp");
    await choose("aurora", "Stop Server");
    await page.keyboard.press("Control+J");
    await output.waitFor({ state: "hidden" });
    return { text: text.replace(/\s+/g, " ") };
  },

  async "the editor's agents use memory's tools, also after two restarts"({ window, options }) {
    const uses = () => (existsSync(options.toolUses) ? readFileSync(options.toolUses, "utf8").trim().split("\n").map((line) => JSON.parse(line)) : []);
    const use = async () => {
      const before = uses().length;
      await window.command("Tests: Use AURORA's Tools");
      await window.until("an agent has used the tools", () => uses().length > before);
    };
    await use();
    for (let round = 0; round < 2; round++) await session(options, window, () => window.command("AURORA: Restart Server"));
    await use();
    return { uses: uses() };
  },
};

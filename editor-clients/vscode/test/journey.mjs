// One user's way through the extension in a real window. `node test/journey.mjs options.json` writes `report.json` into
// the folder of artefacts: every step with what was seen, or what went wrong. tests/e2e/test_vscode.py judges it.
import { readFile, writeFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { installed, started } from "./codeServer.mjs";
import { Window } from "./window.mjs";

const options = JSON.parse(await readFile(process.argv[2], "utf8"));
const { steps } = await import(options.steps ?? "./steps.mjs");
const report = { steps: [] };
await mkdir(options.artefacts, { recursive: true });
const begun = Date.now();
const entry = await installed();
report.installedMs = Date.now() - begun;
const editor = await started(entry, options);
const browser = await chromium.launch({
  executablePath: options.chromium,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  page.setDefaultTimeout(60_000);
  report.console = [];
  page.on("pageerror", (error) => report.console.push(String(error.stack ?? error)));
  page.on("console", (message) => message.type() === "error" && report.console.push(message.text()));
  const window = new Window(page, options.artefacts, options.folder);
  for (const [name, work] of Object.entries(steps)) {
    if (options.only && !options.only.includes(name)) continue;
    const at = Date.now();
    try {
      const seen = await work({ window, page, options, url: editor.url });
      report.steps.push({ name, seen: seen ?? {}, ms: Date.now() - at });
    } catch (error) {
      report.steps.push({ name, problem: String(error.stack ?? error), ms: Date.now() - at });
      await page.keyboard.press("Escape");
    }
    await window.shot(name);
    console.log(`${report.steps.at(-1).problem ? "✗" : "✓"} ${name} ${Date.now() - at} ms`);
  }
} finally {
  await browser.close();
  await editor.stop();
  await writeFile(join(options.artefacts, "report.json"), JSON.stringify(report, undefined, 2));
}

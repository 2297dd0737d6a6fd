// Packaging (vsce): makes aurora.vsix, or with --bundled aurora-bundled.vsix, which has the repository's wheel in it as
// well. The wheel is built by $PYTHON, else by the repository's own environment, else by python3.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const repository = join(here, "..", "..");
const bundled = process.argv.includes("--bundled");
const folder = join(here, "bundled");

await rm(folder, { recursive: true, force: true });
if (bundled) {
  const own = join(repository, ".venv", "bin", "python");
  const python = process.env.PYTHON || (existsSync(own) ? own : "python3");
  await mkdir(folder);
  const pip = ["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", folder, repository];
  execFileSync(python, pip, { stdio: "inherit" });
  const made = await readdir(folder);
  if (made.length !== 1 || !made[0].endsWith(".whl")) throw new Error(`one wheel was expected in ${folder}: ${made.join(", ")}`);
}
const vsce = join(here, "node_modules", "@vscode", "vsce", "vsce");
const out = bundled ? "aurora-bundled.vsix" : "aurora.vsix";
execFileSync(process.execPath, [vsce, "package", "--no-dependencies", "--allow-missing-repository", "--out", out], { cwd: here, stdio: "inherit" });

// Build (bundler, esbuild): bundles the extension into dist/ and brings the schemas in from the repository's one copy.
import { build } from "esbuild";
import { copyFile, mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const shared = join(here, "..", "..", "schemas", "aurora_schemas");
const wanted = ["manifest-1.0", "configuration", "agents", "deliverable-state", "metrics-output"];

await rm(join(here, "dist"), { recursive: true, force: true });
await rm(join(here, "schemas"), { recursive: true, force: true });
await mkdir(join(here, "schemas"));
const there = await readdir(shared);
for (const name of wanted) {
  const file = `${name}.schema.json`;
  if (!there.includes(file)) throw new Error(`${file} is not in ${shared}; has it been renamed?`);
  await copyFile(join(shared, file), join(here, "schemas", file));
}
const common = { bundle: true, minify: true, sourcemap: process.argv.includes("--sourcemap"), logLevel: "warning" };
await build({
  ...common,
  entryPoints: [join(here, "src", "extension.ts")],
  outfile: join(here, "dist", "extension.js"),
  platform: "node",
  format: "cjs",
  target: "node18",
  external: ["vscode"],
});
await build({
  ...common,
  entryPoints: [join(here, "src", "views", "dashboardPage.ts")],
  outfile: join(here, "dist", "dashboardPage.js"),
  platform: "browser",
  format: "iife",
  target: "es2022",
});

// The installation by the extension, with a real Python, real environments and real wheels. `npm test`; the whole server
// is installed where AURORA_TEST_WHEEL names its wheel.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const never = new AbortController().signal;
const said = [];
const telling = { step: (line) => said.push(line), log: (line) => said.push(line) };
let work, code, python;

before(async () => {
  work = await mkdtemp(join(tmpdir(), "aurora-installing-"));
  const outfile = join(work, "installing.mjs");
  const stdin = { contents: 'export * from "./installation"; export * from "./versions";', resolveDir: join(here, "src", "server"), loader: "ts" };
  await build({ stdin, outfile, bundle: true, platform: "node", format: "esm", logLevel: "error" });
  code = await import(pathToFileURL(outfile).href);
  python = await code.findPython(process.env.PYTHON ?? "", process.env.PATH, never);
});

after(() => rm(work, { recursive: true, force: true }));

/** A wheel of its own that has nothing but the program; `needs` are its requirements. */
function smallWheel(version, needs = []) {
  const folder = join(work, `wheels-${version}`);
  const made = `
import sys, zipfile
folder, version, *needs = sys.argv[1:]
name = f"{folder}/aurora_context-{version}-py3-none-any.whl"
info = f"aurora_context-{version}.dist-info"
with zipfile.ZipFile(name, "w") as wheel:
    wheel.writestr("small_aurora.py", f"def main():\\n    print('aurora {version}')\\n")
    wheel.writestr(f"{info}/METADATA", "\\n".join(["Metadata-Version: 2.1", "Name: aurora-context", f"Version: {version}", *(f"Requires-Dist: {each}" for each in needs)]) + "\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\\naurora = small_aurora:main\\n")
    wheel.writestr(f"{info}/RECORD", "")
print(name)
`;
  execFileSync("mkdir", ["-p", folder]);
  const path = execFileSync(python.path, ["-c", made, folder, version, ...needs], { encoding: "utf8" }).trim();
  return { path, version };
}

async function pretending(name, says) {
  const folder = await mkdtemp(join(work, "bin-"));
  await writeFile(join(folder, name), `#!/bin/sh\n${says}\n`);
  await chmod(join(folder, name), 0o755);
  return folder;
}

test("versions are ordered as pip orders them", () => {
  const inOrder = ["0.1.0.dev1", "0.1.0a1", "0.1.0a2", "0.1.0b1", "0.1.0rc1", "0.1.0", "0.1.0.post1", "0.2", "0.10.0", "1.0"];
  for (const [at, one] of inOrder.entries()) for (const [other, two] of inOrder.entries()) assert.equal(code.newer(one, two), at > other, `${one} ${two}`);
  assert.equal(code.newer("1.0.0", "1.0"), false);
  assert.equal(code.versionOf("aurora_context-0.2.0rc1-py3-none-any.whl"), "0.2.0rc1");
});

test("an old Python is passed over, and told of where there is no other", async () => {
  const old = await pretending("python3", "echo 3.9");
  await assert.rejects(code.findPython("", old, never), (error) => {
    assert.match(error.message, /needs Python 3\.11 or newer.*python3 is Python 3\.9.*aurora\.server\.interpreter/);
    return error instanceof code.CannotInstall;
  });
  const newer = await pretending("python", "echo 3.12");
  assert.deepEqual((await code.findPython("", [old, newer].join(delimiter), never)).version, [3, 12]);
  await assert.rejects(code.findPython("", "relative/bin", never), /none is on PATH/);
  const broken = await pretending("python3", "exit 9009");
  await assert.rejects(code.findPython(join(broken, "python3"), "", never), /no Python that runs/);
});

test("what is installed is found again, and the one before it stays for who still runs it", { timeout: 300_000 }, async () => {
  const storage = join(work, "storage with a space");
  assert.equal(code.installedIn(storage), undefined);
  const environments = [];
  for (const version of ["1.0", "1.1", "1.2"]) {
    const done = await code.install(storage, python, smallWheel(version), telling, never, () => 1e12 + environments.length);
    environments.push(done.environment);
    assert.deepEqual(code.installedIn(storage), done);
    assert.equal(execFileSync(done.program, { encoding: "utf8" }).trim(), `aurora ${version}`);
    assert.equal(done.version, version);
  }
  assert.deepEqual(environments.map(existsSync), [false, true, true]);
  await rm(join(environments[2], "bin", "python"));
  assert.equal(code.installedIn(storage), undefined, "its Python has gone");
});

test("what cannot be installed leaves nothing, says the next step, and leaves what was there", { timeout: 300_000 }, async () => {
  const storage = join(work, "failing");
  const before = await code.install(storage, python, smallWheel("2.0"), telling, never);
  const wheel = smallWheel("2.1", ["aurora-context-needs-what-is-not-there==1"]);
  await assert.rejects(code.install(storage, python, wheel, telling, never), (error) => {
    assert.match(error.message, /Check pip's index|check the network/);
    return error instanceof code.CannotInstall;
  });
  assert.deepEqual(code.installedIn(storage), before);
  const left = (await readdir(storage)).filter((name) => name.startsWith("environment-"));
  assert.deepEqual(left.map((name) => join(storage, name)), [before.environment]);
});

test("a Python without venv is told of with what it lacks", async () => {
  const folder = await pretending("python3", "echo 'ensurepip is not available. On Debian/Ubuntu systems: apt install python3-venv' >&2; exit 1");
  const lacking = { path: join(folder, "python3"), version: [3, 11] };
  await assert.rejects(code.install(join(work, "lacking"), lacking, undefined, telling, never), /sudo apt install python3-venv/);
});

test("an installation that is stopped leaves nothing", { timeout: 120_000 }, async () => {
  const storage = join(work, "stopped");
  const stop = new AbortController();
  const stopping = { step: (line) => line.startsWith("installing") && stop.abort(), log: () => undefined };
  await assert.rejects(code.install(storage, python, smallWheel("3.0"), stopping, stop.signal), (error) => error instanceof code.Stopped);
  assert.deepEqual(await readdir(storage), []);
});

test("the newest wheel that came with the extension is taken", async () => {
  const extension = join(work, "extension");
  assert.equal(code.bundledWheel(extension), undefined);
  await mkdir(join(extension, "bundled"), { recursive: true });
  for (const name of ["aurora_context-0.9.0-py3-none-any.whl", "aurora_context-0.10.0-py3-none-any.whl", "notes.txt"]) await writeFile(join(extension, "bundled", name), "");
  assert.equal(code.bundledWheel(extension).version, "0.10.0");
});

test("the server itself is installed from its wheel and starts", { timeout: 900_000, skip: !process.env.AURORA_TEST_WHEEL && "AURORA_TEST_WHEEL is not set" }, async () => {
  const path = process.env.AURORA_TEST_WHEEL;
  const wheel = { path, version: code.versionOf(path.split("/").at(-1)) };
  const done = await code.install(join(work, "whole"), python, wheel, telling, never);
  assert.equal(done.version, wheel.version);
  assert.match(execFileSync(done.program, ["lsp", "--help"], { encoding: "utf8" }), /Speak LSP/);
});

test("a Python without the server is told from one that does not run", async () => {
  const storage = join(work, "bare");
  const done = await code.install(storage, python, smallWheel("4.0"), telling, never);
  assert.equal(await code.lacksServer(join(done.environment, "bin", "python")), true);
  assert.equal(await code.lacksServer(join(storage, "nothing")), false);
});

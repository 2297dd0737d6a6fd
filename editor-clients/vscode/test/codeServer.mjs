// A real VS Code for tests: code-server, installed once into a cache folder and started on a free port.
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { realpathSync } from "node:fs";

const run = promisify(execFile);
export const VERSION = "4.100.3";

/** Where it is kept between runs. */
export function cacheFolder() {
  return process.env.AURORA_CODE_SERVER_CACHE || join(homedir(), ".cache", "aurora-code-server");
}

/** Install it where it is not there yet (about three minutes); returns its entry script. */
export async function installed() {
  const cache = cacheFolder();
  const root = join(cache, "node_modules", "code-server");
  const done = join(cache, `complete-${VERSION}`);
  const entry = join(root, "out", "node", "entry.js");
  if (existsSync(done) && existsSync(entry)) return entry;
  await mkdir(cache, { recursive: true });
  await writeFile(join(cache, "package.json"), '{ "private": true }\n');
  // Its own postinstall fetches from where a closed machine cannot; the steps it would take are taken one by one.
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund"];
  await npm(cache, "install", `code-server@${VERSION}`, ...quiet);
  const vscode = join(root, "lib", "vscode");
  await npm(vscode, "install", "--omit=dev", ...quiet);
  const headers = dirname(dirname(realpathSync(process.execPath)));
  const rebuild = ["--yes", "node-gyp", "rebuild", ...(existsSync(join(headers, "include", "node")) ? [`--nodedir=${headers}`] : [])];
  for (const name of ["@vscode/spdlog", "native-watchdog", "@parcel/watcher", "node-pty"]) {
    await program("npx", rebuild, join(vscode, "node_modules", name));
  }
  const argon = [join(cache, "node_modules", "argon2"), join(root, "node_modules", "argon2")].find(existsSync);
  await program("npx", [...rebuild, "--", "-Dmodule_name=argon2", "-Dmodule_path=./lib/binding/napi-v3"], argon);
  await writeFile(done, `${new Date().toISOString()}\n`);
  return entry;
}

/** Start it for `options.folder` with our extension in it; `stop` ends it. */
export async function started(entry, options) {
  const port = await freePort();
  const { data, extensions, environment } = options;
  const common = [entry, "--user-data-dir", data, "--extensions-dir", extensions];
  await mkdir(join(data, "User"), { recursive: true });
  await writeFile(join(data, "User", "settings.json"), JSON.stringify(options.settings, undefined, 2));
  const config = join(data, "config.yaml");
  await writeFile(config, "auth: none\n");
  const env = { ...process.env, ...environment };
  // Within a terminal of VS Code it would hand the folder to that window instead.
  for (const name of Object.keys(env)) if (name.startsWith("VSCODE_")) delete env[name];
  env.VSCODE_CLI = "1"; // otherwise a login shell is asked for PATH, and ours is lost
  for (const extension of options.install) {
    await run(process.execPath, [...common, "--config", config, "--install-extension", extension], { env, timeout: 120_000 });
  }
  const args = [...common, "--config", config, "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
  if (!options.restricted) args.push("--disable-workspace-trust");
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stdout.on("data", (piece) => (said += piece));
  child.stderr.on("data", (piece) => (said += piece));
  const deadline = Date.now() + 120_000;
  while (!said.includes("HTTP server listening")) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`code-server did not start: ${said.slice(-2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    // The extension that brings the editor's own model needs an API that is only proposed; ours asks for none.
    url: `http://127.0.0.1:${port}/?folder=${encodeURIComponent(options.folder)}&payload=${encodeURIComponent('[["enableProposedApi",""]]')}`,
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      const hosts = (await descendants(child.pid)).filter((each) => each.command === "node").map((each) => each.pid);
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(late);
      // Its hosts of extensions give a window the time to come back; nobody does.
      for (const pid of hosts) kill(pid);
    },
  };
}

/** The processes below one: `pid`, `parent`, `command`. */
async function descendants(of) {
  const { stdout } = await run("ps", ["-eo", "pid=,ppid=,comm="]);
  const all = stdout.trim().split("\n").map((line) => line.trim().split(/\s+/)).map(([pid, parent, command]) => ({ pid: Number(pid), parent: Number(parent), command }));
  const found = [];
  for (let below = [of]; below.length; ) {
    const next = all.filter((each) => below.includes(each.parent));
    found.push(...next);
    below = next.map((each) => each.pid);
  }
  return found;
}

function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error; // it has ended
  }
}

function npm(cwd, ...args) {
  return program("npm", args, cwd);
}

async function program(name, args, cwd) {
  try {
    await run(name, args, { cwd, timeout: 600_000, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    throw new Error(`${name} ${args.join(" ")} in ${cwd}: ${String(error.stderr || error.message).slice(-2000)}`);
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

// The world around the window: files that the editor or the daemon reads, the daemon's process, the extension's log.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Settings as a remote window has them: in a file that it watches. */
export function remoteSettings(options, values) {
  const file = join(options.data, "Machine", "settings.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(values));
}

/** The daemon's configuration: "provider" (paid, on loopback) or "editor" (the editor's own model). */
export function configuration(options, name) {
  writeFileSync(join(options.home, "config.json"), JSON.stringify(options.configurations[name]));
}

/** Whether a model that takes its time has been asked this. */
export function arrived(options, question) {
  return existsSync(options.arrivals) && readFileSync(options.arrivals, "utf8").includes(question);
}

/** Do what makes the extension begin a new session, and wait until that answers. */
export async function session(options, window, work) {
  const before = sessions(options);
  await work();
  await window.until("a new session of the extension", () => sessions(options) > before);
}

/** How many sessions have answered, as the extension's log tells. */
function sessions(options) {
  return logs(options).reduce((sum, file) => sum + readFileSync(file, "utf8").split(" answers after ").length - 1, 0);
}

function logs(options) {
  const folder = join(options.data, "logs");
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true }).filter((name) => name.endsWith("AURORA.log")).map((name) => join(folder, name));
}

/** The daemon's process id; undefined where there is none. */
export function daemon(options) {
  try {
    const env = { ...process.env, ...options.environment };
    const out = execFileSync(options.aurora, ["daemon", "status", "--json"], { env, encoding: "utf8", timeout: 60_000, stdio: ["ignore", "pipe", "ignore"] });
    return JSON.parse(out).pid;
  } catch (error) {
    if (error.status) return undefined; // it answers that there is none
    throw error;
  }
}

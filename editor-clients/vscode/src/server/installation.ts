// Installation of the server into a virtual environment of the extension's own: a Python of this machine, `venv`, and
// pip with the wheel that came with the extension, or `aurora-context` from the package index where none did. Knows
// nothing of VS Code, so that it can be tested by itself. Nothing here is done unless the user asked for it.
import { spawn } from "node:child_process";
import { accessSync, constants, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import { versionOf, newer } from "./versions";

export const PACKAGE = "aurora-context";
const OLDEST: [number, number] = [3, 11];
const WINDOWS = process.platform === "win32";
const NAMES = WINDOWS ? ["python.exe", "python3.exe"] : ["python3.14", "python3.13", "python3.12", "python3.11", "python3", "python"];
const RECORD = "installed.json";
const ASKING_MS = 20_000;

/** It cannot be installed. The message is for the user and says the next step. */
export class CannotInstall extends Error {}

/** The user has stopped it. */
export class Stopped extends Error {}

export interface Python {
  path: string;
  version: [number, number];
}

/** What was installed, as it is written down in the extension's folder. */
export interface Installed {
  /** The environment's folder. */
  environment: string;
  /** The program to start. */
  program: string;
  version: string;
  /** The Python it was made with. */
  python: string;
}

export interface Wheel {
  path: string;
  version: string;
}

export interface Telling {
  /** One line for whoever waits. */
  step(line: string): void;
  /** Everything the programs say, for the log. */
  log(line: string): void;
}

/** The wheel that came with the extension, if one did. */
export function bundledWheel(extension: string): Wheel | undefined {
  let names: string[];
  try {
    names = readdirSync(path.join(extension, "bundled"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code) return undefined;
    throw error;
  }
  const wheels = names.filter((name) => name.endsWith(".whl")).map((name) => ({ path: path.join(extension, "bundled", name), version: versionOf(name) }));
  return wheels.sort((a, b) => (newer(a.version, b.version) ? -1 : 1))[0];
}

/** What is installed in `storage` and can still be started: its Python may have gone since. */
export function installedIn(storage: string): Installed | undefined {
  try {
    const known = JSON.parse(readFileSync(path.join(storage, RECORD), "utf8")) as Installed;
    for (const file of [known.program, pythonOf(known.environment)]) {
      accessSync(file, constants.X_OK); // follows links
      if (!statSync(file).isFile()) return undefined;
    }
    return known;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code || error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** A Python that is new enough: the one that is named, or else the first of PATH. Throws `CannotInstall`. */
export async function findPython(named: string, searched: string | undefined, signal: AbortSignal): Promise<Python> {
  const tooOld: string[] = [];
  for (const candidate of named ? [named] : onPathAll(searched)) {
    const version = await versionAt(candidate, signal);
    if (version && (version[0] > OLDEST[0] || (version[0] === OLDEST[0] && version[1] >= OLDEST[1]))) return { path: candidate, version };
    if (version) tooOld.push(`${candidate} is Python ${version.join(".")}`);
    else if (named) tooOld.push(`${candidate} is no Python that runs`);
  }
  const why = tooOld.length ? tooOld.slice(0, 2).join(", ") : "none is on PATH";
  throw new CannotInstall(`AURORA's server needs Python ${OLDEST.join(".")} or newer, and ${why}. Install one (python.org), or name one in the setting aurora.server.interpreter.`);
}

/** Whether a Python that runs has no server in it. */
export async function lacksServer(python: string): Promise<boolean> {
  const quiet: Telling = { step: () => undefined, log: () => undefined };
  const look = "import importlib.util as look; print('there' if look.find_spec('aurora_cli') else 'lacking')";
  try {
    return (await run(python, ["-P", "-c", look], quiet, AbortSignal.timeout(ASKING_MS), () => "")).trim() === "lacking";
  } catch (error) {
    if (error instanceof CannotInstall || error instanceof Stopped) return false; // no Python at all: another problem
    throw error;
  }
}

/** Make a new environment below `storage` and install into it. What was there before stays until the next time. */
export async function install(
  storage: string,
  python: Python,
  wheel: Wheel | undefined,
  telling: Telling,
  signal: AbortSignal,
  now: () => number = Date.now,
): Promise<Installed> {
  await mkdir(storage, { recursive: true });
  const before = installedIn(storage);
  const environment = path.join(storage, `environment-${now().toString(36)}`);
  try {
    telling.step(`making an environment with Python ${python.version.join(".")}`);
    await run(python.path, ["-I", "-m", "venv", environment], telling, signal, venvProblem);
    telling.step(wheel ? `installing AURORA ${wheel.version}` : `installing ${PACKAGE}`);
    const pip = ["-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off"];
    await run(pythonOf(environment), [...pip, wheel ? wheel.path : PACKAGE], telling, signal, pipProblem);
    telling.step("trying it");
    const program = path.join(environment, WINDOWS ? "Scripts" : "bin", WINDOWS ? "aurora.exe" : "aurora");
    const said = await run(program, ["--version"], telling, signal, () => "what was installed does not start");
    const version = /\d+\S*/.exec(said)?.[0] ?? wheel?.version ?? "";
    const done: Installed = { environment, program, version, python: python.path };
    const fresh = path.join(storage, `${RECORD}.new`);
    await writeFile(fresh, JSON.stringify(done, undefined, 2));
    await rename(fresh, path.join(storage, RECORD));
    await forget(storage, [environment, before?.environment], telling);
    return done;
  } catch (error) {
    await remove(environment, telling);
    throw error;
  }
}

/** Delete environments that are not among `kept`: a daemon may still run from the last one. */
async function forget(storage: string, kept: (string | undefined)[], telling: Telling): Promise<void> {
  for (const name of readdirSync(storage)) {
    const folder = path.join(storage, name);
    if (name.startsWith("environment-") && !kept.includes(folder)) await remove(folder, telling);
  }
}

async function remove(folder: string, telling: Telling): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    telling.log(`${folder} could not be deleted: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function pythonOf(environment: string): string {
  return WINDOWS ? path.join(environment, "Scripts", "python.exe") : path.join(environment, "bin", "python");
}

/** Every Python on PATH. */
function onPathAll(searched: string | undefined): string[] {
  const folders = (searched ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder)); // not of a workspace
  const files = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return files.filter((file) => {
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code) return false;
      throw error;
    }
  });
}

/** Version of a Python interpreter; undefined where it does not run. */
async function versionAt(python: string, signal: AbortSignal): Promise<[number, number] | undefined> {
  const quiet: Telling = { step: () => undefined, log: () => undefined };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ASKING_MS)]);
  try {
    const said = await run(python, ["-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], quiet, limit, () => "");
    const [, major, minor] = /^(\d+)\.(\d+)\s*$/.exec(said) ?? [];
    return major && minor ? [Number(major), Number(minor)] : undefined;
  } catch (error) {
    if (signal.aborted || !(error instanceof CannotInstall || error instanceof Stopped)) throw error;
    return undefined; // no Python, or one that does not answer
  }
}

/** Run a program in the home folder, without variables that would lend it other modules; returns what it printed. */
function run(program: string, args: string[], telling: Telling, signal: AbortSignal, explain: (said: string) => string): Promise<string> {
  const env = { ...process.env };
  for (const name of ["PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REQUIRE_VIRTUALENV"]) delete env[name];
  return new Promise((resolve, reject) => {
    telling.log(`$ ${program} ${args.join(" ")}`);
    const child = spawn(program, args, { cwd: os.homedir(), env, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    let printed = "";
    let complained = "";
    const stop = (): void => void child.kill();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    const hear = (piece: Buffer): void => {
      for (const line of piece.toString().split(/\r?\n/)) {
        if (!line.trim()) continue;
        telling.log(line);
        if (/^(Collecting|Downloading|Installing|Processing) /.test(line)) telling.step(line.trim().slice(0, 80));
      }
    };
    child.stdout.on("data", (piece: Buffer) => {
      printed += piece.toString();
      hear(piece);
    });
    child.stderr.on("data", (piece: Buffer) => {
      complained += piece.toString();
      hear(piece);
    });
    const over = (): void => signal.removeEventListener("abort", stop);
    child.on("error", (error) => {
      over();
      reject(signal.aborted ? new Stopped() : new CannotInstall(`${program} could not be started: ${error.message}`));
    });
    child.on("close", (code) => {
      over();
      if (signal.aborted) reject(new Stopped());
      else if (code === 0) resolve(printed);
      else reject(new CannotInstall(explain(`${printed}\n${complained}`)));
    });
  });
}

function venvProblem(said: string): string {
  if (/ensurepip is not\s+available|python3?-venv|No module named '?(venv|ensurepip)/.test(said)) {
    return "This Python cannot make environments; install what it lacks (on Debian and Ubuntu: sudo apt install python3-venv), then install again.";
  }
  return `The environment could not be made: ${lastLine(said)}. The log has all of it.`;
}

/** Error message for what pip said. */
function pipProblem(said: string): string {
  if (/No space left on device/.test(said)) return "There is no space left on the disk; make some, then install again.";
  if (/ConnectionError|NewConnectionError|Temporary failure in name resolution|ProxyError|SSLError|ReadTimeout|ConnectTimeout/.test(said)) {
    return "The package index cannot be reached; check the network and the proxy (HTTPS_PROXY, or pip config), then install again.";
  }
  if (/No matching distribution found|Could not find a version/.test(said)) {
    return `The package index does not have what is needed: ${lastLine(said)}. Check pip's index (pip config list), then install again.`;
  }
  return `pip could not install it: ${lastLine(said)}. The log has all of it.`;
}

function lastLine(said: string): string {
  const lines = said.split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
  const told = [...lines].reverse().find((line) => line.startsWith("ERROR:")) ?? lines.at(-1) ?? "it says nothing";
  return told.replace(/^ERROR:\s*/, "").replace(/\.$/, "").slice(0, 300);
}

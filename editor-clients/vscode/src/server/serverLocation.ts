// Server location (discovery of the executable): what the settings name, then PATH, then the chosen Python environment,
// then where pipx and uv put programs, then what this extension installed. Nothing is run to find out, and nothing
// waited for where PATH has it: a window's first hover depends on it.
import { accessSync, constants, statSync } from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { settings } from "../settings";
import type { Installed } from "./installation";

export interface Program {
  command: string;
  args: string[];
  /** How it was found, for the log. */
  found: string;
}

/** A setting names a program that is not there. The message is for the user. */
export class WrongSetting extends Error {}

/** How a program was found that this extension has installed. */
export const OWN = "what this extension installed";

const NAME = process.platform === "win32" ? "aurora.exe" : "aurora";

/** The program to start, with the arguments that come before `lsp`; undefined when there is none. */
export async function locateServer(installed: () => Installed | undefined): Promise<Program | undefined> {
  const { path: named, interpreter } = settings().server;
  if (named) return { command: demanded("aurora.server.path", named), args: [], found: "aurora.server.path" };
  if (interpreter) {
    // -P: the user's working folder must not be able to bring modules of its own.
    const command = demanded("aurora.server.interpreter", interpreter);
    const own = installed();
    if (own?.python === command) return { command: own.program, args: [], found: OWN };
    return { command, args: ["-P", "-m", "aurora_cli"], found: "aurora.server.interpreter" };
  }
  for (const folder of (process.env["PATH"] ?? "").split(path.delimiter)) {
    // A relative entry would mean a folder of the workspace.
    if (path.isAbsolute(folder) && runs(path.join(folder, NAME))) {
      return { command: path.join(folder, NAME), args: [], found: "PATH" };
    }
  }
  const python = vscode.workspace.isTrusted ? await chosenPython() : undefined;
  if (python) {
    const beside = path.join(path.dirname(python), NAME);
    if (runs(beside)) return { command: beside, args: [], found: "the Python extension's environment" };
  }
  for (const folder of [path.join(os.homedir(), ".local", "bin"), "/opt/homebrew/bin", "/usr/local/bin"]) {
    if (runs(path.join(folder, NAME))) return { command: path.join(folder, NAME), args: [], found: folder };
  }
  const own = installed();
  return own && { command: own.program, args: [], found: OWN };
}

/** Whether a program of this name is on PATH. */
export function onPath(name: string): boolean {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  for (const folder of (process.env["PATH"] ?? "").split(path.delimiter)) {
    if (path.isAbsolute(folder) && runs(path.join(folder, file))) return true;
  }
  return false;
}

/** Program that a setting names. Throws `WrongSetting`. */
function demanded(setting: string, value: string): string {
  const file = value.startsWith("~/") ? path.join(os.homedir(), value.slice(2)) : value;
  if (!path.isAbsolute(file)) throw new WrongSetting(`${setting} is "${value}"; give an absolute path`);
  if (!runs(file)) throw new WrongSetting(`${setting} names ${file}, which is not a program; correct or clear it`);
  return file;
}

function runs(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code) return false; // not there, or not for us
    throw error;
  }
}

interface PythonExtension {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

/** Interpreter chosen in the Python extension. */
async function chosenPython(): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  if (!extension) return undefined;
  const environments = (await extension.activate()).environments;
  const active = environments?.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
  if (!environments || !active) return undefined;
  return (await environments.resolveEnvironment(active))?.executable.uri?.fsPath;
}

// What happens when there is no server: the user is told once per window, and asked before anything is installed.
import * as vscode from "vscode";
import { onPath } from "./locating";

const PACKAGE = "aurora-context";
let offered = false;

/** Offer to install the server, in a terminal where the user sees what runs. `again` also where it was declined. */
export async function offerServer(again: boolean): Promise<void> {
  if (offered && !again) return;
  offered = true;
  const ways: string[] = [];
  if (await onPath("uv")) ways.push("Install with uv");
  if (await onPath("pipx")) ways.push("Install with pipx");
  const how = ways.length ? "" : " Install it with pipx or uv (the package is aurora-context), then restart the server.";
  const chosen = await vscode.window.showWarningMessage(
    `AURORA's server was not found on this machine.${how}`,
    ...ways,
    "Choose Program…",
  );
  if (chosen === "Choose Program…") {
    await vscode.commands.executeCommand("workbench.action.openSettings", "aurora.server");
  } else if (chosen) {
    const line = chosen.endsWith("uv") ? `uv tool install ${PACKAGE}` : `pipx install ${PACKAGE}`;
    await installIn(line);
  }
}

async function installIn(line: string): Promise<void> {
  const terminal = vscode.window.createTerminal({ name: "Install AURORA" });
  terminal.show();
  terminal.sendText(line, false); // the user presses Enter
  const done = await vscode.window.showInformationMessage(
    "Press Enter in the terminal to install AURORA's server. Start it when that has ended.",
    "Start Server",
  );
  if (done) await vscode.commands.executeCommand("aurora.restartServer");
}

// Validate (pull diagnostics): check one manifest now, say how it is, and show where it is wrong.
import * as vscode from "vscode";
import type { Connection } from "../server/connection";

interface Report {
  items: { severity?: number; message: string; range: { start: { line: number; character: number } } }[];
}

const USUAL = [".well-known/aura.json", "aura.json", "public/.well-known/aura.json", "static/.well-known/aura.json"];
const MOST = 50;

/** Validates the manifest that is open, or one of the workspace, and goes to its first problem. */
export async function validateManifest(connection: Connection): Promise<void> {
  const uri = await chosen();
  if (!uri) return;
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document);
  const params = { textDocument: { uri: uri.toString() } };
  const { items } = await connection.request<Report>("textDocument/diagnostic", params);
  const name = vscode.workspace.asRelativePath(uri);
  const wrong = items.filter((item) => item.severity === 1).length;
  const first = [...items].sort((a, b) => (a.severity ?? 1) - (b.severity ?? 1) || a.range.start.line - b.range.start.line)[0];
  if (!first) {
    void vscode.window.showInformationMessage(`${name} is valid.`);
    return;
  }
  const at = new vscode.Position(first.range.start.line, first.range.start.character);
  editor.selection = new vscode.Selection(at, at);
  editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  const others = items.length - wrong;
  const parts = [counted(wrong, "error"), others ? counted(others, "remark") : ""].filter(Boolean).join(", ");
  const text = wrong ? `${name} is not valid: ${parts}.` : `${name} is valid, with ${counted(others, "remark")}.`;
  const show = wrong ? vscode.window.showErrorMessage : vscode.window.showInformationMessage;
  if (await show(text, "Show Problems")) await vscode.commands.executeCommand("workbench.actions.view.problems");
}

/** Manifest to validate: the open one, else picked. */
async function chosen(): Promise<vscode.Uri | undefined> {
  const active = vscode.window.activeTextEditor?.document.uri;
  if (active?.path.endsWith("/aura.json")) return active;
  const found = new Map<string, vscode.Uri>();
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    for (const name of USUAL) {
      const uri = vscode.Uri.joinPath(folder.uri, name);
      if (await exists(uri)) found.set(uri.toString(), uri);
    }
  }
  if (!found.size) {
    for (const uri of await vscode.workspace.findFiles("**/aura.json", "**/node_modules/**", MOST)) found.set(uri.toString(), uri);
  }
  if (!found.size) {
    void vscode.window.showInformationMessage("No aura.json was found in this workspace. Open one, then validate it.");
    return undefined;
  }
  const items = [...found.values()].map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri }));
  if (items.length === 1) return items[0]?.uri;
  return (await vscode.window.showQuickPick(items, { title: "AURORA: Validate Manifest", placeHolder: "Which manifest?" }))?.uri;
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    return (await vscode.workspace.fs.stat(uri)).type !== vscode.FileType.Directory;
  } catch (error) {
    if (error instanceof vscode.FileSystemError) return false;
    throw error;
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

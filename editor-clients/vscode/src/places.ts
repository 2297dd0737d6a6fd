// Places: what the daemon names (a workspace's folder, a path within it, 1-based lines) as the editor's URIs, ranges
// and links.
import * as path from "node:path";
import * as vscode from "vscode";
import type { Recalled } from "./protocol";

export function uriOf(root: string, file: string): vscode.Uri {
  return vscode.Uri.file(path.join(root, ...file.split("/")));
}

export function rangeOf(lineStart: number, lineEnd: number): vscode.Range {
  return new vscode.Range(Math.max(0, lineStart - 1), 0, Math.max(0, lineEnd - 1), 0);
}

/** The lines of a recalled chunk that answer: from the one of its name; of what is left of a file one alone. */
export function answering(found: Recalled): { first: number; last: number } {
  const first = found.line ?? found.line_start;
  return { first, last: found.kind === "module" ? first : found.line_end };
}

/** Show a recalled chunk with the cursor at the first line that answers. */
export async function open(found: Recalled, options: vscode.TextDocumentShowOptions = {}): Promise<vscode.TextEditor> {
  const uri = uriOf(found.workspace || firstRoot(), found.file);
  const lines = answering(found);
  const first = new vscode.Position(Math.max(0, lines.first - 1), 0);
  const editor = await vscode.window.showTextDocument(uri, { ...options, selection: new vscode.Range(first, first) });
  editor.revealRange(rangeOf(lines.first, lines.last), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  return editor;
}

export function firstRoot(): string {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
}

/** Where the user is, as requests of the daemon take it. */
export function here(): { uri: string; position: { line: number; character: number } } | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.uri.scheme !== "file") return undefined;
  const { line, character } = editor.selection.active;
  return { uri: editor.document.uri.toString(), position: { line, character } };
}

/** A Markdown link to a line of a file. VS Code's preview takes no `file:` links, but paths from the first folder. */
export function link(text: string, root: string, file: string, line: number): string {
  const way = path.relative(firstRoot() || root, uriOf(root, file).fsPath).split(path.sep).map(encodeURIComponent).join("/");
  return `[${escaped(text)}](/${way}#L${line})`;
}

/** Text escaped for Markdown: it means nothing but itself there. */
export function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|!]/g, (found) => `\\${found}`);
}

/** A time relative to now, as `3 h ago`. */
export function ago(moment: string | null | undefined, now = Date.now()): string {
  if (!moment) return "never";
  const seconds = Math.max(0, (now - Date.parse(moment)) / 1000);
  const steps: [number, string][] = [[86_400, "d"], [3600, "h"], [60, "min"]];
  for (const [size, unit] of steps) if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`;
  return "just now";
}

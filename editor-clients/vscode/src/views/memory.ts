// View of memory (tree view, search history): what it holds of each folder, what the last recalls found, and the
// answers of this window.
import * as vscode from "vscode";
import { alsoHere, icon } from "../commands/recall";
import { answering, uriOf } from "../places";
import type { QueryResult, Recalled, RecallResult, WorkspaceStatus } from "../protocol";

type Node =
  | { kind: "folder"; status: WorkspaceStatus }
  | { kind: "recall"; recall: RecallResult }
  | { kind: "chunk"; chunk: Recalled }
  | { kind: "answer"; result: QueryResult; page: vscode.Uri };

const KEPT = 10;

/** Tree data provider of folders, latest recalls and answers. */
export class MemoryView implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private folders: WorkspaceStatus[] = [];
  private recalls: RecallResult[] = [];
  private answers: { result: QueryResult; page: vscode.Uri }[] = [];

  /** Refresh of the folders by a status. */
  looked(folders: WorkspaceStatus[]): void {
    if (JSON.stringify(folders.map(counts)) === JSON.stringify(this.folders.map(counts))) return;
    this.folders = folders;
    this.changed.fire();
  }

  /** A query that continues the last one takes its place: recall answers while the user types. */
  recalled(recall: RecallResult): void {
    if (!recall.results.length) return;
    const others = this.recalls.filter((each) => !recall.query.startsWith(each.query) && !each.query.startsWith(recall.query));
    this.recalls = [recall, ...others].slice(0, KEPT);
    this.changed.fire();
  }

  answered(answer: { result: QueryResult; page: vscode.Uri }): void {
    this.answers = [answer, ...this.answers.filter((each) => each.page.toString() !== answer.page.toString())].slice(0, KEPT);
    this.changed.fire();
  }

  getChildren(node?: Node): Node[] {
    if (node?.kind === "recall") return node.recall.results.map((chunk) => ({ kind: "chunk", chunk }));
    if (node?.kind === "chunk") return beside(node.chunk);
    if (node) return [];
    return [
      ...this.folders.map((status): Node => ({ kind: "folder", status })),
      ...this.answers.map((each): Node => ({ kind: "answer", ...each })),
      ...this.recalls.map((recall): Node => ({ kind: "recall", recall })),
    ];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case "folder":
        return folderItem(node.status);
      case "recall": {
        const item = new vscode.TreeItem(node.recall.query, vscode.TreeItemCollapsibleState.Collapsed);
        if (node.recall === this.recalls[0]) item.collapsibleState = vscode.TreeItemCollapsibleState.Expanded;
        item.id = `recall ${node.recall.query}`;
        item.description = `${node.recall.results.length} found`;
        item.iconPath = new vscode.ThemeIcon("search");
        return item;
      }
      case "chunk":
        return chunkItem(node.chunk);
      case "answer": {
        const item = new vscode.TreeItem(node.result.query);
        item.description = node.result.from_memory ? "from memory" : node.result.state.replace("_", " ");
        item.iconPath = new vscode.ThemeIcon(node.result.state === "complete" ? "comment-discussion" : "comment-unresolved");
        item.command = { title: "Show", command: "aurora.showPage", arguments: [node.page] };
        return item;
      }
    }
  }
}

function counts(status: WorkspaceStatus): unknown[] {
  return [status.root, status.state, status.files, status.chunks, status.pending_files, status.skipped_files, status.last_error];
}

/** Tree item of a folder, with its index status. */
function folderItem(status: WorkspaceStatus): vscode.TreeItem {
  const item = new vscode.TreeItem(status.root.split(/[\\/]/).at(-1) ?? status.root);
  item.description = status.state === "ready" ? `${status.chunks.toLocaleString()} chunks of ${status.files.toLocaleString()} files` : `${status.state} ${status.pending_files.toLocaleString()}`;
  item.tooltip = [status.root, `${(status.database_bytes / 1e6).toFixed(1)} MB`, `${status.skipped_files} skipped`, status.last_error].filter(Boolean).join(" · ");
  item.iconPath = new vscode.ThemeIcon(status.state === "error" ? "error" : status.state === "ready" ? "database" : "sync~spin");
  return item;
}

/** Other members of a chunk's file that answer, as chunks of their own below it. */
function beside(chunk: Recalled): Node[] {
  return (chunk.also ?? []).map((each) => ({ kind: "chunk", chunk: { ...chunk, ...each, signature: "", also: [], relation: "" } }));
}

/** Tree item of a result, which opens its place. */
function chunkItem(chunk: Recalled): vscode.TreeItem {
  const item = new vscode.TreeItem(`${chunk.likely ? "maybe " : ""}${chunk.name || chunk.file}`);
  if (chunk.also?.length) item.collapsibleState = vscode.TreeItemCollapsibleState.Collapsed;
  item.description = [`${chunk.file}:${answering(chunk).first}`, chunk.relation].filter(Boolean).join(" · ");
  item.tooltip = `${[chunk.signature || chunk.name, alsoHere(chunk)].filter(Boolean).join("\n")}\nscore ${chunk.score.toFixed(2)} · activation ${chunk.activation.total.toFixed(2)}`;
  item.iconPath = new vscode.ThemeIcon(icon(chunk));
  item.contextValue = "chunk";
  const start = new vscode.Position(Math.max(0, answering(chunk).first - 1), 0);
  const selection = new vscode.Range(start, start);
  item.command = { title: "Open", command: "vscode.open", arguments: [uriOf(chunk.workspace, chunk.file), { selection, preview: true }] };
  return item;
}

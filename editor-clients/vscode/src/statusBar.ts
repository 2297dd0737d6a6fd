// Status bar: how the index is (indexing progress, errors), or what the daemon lacks; and the deliverable that moved
// last.
import * as vscode from "vscode";
import { Status } from "./protocol";
import type { DeliverableChange, DeliverableState, StatusResult, WorkspaceStatus } from "./protocol";
import { isQuestion, standing } from "./commands/deliverables";
import { escaped } from "./places";
import type { Connection } from "./server/connection";

const BUSY_MS = 1500;
const CALM_MS = 30_000;

/** Status bar items of the index and of the deliverable; polls the daemon, more often while it indexes. */
export class StatusBar implements vscode.Disposable {
  private readonly index = vscode.window.createStatusBarItem("aurora.index", vscode.StatusBarAlignment.Left, 20);
  private readonly deliverable = vscode.window.createStatusBarItem("aurora.deliverable", vscode.StatusBarAlignment.Left, 19);
  private timer: NodeJS.Timeout | undefined;
  private shown: DeliverableState | undefined;
  private looked: WorkspaceStatus[] = [];
  private readonly seen = new vscode.EventEmitter<WorkspaceStatus[]>();
  /** What the daemon says of this window's folders, whenever it was asked. */
  readonly onDidLook = this.seen.event;

  constructor(private readonly connection: Connection) {
    this.index.name = "AURORA index";
    this.deliverable.name = "AURORA deliverable";
    this.deliverable.command = "aurora.showDeliverable";
    connection.onDidChange(() => this.follow());
    this.follow();
    this.index.show();
  }

  /** Ask the daemon now, and again in a while: sooner while it is at work. */
  async look(): Promise<void> {
    clearTimeout(this.timer);
    if (this.connection.condition !== "running") return;
    let pause = CALM_MS;
    try {
      const status = await this.connection.request<StatusResult>(Status, null);
      this.looked = status.workspaces.filter((each) => ours(each.root));
      if (this.looked.some((each) => each.state !== "ready" || each.pending_files)) pause = BUSY_MS;
      this.draw(status.version);
      this.seen.fire(this.looked);
    } catch (error) {
      // The session may end between the question and the answer; its end is told by `onDidChange`.
      this.connection.log.debug(`status: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (this.connection.condition === "running") this.timer = setTimeout(() => void this.look(), pause);
  }

  told(change: DeliverableChange): void {
    const state = change.deliverable;
    if (isQuestion(state)) return; // it has a notification of its own
    const ended = state.status === "completed" || state.status === "failed";
    if (ended && this.shown?.change_id !== state.change_id) return;
    this.show(state);
    if (ended) setTimeout(() => this.shown === state && this.show(undefined), 20_000);
  }

  show(state: DeliverableState | undefined): void {
    this.shown = state;
    if (!state) {
      this.deliverable.hide();
      return;
    }
    const mark = { completed: "$(check)", failed: "$(error)" }[state.status as string] ?? "◐";
    this.deliverable.text = `${mark} ${state.change_id} · ${standing(state)}`;
    this.deliverable.tooltip = state.description || "Show this deliverable";
    this.deliverable.show();
  }

  get current(): DeliverableState | undefined {
    return this.shown;
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.seen.dispose();
    this.index.dispose();
    this.deliverable.dispose();
  }

  /** Icon, colour and command by the state of the connection; polling begins or stops. */
  private follow(): void {
    const { condition, problem } = this.connection;
    const marks = { off: "$(circle-outline)", starting: "$(sync~spin)", waiting: "$(sync~spin)", missing: "$(warning)", failed: "$(error)", running: "$(database)" };
    this.index.text = `${marks[condition]} AURORA`;
    this.index.tooltip = problem || (condition === "starting" ? "AURORA's server is starting" : "AURORA");
    this.index.command = condition === "missing" ? "aurora.installServer" : condition === "failed" ? "aurora.restartServer" : "aurora.recallInMemory";
    this.index.backgroundColor = condition === "failed" ? new vscode.ThemeColor("statusBarItem.errorBackground")
      : condition === "missing" ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    if (condition === "running") void this.look();
    else clearTimeout(this.timer);
  }

  /** Text, icon and tooltip of the index status. */
  private draw(version: string): void {
    const busy = this.looked.find((each) => each.state === "scanning" || each.state === "indexing");
    const broken = this.looked.find((each) => each.state === "error");
    const pending = this.looked.reduce((sum, each) => sum + each.pending_files, 0);
    this.index.text = broken ? "$(error) AURORA" : busy ? `$(sync~spin) AURORA ${busy.state}${pending ? ` ${pending.toLocaleString()}` : ""}` : "$(database) AURORA";
    const tooltip = new vscode.MarkdownString("", true);
    for (const each of this.looked) {
      tooltip.appendMarkdown(`**${escaped(each.root.split(/[\\/]/).at(-1) ?? each.root)}** ${each.state} · ${each.files.toLocaleString()} files · ${each.chunks.toLocaleString()} chunks`);
      if (each.pending_files) tooltip.appendMarkdown(` · ${each.pending_files.toLocaleString()} pending`);
      if (each.skipped_files) tooltip.appendMarkdown(` · ${each.skipped_files.toLocaleString()} skipped`);
      if (each.last_error) tooltip.appendMarkdown(`\n\n$(error) ${escaped(each.last_error)}`);
      tooltip.appendMarkdown("\n\n");
    }
    if (!this.looked.length) tooltip.appendMarkdown("No folder of this window is indexed.\n\n");
    if (!vscode.workspace.isTrusted) tooltip.appendMarkdown("$(shield) Restricted Mode: nothing that this folder's `.aurora` brings is run.\n\n");
    tooltip.appendMarkdown(`AURORA ${escaped(version)} · click to recall`);
    this.index.tooltip = tooltip;
  }
}

function ours(root: string): boolean {
  return (vscode.workspace.workspaceFolders ?? []).some((folder) => {
    const at = folder.uri.fsPath;
    return at === root || at.startsWith(`${root}/`) || root.startsWith(`${at}/`);
  });
}

// View of deliverables (tree view): the open ones first, updated live as events arrive.
import * as vscode from "vscode";
import type { DeliverableChange, DeliverableState } from "../protocol";
import { isQuestion, nameOf, standing } from "../commands/deliverables";
import type { Deliverables } from "../commands/deliverables";
import { ago } from "../places";

/** Tree data provider of the deliverables. */
export class DeliverableView implements vscode.TreeDataProvider<DeliverableState> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private known = new Map<string, DeliverableState>();

  constructor(private readonly deliverables: Deliverables) {}

  /** Ask for all of them anew. The latest open one is returned. */
  async load(): Promise<DeliverableState | undefined> {
    const listed = await this.deliverables.list();
    this.known = new Map(listed.map((state) => [state.change_id, state]));
    this.changed.fire();
    return listed.find((state) => !ended(state) && !isQuestion(state));
  }

  /** Live update by a notification. */
  told(change: DeliverableChange): void {
    this.known.delete(change.deliverable.change_id);
    this.known = new Map([[change.deliverable.change_id, change.deliverable], ...this.known]);
    this.changed.fire();
  }

  getChildren(element?: DeliverableState): DeliverableState[] {
    if (element) return [];
    const all = [...this.known.values()];
    return [...all.filter((state) => !ended(state)), ...all.filter(ended)];
  }

  getTreeItem(state: DeliverableState): vscode.TreeItem {
    const item = new vscode.TreeItem(nameOf(state));
    item.id = state.change_id;
    item.description = `${standing(state)}${state.updated_at ? ` · ${ago(state.updated_at)}` : ""}`;
    item.tooltip = state.description || state.change_id;
    const icons: Record<string, [string, string?]> = { completed: ["pass", "testing.iconPassed"], failed: ["error", "testing.iconFailed"] };
    const [icon, color] = icons[state.status] ?? [isQuestion(state) ? "comment-discussion" : "circle-large-outline"];
    item.iconPath = new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
    item.contextValue = ended(state) || isQuestion(state) ? "ended" : "open";
    item.command = { title: "Show", command: "aurora.showDeliverable", arguments: [state] };
    return item;
  }
}

function ended(state: DeliverableState): boolean {
  return state.status === "completed" || state.status === "failed";
}

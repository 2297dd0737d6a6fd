// Deliverables (changes, tasks in flight): commands that begin, move on and end them by quick picks.
import * as vscode from "vscode";
import { PHASES } from "../deliverableEvents";
import type { DeliverableParams, FailureType, ListRequest } from "../deliverableEvents";
import { Deliverable } from "../protocol";
import type { DeliverableState } from "../protocol";
import type { Connection } from "../server/connection";
import { escaped, firstRoot } from "../places";
import type { Pages } from "../pages";

const FAILURES: Record<FailureType, string> = {
  incomplete: "Not all of it was done",
  spec_misunderstanding: "The spec was misunderstood",
  hallucination: "Something was relied on that is not there",
  infinite_loop: "It went round in circles",
  tool_failure: "A tool did not work",
  constraint_violation: "A constraint was broken",
  regression: "Something else broke",
};

/** Commands about deliverables: list, start, phase, complete, fail, show. */
export class Deliverables {
  constructor(
    private readonly connection: Connection,
    private readonly pages: Pages,
  ) {}

  /** List of deliverables, as the daemon has them. */
  async list(status?: "open"): Promise<DeliverableState[]> {
    const params: ListRequest = { action: "list", limit: 200, ...(status ? { status } : {}) };
    return (await this.connection.request<{ deliverables: DeliverableState[] }>(Deliverable, params)).deliverables;
  }

  /** Wizard (input boxes) that begins a deliverable. */
  async start(): Promise<void> {
    const changeId = await vscode.window.showInputBox({
      title: "AURORA: Start Deliverable (1/2)",
      prompt: "Name of the change",
      placeHolder: "add-dark-mode",
      validateInput: (value) => (value.trim().length > 200 ? "At most 200 characters" : undefined),
    });
    if (!changeId?.trim()) return;
    const description = await vscode.window.showInputBox({
      title: "AURORA: Start Deliverable (2/2)",
      prompt: `What ${changeId.trim()} is to achieve (may be empty)`,
    });
    if (description === undefined) return;
    const more = description.trim() ? { description: description.trim() } : {};
    await this.tell({ action: "start", change_id: changeId.trim(), workspace: await folder(), ...more }, "begun");
  }

  /** Quick pick of the next phase. */
  async phase(given?: DeliverableState): Promise<void> {
    const chosen = given ?? (await this.pick("Begin a phase of which deliverable?"));
    if (!chosen) return;
    const at = chosen.current_phase;
    const items = PHASES.map((phase) => ({ label: phase, description: phase === at ? "now" : "" }));
    const phase = await vscode.window.showQuickPick(items, { title: `AURORA: Phase of ${chosen.change_id}`, placeHolder: "Which phase begins?" });
    if (phase) await this.tell({ action: "phase", change_id: chosen.change_id, phase: phase.label }, `in phase ${phase.label}`);
  }

  async complete(given?: DeliverableState): Promise<void> {
    const chosen = given ?? (await this.pick("Which deliverable is complete?"));
    if (!chosen) return;
    const state = await this.tell({ action: "complete", change_id: chosen.change_id }, "completed");
    await this.show(state.change_id);
  }

  async fail(given?: DeliverableState): Promise<void> {
    const chosen = given ?? (await this.pick("Which deliverable has failed?"));
    if (!chosen) return;
    const items = (Object.keys(FAILURES) as FailureType[]).map((label) => ({ label, description: FAILURES[label] }));
    const failure = await vscode.window.showQuickPick(items, { title: `AURORA: ${chosen.change_id} failed`, placeHolder: "How did it fail?" });
    if (!failure) return;
    const reason = await vscode.window.showInputBox({ title: `AURORA: ${chosen.change_id} failed`, prompt: "Why, in a sentence (may be empty)" });
    if (reason === undefined) return;
    const more = reason.trim() ? { reason: reason.trim() } : {};
    await this.tell({ action: "fail", change_id: chosen.change_id, failure_type: failure.label, ...more }, "failed");
  }

  /** The state of one, or its final record once it has ended, as a page. */
  async show(changeId: string, workspace?: string): Promise<void> {
    const where = workspace ? { workspace } : {};
    const whole = await this.connection.request<Record<string, unknown>>(Deliverable, { action: "export", change_id: changeId, ...where });
    const page = this.pages.address("deliverables", changeId);
    this.pages.put(page, `# ${escaped(changeId)}\n\n${told(whole)}\n\n\`\`\`json\n${JSON.stringify(whole, undefined, 2)}\n\`\`\`\n`);
    await this.pages.show(page);
  }

  /** Quick pick of an open deliverable. */
  private async pick(placeHolder: string): Promise<DeliverableState | undefined> {
    const opened = await this.list("open");
    if (!opened.length) {
      const chosen = await vscode.window.showInformationMessage("No deliverable is open.", "Start One…");
      if (chosen) await this.start();
      return undefined;
    }
    const items = opened.map((state) => ({ label: nameOf(state), description: standing(state), detail: isQuestion(state) ? state.change_id : (state.description ?? ""), state }));
    return (await vscode.window.showQuickPick(items, { title: "AURORA: Deliverables", placeHolder }))?.state;
  }

  private async tell(params: DeliverableParams, done: string): Promise<DeliverableState> {
    const state = await this.connection.request<DeliverableState>(Deliverable, params);
    void vscode.window.setStatusBarMessage(`$(check) ${state.change_id}: ${done}`, 6000);
    return state;
  }
}

/** Whether it is a question put to AURORA, and not a change somebody began. */
export function isQuestion(state: DeliverableState): boolean {
  return state.spec_source?.framework === "prompt";
}

/** What it is called: a question by its words. */
export function nameOf(state: DeliverableState): string {
  return isQuestion(state) && state.description ? state.description : state.change_id;
}

/** `apply · 4/8`. */
export function standing(state: DeliverableState): string {
  const ended = state.status === "completed" || state.status === "failed";
  const words: string[] = [ended ? state.status : (state.current_phase ?? state.status)];
  if (state.tasks_total) words.push(`${state.tasks_completed ?? 0}/${state.tasks_total}`);
  return words.join(" · ");
}

/** The plain values of a document, as a table; what has parts of its own is in the JSON below it. */
function told(whole: Record<string, unknown>): string {
  const rows = Object.entries(whole).filter(([, value]) => value !== null && typeof value !== "object");
  return ["| | |", "|---|---|", ...rows.map(([name, value]) => `| ${words(name)} | ${escaped(String(value))} |`)].join("\n");
}

function words(name: string): string {
  return name.replaceAll("_", " ");
}

/** Workspace folder, asked for where there are several. */
async function folder(): Promise<string> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length < 2) return firstRoot();
  return (await vscode.window.showWorkspaceFolderPick({ placeHolder: "In which folder?" }))?.uri.fsPath ?? firstRoot();
}

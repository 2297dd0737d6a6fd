// Budget in the status bar: what questions cost in this period. It is there only where a model is configured or
// something was spent, and coloured only where the limit is near.
import * as vscode from "vscode";
import { escaped } from "./places";
import { Budget } from "./protocol";
import type { BudgetResult } from "./protocol";
import type { Connection } from "./server/connection";

const CALM_MS = 60_000;

/** Status bar item of the budget, polled while the server runs; a warning near the limit. */
export class BudgetItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("aurora.budget", vscode.StatusBarAlignment.Left, 18);
  private timer: NodeJS.Timeout | undefined;
  private runs = 0;
  private spentHere = 0;

  constructor(private readonly connection: Connection) {
    this.item.name = "AURORA budget";
    this.item.command = "aurora.showBudget";
    connection.onDidChange((condition) => {
      if (condition === "running") void this.look();
      else this.clear();
    });
  }

  /** A run has ended: what this window has spent goes into the tooltip. */
  paid(costUsd: number): void {
    this.runs += 1;
    this.spentHere += costUsd;
    void this.look();
  }

  /** Ask the daemon now, and again in a while (polling): other windows and commands spend from the same budget. */
  async look(): Promise<BudgetResult | undefined> {
    clearTimeout(this.timer);
    let budget: BudgetResult | undefined;
    try {
      budget = await this.connection.request<BudgetResult>(Budget, null);
      this.draw(budget);
    } catch (error) {
      // The session may end between the question and the answer; and a budget that cannot be read is no news to show.
      this.connection.log.debug(`budget: ${error instanceof Error ? error.message : String(error)}`);
      this.item.hide();
    }
    clearTimeout(this.timer);
    if (this.connection.condition === "running") this.timer = setTimeout(() => void this.look(), CALM_MS);
    return budget;
  }

  /** What the budget is, told on request, and where its limits are set. */
  async show(): Promise<void> {
    const budget = await this.connection.request<BudgetResult>(Budget, null);
    this.draw(budget);
    const tell = budget.state === "blocked" || budget.state === "warned" ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
    const chosen = await tell(`AURORA: ${sentences(budget).join(" ")}`, "Open Dashboard");
    if (chosen) await vscode.commands.executeCommand("aurora.openDashboard");
  }

  dispose(): void {
    this.clear();
    this.item.dispose();
  }

  private clear(): void {
    clearTimeout(this.timer);
    this.item.hide();
  }

  /** Text, tooltip and warning colour of the status bar item. */
  private draw(budget: BudgetResult): void {
    const used = budget.consumed_usd + budget.reserved_usd;
    if (budget.state === "off" || (!budget.model && !used && !budget.query_count)) {
      this.item.hide();
      return;
    }
    const near = budget.state === "warned" || budget.state === "blocked";
    this.item.text = `${near ? "$(warning)" : "$(credit-card)"} ${money(used)}${near ? ` of ${money(budget.limit_usd)}` : ""}`;
    this.item.backgroundColor =
      budget.state === "blocked" ? new vscode.ThemeColor("statusBarItem.errorBackground")
      : budget.state === "warned" ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    const tooltip = new vscode.MarkdownString("**AURORA budget**\n\n", true);
    for (const line of sentences(budget)) tooltip.appendMarkdown(`${escaped(line)}\n\n`);
    if (this.runs) tooltip.appendMarkdown(`In this window: ${counted(this.runs, "question")}, ${escaped(money(this.spentHere))}.\n\n`);
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: `AURORA budget: ${sentences(budget)[0]}` };
    this.item.show();
  }
}

/** The budget in words: what is spent, what is left, what model it goes to, and what is to be said of it. */
function sentences(budget: BudgetResult): string[] {
  const until = budget.period_end.slice(0, 10);
  if (budget.state === "off") return ["no budget is kept (cost_budgets.enabled is off)."];
  const asked = budget.query_count ? ` for ${counted(budget.query_count, "question")}` : "";
  const told = [`${money(budget.consumed_usd)} of ${money(budget.limit_usd)} spent${asked} ${PERIODS[budget.period] ?? `in this ${budget.period} period`}.`];
  if (budget.reserved_usd) told.push(`${money(budget.reserved_usd)} are held for calls that are being made.`);
  const left = budget.questions_left === null ? "" : `, enough for about ${counted(budget.questions_left, "question")}`;
  if (budget.state === "blocked") told.push(`It is used up until ${until} is over; raise cost_budgets.hard_limit_usd to go on.`);
  else told.push(`${money(budget.remaining_usd)} are left until ${until}${left}.`);
  told.push(budget.model ? `Questions are answered by ${budget.model}.` : "No model is configured: questions are answered from memory alone.");
  return [...told, ...budget.notices];
}

const PERIODS: Record<string, string> = { daily: "today", weekly: "this week", monthly: "this month" };

function money(usd: number): string {
  return usd === 0 || usd >= 0.1 ? `$${usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}` : `$${usd.toFixed(4)}`;
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? "" : "s"}`;
}

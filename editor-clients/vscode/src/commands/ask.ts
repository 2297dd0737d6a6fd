// Ask (question to the model, streaming): one question for the nine phases. Their stages are streamed into the page
// that will hold the answer.
import * as vscode from "vscode";
import { answerPage, workingPage } from "../answerPage";
import { Query } from "../protocol";
import type { QueryResult, StageNotice } from "../protocol";
import type { Connection } from "../server/connection";
import { firstRoot, here } from "../places";
import type { Pages } from "../pages";
import { settings } from "../settings";

let asked = 0;

const answered = new vscode.EventEmitter<{ result: QueryResult; page: vscode.Uri }>();
export const onDidAnswer = answered.event;

/** Puts a question, streams its stages, and can be cancelled; the answer opens beside the code. */
export async function ask(connection: Connection, pages: Pages, given?: string): Promise<void> {
  const context = here();
  const query = given ?? (await vscode.window.showInputBox({
    title: "AURORA: Ask",
    prompt: "Answered from memory where it can be; otherwise by the configured model",
    placeHolder: "How does … work? Where would I change …?",
    ignoreFocusOut: true,
  }));
  const client = connection.running;
  if (!query?.trim()) return;
  if (!client) throw new Error(connection.problem || "AURORA's server is not running");
  const { ProgressType } = await import("vscode-languageclient/node");
  const stages = new ProgressType<StageNotice>();
  const page = pages.address("answers", query);
  const told: StageNotice[] = [];
  pages.put(page, workingPage(query, told));
  const token = `aurora-stages-${process.pid}-${++asked}`;
  const options = { location: vscode.ProgressLocation.Notification, title: "AURORA", cancellable: true };
  const result = await vscode.window.withProgress(options, async (progress, cancellation) => {
    let shown = 0;
    const listening = client.onProgress(stages, token, (notice) => {
      told.push(notice);
      const whole = Math.round(notice.progress * 100);
      progress.report({ message: `${notice.stage} · ${notice.detail}`.slice(0, 120), increment: Math.max(0, whole - shown) });
      shown = Math.max(shown, whole);
      pages.put(page, workingPage(query, told));
    });
    void pages.show(page, true);
    const { verification } = settings().ask;
    const params = {
      query,
      context,
      partialResultToken: token,
      ...(verification === "automatic" ? {} : { verification }),
    };
    try {
      return await connection.request<QueryResult>(Query, params, cancellation);
    } catch (error) {
      const stopped = cancellation.isCancellationRequested;
      void pages.finish(page, workingPage(query, told, stopped ? "Stopped." : error instanceof Error ? error.message : String(error)));
      if (stopped) return undefined;
      throw error;
    } finally {
      listening.dispose();
    }
  });
  if (!result) {
    vscode.window.setStatusBarMessage("$(circle-slash) AURORA: stopped", 5000);
    return;
  }
  void pages.finish(page, answerPage(result, told, firstRoot()));
  answered.fire({ result, page });
  if (result.state === "no_provider") await offerProvider(result.error ?? "no model is configured");
  else if (result.error) void vscode.window.showWarningMessage(`AURORA: ${result.error}`);
}

/** Offer to configure a model provider, where none is. */
async function offerProvider(why: string): Promise<void> {
  const chosen = await vscode.window.showWarningMessage(`AURORA: ${why}`, "Let It Use VS Code's Model…");
  if (chosen) await vscode.commands.executeCommand("workbench.action.openSettings", "aurora.languageModel");
}

/** The daemon's own question to the user in the middle of a run. `null` is how the user declines. */
export async function askUser(params: { question: string }, token: vscode.CancellationToken): Promise<{ answer: string | null }> {
  const options = { title: "AURORA asks back", prompt: params.question, ignoreFocusOut: true };
  const answer = await vscode.window.showInputBox(options, token);
  return { answer: answer?.trim() ? answer : null };
}

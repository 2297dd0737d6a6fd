// Index now (reindex): bring everything up to date, with work done progress, and say what there is.
import * as vscode from "vscode";
import { Index } from "../protocol";
import type { IndexResult } from "../protocol";
import type { Connection } from "../server/connection";

interface WorkDone {
  kind: "begin" | "report" | "end";
  title?: string;
  message?: string;
  percentage?: number;
}

let asked = 0;

/** Has the daemon bring the index up to date; a notification shows progress and can cancel. */
export async function indexNow(connection: Connection): Promise<void> {
  const client = connection.running;
  if (!client) throw new Error(connection.problem || "AURORA's server is not running");
  const { ProgressType } = await import("vscode-languageclient/node");
  const working = new ProgressType<WorkDone>();
  const token = `aurora-index-${process.pid}-${++asked}`;
  const options = { location: vscode.ProgressLocation.Notification, title: "AURORA: indexing", cancellable: true };
  const result = await vscode.window.withProgress(options, async (progress, cancellation) => {
    let shown = 0;
    const listening = client.onProgress(working, token, (value) => {
      const percentage = value.percentage ?? shown;
      progress.report({ message: value.message ?? "", increment: Math.max(0, percentage - shown) });
      shown = Math.max(shown, percentage);
    });
    try {
      return await connection.request<IndexResult>(Index, { workDoneToken: token }, cancellation);
    } catch (error) {
      if (cancellation.isCancellationRequested) return undefined;
      throw error;
    } finally {
      listening.dispose();
    }
  });
  if (!result) {
    vscode.window.setStatusBarMessage("$(circle-slash) AURORA: indexing stopped", 5000);
    return;
  }
  const skipped = result.skipped_files ? ` · ${result.skipped_files} skipped` : "";
  const text = `AURORA: ${result.files.toLocaleString()} files, ${result.chunks.toLocaleString()} chunks${skipped}; ${result.parsed_files.toLocaleString()} read just now.`;
  void vscode.window.showInformationMessage(text);
}

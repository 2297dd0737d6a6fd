// Markdown pages of ours that are no files: answers, explanations, deliverables. They can be read like any document.
import * as vscode from "vscode";

export const SCHEME = "aurora-page";
const KEPT = 40;
/** When a preview is asked to look again: it misses changes while it is loading, which takes longer where much is going on. */
const LOADED_MS = 1000;
const SURELY_LOADED_MS = 4000;
const REFRESH = "markdown.preview.refresh";

export class Pages implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  /** An address for a page of this kind and title. The same two give the same page. */
  address(kind: string, title: string): vscode.Uri {
    const name = title.replace(/[^\p{L}\p{N}._ -]+/gu, " ").trim().slice(0, 60) || kind;
    return vscode.Uri.from({ scheme: SCHEME, path: `/${kind}/${name}.md` });
  }

  put(uri: vscode.Uri, text: string): void {
    const key = uri.toString();
    this.texts.delete(key);
    this.texts.set(key, text);
    for (const oldest of this.texts.keys()) {
      if (this.texts.size <= KEPT) break;
      this.texts.delete(oldest);
    }
    this.changed.fire(uri);
  }

  /** The last text of a page. */
  async finish(uri: vscode.Uri, text: string): Promise<void> {
    this.put(uri, text);
    await pause(LOADED_MS);
    await lookAgain();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "This page was made in an earlier session and is gone. Ask again.\n";
  }

  /** Show the page as it is meant to be read; beside the code where `beside`. */
  async show(uri: vscode.Uri, beside = false): Promise<void> {
    // From a page the next one opens in its column, not in a third one.
    const aside = beside && vscode.window.activeTextEditor !== undefined;
    const shown = this.texts.get(uri.toString());
    try {
      await vscode.commands.executeCommand(aside ? "markdown.showPreviewToSide" : "markdown.showPreview", uri);
    } catch {
      // VS Code's own Markdown extension can be switched off; the text is readable all the same.
      await vscode.window.showTextDocument(uri, { preview: true });
      return;
    }
    void this.keepUp(uri, shown);
  }

  private async keepUp(uri: vscode.Uri, shown: string | undefined): Promise<void> {
    for (const wait of [LOADED_MS, SURELY_LOADED_MS - LOADED_MS]) {
      await pause(wait);
      if (this.texts.get(uri.toString()) !== shown) await lookAgain();
    }
  }
}

async function lookAgain(): Promise<void> {
  if ((await vscode.commands.getCommands()).includes(REFRESH)) await vscode.commands.executeCommand(REFRESH);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

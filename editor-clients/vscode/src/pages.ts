// Virtual documents, read-only: Markdown pages of ours that are no files: answers, explanations, deliverables. They can
// be read like any document.
import * as vscode from "vscode";

export const SCHEME = "aurora-page";
const KEPT = 40;
/**
 * When a preview is asked to look again, after it was shown: it misses changes while it is loading, which takes longer
 * where much is going on.
 */
const LOADING_MS = [1000, 4000, 10_000];
/** A change reaches the preview after so long; a request to look again that comes earlier is taken for that change. */
const SETTLED_MS = 500;
const PATIENCE_MS = 10_000;
const REFRESH = "markdown.preview.refresh";

/** Virtual documents (text document content provider), shown in the Markdown preview; the oldest are evicted. */
export class Pages implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  /** What previews were last made of as a whole. */
  private readonly whole = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  /** An address for a page of this kind and title. The same two give the same page. */
  address(kind: string, title: string): vscode.Uri {
    const name = title.replace(/[^\p{L}\p{N}._ -]+/gu, " ").trim().slice(0, 60) || kind;
    return vscode.Uri.from({ scheme: SCHEME, path: `/${kind}/${name}.md` });
  }

  /** Put a page into the cache; the oldest is evicted. */
  put(uri: vscode.Uri, text: string): void {
    const key = uri.toString();
    this.texts.delete(key);
    this.texts.set(key, text);
    for (const oldest of this.texts.keys()) {
      if (this.texts.size <= KEPT) break;
      this.texts.delete(oldest);
      this.whole.delete(oldest);
    }
    this.changed.fire(uri);
  }

  /** The last text of a page. */
  async finish(uri: vscode.Uri, text: string): Promise<void> {
    this.put(uri, text);
    await this.lookAgain(uri);
  }

  /** VS Code drops changes of a page that it is about to open: what it has opened is compared with what the page is now. */
  catchUp(document: vscode.TextDocument): void {
    const text = this.texts.get(document.uri.toString());
    if (text !== undefined && !isText(document, text)) this.changed.fire(document.uri);
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "This page was made in an earlier session and is gone. Ask again.\n";
  }

  /** Show the page as it is meant to be read; beside the code where `beside`. */
  async show(uri: vscode.Uri, beside = false): Promise<void> {
    // From a page the next one opens in its column, not in a third one.
    const aside = beside && vscode.window.activeTextEditor !== undefined;
    const shown = this.texts.get(uri.toString());
    if (shown !== undefined) this.whole.set(uri.toString(), shown);
    try {
      await vscode.commands.executeCommand(aside ? "markdown.showPreviewToSide" : "markdown.showPreview", uri);
    } catch {
      // VS Code's own Markdown extension can be switched off; the text is readable all the same.
      await vscode.window.showTextDocument(uri, { preview: true });
      return;
    }
    void this.keepUp(uri);
  }

  /** Refresh of the preview until it shows the last text. */
  private async keepUp(uri: vscode.Uri): Promise<void> {
    let passed = 0;
    for (const at of LOADING_MS) {
      await pause(at - passed);
      passed = at;
      await this.lookAgain(uri);
    }
  }

  /** Have the preview made anew if the page has changed since it was, once VS Code knows the change. */
  private async lookAgain(uri: vscode.Uri): Promise<void> {
    const key = uri.toString();
    if (this.texts.get(key) === this.whole.get(key) || !(await vscode.commands.getCommands()).includes(REFRESH)) return;
    let text: string | undefined;
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
      const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === key);
      const before = text;
      text = this.texts.get(key);
      if (text === before && (!document || isText(document, text ?? ""))) break;
      await pause(SETTLED_MS);
    }
    if (text === undefined || text === this.whole.get(key)) return;
    this.whole.set(key, text);
    await vscode.commands.executeCommand(REFRESH);
  }
}

function isText(document: vscode.TextDocument, text: string): boolean {
  const [shown, meant] = [document.getText(), text].map((each) => each.replace(/\r\n?/g, "\n"));
  return shown === meant;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// Recall (search as you type, debounced): what memory finds while the user types, the highlighted one previewed, the
// accepted one opened.
import * as vscode from "vscode";
import { Recall } from "../protocol";
import type { Recalled, RecallResult } from "../protocol";
import type { Connection } from "../server/connection";
import { ago, answering, firstRoot, here, open, rangeOf } from "../places";
import { settings } from "../settings";

const QUIET_MS = 120;
const PREVIEW_MS = 80;

interface Found extends vscode.QuickPickItem {
  found?: Recalled;
}

const shade = vscode.window.createTextEditorDecorationType({
  isWholeLine: true,
  backgroundColor: new vscode.ThemeColor("editor.rangeHighlightBackground"),
});

/** Every answer, for the memory view. */
const answered = new vscode.EventEmitter<RecallResult>();
export const onDidRecall = answered.event;

/** Quick pick that searches as the user types: debounced, the request before cancelled; restores the view on escape. */
export async function recall(connection: Connection, given?: string): Promise<void> {
  const context = here();
  const before = vscode.window.activeTextEditor;
  const view = before && { editor: before, selection: before.selection, visible: before.visibleRanges[0] };
  const picker = vscode.window.createQuickPick<Found>();
  picker.title = "AURORA: Recall";
  picker.placeholder = "What is it about? Words, a name, or a question";
  picker.matchOnDescription = picker.matchOnDetail = true;
  // The order is memory's own; without this VS Code sorts by where the words stand in the label.
  (picker as { sortByLabel?: boolean }).sortByLabel = false;

  let asking: vscode.CancellationTokenSource | undefined;
  let quiet: NodeJS.Timeout | undefined;
  let showing: NodeJS.Timeout | undefined;
  let shaded: vscode.TextEditor | undefined;
  let accepted = false;

  const ask = async (query: string): Promise<void> => {
    const source = (asking = new vscode.CancellationTokenSource());
    picker.busy = true;
    try {
      const params = { query, limit: settings().recall.limit, context, prefix: true };
      const answer = await connection.request<RecallResult>(Recall, params, source.token);
      if (source.token.isCancellationRequested) return; // the user has typed on
      picker.items = answer.results.length ? answer.results.map(item) : [nothing(answer)];
      picker.title = `AURORA: Recall · ${answer.results.length} in ${Math.max(1, Math.round(answer.took_ms))} ms${behind(answer)}${beside(answer)}`;
      answered.fire(answer);
    } catch (error) {
      if (source.token.isCancellationRequested) return;
      picker.items = [{ label: `$(warning) ${error instanceof Error ? error.message : String(error)}`, alwaysShow: true }];
    } finally {
      if (asking === source) picker.busy = false;
      source.dispose();
    }
  };
  const typed = (value: string): void => {
    asking?.cancel();
    clearTimeout(quiet);
    const query = value.trim();
    if (query) quiet = setTimeout(() => void ask(query), QUIET_MS);
    else {
      picker.items = [];
      picker.busy = false;
    }
  };
  const preview = async (found: Recalled): Promise<void> => {
    const editor = await open(found, { preview: true, preserveFocus: true });
    if (accepted) return;
    shaded?.setDecorations(shade, []);
    shaded = editor;
    const lines = answering(found);
    editor.setDecorations(shade, [rangeOf(lines.first, lines.last)]);
  };

  picker.onDidChangeValue(typed);
  picker.onDidChangeActive(([active]) => {
    clearTimeout(showing);
    const found = active?.found;
    if (found) showing = setTimeout(() => void preview(found).catch((error) => connection.log.warn(String(error))), PREVIEW_MS);
  });
  picker.onDidAccept(async () => {
    const found = picker.selectedItems[0]?.found ?? picker.activeItems[0]?.found;
    if (!found) return;
    accepted = true;
    picker.hide();
    try {
      await open(found, { preview: false });
    } catch (error) {
      void vscode.window.showErrorMessage(`${found.file} cannot be opened: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
  picker.onDidHide(async () => {
    asking?.cancel();
    clearTimeout(quiet);
    clearTimeout(showing);
    const looked = shaded?.document.uri.toString();
    shaded?.setDecorations(shade, []);
    picker.dispose();
    if (accepted || !looked) return;
    for (const group of vscode.window.tabGroups.all) {
      const glanced = group.tabs.find((tab) => tab.isPreview && tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === looked);
      if (glanced && looked !== view?.editor.document.uri.toString()) await vscode.window.tabGroups.close(glanced);
    }
    if (!view) return;
    const editor = await vscode.window.showTextDocument(view.editor.document, { selection: view.selection, preview: false });
    if (view.visible) editor.revealRange(view.visible);
  });
  picker.show();
  if (given) {
    picker.value = given;
    typed(given);
  }
}

/** Quick pick item of a result. */
function item(found: Recalled): Found {
  const changed = found.last_modified ? `changed ${ago(found.last_modified)}` : "";
  const about = [found.relation, alsoHere(found) || found.summary, changed, callers(found.callers)];
  return {
    label: `$(${icon(found)}) ${found.likely ? "maybe " : ""}${found.name || found.file}`,
    description: `${found.workspace && found.workspace !== firstRoot() ? `${found.workspace}/` : ""}${found.file}:${answering(found).first} · ${found.score.toFixed(2)}`,
    detail: about.filter(Boolean).join(" · ") || found.signature,
    alwaysShow: true,
    found,
  };
}

/** What else of its file answers: `also here: Session.close :88, open_session :12`. */
export function alsoHere(found: Recalled): string {
  const named = (found.also ?? []).map((each) => `${each.name} :${each.line ?? each.line_start}`);
  return named.length ? `also here: ${named.join(", ")}` : "";
}

/** Icon by the kind of symbol. */
export function icon(found: Recalled): string {
  if (found.type === "reas") return "lightbulb";
  if (found.type === "know") return "book";
  const icons: Record<string, string> = { class: "symbol-class", method: "symbol-method", interface: "symbol-interface", struct: "symbol-struct", enum: "symbol-enum" };
  return icons[found.kind] ?? "symbol-function";
}

function callers(count: number): string {
  return count ? `${count} ${count === 1 ? "caller" : "callers"}` : "";
}

function behind(answer: RecallResult): string {
  const pending = answer.freshness.pending_files;
  return pending ? ` · ${pending} ${pending === 1 ? "file" : "files"} still being indexed` : "";
}

/** What is said beside results: how many there are of what was asked for, or which words stand nowhere. */
function beside(answer: RecallResult): string {
  return answer.results.length && answer.hint ? ` · ${answer.hint}` : "";
}

/** Item that says why nothing was found (empty state). */
function nothing(answer: RecallResult): Found {
  return { label: "$(circle-slash) Nothing found", detail: answer.hint ?? "Try other words.", alwaysShow: true };
}

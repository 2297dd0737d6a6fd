// Entry point of the extension (activation): one connection to the daemon, and the commands, views and status bar
// around it.
import * as vscode from "vscode";
import type { LanguageClient, Middleware } from "vscode-languageclient/node";
import { offerToAgents } from "./agentTools";
import { BudgetItem } from "./budgetItem";
import { ask, askUser, onDidAnswer } from "./commands/ask";
import { Deliverables } from "./commands/deliverables";
import { explainHere, explainId } from "./commands/explain";
import { indexNow } from "./commands/indexNow";
import { validateManifest } from "./commands/manifest";
import { onDidRecall, recall } from "./commands/recall";
import { answer } from "./languageModel";
import { Pages, SCHEME as PAGE_SCHEME } from "./pages";
import { AskUser, DeliverableChanged, LanguageModel } from "./protocol";
import type { DeliverableChange, DeliverableState } from "./protocol";
import { Schemas, SCHEME as SCHEMA_SCHEME } from "./schemas";
import { Connection } from "./server/connection";
import { earlyHover } from "./server/earlyHover";
import { InstallOffer } from "./server/installOffer";
import { OF_A_SESSION } from "./settings";
import { StatusBar } from "./statusBar";
import { Dashboard } from "./views/dashboard";
import { DeliverableView } from "./views/deliverables";
import { MemoryView } from "./views/memory";

/** Commands that have nothing to work on in a window without a folder. */
const ABOUT_A_FOLDER = new Set([
  "aurora.recallInMemory", "aurora.ask", "aurora.explainSymbol", "aurora.indexNow",
  "aurora.startDeliverable", "aurora.beginPhase", "aurora.completeDeliverable", "aurora.failDeliverable",
]);

let connection: Connection | undefined;

/** Activates the extension: starts the server, registers commands, views, providers and listeners. */
export function activate(context: vscode.ExtensionContext): void {
  const pages = new Pages();
  const schemas = new Schemas(vscode.Uri.joinPath(context.extensionUri, "schemas"));
  const memory = new MemoryView();

  // Commands that the daemon puts into code lenses: it answers them, and what it says is shown here.
  const middleware: Middleware = {
    executeCommand: async (command, given, next): Promise<unknown> => {
      const argument = (given[0] ?? {}) as { id?: string; action?: string; change_id?: string; workspace?: string };
      if (command === "aurora.explain" && argument.id) return attempt(() => explainId(server, pages, argument.id ?? ""));
      if (command === "aurora.deliverable" && argument.action === "show" && argument.change_id) {
        return attempt(() => deliverables.show(argument.change_id ?? "", argument.workspace));
      }
      return (await next(command, given)) as unknown;
    },
    handleWorkDoneProgress: (token, value, next) => {
      next(token, value);
      if (value.kind !== "report") void status.look();
    },
  };
  const attach = (client: LanguageClient): void => {
    client.onNotification(DeliverableChanged, (change: DeliverableChange) => {
      status.told(change);
      view.told(change);
    });
    client.onRequest(AskUser, askUser);
    client.onRequest(LanguageModel, answer);
  };
  const server: Connection = (connection = new Connection(middleware, attach, () => offering));
  const offering: InstallOffer = new InstallOffer(context.extensionPath, context.globalStorageUri.fsPath, server.log, (why) => server.restart(why));
  context.subscriptions.push(earlyHover(server));
  void server.restart("the window opened"); // goes on as soon as this function ends, before other extensions' turns
  const status = new StatusBar(server);
  const budget = new BudgetItem(server);
  const deliverables = new Deliverables(server, pages);
  const view = new DeliverableView(deliverables);
  const dashboard = new Dashboard(server, context.extensionUri);

  /** Runs what a command does; what goes wrong becomes one line for the user. */
  async function attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      server.log.error(problem);
      void vscode.window.showErrorMessage(`AURORA: ${problem.replace(/^AURORA: /, "")}`, "Show Log").then((chosen) => chosen && server.log.show());
    }
  }
  const load = (): Promise<void> => attempt(async () => status.show(await view.load()));
  const commands: Record<string, (argument?: unknown) => unknown> = {
    "aurora.recallInMemory": (query) => recall(server, typeof query === "string" ? query : undefined),
    "aurora.ask": (query) => ask(server, pages, typeof query === "string" ? query : undefined),
    "aurora.explainSymbol": () => explainHere(server, pages),
    "aurora.indexNow": () => indexNow(server),
    "aurora.validateManifest": () => validateManifest(server),
    "aurora.startDeliverable": () => deliverables.start(),
    "aurora.beginPhase": (state) => deliverables.phase(state as DeliverableState | undefined),
    "aurora.completeDeliverable": (state) => deliverables.complete(state as DeliverableState | undefined),
    "aurora.failDeliverable": (state) => deliverables.fail(state as DeliverableState | undefined),
    "aurora.showDeliverable": async (state) => {
      const shown = (state as DeliverableState | undefined) ?? status.current;
      if (shown) await deliverables.show(shown.change_id);
      else await vscode.commands.executeCommand("aurora.deliverables.focus");
    },
    "aurora.refreshDeliverables": () => hasFolder() && load(),
    "aurora.showPage": (page) => pages.show(page as vscode.Uri),
    "aurora.openDashboard": () => dashboard.open(),
    "aurora.showBudget": () => budget.show(),
    "aurora.restartServer": async () => {
      await server.restart("asked for");
      if (server.condition === "missing") await offering.offer(true);
      else if (server.condition === "running") vscode.window.setStatusBarMessage("$(check) AURORA: the server was restarted", 5000);
    },
    "aurora.installServer": async () => {
      if (server.condition !== "running" || !server.program) await offering.offer(true);
      else {
        void vscode.window.showInformationMessage(`AURORA's server is there and running: ${server.program.command}`);
        // A walkthrough that was opened after the server began takes note of changes only.
        await vscode.commands.executeCommand("setContext", "aurora.condition", undefined);
        await vscode.commands.executeCommand("setContext", "aurora.condition", server.condition);
      }
    },
    "aurora.showLog": () => server.log.show(),
  };
  for (const [name, work] of Object.entries(commands)) {
    const run = (argument?: unknown): Promise<void> => attempt(async () => (ABOUT_A_FOLDER.has(name) && !hasFolder() ? offerFolder() : work(argument)));
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
  context.subscriptions.push(
    server,
    status,
    budget,
    dashboard,
    vscode.workspace.registerTextDocumentContentProvider(PAGE_SCHEME, pages),
    vscode.workspace.onDidOpenTextDocument((document) => pages.catchUp(document)),
    vscode.workspace.registerFileSystemProvider(SCHEMA_SCHEME, schemas, { isReadonly: true }),
    vscode.window.registerTreeDataProvider("aurora.deliverables", view),
    vscode.window.registerTreeDataProvider("aurora.memory", memory),
    offerToAgents(server),
    onDidRecall((result) => memory.recalled(result)),
    onDidAnswer((answered) => {
      memory.answered(answered);
      budget.paid(answered.result.cost_usd);
    }),
    status.onDidLook((folders) => memory.looked(folders)),
    server.onDidChange((condition) => {
      schemas.hush(condition === "running");
      void vscode.commands.executeCommand("setContext", "aurora.condition", condition);
      if (condition === "running" && hasFolder()) void load();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void server.restart("the workspace is trusted now")),
    vscode.workspace.onDidChangeConfiguration((event) => {
      const changed = OF_A_SESSION.find((name) => event.affectsConfiguration(name));
      if (changed) void server.restart(`${changed} has changed`);
    }),
  );
}

function hasFolder(): boolean {
  return !!vscode.workspace.workspaceFolders?.length;
}

async function offerFolder(): Promise<void> {
  const text = "AURORA remembers what is in a folder, and none is open in this window.";
  const chosen = await vscode.window.showInformationMessage(text, "Open Folder…");
  if (chosen) await vscode.commands.executeCommand("workbench.action.files.openFolder");
}

export async function deactivate(): Promise<void> {
  await connection?.stop();
}

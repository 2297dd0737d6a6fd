// Connection to the language server (lifecycle, restart after a crash): one language client at a time: starts, stops
// and crashes go through one queue, so that no two ever run at once.
import * as vscode from "vscode";
import type { LanguageClientOptions, Middleware } from "vscode-languageclient/node";
import { SECTION, settings } from "../settings";
import type { SessionClient } from "./client";
import { locateServer, OWN, WrongSetting } from "./serverLocation";
import type { Program } from "./serverLocation";
import { lacksServer } from "./installation";
import type { InstallOffer } from "./installOffer";
import { ServerProcess } from "./process";
import { Setbacks } from "./setbacks";

export type Condition = "off" | "starting" | "running" | "waiting" | "missing" | "failed";

/** What the daemon can say something about: the languages it reads, and JSON for manifests. */
export const LANGUAGES = [
  "python", "javascript", "javascriptreact", "typescript", "typescriptreact", "vue", "svelte", "go", "rust", "java",
  "c", "cpp", "ruby", "csharp", "php", "kotlin", "swift", "scala", "lua", "shellscript",
  "markdown", "restructuredtext", "sql", "yaml", "json", "jsonc",
];

const PATIENCE_MS = 5000;

export class NotRunning extends Error {}

/** Supervisor of the language server: starts it, restarts it after a crash with backoff, and stops it. */
export class Connection implements vscode.Disposable {
  readonly log = vscode.window.createOutputChannel("AURORA", { log: true });
  condition: Condition = "off";
  /** One line about why it is not running. */
  problem = "";
  program: Program | undefined;

  private readonly changed = new vscode.EventEmitter<Condition>();
  readonly onDidChange = this.changed.event;
  private client: SessionClient | undefined;
  private process: ServerProcess | undefined;
  private queue: Promise<void> = Promise.resolve();
  private waiting: NodeJS.Timeout | undefined;
  private readonly setbacks = new Setbacks();
  private disposed = false;

  /** `attach` is called with each new client before it starts, to register what the daemon may ask and tell. */
  constructor(
    private readonly middleware: Middleware,
    private readonly attach: (client: SessionClient) => void,
    private readonly offering: () => InstallOffer,
  ) {}

  /** Start anew; what is asked for while another start is under way is done once, after it. */
  restart(why: string): Promise<void> {
    this.setbacks.forget();
    return this.enqueue(why);
  }

  /** Ask the daemon. Waits for a start that is under way; throws `NotRunning` with a line for the user otherwise. */
  async request<R>(method: string, params: unknown, token?: vscode.CancellationToken): Promise<R> {
    if (this.condition === "starting") await this.queue;
    if (!this.client || this.condition !== "running") {
      throw new NotRunning(this.problem || "AURORA's server is not running; run “AURORA: Restart Server”");
    }
    return token ? this.client.sendRequest<R>(method, params, token) : this.client.sendRequest<R>(method, params);
  }

  /** When the start that is under way, if any, is over. */
  settled(): Promise<void> {
    return this.queue;
  }

  get running(): SessionClient | undefined {
    return this.condition === "running" ? this.client : undefined;
  }

  /** End the session; the daemon lives on for other windows. */
  async stop(): Promise<void> {
    this.disposed = true;
    clearTimeout(this.waiting);
    await this.queue;
    await this.end();
  }

  /** The log is left to the extension host: requests that fail while it ends are still told there. */
  dispose(): void {
    this.changed.dispose();
  }

  /** Queue of starts and stops (mutex): one after the other. */
  private enqueue(why: string): Promise<void> {
    clearTimeout(this.waiting);
    this.queue = this.queue.then(() => this.begin(why));
    return this.queue;
  }

  /** Start of the server: located, spawned, initialized. */
  private async begin(why: string): Promise<void> {
    if (this.disposed) return;
    const begun = Date.now();
    await this.end();
    this.tell("starting");
    try {
      this.program = await locateServer(() => this.offering().installed());
    } catch (error) {
      if (!(error instanceof WrongSetting)) throw error;
      this.fail(error.message);
      return;
    }
    if (!this.program) {
      this.missing("AURORA's server was not found; run “AURORA: Install Server…”");
      return;
    }
    this.log.info(`${why}: starting ${this.program.command} (found by ${this.program.found})`);
    const args = [...this.program.args, "lsp", ...(settings().server.standalone ? ["--standalone"] : [])];
    this.process = new ServerProcess(this.program.command, args, (how) => this.log.debug(`the server's process: ${how}`));
    const client = await this.create(this.process);
    this.client = client;
    this.attach(client);
    try {
      await client.start();
      this.log.info(`AURORA ${client.initializeResult?.serverInfo?.version ?? ""} answers after ${Date.now() - begun} ms`);
      this.tell("running");
      const own = this.program.found === OWN ? this.offering().installed() : undefined;
      if (own) void this.offering().offerNewer(own);
    } catch (error) {
      this.log.warn(`the server did not start: ${error instanceof Error ? error.message : String(error)}`);
      if (this.program.found === "aurora.server.interpreter") {
        clearTimeout(this.waiting); // it would end in the same way again
        this.tell("starting");
        if (await lacksServer(this.program.command)) {
          await this.end();
          this.missing(`${this.program.command} (aurora.server.interpreter) has no aurora-context; run “AURORA: Install Server…”`);
          return;
        }
      }
      this.comeBack(client);
    }
  }

  /** Stop of the client and of its process. */
  private async end(): Promise<void> {
    const { client, process } = this;
    this.client = this.process = undefined;
    if (!client) return process?.leave();
    client.leave();
    if (client.answers) {
      try {
        await client.stop(PATIENCE_MS);
      } catch (error) {
        this.log.warn(`the old session did not end in order: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    try {
      await client.dispose();
    } catch (error) {
      // A client that never started refuses to be disposed of; there is nothing of it to end.
      this.log.debug(`disposing of a client: ${error instanceof Error ? error.message : String(error)}`);
    }
    process?.leave();
  }

  /** Language client around the process. */
  private async create(process: ServerProcess): Promise<SessionClient> {
    const { SessionClient } = await import("./client");
    const chosen = settings();
    const selector = LANGUAGES.map((language) => ({ scheme: "file", language }));
    const options: LanguageClientOptions = {
      documentSelector: selector,
      outputChannel: this.log,
      traceOutputChannel: this.log,
      synchronize: { configurationSection: SECTION },
      initializationOptions: {
        deliverableChanges: true,
        askUser: true,
        languageModel: chosen.languageModel.allow,
        workspaceTrusted: vscode.workspace.isTrusted,
        ...chosen.preferences,
      },
      markdown: { isTrusted: false, supportHtml: false },
      middleware: this.middleware,
    };
    return new SessionClient(() => process.opened(), options, (client) => this.comeBack(client));
  }

  /** The session ended by itself: reconnect after a backoff, unless that has been tried too often. */
  private comeBack(client: SessionClient): void {
    if (this.client !== client || this.disposed || this.condition === "waiting") return;
    const pause = this.setbacks.next(Date.now());
    if (pause === undefined) {
      this.fail(`AURORA's server ended ${this.setbacks.most} times in a row; see the log`);
      return;
    }
    this.tell("waiting", "AURORA's server ended; it is being started again");
    this.log.warn(`the session ended; again in ${pause} ms`);
    this.waiting = setTimeout(() => void this.enqueue("after it ended"), pause);
  }

  /** Server not found: its installation is offered. */
  private missing(problem: string): void {
    this.tell("missing", problem);
    this.log.warn(problem);
    void this.offering().offer(false);
  }

  private fail(problem: string): void {
    this.tell("failed", problem);
    this.log.error(problem);
    void vscode.window.showErrorMessage(problem, "Show Log", "Restart Server").then((chosen) => {
      if (chosen === "Show Log") this.log.show();
      else if (chosen) void this.restart("asked for after a failure");
    });
  }

  /** State change of the connection, told to its listeners (event). */
  private tell(condition: Condition, problem = ""): void {
    this.condition = condition;
    this.problem = problem;
    this.changed.fire(condition);
  }
}

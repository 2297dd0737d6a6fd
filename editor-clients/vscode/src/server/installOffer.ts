// Install offer (consent, update prompt): where there is no server, or an older one than came with the extension, the
// user is told once per window, and asked before anything is installed.
import * as vscode from "vscode";
import { settings } from "../settings";
import { bundledWheel, CannotInstall, findPython, install, installedIn, PACKAGE, Stopped } from "./installation";
import type { Installed, Wheel } from "./installation";
import { onPath } from "./serverLocation";
import { newer } from "./versions";

const INSTALL = "Install";
const OTHERWISE = "Other Ways…";

/** Installs the server where the user says so. `storage` is a folder of the extension's own. */
export class InstallOffer {
  private offered = false;
  private working: Promise<boolean> | undefined;

  constructor(
    private readonly extension: string,
    readonly storage: string,
    private readonly log: vscode.LogOutputChannel,
    private readonly restart: (why: string) => Promise<void>,
  ) {}

  /** Offer to install the server that was not found. `again` also where it was declined in this window. */
  async offer(again: boolean): Promise<void> {
    if (this.working) {
      await this.working;
      return;
    }
    if (this.offered && !again) return;
    this.offered = true;
    const wheel = bundledWheel(this.extension);
    const source = wheel ? `AURORA ${wheel.version}, which came with this extension,` : `the package ${PACKAGE}`;
    const text = `AURORA's server was not found on this machine. “${INSTALL}” puts ${source} into an environment of its own; what it builds on is fetched by pip.`;
    const chosen = await vscode.window.showWarningMessage(text, INSTALL, OTHERWISE);
    if (chosen === INSTALL) await this.install(wheel);
    else if (chosen === OTHERWISE) await otherWays();
  }

  /** Offer a newer server than the one that was installed here, where it came with the extension. */
  async offerNewer(installed: Installed): Promise<void> {
    const wheel = bundledWheel(this.extension);
    if (this.offered || !wheel || !newer(wheel.version, installed.version)) return;
    this.offered = true;
    const text = `AURORA ${wheel.version} came with this extension; its server is still ${installed.version}.`;
    if ((await vscode.window.showInformationMessage(text, "Update", "Not Now")) === "Update") await this.install(wheel);
  }

  /** Install, with progress that can be cancelled, and start what was installed. Says itself what goes wrong. */
  private install(wheel: Wheel | undefined): Promise<boolean> {
    this.working ??= this.installing(wheel).finally(() => (this.working = undefined));
    return this.working;
  }

  private async installing(wheel: Wheel | undefined): Promise<boolean> {
    const options = { location: vscode.ProgressLocation.Notification, title: "Installing AURORA's server", cancellable: true };
    try {
      const installed = await vscode.window.withProgress(options, async (progress, token) => {
        const abort = new AbortController();
        token.onCancellationRequested(() => abort.abort());
        const telling = { step: (message: string) => progress.report({ message }), log: (line: string) => this.log.info(line) };
        const python = await findPython(settings().server.interpreter, process.env["PATH"], abort.signal);
        return await install(this.storage, python, wheel, telling, abort.signal);
      });
      this.log.info(`AURORA ${installed.version} was installed into ${installed.environment}`);
      await this.restart("it was installed");
      void vscode.window.showInformationMessage(`AURORA ${installed.version} is installed.`);
      return true;
    } catch (error) {
      if (error instanceof Stopped) {
        vscode.window.setStatusBarMessage("$(circle-slash) AURORA: the installation was stopped", 5000);
        return false;
      }
      const problem = error instanceof Error ? error.message : String(error);
      this.log[error instanceof CannotInstall ? "warn" : "error"](problem);
      void vscode.window.showErrorMessage(`AURORA's server could not be installed. ${problem}`, "Try Again", "Show Log", "Settings").then((chosen) => {
        if (chosen === "Try Again") void this.install(wheel);
        else if (chosen === "Show Log") this.log.show();
        else if (chosen) void vscode.commands.executeCommand("workbench.action.openSettings", "aurora.server");
      });
      return false;
    }
  }

  /** What this extension installed on this machine, if anything. */
  installed(): Installed | undefined {
    return installedIn(this.storage);
  }
}

async function otherWays(): Promise<void> {
  const lines = [...(onPath("uv") ? [`uv tool install ${PACKAGE}`] : []), ...(onPath("pipx") ? [`pipx install ${PACKAGE}`] : [])];
  const settingsItem = { label: "Choose a program or a Python that is there…", line: "" };
  const items = [...lines.map((line) => ({ label: line, description: "in a terminal", line })), settingsItem];
  const chosen = await vscode.window.showQuickPick(items, { title: "AURORA: Install Server", placeHolder: "How?" });
  if (chosen?.line) await installIn(chosen.line);
  else if (chosen) await vscode.commands.executeCommand("workbench.action.openSettings", "aurora.server");
}

async function installIn(line: string): Promise<void> {
  const terminal = vscode.window.createTerminal({ name: "Install AURORA" });
  terminal.show();
  terminal.sendText(line, false); // the user presses Enter
  const done = await vscode.window.showInformationMessage(
    "Press Enter in the terminal to install AURORA's server. Start it when that has ended.",
    "Start Server",
  );
  if (done) await vscode.commands.executeCommand("aurora.restartServer");
}

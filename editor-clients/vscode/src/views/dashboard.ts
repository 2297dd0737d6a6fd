// Dashboard in a tab (webview). `aurora dashboard` serves it to this machine behind a token and forbids being framed,
// so the extension reads it and hands on the finished sections; the webview itself reaches no network and never sees
// the token.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as http from "node:http";
import * as os from "node:os";
import * as vscode from "vscode";
import { firstRoot } from "../places";
import type { Connection } from "../server/connection";

const START_MS = 20_000;
const LINE_LIMIT = 64 * 1024;

interface Served {
  /** The folder that the page is in. */
  place: URL;
  cookie: string;
}

/** Webview of the dashboard, fed by its server-sent events. */
export class Dashboard implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private process: ChildProcess | undefined;
  private stream: http.ClientRequest | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly extension: vscode.Uri,
  ) {}

  /** Webview panel opened, or revealed. */
  async open(): Promise<void> {
    if (this.panel) {
      this.panel.reveal();
      return;
    }
    const options = { location: vscode.ProgressLocation.Window, title: "AURORA: opening the dashboard" };
    const served = await vscode.window.withProgress(options, () => this.serve());
    const dist = vscode.Uri.joinPath(this.extension, "dist");
    const panel = vscode.window.createWebviewPanel("aurora.dashboard", "AURORA Dashboard", vscode.ViewColumn.One, {
      enableScripts: true,
      localResourceRoots: [dist],
    });
    this.panel = panel;
    panel.iconPath = vscode.Uri.joinPath(this.extension, "media", "activity.svg");
    panel.onDidDispose(() => this.close());
    panel.webview.onDidReceiveMessage((message: { query?: string }) => this.follow(served, message.query));
    const [page, style] = await Promise.all([read(served, ""), read(served, "static/dashboard.css")]);
    panel.webview.html = whole(page, style, panel.webview.asWebviewUri(vscode.Uri.joinPath(dist, "dashboardPage.js")), panel.webview.cspSource);
    this.follow(served);
  }

  dispose(): void {
    this.panel?.dispose();
    this.close();
  }

  /** Start `aurora dashboard` and trade its token for the cookie that its other pages want. */
  private async serve(): Promise<Served> {
    await this.connection.settled(); // a start that is under way
    const { program } = this.connection;
    if (!program) throw new Error("AURORA's server was not found; run “AURORA: Install Server…”");
    const root = firstRoot();
    const args = [...program.args, ...(root ? ["--workspace", root] : []), "--json", "dashboard", "--no-open"];
    const child = spawn(program.command, args, { cwd: os.homedir(), stdio: ["ignore", "pipe", "pipe"] });
    this.process = child;
    const { url } = await announced(child);
    const response = await get(new URL(url), "");
    response.resume();
    const cookie = response.headers["set-cookie"]?.[0]?.split(";")[0];
    if (!cookie) throw new Error(`the dashboard answered ${response.statusCode ?? "nothing"}; see: aurora dashboard`);
    return { place: new URL(".", url), cookie };
  }

  /** Hand on what changes of the deliverables that the page asked for. */
  private follow(served: Served, query = ""): void {
    this.stream?.destroy();
    const url = new URL("events", served.place);
    url.search = query;
    let rest = "";
    const stream = http.get(url, { headers: { cookie: served.cookie } }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        const events = (rest + piece).split("\n\n");
        rest = events.pop() ?? "";
        for (const event of events) {
          const data = /^data: (.*)$/m.exec(event)?.[1];
          if (data) void this.panel?.webview.postMessage({ sections: JSON.parse(data) as unknown });
        }
      });
      response.on("close", () => {
        if (this.stream === stream) void this.panel?.webview.postMessage({ ended: true });
      });
    });
    stream.on("error", (error) => {
      if (this.stream !== stream) return; // something else was asked for, or the tab was closed
      this.connection.log.warn(`dashboard: ${error.message}`);
      void this.panel?.webview.postMessage({ ended: true });
    });
    this.stream = stream;
  }

  private close(): void {
    this.panel = undefined;
    const stream = this.stream;
    this.stream = undefined;
    stream?.destroy();
    this.process?.kill("SIGINT");
    this.process = undefined;
  }
}

/** The document that `aurora --json dashboard` prints once it serves. */
function announced(child: ChildProcess): Promise<{ url: string }> {
  return new Promise((resolve, reject) => {
    let out = "";
    let problem = "";
    const late = setTimeout(() => {
      child.kill();
      reject(new Error(`the dashboard did not start within ${START_MS / 1000} s`));
    }, START_MS);
    child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
      out = (out + piece).slice(0, LINE_LIMIT);
      const end = out.lastIndexOf("}");
      if (end < 0) return;
      clearTimeout(late);
      try {
        resolve(JSON.parse(out.slice(0, end + 1)) as { url: string });
      } catch {
        reject(new Error(`aurora dashboard printed something else than its address: ${out.slice(0, 200)}`));
      }
    });
    child.stderr?.setEncoding("utf8").on("data", (piece: string) => (problem = (problem + piece).slice(-LINE_LIMIT)));
    child.once("error", (error) => {
      clearTimeout(late);
      reject(error);
    });
    child.once("exit", (code) => {
      clearTimeout(late);
      reject(new Error(problem.trim().split("\n").at(-1) || `aurora dashboard ended with ${code ?? "a signal"}`));
    });
  });
}

function get(url: URL, cookie: string): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    http.get(url, { headers: cookie ? { cookie } : {} }, resolve).on("error", reject);
  });
}

async function read(served: Served, path: string): Promise<string> {
  const response = await get(new URL(path, served.place), served.cookie);
  response.setEncoding("utf8");
  let text = "";
  for await (const piece of response) text += piece as string;
  if (response.statusCode !== 200) throw new Error(`the dashboard answered ${response.statusCode ?? "nothing"} for ${path || "the page"}`);
  return text;
}

/** The page's body with its style put in, our script in place of its own, and a Content-Security-Policy. */
function whole(page: string, style: string, script: vscode.Uri, source: string): string {
  const nonce = randomBytes(16).toString("base64");
  const body = /<body[^>]*>([\s\S]*)<\/body>/.exec(page)?.[1] ?? page;
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src ${source}; img-src data:`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style nonce="${nonce}">${style.replace(/<\/style/gi, "")}</style>
</head>
<body class="in-editor">${body}<script src="${script.toString()}"></script></body>
</html>`;
}

// Bundled JSON Schemas (fallback, validation without a server), for VS Code's own JSON support while the server is
// away. Where it runs it checks, completes and explains these files itself and knows more; the schemas then allow
// everything, so that nothing is told twice.
import * as vscode from "vscode";

export const SCHEME = "aurora-schema";
const SILENT = new TextEncoder().encode("{}\n");

/** Read-only virtual file system of the schemas, which are empty while the server runs. */
export class Schemas implements vscode.FileSystemProvider {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  private silent = false;
  private at = Date.now();
  private readonly read = new Set<string>();

  constructor(private readonly folder: vscode.Uri) {}

  /** Say nothing of the files while `silent`. */
  hush(silent: boolean): void {
    if (silent === this.silent) return;
    this.silent = silent;
    this.at = Date.now();
    this.changed.fire([...this.read].map((uri) => ({ type: vscode.FileChangeType.Changed, uri: vscode.Uri.parse(uri) })));
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const content = await this.readFile(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime: this.at, size: content.length, permissions: vscode.FilePermission.Readonly };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    this.read.add(uri.toString());
    return this.silent ? SILENT : await vscode.workspace.fs.readFile(vscode.Uri.joinPath(this.folder, uri.path));
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined); // `hush` tells of every change there is
  }

  readDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.FileNotADirectory(uri);
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  writeFile(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }
}

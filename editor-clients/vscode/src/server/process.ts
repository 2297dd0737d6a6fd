// Server's process (child process), spawned before the language client is loaded: Python starts while JavaScript does.
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import * as os from "node:os";

const PATIENCE_MS = 3000;

/** Child process of the server, over its standard input and output. */
export class ServerProcess {
  private readonly child: ChildProcessWithoutNullStreams;
  private problem: Error | undefined;

  /** Begins at once. `ended` hears how it ended, for the log. */
  constructor(command: string, args: string[], ended: (how: string) => void) {
    this.child = spawn(command, args, { cwd: os.homedir(), windowsHide: true });
    this.child.on("error", (error) => (this.problem = error));
    this.child.on("exit", (code, signal) => ended(signal ? `it was ended by ${signal}` : `it ended with code ${code}`));
    // A server that is gone shows by its output's end; what could not be written to it is no news then.
    this.child.stdin?.on("error", () => undefined);
  }

  /** As the language client takes it. Throws where it could not be started. */
  async opened(): Promise<ChildProcessWithoutNullStreams> {
    if (this.child.pid === undefined) {
      await new Promise((resolve) => setImmediate(resolve)); // the reason comes with an event
      throw this.problem ?? new Error(`${this.child.spawnfile} could not be started`);
    }
    return this.child;
  }

  /** It ends by itself when its session does; where it does not, it is killed after a timeout. */
  leave(): void {
    const late = setTimeout(() => this.child.exitCode === null && this.child.kill(), PATIENCE_MS);
    late.unref();
    this.child.once("exit", () => clearTimeout(late));
  }
}

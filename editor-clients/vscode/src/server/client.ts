// Language client (LSP), loaded lazily. Everything of vscode-languageclient that runs is imported here or where it is
// used, and loaded when a session begins: activation does not wait for it.
import { CloseAction, ErrorAction, LanguageClient, State } from "vscode-languageclient/node";
import type { CancellationToken, LanguageClientOptions, MessageSignature, ServerOptions } from "vscode-languageclient/node";

/** One session. What fails because it is being left is no error to anybody. */
export class SessionClient extends LanguageClient {
  private leaving = false;

  /** `ended` is called when the session ends by itself. */
  constructor(server: ServerOptions, options: LanguageClientOptions, ended: (client: SessionClient) => void) {
    super("aurora", "AURORA", server, {
      ...options,
      initializationFailedHandler: () => false, // told by whoever starts it, without the library's own message
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          this.leaving = true;
          ended(this);
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    });
  }

  get answers(): boolean {
    return this.state === State.Running;
  }

  /** Told before it is stopped. */
  leave(): void {
    this.leaving = true;
  }

  override handleFailedRequest<T>(
    type: MessageSignature,
    token: CancellationToken | undefined,
    error: unknown,
    defaultValue: T,
    showNotification?: boolean,
  ): T {
    if (this.leaving) return defaultValue;
    return super.handleFailedRequest(type, token, error, defaultValue, showNotification);
  }

  override error(message: string, data?: unknown, showNotification: boolean | "force" = true): void {
    if (this.leaving) this.debug(`${message}; the session is being left`, undefined, false);
    else super.error(message, data, showNotification);
  }
}

// Hovers that are asked for while a session begins: they wait for it, so that nobody has to move the mouse away and
// back. Once it runs, the language client answers, and this is silent.
import * as vscode from "vscode";
import type { Hover, MarkupContent } from "vscode-languageclient/node";
import { LANGUAGES } from "./connection";
import type { Connection } from "./connection";

/** A hover provider for the time while the server starts. */
export function earlyHover(connection: Connection): vscode.Disposable {
  const selector = LANGUAGES.map((language) => ({ scheme: "file", language }));
  return vscode.languages.registerHoverProvider(selector, {
    async provideHover(document, position, token) {
      if (connection.condition !== "starting") return undefined;
      await connection.settled();
      const client = connection.running;
      if (!client || token.isCancellationRequested) return undefined;
      const params = client.code2ProtocolConverter.asTextDocumentPositionParams(document, position);
      const found = await client.sendRequest<(Hover & { contents: MarkupContent }) | null>("textDocument/hover", params, token);
      return client.protocol2CodeConverter.asHover(found);
    },
  });
}

// What the editor's own agents are offered: the whole MCP server where the editor takes one, else two tools of its own API.
import * as vscode from "vscode";
import { Explain, Recall } from "./protocol";
import type { ExplainResult, RecallResult } from "./protocol";
import type { Connection } from "./server/connection";

const PROVIDER = "aurora.mcp";
const MOST_RELATIONS = 40;
const MOST_RESULTS = 50;

/** Of VS Code's API since 1.101, which the types of the oldest editor we run in lack. */
interface McpApi {
  registerMcpServerDefinitionProvider(
    id: string,
    provider: { onDidChangeMcpServerDefinitions: vscode.Event<unknown>; provideMcpServerDefinitions(): Promise<object[]> },
  ): vscode.Disposable;
}
type StdioDefinition = new (label: string, command: string, args: string[]) => object;

/** Registers what this editor takes. One of the two: an agent that is offered the same twice pays for it twice. */
export function offerToAgents(connection: Connection): vscode.Disposable {
  const api = vscode.lm as unknown as Partial<McpApi>;
  const Definition = (vscode as unknown as { McpStdioServerDefinition?: StdioDefinition }).McpStdioServerDefinition;
  const whole = api.registerMcpServerDefinitionProvider !== undefined && Definition !== undefined;
  void vscode.commands.executeCommand("setContext", "aurora.agentTools", !whole);
  if (!whole) {
    return vscode.Disposable.from(
      vscode.lm.registerTool("aurora_recall", tool<{ query: string; limit?: number }>((given, token) => recalled(connection, given, token))),
      vscode.lm.registerTool("aurora_explain", tool<{ id: string }>((given, token) => explained(connection, given, token))),
    );
  }
  const provider = {
    onDidChangeMcpServerDefinitions: connection.onDidChange,
    provideMcpServerDefinitions: async (): Promise<object[]> => {
      await connection.settled();
      const { program } = connection;
      if (!program) return [];
      const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === "file");
      return folders.map((folder) => {
        const label = folders.length > 1 ? `AURORA: ${folder.name}` : "AURORA";
        return new Definition(label, program.command, [...program.args, "mcp", "--project", folder.uri.fsPath]);
      });
    },
  };
  return (api as McpApi).registerMcpServerDefinitionProvider(PROVIDER, provider);
}

function tool<Given extends object>(work: (given: Given, token: vscode.CancellationToken) => Promise<string>): vscode.LanguageModelTool<Given> {
  return {
    invoke: async (options, token) => new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(await work(options.input, token))]),
  };
}

async function recalled(connection: Connection, given: { query: string; limit?: number }, token: vscode.CancellationToken): Promise<string> {
  const limit = Math.min(Math.max(given.limit ?? 10, 1), MOST_RESULTS);
  const { results } = await connection.request<RecallResult>(Recall, { query: given.query, limit }, token);
  const lines = results.map((each, index) => `${index + 1}. ${each.name || each.id} ${each.file ? `${each.file}:${each.line_start}-${each.line_end}` : ""}`.trimEnd());
  return lines.join("\n") || "Memory knows nothing like that.";
}

async function explained(connection: Connection, given: { id: string }, token: vscode.CancellationToken): Promise<string> {
  const { chunk, docstring, relations } = await connection.request<ExplainResult>(Explain, { id: given.id }, token);
  const related = relations.slice(0, MOST_RELATIONS).map((each) => `${each.relation} ${each.name} (${each.id})`);
  return [`${chunk.id} ${chunk.file}:${chunk.line_start}-${chunk.line_end}`, chunk.signature, docstring, ...related].filter(Boolean).join("\n");
}

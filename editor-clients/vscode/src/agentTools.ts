// Tools offered to the editor's own agents (MCP server definition, language model tools): the whole MCP server where
// the editor takes one, else two tools of its own API.
import * as vscode from "vscode";
import { Explain, Recall } from "./protocol";
import type { ExplainResult, RecallResult } from "./protocol";
import type { Connection } from "./server/connection";

const PROVIDER = "aurora.mcp";
/** Not as the MCP server's tools are called: an editor that has both refuses the second of a name, and all after it. */
const RECALL = "auroraRecall";
const EXPLAIN = "auroraExplain";
/** The first version whose API takes MCP servers by this contribution; 1.100 has the same function for another one, and throws. */
const WITH_MCP = [1, 101];
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

/**
 * Registers what this editor takes, once for the extension's life: what is asked goes to the server that runs then. One
 * of the two, since an agent that is offered the same twice pays for it twice. What an editor refuses is logged; the
 * extension goes on without.
 */
export function offerToAgents(connection: Connection): vscode.Disposable {
  const api = (vscode as { lm?: unknown }).lm as (Partial<McpApi> & Partial<Pick<typeof vscode.lm, "registerTool">>) | undefined;
  const Definition = (vscode as unknown as { McpStdioServerDefinition?: StdioDefinition }).McpStdioServerDefinition;
  const owned: vscode.Disposable[] = [];
  const tools = (shown: boolean): void => void vscode.commands.executeCommand("setContext", "aurora.agentTools", shown);
  try {
    if (isFrom(WITH_MCP) && api?.registerMcpServerDefinitionProvider && Definition) {
      owned.push(api.registerMcpServerDefinitionProvider(PROVIDER, servers(connection, Definition)));
      tools(false);
    } else if (api?.registerTool) {
      owned.push(api.registerTool(RECALL, tool<{ query: string; limit?: number }>("Recalling", (given, token) => recalled(connection, given, token))));
      owned.push(api.registerTool(EXPLAIN, tool<{ id: string }>("Explaining", (given, token) => explained(connection, given, token))));
      tools(true);
    }
  } catch (error) {
    connection.log.warn(`the editor's agents are offered nothing: ${error instanceof Error ? error.message : String(error)}`);
  }
  return vscode.Disposable.from(...owned);
}

/** Whether the editor is of this version or a later one (feature detection). */
function isFrom([major = 0, minor = 0]: number[]): boolean {
  const [here = 0, there = 0] = vscode.version.split(".").map(Number);
  return here > major || (here === major && there >= minor);
}

/** AURORA's MCP server for each folder on this machine. */
function servers(connection: Connection, Definition: StdioDefinition): Parameters<McpApi["registerMcpServerDefinitionProvider"]>[1] {
  return {
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
}

/** A tool that only reads, and so asks for no consent. `doing` is shown while it does. */
function tool<Given extends object>(doing: string, work: (given: Given, token: vscode.CancellationToken) => Promise<string>): vscode.LanguageModelTool<Given> {
  return {
    prepareInvocation: () => ({ invocationMessage: `${doing} from AURORA's memory` }),
    invoke: async (options, token) => new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(await work(options.input, token))]),
  };
}

/** Language model tool that recalls: a line per result. */
async function recalled(connection: Connection, given: { query: string; limit?: number }, token: vscode.CancellationToken): Promise<string> {
  const limit = Math.min(Math.max(given.limit ?? 10, 1), MOST_RESULTS);
  const { results } = await connection.request<RecallResult>(Recall, { query: given.query, limit }, token);
  const lines = results.map((each, index) => `${index + 1}. ${each.name || each.id} ${each.file ? `${each.file}:${each.line ?? each.line_start}-${each.line_end}` : ""}`.trimEnd());
  return lines.join("\n") || "Memory knows nothing like that.";
}

/** Language model tool that explains a chunk. */
async function explained(connection: Connection, given: { id: string }, token: vscode.CancellationToken): Promise<string> {
  const { chunk, docstring, relations } = await connection.request<ExplainResult>(Explain, { id: given.id }, token);
  const related = relations.slice(0, MOST_RELATIONS).map((each) => `${each.relation} ${each.name} (${each.id})`);
  return [`${chunk.id} ${chunk.file}:${chunk.line_start}-${chunk.line_end}`, chunk.signature, docstring, ...related].filter(Boolean).join("\n");
}

// What the editor's agents are offered, with an editor of our own in place of VS Code's API: the old one and the new.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { build } from "esbuild";

const here = path.dirname(new URL(import.meta.url).pathname);
const require = createRequire(import.meta.url);

/** `agentTools` as this editor loads it, and what it was given. */
async function loaded(work, more = {}) {
  const folder = await mkdtemp(path.join(here, "agent-"));
  try {
    const seen = { tools: {}, providers: {}, context: {} };
    globalThis.editor = {
      version: "1.100.3",
      Disposable: { from: (...parts) => ({ parts }) },
      LanguageModelToolResult: class { constructor(content) { this.content = content; } },
      LanguageModelTextPart: class { constructor(value) { this.value = value; } },
      commands: { executeCommand: async (_, name, value) => { seen.context[name] = value; } },
      workspace: { workspaceFolders: [{ name: "one", uri: { scheme: "file", fsPath: "/one" } }, { name: "far", uri: { scheme: "vsls", fsPath: "/x" } }] },
      ...more,
      lm: { registerTool: (name, tool) => { seen.tools[name] = tool; return {}; }, ...more.lm?.(seen) },
    };
    await writeFile(path.join(folder, "vscode.js"), "module.exports = globalThis.editor;");
    const outfile = path.join(folder, "out.cjs");
    await build({ entryPoints: [path.join(here, "../src/agentTools.ts")], bundle: true, platform: "node", format: "cjs", outfile, alias: { vscode: path.join(folder, "vscode.js") }, logLevel: "error" });
    await work(require(outfile), seen);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const FOUND = { id: "code:a.py:f", name: "f", file: "a.py", line_start: 1, line: 2, line_end: 3, signature: "def f()" };

test("an editor without MCP gets recall and explain as tools", () => loaded(async ({ offerToAgents }, seen) => {
  const asked = [];
  const request = async (method, params) => {
    asked.push([method, params]);
    return method === "aurora/recall" ? { results: [FOUND] } : { chunk: FOUND, docstring: "Does.", relations: [{ relation: "called by", name: "g", id: "code:b.py:g" }] };
  };
  offerToAgents({ request });
  assert.equal(seen.context["aurora.agentTools"], true);
  const said = async (name, input) => (await seen.tools[name].invoke({ input }, {})).content[0].value;
  assert.equal(await said("auroraRecall", { query: "f", limit: 1000 }), "1. f a.py:2-3");
  assert.equal(asked[0][1].limit, 50);
  assert.match(await said("auroraExplain", { id: "f" }), /called by g \(code:b\.py:g\)/);
}));

test("an editor with MCP gets the server of each folder on this machine, and no tool twice", () => {
  const lm = (seen) => ({ registerMcpServerDefinitionProvider: (id, provider) => { seen.providers[id] = provider; return {}; } });
  const McpStdioServerDefinition = class { constructor(label, command, args) { Object.assign(this, { label, command, args }); } };
  return loaded(async ({ offerToAgents }, seen) => {
    const connection = { settled: async () => {}, onDidChange: () => {}, program: { command: "/bin/aurora", args: ["-P"] } };
    offerToAgents(connection);
    assert.equal(seen.context["aurora.agentTools"], false);
    assert.deepEqual(seen.tools, {});
    const provider = seen.providers["aurora.mcp"];
    const [only, ...others] = await provider.provideMcpServerDefinitions();
    assert.deepEqual({ ...only }, { label: "AURORA", command: "/bin/aurora", args: ["-P", "mcp", "--project", "/one"] });
    assert.deepEqual(others, []);
    connection.program = undefined;
    assert.deepEqual(await provider.provideMcpServerDefinitions(), []);
  }, { version: "1.101.0", lm, McpStdioServerDefinition });
});

test("an editor whose function for MCP is of an older API gets tools, and activation goes on", () => {
  const refuses = () => { throw new Error("must be registered in the contributes.modelContextServerCollections array"); };
  const lm = () => ({ registerMcpServerDefinitionProvider: refuses });
  return loaded(async ({ offerToAgents }, seen) => {
    offerToAgents({ request: async () => ({}) });
    assert.deepEqual(Object.keys(seen.tools), ["auroraRecall", "auroraExplain"]);
  }, { lm, McpStdioServerDefinition: class {} });
});

test("what an editor refuses is logged, and costs no more than that", () => {
  const lm = () => ({ registerTool: () => { throw new Error("Tool \"auroraRecall\" was not contributed."); } });
  return loaded(async ({ offerToAgents }, seen) => {
    const told = [];
    offerToAgents({ log: { warn: (line) => told.push(line) } });
    assert.match(told.join(), /offered nothing: Tool "auroraRecall" was not contributed/);
    assert.deepEqual(seen.context, {});
  }, { lm });
});

test("an editor without an API for models gets nothing", () => loaded(async ({ offerToAgents }) => {
  globalThis.editor.lm = undefined;
  assert.deepEqual(offerToAgents({}).parts, []);
}));

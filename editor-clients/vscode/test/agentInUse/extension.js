// An agent's way to memory's tools through the editor's own API. What it sees goes into a file, a line for each use.
const { appendFileSync } = require("node:fs");
const vscode = require("vscode");

async function answer(name, input) {
  const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
  return content.map((part) => part.value).join("");
}

exports.activate = (context) => {
  const use = async () => {
    const seen = { names: vscode.lm.tools.map((tool) => tool.name).filter((name) => name.startsWith("aurora")) };
    try {
      seen.recalled = await answer("auroraRecall", { query: "pay by card", limit: 3 });
      seen.explained = await answer("auroraExplain", { id: "total_price" });
    } catch (error) {
      seen.problem = String(error.stack ?? error);
    }
    appendFileSync(process.env.AGENT_IN_USE_FILE, `${JSON.stringify(seen)}\n`);
  };
  context.subscriptions.push(vscode.commands.registerCommand("aurora-tests.useTools", use));
};

// The editor's own language model, for tests. What it is asked goes to a server on loopback, whose answer it says, in
// two pieces. VS Code 1.100 lets extensions bring models by a proposed API (`chatProvider`); using them is stable.
const vscode = require("vscode");

const FAMILY = "lent";

async function say(messages, extension, token) {
  const stop = new AbortController();
  const heard = token.onCancellationRequested(() => stop.abort());
  try {
    const texts = messages.map((message) => message.content.map((part) => part.value ?? "").join(""));
    const answer = await fetch(`${process.env.LENT_MODEL_URL}/messages`, {
      method: "POST",
      signal: stop.signal,
      headers: { "content-type": "application/json", "x-api-key": process.env.LENT_MODEL_KEY, "x-asked-by": extension },
      // Ours says first what the model is to be, then what it is asked.
      body: JSON.stringify({ model: FAMILY, system: texts.slice(0, -1).join("\n"), messages: [{ role: "user", content: texts.at(-1) }] }),
    });
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    return (await answer.json()).content.map((block) => block.text ?? "").join("");
  } finally {
    heard.dispose();
  }
}

exports.activate = (context) => {
  const provider = {
    async provideLanguageModelResponse(messages, options, extension, progress, token) {
      const text = await say(messages, extension, token);
      const half = text.length >> 1;
      for (const piece of [text.slice(0, half), text.slice(half)]) {
        progress.report({ index: 0, part: new vscode.LanguageModelTextPart(piece) });
      }
    },
    async provideTokenCount(given) {
      const text = typeof given === "string" ? given : given.content.map((part) => part.value ?? "").join("");
      return Math.ceil(text.length / 4);
    },
  };
  const about = {
    vendor: "lent",
    family: FAMILY,
    name: "Lent Model",
    version: "1",
    maxInputTokens: 100_000,
    maxOutputTokens: 10_000,
    auth: { label: "a test" }, // so that VS Code asks the user whether AURORA may use it
  };
  context.subscriptions.push(vscode.lm.registerChatModelProvider("lent-1", provider, about));
};

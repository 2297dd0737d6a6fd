// Language model of the editor (vscode.lm, as GitHub Copilot's), lent to the daemon where the user allows it
// (`aurora.languageModel.allow`).
import * as vscode from "vscode";
import type { ResponseError } from "vscode-languageclient/node";
import type { LanguageModelParams, LanguageModelResult } from "./protocol";
import { settings } from "./settings";

const REQUEST_FAILED = -32803;

/** Answers a prompt of the daemon with the editor's chat model, and counts its tokens. */
export async function answer(params: LanguageModelParams, token: vscode.CancellationToken): Promise<LanguageModelResult> {
  const { allow, family } = settings().languageModel;
  if (!allow) throw await refused("aurora.languageModel.allow is off in the editor's settings");
  const models = await vscode.lm.selectChatModels(family ? { family } : {});
  const model = models[0];
  if (!model) {
    throw await refused(family ? `the editor has no language model of family "${family}"; correct or clear aurora.languageModel.family` : "the editor has no language model; install an extension that brings one, such as GitHub Copilot");
  }
  // VS Code's API knows no system role: what the model is to be comes before what it is asked.
  const messages = [vscode.LanguageModelChatMessage.User(params.system), vscode.LanguageModelChatMessage.User(params.prompt)];
  const justification = "AURORA asks it to plan, check and answer the questions you put to “AURORA: Ask”.";
  try {
    const response = await model.sendRequest(messages, { justification, modelOptions: { max_tokens: params.max_tokens } }, token);
    let text = "";
    for await (const piece of response.text) text += piece;
    const [system, prompt, output] = await Promise.all([params.system, params.prompt, text].map((each) => model.countTokens(each)));
    return { text, model: model.id.slice(0, 200), input_tokens: (system ?? 0) + (prompt ?? 0), output_tokens: output ?? 0 };
  } catch (error) {
    if (error instanceof vscode.LanguageModelError) throw await refused(`${model.name}: ${error.message || error.code}`);
    throw error;
  }
}

async function refused(why: string): Promise<ResponseError<void>> {
  const { ResponseError } = await import("vscode-languageclient/node");
  return new ResponseError(REQUEST_FAILED, why);
}

// Settings of the extension (configuration, preferences), the section `aurora`. `hover`, `codeLens` and `diagnostics`
// are read by the daemon itself.
import * as vscode from "vscode";

export const SECTION = "aurora";

export interface Settings {
  server: { path: string; interpreter: string; standalone: boolean };
  languageModel: { allow: boolean; family: string };
  recall: { limit: number };
  ask: { verification: "automatic" | "option_a" | "option_b" | "option_c" };
  preferences: { hover: boolean; codeLens: boolean; diagnostics: boolean };
}

/** The user's configuration now, with its defaults. */
export function settings(): Settings {
  const section = vscode.workspace.getConfiguration(SECTION);
  return {
    server: {
      path: section.get("server.path", "").trim(),
      interpreter: section.get("server.interpreter", "").trim(),
      standalone: section.get("server.standalone", false),
    },
    languageModel: {
      allow: section.get("languageModel.allow", false),
      family: section.get("languageModel.family", "").trim(),
    },
    recall: { limit: section.get("recall.limit", 20) },
    ask: { verification: section.get("ask.verification", "automatic") },
    preferences: {
      hover: section.get("hover", true),
      codeLens: section.get("codeLens", true),
      diagnostics: section.get("diagnostics", true),
    },
  };
}

/** Settings the daemon is told of when a session begins, so that a change needs a new session. */
export const OF_A_SESSION = ["aurora.server", "aurora.languageModel.allow"];

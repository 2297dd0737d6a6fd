// Explain: all that memory knows of one chunk (callers, activation, commits), rendered as a page.
import * as vscode from "vscode";
import { Explain } from "../protocol";
import type { ExplainResult, RelatedChunk } from "../protocol";
import type { Connection } from "../server/connection";
import { ago, answering, escaped, firstRoot, here, link } from "../places";
import type { Pages } from "../pages";

const LISTED = 25;
/** Relations between a chunk and its file or imports say what its calls already say. */
const UNSAID = new Set(["imported by", "imports", "contained in"]);

/** Explains the definition under the cursor. */
export async function explainHere(connection: Connection, pages: Pages): Promise<void> {
  const place = here();
  if (!place) {
    void vscode.window.showInformationMessage("Put the cursor on a definition in a file of the workspace first.");
    return;
  }
  const found = await connection.request<ExplainResult | null>(Explain, place);
  if (found) await showExplained(found, pages);
  else void vscode.window.showInformationMessage("AURORA knows nothing of this place yet: no indexed definition is here.");
}

/** A chunk by its id, as code lenses and the memory view name it. */
export async function explainId(connection: Connection, pages: Pages, id: string): Promise<void> {
  await showExplained(await connection.request<ExplainResult>(Explain, { id }), pages);
}

export async function showExplained(found: ExplainResult, pages: Pages): Promise<void> {
  const page = pages.address("memory", found.chunk.name || found.chunk.file);
  pages.put(page, explained(found));
  await pages.show(page, true);
}

/** Explanation as a Markdown page: callers, activation, commits. */
function explained(found: ExplainResult): string {
  const { chunk } = found;
  const root = chunk.workspace || firstRoot();
  const { activation } = chunk;
  const parts = [
    `# ${escaped(chunk.name || chunk.file)}`,
    `${link(`${chunk.file}:${answering(chunk).first}`, root, chunk.file, answering(chunk).first)} · ${chunk.kind} · changed ${ago(chunk.last_modified)} · last used in an answer: ${ago(chunk.last_used)}`,
  ];
  if (chunk.signature) parts.push(`\`\`\`\`${chunk.language}\n${chunk.signature}\n\`\`\`\``);
  if (chunk.summary) parts.push(escaped(chunk.summary));
  parts.push("## How present it is");
  const terms: [string, number][] = [
    ["base level", activation.base_level],
    ["spreading", activation.spreading],
    ["context", activation.context_boost],
    ["learned", activation.learned],
    ["decay", -activation.decay],
  ];
  const sum = terms.filter(([, amount]) => Math.abs(amount) >= 0.005).map(([name, amount]) => `${amount.toFixed(2)} ${name}`);
  parts.push(`activation **${activation.total.toFixed(2)}** = ${sum.join(" + ").replaceAll("+ -", "− ") || "0.00"}`);
  const groups = new Map<string, RelatedChunk[]>();
  for (const each of found.relations) if (!UNSAID.has(each.relation)) groups.set(each.relation, [...(groups.get(each.relation) ?? []), each]);
  if (groups.size) parts.push("## What it is related to");
  for (const [relation, links] of groups) {
    const more = links.length > LISTED ? `, and ${links.length - LISTED} more` : "";
    parts.push(`**${escaped(relation)}** ${links.slice(0, LISTED).map((each) => link(each.name, root, each.file, each.line)).join(", ")}${more}`);
  }
  if (found.patterns.length) {
    parts.push("## Ways of working that used it");
    parts.push(found.patterns.map((each) => `- *${escaped(each.query)}* (${each.score.toFixed(2)}, ${each.uses} ${each.uses === 1 ? "use" : "uses"})`).join("\n"));
  }
  const history = [`${found.commits.length} ${found.commits.length === 1 ? "commit" : "commits"}`, `used in ${found.accesses.length} ${found.accesses.length === 1 ? "answer" : "answers"}`];
  parts.push("## Its history", history.join(" · "));
  if (found.commits.length) parts.push(`changed ${found.commits.slice(-LISTED).reverse().map((each) => ago(each)).join(", ")}`);
  return `${parts.join("\n\n")}\n`;
}

// Answer page: a run rendered as Markdown: its progress while it works, and the answer with claims, sources and cost.
import type { QueryResult, StageNotice } from "./protocol";
import { escaped, link } from "./places";

const MARKS: Record<StageNotice["status"], string> = {
  in_progress: "◐",
  complete: "✓",
  retry: "↻",
  failed: "✗",
  skipped: "–",
};

/** The page while the run works: its stages so far, or how it ended without an answer. */
export function workingPage(query: string, told: StageNotice[], ended?: string): string {
  const last = told.at(-1);
  const state = ended ?? (last ? `*${Math.round(last.progress * 100)} % · ${seconds(last.elapsed_ms)}${cost(last.cost_usd)}*` : "*Beginning…*");
  return [`# ${escaped(query)}`, ended ? `**${escaped(ended)}**` : state, steps(told)].filter(Boolean).join("\n\n") + "\n";
}

/** The finished answer as Markdown, with citations that link to lines of files. */
export function answerPage(result: QueryResult, told: StageNotice[], root: string): string {
  const parts = [`# ${escaped(result.query)}`, `*${headline(result)}*`];
  if (result.error) parts.push(`**${escaped(result.error)}**`);
  // Without a model the answer is the list of what memory found, which follows with links.
  if (result.answer && !(result.state === "no_provider" && result.sources.length)) parts.push(result.answer);
  if (result.claims.length) {
    parts.push("## What it rests on");
    parts.push(result.claims.map((claim) => `- ${escaped(claim.text)} — ${claim.sources.map((each) => source(each, root)).join(", ") || "*no source*"}`).join("\n"));
  }
  if (result.caveats.length) parts.push("## To be checked", list(result.caveats));
  if (result.sources.length) {
    parts.push("## From memory");
    parts.push(result.sources.map((each) => `- ${remembered(each, root)} · ${each.score.toFixed(2)}`).join("\n"));
  }
  if (result.notices.length) parts.push("## Notes", list(result.notices));
  const table = steps(told);
  if (table) parts.push("## How it was answered", table);
  return `${parts.join("\n\n")}\n`;
}

/** Score, cost and time of the answer, in one line. */
function headline(result: QueryResult): string {
  const words = [result.from_memory ? "from memory, at no cost" : STATES[result.state]];
  if (result.score !== null) words.push(`score ${result.score.toFixed(2)}`);
  if (result.confidence !== null) words.push(`confidence ${result.confidence.toFixed(2)}${result.because ? ` (${escaped(result.because)})` : ""}`);
  words.push(seconds(result.took_ms));
  if (!result.from_memory && result.calls) words.push(`${result.calls} ${result.calls === 1 ? "call" : "calls"}`);
  const spent = cost(result.cost_usd).replace(" · ", "");
  if (spent) words.push(spent);
  if (result.unpriced_calls) words.push(`${result.unpriced_calls} of no known price`);
  return words.join(" · ");
}

/** What was recalled; a way of answering that was learned is in no file. */
function remembered(each: QueryResult["sources"][number], root: string): string {
  if (!each.file) return escaped(each.name);
  return `${link(each.name || each.file, root, each.file, each.line_start)} \`${each.file}:${each.line_start}\``;
}

const STATES: Record<QueryResult["state"], string> = {
  complete: "answered",
  partial: "answered in part",
  failed: "failed",
  blocked: "blocked",
  cancelled: "stopped",
  interrupted: "interrupted",
  no_provider: "no model is configured",
  dry_run: "dry run",
};

/** `src/auth.py:12` or `src/auth.py:12-30` becomes a link; ids of chunks and subgoals stay words. */
function source(text: string, root: string): string {
  const place = /^(?:code:)?([^:\s]+):(?:[^:\s]+:)?(\d+)(?:-\d+)?$/.exec(text);
  return place?.[1] && place[2] ? link(text.replace(/^code:/, ""), root, place[1], Number(place[2])) : `\`${text.replace(/`/g, "")}\``;
}

/** A line per stage, with the last thing that was said of it. */
function steps(told: StageNotice[]): string {
  if (!told.length) return "";
  const latest = new Map<string, StageNotice>();
  for (const notice of told) latest.set(notice.stage, notice);
  const rows = [...latest.values()].map(
    (notice) => `| ${MARKS[notice.status]} | ${notice.stage} | ${escaped(notice.detail)} | ${seconds(notice.elapsed_ms)} | ${cost(notice.cost_usd).replace(" · ", "")} |`,
  );
  return ["| | phase | | at | spent |", "|---|---|---|---:|---:|", ...rows].join("\n");
}

function list(lines: string[]): string {
  return lines.map((line) => `- ${escaped(line)}`).join("\n");
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function cost(usd: number): string {
  return usd > 0 ? ` · $${usd < 0.01 ? usd.toFixed(4) : usd.toFixed(2)}` : "";
}

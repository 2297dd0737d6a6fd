// What the daemon says and takes, as far as this extension uses it. Lines are 1-based, as on the command line.

export const Recall = "aurora/recall";
export const Index = "aurora/index";
export const Status = "aurora/status";
export const Explain = "aurora/explain";
export const Query = "aurora/query";
export const Budget = "aurora/budget";
export const Deliverable = "aurora/deliverable";
export const DeliverableChanged = "aurora/deliverableChanged";
export const AskUser = "aurora/askUser";
export const LanguageModel = "aurora/languageModel";

export interface Activation {
  total: number;
  baseLevel: number;
  spreading: number;
  contextBoost: number;
  decay: number;
  learned: number;
}

export interface Recalled {
  id: string;
  type: string;
  kind: string;
  name: string;
  file: string;
  lineStart: number;
  lineEnd: number;
  language: string;
  signature: string;
  score: number;
  activation: Activation;
  lastUsed: string | null;
  lastModified: string | null;
  summary: string;
  callers: number;
  workspace: string;
}

export interface RecallResult {
  query: string;
  tookMs: number;
  freshness: { state: string; pendingFiles: number; files: number; chunks: number };
  results: Recalled[];
  hint: string | null;
}

export interface IndexResult {
  workspace: string;
  files: number;
  chunks: number;
  parsedFiles: number;
  skippedFiles: number;
  failedFiles: number;
  tookMs: number;
}

export interface WorkspaceStatus {
  root: string;
  state: "scanning" | "indexing" | "ready" | "error";
  files: number;
  chunks: number;
  pendingFiles: number;
  skippedFiles: number;
  databaseBytes: number;
  lastError: string | null;
}

export interface StatusResult {
  version: string;
  pid: number;
  workspaces: WorkspaceStatus[];
}

export interface Link {
  relation: string;
  id: string;
  name: string;
  file: string;
  line: number;
}

export interface ExplainResult {
  chunk: Recalled;
  docstring: string;
  accesses: string[];
  commits: string[];
  relations: Link[];
  patterns: { id: string; query: string; score: number; uses: number }[];
}

export interface StageNotice {
  stage: string;
  status: "in_progress" | "complete" | "retry" | "failed" | "skipped";
  detail: string;
  progress: number;
  costUsd: number;
  elapsedMs: number;
}

export interface QueryResult {
  id: string;
  query: string;
  state: "complete" | "partial" | "failed" | "blocked" | "cancelled" | "interrupted" | "no_provider" | "dry_run";
  answer: string;
  score: number | null;
  confidence: number | null;
  because: string;
  caveats: string[];
  fromMemory: boolean;
  claims: { text: string; sources: string[] }[];
  sources: { id: string; name: string; file: string; lineStart: number; lineEnd: number; score: number }[];
  notices: string[];
  costUsd: number;
  unpricedCalls: number;
  calls: number;
  tookMs: number;
  error: string | null;
}

/** Money in US dollars. `model` is the one that is configured to be paid for. */
export interface BudgetResult {
  state: "fine" | "warned" | "blocked" | "off";
  period: string;
  periodEnd: string;
  limitUsd: number;
  consumedUsd: number;
  reservedUsd: number;
  remainingUsd: number;
  queryCount: number;
  questionsLeft: number | null;
  notices: string[];
  model: string | null;
}

export const PHASES = ["propose", "specs", "design", "tasks", "apply", "verify", "archive"] as const;
export type Phase = (typeof PHASES)[number];

/** The state document of AURA-M §5.1 in camelCase: only what is shown here. */
export interface DeliverableState {
  changeId: string;
  description?: string | null;
  status: "planning" | "executing" | "verifying" | "completed" | "failed";
  currentPhase?: Phase | null;
  tasksTotal?: number | null;
  tasksCompleted?: number | null;
  startedAt?: string;
  updatedAt?: string;
  specSource?: { framework?: string | null } | null;
  [field: string]: unknown;
}

export interface DeliverableChange {
  workspace: string;
  summary: string;
  deliverable: DeliverableState;
}

export interface LanguageModelParams {
  system: string;
  prompt: string;
  schema: unknown;
  maxTokens: number;
}

export interface LanguageModelResult {
  text: string;
  model: string;
  inputTokens?: number;
  outputTokens?: number;
}
